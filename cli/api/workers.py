"""`/v1/workers`: the machines that speak, their slots and the queue over time."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from cli.api.access import READ
from cli.api.service import Served
from jobs.history import Sample
from jobs.protocols import Depth
from jobs.spec import Priority, WorkerStatus

router = APIRouter(dependencies=[READ])


class Queue(BaseModel):
    """Segments: those that wait, by class (paused jobs aside), and those that workers hold."""

    live: int
    normal: int
    bulk: int
    held: int

    @classmethod
    def of(cls, depth: Depth) -> Queue:
        """The same as JSON has it."""
        waiting = {priority: depth.waiting.get(priority, 0) for priority in Priority}
        return cls(
            live=waiting[Priority.LIVE],
            normal=waiting[Priority.NORMAL],
            bulk=waiting[Priority.BULK],
            held=depth.held,
        )


class Worker(BaseModel):
    """A living worker. `segments_done` and `audio_s` count since it started, `beat_age_s` from its last heartbeat."""

    worker: str
    host: str
    device: str
    models: list[str]
    slots: int
    slots_busy: int
    held: int
    segments_done: int
    audio_s: float
    beat_age_s: float


class WorkerList(BaseModel):
    """All living workers and what there is to do."""

    object: Literal["list"] = "list"
    data: list[Worker]
    queue: Queue


class WorkerThen(BaseModel):
    """A worker at one time."""

    worker: str
    slots: int
    slots_busy: int
    audio_s: float


class Then(BaseModel):
    """Queue and workers at one time; `at` in seconds since 1970."""

    at: float
    queue: Queue
    workers: list[WorkerThen]

    @classmethod
    def of(cls, sample: Sample) -> Then:
        """The same as JSON has it."""
        workers = [
            WorkerThen(worker=one.worker, slots=one.slots, slots_busy=one.slots_busy, audio_s=one.audio_s)
            for one in sample.workers
        ]
        return cls(at=round(sample.at_s, 3), queue=Queue.of(sample.depth), workers=workers)


class WorkerHistory(BaseModel):
    """The last hour as this server saw it, oldest first. Another server, or this one started anew, has its own."""

    every_s: float
    samples: list[Then]


@router.get("/v1/workers")
def list_workers(service: Served) -> WorkerList:
    """List the workers that are alive, and how much waits."""
    workers = sorted(service.truth.workers(), key=lambda status: status.info.worker)
    return WorkerList(data=[_worker(status) for status in workers], queue=Queue.of(service.truth.depth()))


@router.get("/v1/workers/history")
def worker_history(service: Served) -> WorkerHistory:
    """Queue and workers over the last hour."""
    return WorkerHistory(every_s=service.history.every_s, samples=[Then.of(one) for one in service.history.samples()])


def _worker(status: WorkerStatus) -> Worker:
    info = status.info
    return Worker(
        worker=info.worker,
        host=info.host,
        device=info.device,
        models=sorted(offer.name for offer in info.offers) or list(info.models),
        slots=info.slots,
        slots_busy=status.slots_busy,
        held=status.held,
        segments_done=status.segments_done,
        audio_s=round(status.audio_s, 3),
        beat_age_s=round(status.beat_age_s, 3),
    )
