"""Boards: what is looked at again and again of a job (its plan, its results, where it is heard), kept in memory.

Reading a book of 50,000 segments takes seconds, its results a good part of one; a page asks every other second. What is
kept is only a copy: it is made anew when the job's record has changed, and any process can make it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jobs.cost import RunReport, run_report
from jobs.kinds import Grade
from jobs.plan import Plan
from jobs.plan_store import load_plan
from jobs.positions import Starts, starts
from jobs.progress import audio_s_of
from jobs.protocols import Store, Truth
from jobs.spec import JobRecord, SegmentResult
from jobs.state import FINAL_JOB_STATES, SegmentState

MAX_SEGMENTS = 200_000
"""Segments of all boards together; the one that was looked at least recently goes first."""
OFTEN = 4.0
"""Results of a job that goes on are read again after so many times as long as reading them took: a fifth of the time at
most is spent on it."""


@dataclass(frozen=True, slots=True)
class ChapterSums:
    """What became of the segments of a chapter; `audio_s` is the length of its takes, without pauses."""

    done: int
    failed: int
    marked: int
    audio_s: float


@dataclass(frozen=True)
class Board:
    """A job as it was at one moment. Figures that take time are made when they are first asked for."""

    plan: Plan
    results: Mapping[int, SegmentResult]
    assembled: frozenset[int]

    @cached_property
    def starts(self) -> Starts:
        """Where its segments begin in its audio."""
        return starts(self.plan, self.results)

    def start_s(self, segment: int) -> float | None:
        """Where a segment begins in its audio; None: not known yet."""
        return 0.0 if segment == 0 else self.starts.seconds(segment)

    @property
    def known_s(self) -> float:
        """How far its audio can be heard without a gap."""
        return self.start_s(len(self.starts.samples) - 1) or 0.0

    @cached_property
    def run(self) -> RunReport:
        """What it cost, without a price."""
        return run_report(self.results.values())

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first segment of each chapter."""
        firsts, place = [], 0
        for chapter in self.plan.chapters:
            firsts.append(place)
            place += chapter.segments
        return tuple(firsts)

    @cached_property
    def chapters(self) -> tuple[ChapterSums, ...]:
        """What became of each chapter."""
        segments = self.plan.segments
        return tuple(
            _sums([self.results[one.segment] for one in segments[first : first + size] if one.segment in self.results])
            for first, size in zip(self.firsts, (chapter.segments for chapter in self.plan.chapters), strict=True)
        )

    @cached_property
    def bad(self) -> tuple[int, ...]:
        """The numbers of the segments that failed or have no good take, in order."""
        return tuple(sorted(number for number, result in self.results.items() if _is_bad(result)))


def _sums(results: Sequence[SegmentResult]) -> ChapterSums:
    done = [result for result in results if result.state is SegmentState.DONE]
    return ChapterSums(
        done=len(done),
        failed=len(results) - len(done),
        marked=sum(map(_is_bad, done)),
        audio_s=round(sum(map(audio_s_of, done)), 3),
    )


def _is_bad(result: SegmentResult) -> bool:
    return result.state is SegmentState.FAILED or result.grade is not Grade.GOOD


@dataclass
class _Kept:
    board: Board
    seen: JobRecord
    made_at_s: float
    took_s: float


class Boards:
    """The boards of jobs that were looked at lately. May be used by many threads."""

    def __init__(self, *, max_segments: int = MAX_SEGMENTS, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_segments = max_segments
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def of(self, record: JobRecord, truth: Truth, store: Store) -> Board:
        """The board of a job. While its state stays the same, it may be as old as OFTEN times what making it takes.

        Raises:
            ObjectMissing: its plan is not in the store.
            ObjectDamaged: what is there is no plan.
        """
        with self._lock:
            making = self._making.setdefault(record.job, threading.Lock())
        with making:  # several look at one book: it is read once
            kept = self._kept.get(record.job)
            if kept is None or not self._is_good(kept, record):
                kept = self._make(record, truth, load_plan(store, record.job) if kept is None else kept.board.plan)
        with self._lock:
            self._kept[record.job] = kept
            self._kept.move_to_end(record.job)
            self._forget_some()
        return kept.board

    def _is_good(self, kept: _Kept, record: JobRecord) -> bool:
        if kept.seen == record:
            return True
        same = (kept.seen.created_at_s, kept.seen.state) == (record.created_at_s, record.state)
        goes_on = record.state not in FINAL_JOB_STATES
        return same and goes_on and self._clock() < kept.made_at_s + OFTEN * kept.took_s

    def _make(self, record: JobRecord, truth: Truth, plan: Plan) -> _Kept:
        """The results are read after the record: what is newer than it is only seen too early."""
        start_s = self._clock()
        board = Board(plan, truth.results(record.job), truth.assembled(record.job))
        made_at_s = self._clock()
        return _Kept(board, record, made_at_s, made_at_s - start_s)

    def _forget_some(self) -> None:
        held = sum(len(kept.board.plan.segments) for kept in self._kept.values())
        while held > self._max_segments and len(self._kept) > 1:
            job, kept = self._kept.popitem(last=False)
            self._making.pop(job, None)
            held -= len(kept.board.plan.segments)
