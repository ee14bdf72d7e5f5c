"""The application: every router, errors in one form, nothing of the framework's own pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cli.api import (
    batches,
    errors,
    files,
    health,
    job_audio,
    job_events,
    job_files,
    jobs,
    middleware,
    models,
    page,
    plans,
    session,
    speech,
    voices,
    workers,
)
from cli.api.metrics import Measured, Metrics
from cli.api.pump import Pump
from cli.api.service import Service

ROUTERS = (
    ("jobs", jobs.router),
    ("jobs", plans.router),
    ("jobs", job_events.router),
    ("jobs", job_audio.router),
    ("jobs", job_files.router),
    ("speech", speech.router),
    ("models", models.router),
    ("voices", voices.router),
    ("files", files.router),
    ("batches", batches.router),
    ("workers", workers.router),
    ("session", session.router),
    ("health", health.router),
    ("page", page.router),
)
"""Each with the tag that its routes have in the API's description."""


def make_app(service: Service) -> FastAPI:
    """The ASGI application over one service."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.pump = Pump(service.limits.streams)
        try:
            with service.running():
                yield
        finally:
            app.state.pump.close()

    app = FastAPI(
        title="tts-batch",
        version=version("tts-batch"),
        description="Batch speech synthesis: jobs, speech at once, files and batches, in OpenAI's shapes.",
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would send whoever asks to whatever host the request names, and from TLS to none
        responses=errors.ON_EVERY_ROUTE,
        generate_unique_id_function=_operation_id,
    )
    app.state.service = service
    app.state.metrics = Metrics(service, lambda: app.state.pump.running if hasattr(app.state, "pump") else 0)
    errors.add_to(app)
    middleware.add_to(app, service)
    app.add_middleware(Measured, metrics=app.state.metrics)
    for tag, router in ROUTERS:
        app.include_router(router, tags=[] if router.tags else [tag])
    return app


def _operation_id(route: APIRoute) -> str:
    """The function's name, as `retrieve_job`: generated clients call their methods so, and none comes twice."""
    return route.name
