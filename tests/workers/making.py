"""A machine room in this process: memory truth, streams and store, the fake model, taps on the walls, a gate."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from engine.request import Request, Samples
from jobs import keys
from jobs.connect import open_broker
from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk, Event, EventKind
from jobs.kinds import OnBad
from jobs.protocols import Store, Truth
from jobs.settings import Settings
from jobs.spec import AudioFormat, Checks, JobRecord, Priority, SegmentResult, SegmentTask
from jobs.state import JobState
from jobs.stores import open_store
from jobs.streams.memory import MemoryStreams
from jobs.submit import accept
from jobs.takes import open_samples
from jobs.tasks import tasks_of
from models import registry
from models.fake.faults import MARK
from models.fake.hearing import transcribe
from models.fake.program import FakeProgram
from models.fake.score import Note, notes_of
from workers.catalog import find_offer
from workers.context import Context
from workers.engines import EngineSettings
from workers.judging import Spoken
from workers.room import Room
from workers.room_config import RoomConfig
from workers.voicing import Voicing

WORKER = "here-1"
LONG = " ".join(["extraordinarily"] * 9)
"""Words for a sentence of several decoder windows."""
ONE_TAKE = Checks(takes=1, on_bad=OnBad.KEEP)
"""What a take that the checks call bad needs to be kept at once."""


class Tap:
    """Stands before a wall and passes every call on; `before(name, arguments)` may note the call or raise."""

    def __init__(self, inner: object, before: Callable[[str, tuple[Any, ...]], None]) -> None:
        self._inner = inner
        self._before = before

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **options: Any) -> Any:
            self._before(name, arguments)
            return attribute(*arguments, **options)

        return call


class Outage:
    """A broker that may go away: `Tap(truth, outage)`. `refused` counts what was asked of it meanwhile."""

    def __init__(self) -> None:
        self.away = threading.Event()
        self.refused: list[str] = []

    def __call__(self, name: str, _arguments: tuple[Any, ...]) -> None:
        if self.away.is_set():
            self.refused.append(name)
            raise BrokerUnavailable(f"away while asked for {name}")


@dataclass
class Stage:
    """The walls of one test. A tap is put in by `replace_truth` or `replace_store` before a room is made."""

    settings: Settings = field(default_factory=lambda: Settings(broker="memory://", worker_ttl_s=0.5))
    url: str = field(default_factory=lambda: f"memory://{uuid4().hex}")

    def __post_init__(self) -> None:
        broker = open_broker("memory://", self.settings)
        self.truth: Truth = broker.truth
        assert isinstance(broker.streams, MemoryStreams)
        self.streams = broker.streams
        self.store: Store = open_store(self.url)
        self.context = Context(self.settings, self.truth, self.streams, {self.url: self.store})

    def replace_truth(self, before: Callable[[str, tuple[Any, ...]], None]) -> None:
        self.context.truth = Tap(self.truth, before)

    def replace_store(self, before: Callable[[str, tuple[Any, ...]], None]) -> None:
        self.context._stores[self.url] = Tap(self.store, before)

    def draft(self, text: str, *, formats: tuple[AudioFormat, ...] = (AudioFormat.FLAC,), **wishes: Any) -> Draft:
        offer = find_offer("fake", voice=None, precision="auto")
        return make_draft(
            Source("book.txt", text.encode()), Wishes(offer=offer, store_url=self.url, formats=formats, **wishes)
        )

    def submit(self, text: str, **wishes: Any) -> list[SegmentTask]:
        """Plan and queue a text; returns its segments."""
        draft = self.draft(text, **wishes)
        accept(draft, self.truth, self.store)
        return tasks_of(draft.plan, draft.spec, draft.job)

    def queue(self, job: str, tasks: list[SegmentTask], *, priority: Priority = Priority.NORMAL) -> list[SegmentTask]:
        """Queue segments as they are given, under a job of their own."""
        spec = self.draft("One word.").spec.model_copy(update={"model": tasks[0].model, "priority": priority})
        self.truth.create_job(
            JobRecord(
                job=job, spec=spec, state=JobState.PLANNING, title=job, author="", created_at_s=1.0, updated_at_s=1.0
            )
        )
        own = [task.model_copy(update={"job": job, "segment": place}) for place, task in enumerate(tasks)]
        self.truth.enqueue(job, own, [])
        return own

    def speak(self, job: str, text: str, **wishes: Any) -> list[SegmentTask]:
        """Queue a speech request."""
        draft = self.draft(text, priority=Priority.LIVE, **wishes)
        tasks = [task.model_copy(update={"job": job}) for task in tasks_of(draft.plan, draft.spec, draft.job)]
        assert self.truth.speak(
            JobRecord(
                job=job,
                spec=draft.spec,
                state=JobState.PLANNING,
                title="",
                author="",
                created_at_s=time.time(),
                updated_at_s=time.time(),
            ),
            tasks,
        )
        return tasks

    def tasks(self, text: str, **wishes: Any) -> list[SegmentTask]:
        draft = self.draft(text, **wishes)
        return tasks_of(draft.plan, draft.spec, draft.job)

    def state(self, job: str) -> JobState:
        return self.truth.job(job).state

    def results(self, tasks: list[SegmentTask]) -> list[SegmentResult]:
        """The results of all segments of a job, in order."""
        results = self.truth.results(tasks[0].job)
        return [results[task.segment] for task in tasks]

    def takes(self) -> set[str]:
        """The takes that are whole in the store."""
        found = {key.rpartition("/")[2].removesuffix(".flac") for key in self.store.list("takes/") if "flac" in key}
        assert all(self.store.exists(keys.take_info(take)) for take in found)
        return found

    def heard(self, task: SegmentTask) -> tuple[Note | None, ...]:
        """What is said in the take of a segment."""
        return transcribe(open_samples(self.store, task.take).astype(np.float32) / 32767)

    def events(self, job: str) -> list[Event]:
        return [event for _id, event in self.streams.events(job)]

    def done_order(self, job: str) -> list[int | None]:
        return [event.segment for event in self.events(job) if event.kind is EventKind.SEGMENT_DONE]

    def chunks(self, job: str) -> list[AudioChunk]:
        """The whole live stream of a job."""
        chunks: list[AudioChunk] = []
        after = "0"
        while entries := self.streams.audio(job, after=after):
            chunks += [chunk for _id, chunk in entries]
            after = entries[-1][0]
        return chunks


def words(task: SegmentTask) -> tuple[Note, ...]:
    """What should be said."""
    return notes_of(MARK.sub(" ", task.spoken))


def lines(count: int, extra: str = "") -> str:
    """A text of that many segments."""
    return "\n\n".join(f"Number {chr(97 + place % 26) * (1 + place // 26)} {extra} is here." for place in range(count))


def voicing_of(task: SegmentTask) -> Voicing:
    """A segment in a slot of the fake."""
    request = Request(task.ref, None, seed=task.seed, length_hint=1)
    return Voicing(task, request, registry.card("fake"), numerics="fake-1", sample_rate_hz=24_000)


def nobody_speaks(_task: SegmentTask, _spoken: Spoken) -> bool:
    """An outlet's `again` that cannot."""
    return False


