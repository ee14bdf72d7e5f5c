"""`/livez`, `/healthz` and `/metrics`: whether this works, and how much."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from cli.api.access import READ, caller_of
from cli.api.errors import ApiError
from cli.api.metrics import Metrics
from cli.api.service import Service, service_of
from cli.api.workers import Queue
from jobs.access.gate import Scope
from jobs.errors import JobsError
from jobs.health import BROKER_WAIT_S, Health, Part, in_time

router = APIRouter()
Status = Literal["ok", "degraded", "unavailable"]


class Alive(BaseModel):
    """This process answers."""

    status: Literal["ok"] = "ok"


class Crew(BaseModel):
    """Living workers, by device, and what they speak."""

    count: int
    by_device: dict[str, int]
    models: list[str]


class Details(BaseModel):
    """For callers that may read: what is wrong in words, who works, and how much waits. null: not known."""

    problems: dict[Part, str]
    workers: Crew | None
    queue: Queue | None


class HealthAnswer(BaseModel):
    """How it is.

    `ok`: everything works. `degraded`: no worker is up, so jobs wait and speech requests are refused. `unavailable`:
    the broker does not answer or the store cannot be written. `failing` names the parts that are at fault.
    """

    status: Status
    failing: list[Part]
    details: Details | None = None


@router.get("/livez")
async def livez() -> Alive:
    """Whether this process answers; asks nobody else."""
    return Alive()


@router.get("/healthz", responses={503: {"model": HealthAnswer, "description": "Broker or store do not work."}})
async def healthz(request: Request, response: Response) -> HealthAnswer:
    """Whether broker, store and workers work. Needs no token; details are for those who may read."""
    # Not in the threads of the other routes: those may all wait for a broker that hangs.
    health, may_read = await asyncio.to_thread(_look, request)
    status: Status = "unavailable" if not health.works else "degraded" if health.problems else "ok"
    response.status_code = 200 if health.works else 503
    response.headers["Cache-Control"] = "no-store"
    details = _details(health) if may_read else None
    return HealthAnswer(status=status, failing=sorted(health.problems), details=details)


@router.get(
    "/metrics",
    dependencies=[READ],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """Figures of this server, of the queue and of its workers, for Prometheus."""
    found = request.app.state.metrics
    assert isinstance(found, Metrics), "make_app sets it"  # noqa: S101  # our own bug otherwise
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)


def _look(request: Request) -> tuple[Health, bool]:
    """How it is, and whether the caller may see details."""
    service = service_of(request)
    health = service.checkup.look()
    # What the broker said a moment ago may still be kept while it hangs already.
    may_read = health.crew is not None and in_time(lambda: _may_read(request, service), wait_s=BROKER_WAIT_S)
    return health, bool(may_read)


def _details(health: Health) -> Details:
    crew = health.crew
    return Details(
        problems=health.problems,
        workers=None if crew is None else Crew(count=len(crew.workers), by_device=crew.by_device, models=crew.models),
        queue=None if crew is None else Queue.of(crew.depth),
    )


def _may_read(request: Request, service: Service) -> bool:
    """Whether the caller may see details. Nobody may while the broker, which knows the tokens, is away."""
    try:
        caller = caller_of(request, service)
    except (ApiError, JobsError):
        return False
    return caller.token is None or Scope.READ in caller.token.scopes
