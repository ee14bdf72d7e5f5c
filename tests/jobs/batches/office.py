"""A desk of batches in memory, with a clock that stands, and a worker that speaks when it is told to."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import av
import numpy as np

from jobs.batches.batches import Batch, Batches, Order
from jobs.batches.clerk import Clerk
from jobs.batches.desk import Desk
from jobs.batches.records import FileRecord, Submitted
from jobs.connect import open_broker
from jobs.protocols import Store
from jobs.settings import Settings
from jobs.spec import ModelOffer, SegmentResult, SegmentTask, WorkerInfo
from jobs.state import SegmentState
from jobs.stores import open_store
from jobs.takes import TakeOrigin, write_take
from tests.workers.making import Tap
from workers.catalog import find_offer
from workers.context import Context
from workers.steps import run_step

WORKER = "by-hand"
RATE_HZ = 24_000
SAMPLES_PER_CHAR = 1200
NOW_S = 1_800_000_000.0


def request(custom_id: str, text: str = "A line is here.", **body: Any) -> dict[str, Any]:
    """One good line."""
    asked = {"model": "fake", "input": text, "response_format": "wav"} | body
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/audio/speech", "body": asked}


def jsonl(lines: Iterable[Any]) -> bytes:
    """Lines as a file; bytes are taken as they are."""
    return b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)


@dataclass
class Office:
    """Everything of one queue. `now_s` is the time; `offers` is what workers speak."""

    now_s: float = NOW_S
    offers: list[ModelOffer] = field(default_factory=lambda: [find_offer("fake", voice=None, precision="auto")])

    def __post_init__(self) -> None:
        settings = Settings(broker="memory://", worker_ttl_s=10_000.0)
        broker = open_broker("memory://", settings)
        self.truth = broker.truth
        self.store: Store = open_store(f"memory://{uuid4().hex}")
        self.context = Context(settings, self.truth, broker.streams, {self.store.url: self.store})
        engines = tuple(offer.engine for offer in self.offers)
        info = WorkerInfo(worker=WORKER, host="here", pid=1, device="cpu", slots=4, models=engines, started_at_s=1.0)
        self.truth.register(info)
        self.desk = self.desk_over(self.store)
        self.batches = Batches(self.desk)
        self.clerk = Clerk(self.desk)

    def desk_over(self, store: Store) -> Desk:
        """A desk of another server; `store` may have a tap."""
        return Desk(
            self.truth, store, lambda: self.offers, {"tts-1": "fake", "alloy": "tone-low"}, clock=lambda: self.now_s
        )

    def other_clerk(self, before: Callable[[str, tuple[Any, ...]], None]) -> Clerk:
        """One whose every call of the store is told beforehand."""
        return Clerk(self.desk_over(Tap(self.store, before)))

    def upload(self, *lines: Any) -> FileRecord:
        return self.desk.files.keep(io.BytesIO(jsonl(lines)), filename="lines.jsonl")

    def begin(self, *lines: Any, rounds: int = 1, **order: Any) -> str:
        """A batch of these lines; returns its id."""
        batch = self.batches.create(Order(self.upload(*lines).id, **order)).id
        for _ in range(rounds):
            self.clerk.round()
        return batch

    def now(self, batch: str) -> Batch:
        return self.batches.get(batch)

    def jobs(self, batch: str) -> list[str]:
        submitted = self.now(batch).submitted
        assert isinstance(submitted, Submitted)
        return [part.job for part in submitted.jobs]

    def lease(self, want: int = 100) -> list[SegmentTask]:
        return self.truth.lease(WORKER, want)

    def speak(self, want: int = 100_000) -> int:
        """Speak so many segments; returns how many there were."""
        tasks = self.lease(want)
        for task in tasks:
            self.speak_one(task)
        return len(tasks)

    def speak_one(self, task: SegmentTask, **fields: Any) -> None:
        """Keep a take of a task and report it."""
        samples = voice_of(task)
        write_take(self.store, task.take, samples, sample_rate_hz=RATE_HZ, origin=origin_of(task))
        self.finish(task, SegmentState.DONE, samples=samples.size, sample_rate_hz=RATE_HZ, **fields)

    def finish(self, task: SegmentTask, state: SegmentState, **fields: Any) -> None:
        shown = {"attempt": task.attempt, "takes": task.attempt + 1} | fields
        told = SegmentResult(
            job=task.job, segment=task.segment, chapter=task.chapter, take=task.take, state=state, **shown
        )
        assert self.truth.finish(WORKER, [told]) == [True]

    def work(self) -> None:
        """Speak all there is and do the steps of its jobs."""
        while self.speak() + self.steps():
            pass

    def steps(self) -> int:
        """Do the steps that are called for; returns how many."""
        steps = self.truth.take_steps("tests", limit=100, timeout_s=0.0)
        for step in steps:
            run_step(self.context, step.kind, step.job, step.chapter, step.part)
            self.truth.step_sent(step)
        return len(steps)

    def lines(self, file: str | None) -> list[dict[str, Any]]:
        """What is in an output or error file; nothing if there is none."""
        if file is None:
            return []
        with self.desk.files.open(file) as content:
            return [json.loads(line) for line in content.read().decode().split("\n") if line]

    def outputs(self, batch: str) -> list[dict[str, Any]]:
        end = self.now(batch).end
        assert end is not None
        return self.lines(end.output_file_id)

    def errors(self, batch: str) -> dict[str, str]:
        """The code of each line of the error file, by its id."""
        end = self.now(batch).end
        assert end is not None
        return {line["custom_id"]: code_of(line) for line in self.lines(end.error_file_id)}


def code_of(line: dict[str, Any]) -> str:
    """What a line of an error file says is wrong."""
    if line["error"] is not None:
        assert line["response"] is None
        return line["error"]["code"]
    return line["response"]["body"]["error"]["code"]


def voice_of(task: SegmentTask) -> np.ndarray:
    """What a task sounds like: noise that belongs to its take, as long as its text."""
    seed = int.from_bytes(hashlib.blake2b(task.take.encode(), digest_size=8).digest(), "big")
    noise = np.random.default_rng(seed)
    return noise.uniform(-0.1, 0.1, SAMPLES_PER_CHAR * len(task.spoken)).astype(np.float32)


def origin_of(task: SegmentTask) -> TakeOrigin:
    return TakeOrigin(
        model=task.model,
        voice=task.voice,
        language=task.language,
        spoken=task.spoken,
        seed=task.seed,
        speed=task.speed,
        numerics=task.numerics,
    )


def decoded_s(audio_format: str, data: bytes) -> float:
    """How long audio is, decoded, in seconds."""
    if audio_format == "pcm":
        return len(data) / 2 / RATE_HZ
    with av.open(io.BytesIO(data)) as file:
        samples = sum(frame.samples for frame in file.decode(audio=0))
        return samples / file.streams.audio[0].rate


SLACK_S = {"mp3": 0.12, "aac": 0.15, "opus": 0.02, "flac": 0.0, "wav": 0.0, "pcm": 0.0}
"""How much longer a codec makes a stream: its delay, and its last, whole frame."""