class Running:
    """A room at work in a thread."""

    def __init__(self, room: Room, grace_s: float) -> None:
        self.room = room
        self.flag = SimpleNamespace(stopping=False)
        self._statuses: list[int] = []
        self._thread = threading.Thread(target=self._run, args=(grace_s,), name="room")
        self._thread.start()

    def _run(self, grace_s: float) -> None:
        self._statuses.append(self.room.run(self.flag, grace_s=grace_s))

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> int:
        """SIGTERM, so to speak; returns the exit status."""
        self.flag.stopping = True
        return self.status()

    def status(self) -> int:
        """The exit status, once it has ended."""
        self._thread.join(20)
        assert self._statuses, "the room did not end"
        return self._statuses[0]


@contextmanager
def running(
    stage: Stage, *, slots: int = 4, worker: str = WORKER, grace_s: float = 20.0, models: tuple[str, ...] = ("fake",)
) -> Iterator[Running]:
    """A room for the time of the block."""
    config = RoomConfig(worker=worker, device="cpu", precision="auto", models=models, engine=EngineSettings(slots))
    run = Running(Room(config, stage.context), grace_s)
    try:
        yield run
    finally:
        run.stop()


class Gate:
    """Stands before every decoder window of the fake: `free` lets all pass, `let(n)` only so many."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._free = False
        self._permits = 0
        self._changed = threading.Condition()
        self.arrived = 0
        decode = FakeProgram.decode

        def gated(program: FakeProgram, *arguments: Any) -> Samples:
            with self._changed:
                self.arrived += 1
                assert self._changed.wait_for(lambda: self._free or self._permits > 0, 30), "the gate stayed shut"
                self._permits -= not self._free
            return decode(program, *arguments)

        monkeypatch.setattr(FakeProgram, "decode", gated)

    def let(self, windows: int) -> None:
        with self._changed:
            self._permits += windows
            self._changed.notify_all()

    def free(self) -> None:
        with self._changed:
            self._free = True
            self._changed.notify_all()


def until(condition: Callable[[], object], what: str, *, timeout_s: float = 20.0) -> None:
    """Wait until a condition holds; fails with what was waited for."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"waited {timeout_s:.0f} s in vain until {what}"
        time.sleep(0.002)
