"""Which segments a worker gets and what a crash means: the mirror of `scripts/lease.lua` and `crashed.lua`. Pure."""

from __future__ import annotations

from jobs.kinds import Grade
from jobs.protocols import Verdict
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.truth.memory_kept import OPEN_STATES, Job, Ref, Worker, ref_name
from jobs.truth.memory_state import State
from jobs.truth.rules import BLAME_LIMIT, CRASH_REASON, QUANTUM


class Leasing:
    """One lease of one worker."""

    def __init__(self, state: State, worker: Worker, *, want: int, live_only: bool) -> None:
        self._state = state
        self._worker = worker
        self._want = want
        self._live_only = live_only
        self._tasks: list[SegmentTask] = []

    def run(self) -> list[SegmentTask]:
        """Suspects first, one group on board at a time; one that was blamed alone; then the lanes in fair order."""
        on_board = [ref for ref in self._worker.held if ref in self._state.blame]
        alone = any(self._state.blame[ref] > 0 for ref in on_board)
        if not on_board:
            alone = self._take_suspects()
        for number in sorted(self._state.ready):
            if not alone and (number == 0 or not self._live_only):
                self._take_lanes(number)
        return self._tasks

    @property
    def _room(self) -> int:
        return self._want - len(self._tasks)

    def _may_take(self, job: Job) -> bool:
        fits = job.record.spec.engine in self._worker.info.models
        return job.record.state in OPEN_STATES and fits and (job.priority_class == 0 or not self._live_only)

    def _hold(self, ref: Ref) -> None:
        job = self._state.jobs[ref[0]]
        self._worker.held.add(ref)
        self._tasks.append(job.tasks[ref[1]])
        self._state.change(job, held=job.record.held + 1)
        if job.record.state is JobState.QUEUED:
            self._state.set_state(job, JobState.RUNNING)

    def _take_suspects(self) -> bool:
        """Take from the first group with something for this worker; returns whether it must stay alone."""
        for place, group in enumerate(self._state.suspects):
            blamed = any(self._state.blame[ref] > 0 for ref in group)
            taken = [ref for ref in group if self._may_take(self._state.jobs[ref[0]])][: max(0, self._room)]
            if taken and not (blamed and self._worker.held):
                kept = [ref for ref in group if ref not in taken]
                self._state.suspects[place : place + 1] = [kept] if kept else []
                for ref in taken:
                    self._hold(ref)
                return blamed
        return False

    def _take_lanes(self, number: int) -> None:
        lanes = self._state.ready[number]
        while self._room > 0:
            fitting = [(time, name) for name, time in lanes.items() if self._may_take(self._state.jobs[name])]
            if not fitting:
                return
            virtual_time, name = min(fitting)
            job = self._state.jobs[name]
            segments = sorted(job.waiting, key=job.waiting.__getitem__)[: min(QUANTUM, self._room)]
            self._state.virtual_now[number] = max(self._state.virtual_now[number], virtual_time)
            job.virtual_time = lanes[name] = virtual_time + len(segments)
            for segment in segments:
                del job.waiting[segment]
                self._hold((name, segment))
            self._state.sync_lane(job)


def judge(state: State, worker: str) -> Verdict:
    """Bury a worker whose process died and apply the poison rule to what it held."""
    held = state.remove_worker(worker)
    board = [ref for ref in held if state.goes_on(ref[0])]
    suspects = [ref for ref in board if ref in state.blame]
    several = len(suspects) > 1
    culprit = suspects[0] if len(suspects) == 1 else None

    apart: list[Ref] = []
    rest: list[Ref] = []
    dead: list[Ref] = []
    for ref in board:
        if ref == culprit:
            state.blame[ref] = state.blame.get(ref, 0) + 1
            (dead if state.blame[ref] >= BLAME_LIMIT else apart).append(ref)
        elif several and ref in suspects:
            apart.append(ref)
        else:
            if not several:
                state.blame.setdefault(ref, 0)
            rest.append(ref)
    for ref in apart:
        job = state.jobs[ref[0]]
        state.change(job, held=job.record.held - 1)
        state.push_suspects([ref])
    for ref in dead:
        _give_up(state, ref)
    back = state.put_back(ref for ref in held if ref not in board)
    back += state.put_back(rest)
    return Verdict(
        returned=tuple(ref_name(ref) for ref in back if ref not in state.blame),
        suspects=tuple(ref_name(ref) for ref in (*apart, *(ref for ref in back if ref in state.blame))),
        dead=tuple(ref_name(ref) for ref in dead),
    )


def _give_up(state: State, ref: Ref) -> None:
    job = state.jobs[ref[0]]
    task = job.tasks[ref[1]]
    result = SegmentResult(
        job=task.job,
        segment=task.segment,
        chapter=task.chapter,
        state=SegmentState.FAILED,
        take=task.take,
        reason=CRASH_REASON,
        attempt=task.attempt,
        takes=task.attempt + 1,
        grade=Grade.UNUSABLE,
    )
    state.finish_segment(job, task.chapter, result)
