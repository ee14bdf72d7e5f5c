"""What the memory truth keeps of jobs, workers and steps, and its lock. Knows no moves."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from jobs.protocols import Beat, Step, StepKind
from jobs.spec import JobRecord, SegmentResult, SegmentTask, WorkerInfo
from jobs.state import FINAL_JOB_STATES, JobState
from jobs.truth.rules import PRIORITY_CLASS

Ref = tuple[str, int]
"""(job, segment): sorts in reading order."""
NO_BEAT = Beat(slots_busy=0, segments_done=0, audio_s=0.0)
OPEN_STATES = frozenset({JobState.QUEUED, JobState.RUNNING})


def ref_name(ref: Ref) -> str:
    """`<job>|<segment>`."""
    return f"{ref[0]}|{ref[1]}"


def parse_ref(name: str) -> Ref:
    """The reverse of `ref_name`."""
    job, _bar, segment = name.rpartition("|")
    return job, int(segment)


@dataclass(slots=True)
class Job:
    """One job. `waiting` maps a segment to its order; `left` a chapter to its unfinished segments.

    A speech request has no chapters, and is forgotten when `gone_at_s` is over.
    """

    record: JobRecord
    touched_at_s: float
    planned: bool = False
    speech: bool = False
    wanted_at_s: float = 0.0
    gone_at_s: float = math.inf
    virtual_time: float = 0
    tasks: dict[int, SegmentTask] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    assembled: set[int] = field(default_factory=set)
    results: dict[int, SegmentResult] = field(default_factory=dict)
    starts: dict[tuple[StepKind, int | None, int | None], int] = field(default_factory=dict)

    @property
    def priority_class(self) -> int:
        """Its class as a number."""
        return PRIORITY_CLASS[self.record.spec.priority]

    @property
    def unfinished(self) -> int:
        """Segments neither done nor failed."""
        return self.record.total - self.record.done - self.record.failed

    @property
    def all_assembled(self) -> bool:
        """Whether the audio of every chapter is in the store."""
        return len(self.assembled) == self.record.chapters

    @property
    def takes_nothing_back(self) -> bool:
        """Whether segments that nobody holds any more vanish: it was cancelled, or is a speech request that is over."""
        return self.record.state in (FINAL_JOB_STATES if self.speech else {JobState.CANCELLED})

    def awaits_assembly(self, chapter: int) -> bool:
        """Whether a chapter can be assembled and is not yet."""
        return self.left.get(chapter) == 0 and chapter not in self.assembled

    def calls_for(self, kind: StepKind, chapter: int | None) -> bool:
        """Whether a step is (still) to be done."""
        state = self.record.state
        if state in FINAL_JOB_STATES:
            return False
        if kind is StepKind.PLAN:
            return state is JobState.PLANNING
        if kind in (StepKind.CHECK, StepKind.ASSEMBLE):
            return chapter is not None and self.awaits_assembly(chapter)
        return state is JobState.ASSEMBLING and self.all_assembled

    def forget_starts(self, kind: StepKind, chapter: int) -> None:
        """Forget how often the steps of a kind were started for a chapter, whichever part they were for."""
        self.starts = {name: count for name, count in self.starts.items() if name[:2] != (kind, chapter)}


@dataclass(slots=True)
class Worker:
    """One living worker and what it holds."""

    info: WorkerInfo
    beat_at_s: float
    beat: Beat = NO_BEAT
    figures: dict[str, float] = field(default_factory=dict)
    held: set[Ref] = field(default_factory=set)


@dataclass(slots=True)
class OutboxEntry:
    """One step; `taken_at_s` is None until a consumer took it."""

    step: Step
    taken_at_s: float | None = None


class Changed(threading.Condition):
    """The lock of every move. Whoever takes it does `first` with it."""

    def __init__(self, first: Callable[[], None]) -> None:
        super().__init__(threading.RLock())
        self._first = first

    def __enter__(self) -> bool:
        entered = super().__enter__()
        self._first()
        return entered
