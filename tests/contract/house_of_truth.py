"""A truth with its streams, of either kind, and what tests of both do with it."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.events import EventKind
from jobs.protocols import Beat, Step, StepKind, Streams, Truth
from jobs.spec import Priority, SegmentTask
from tests.helpers_truth import record, result, tasks, worker

TTL_S = 0.15
BEAT = Beat(slots_busy=3, segments_done=5, audio_s=2.5)


@dataclass
class House:
    truth: Truth
    streams: Streams

    def queue(self, job: str, count: int, *, priority: Priority = Priority.NORMAL, model: str = "m") -> None:
        assert self.truth.create_job(record(job, priority=priority, model=model))
        self.truth.enqueue(job, tasks(job, count, model=model), [])

    def speak(self, job: str, count: int) -> None:
        """Queue, lease and finish a whole job."""
        self.queue(job, count)
        self.truth.register(worker("speaker"))
        while held := self.truth.lease("speaker", 64):
            self.truth.finish("speaker", [result(task) for task in held])

    def steps(self) -> list[Step]:
        """All steps in the outbox, confirmed."""
        found = []
        while batch := self.truth.take_steps("c", limit=100, timeout_s=0):
            found += batch
            for step in batch:
                self.truth.step_sent(step)
        return found

    def kinds(self, job: str) -> list[str]:
        return [event.state if event.kind is EventKind.JOB else event.kind for _id, event in self.streams.events(job)]


def segments_of(leased: list[SegmentTask]) -> list[int]:
    return [task.segment for task in leased]


def names(found: list[Step]) -> list[tuple[StepKind, int | None]]:
    return [(step.kind, step.chapter) for step in found]
