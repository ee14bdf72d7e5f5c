"""MemoryTruth: `jobs.protocols.Truth` in one process, for tests and demonstrations. Written to be read, not for speed.

Same semantics as RedisTruth, checked side by side in `tests/contract/`. Nothing survives the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from jobs.figures import Total
from jobs.protocols import Beat, Depth, Step, StepKind, Verdict
from jobs.spec import SegmentResult, SegmentTask, WorkerInfo, WorkerStatus
from jobs.state import JobState
from jobs.streams.memory import MemoryStreams
from jobs.truth.memory_kept import OPEN_STATES, Job, OutboxEntry, Worker, parse_ref
from jobs.truth.memory_lease import Leasing, judge
from jobs.truth.memory_lists import MemoryLists
from jobs.truth.rules import (
    CLAIM_AFTER_S,
    LEFT_REASON,
    PRIORITY_CLASS,
    RECONCILE_AFTER_S,
    SPEECH_TTL_S,
    WORKER_TTL_S,
    check_results,
    fenced,
)

T = TypeVar("T")


class MemoryTruth(MemoryLists):
    """The whole truth: jobs, and the workers and the outbox. May be used by many threads."""

    def __init__(
        self,
        streams: MemoryStreams,
        *,
        worker_ttl_s: float = WORKER_TTL_S,
        claim_after_s: float = CLAIM_AFTER_S,
        reconcile_after_s: float = RECONCILE_AFTER_S,
        speech_ttl_s: float = SPEECH_TTL_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(streams, clock, speech_ttl_s)
        self._worker_ttl_s = worker_ttl_s
        self._claim_after_s = claim_after_s
        self._reconcile_after_s = reconcile_after_s
        self._seen = threading.local()

    def register(self, info: WorkerInfo) -> None:
        """Make a worker known."""
        with self._changed:
            known = self._state.workers.setdefault(info.worker, Worker(info, 0.0))
            known.info, known.beat_at_s = info, self._state.clock()

    def beat(self, worker: str, beat: Beat) -> frozenset[str]:
        """Heartbeat; returns the jobs among those it holds that are over. Raises Fenced."""
        with self._changed:
            me = self._worker(worker)
            me.beat_at_s, me.beat = self._state.clock(), beat
            me.figures = dict(beat.figures) if beat.figures is not None else me.figures
            jobs = {ref[0] for ref in me.held}
            return frozenset(job for job in jobs if not self._state.goes_on(job))

    def lease(self, worker: str, want: int, *, live_only: bool = False) -> list[SegmentTask]:
        """Take up to `want` segments. Raises Fenced."""
        with self._changed:
            me = self._worker(worker)
            return Leasing(self._state, me, want=want, live_only=live_only).run() if want > 0 else []

    def finish(self, worker: str, results: Sequence[SegmentResult]) -> list[bool]:
        """Report results; False for one finished before, not held, or whose job is over. Raises Fenced, ValueError."""
        check_results(results)
        with self._changed:
            me = self._worker(worker)
            accepted = [self._accept(me, result) for result in results]
            self._changed.notify_all()
            return accepted

    def give_back(self, worker: str, refs: Sequence[str] | None = None) -> int:
        """Put held segments back to waiting; returns how many wait again."""
        with self._changed:
            if worker not in self._state.workers:
                return 0
            me = self._state.workers[worker]
            given = set(me.held) if refs is None else me.held & {parse_ref(ref) for ref in refs}
            me.held -= given
            returned = len(self._state.put_back(given))
            self._state.count(Total.GIVEN_BACK, returned, label="asked")
            return self._woken(returned)

    def crashed(self, worker: str) -> Verdict:
        """Apply the poison rule and bury the worker."""
        with self._changed:
            verdict = judge(self._state, worker)
            returned, suspects = len(verdict.returned), len(verdict.suspects)
            self._state.count(Total.GIVEN_BACK, returned + suspects, label="crashed")
            self._state.count(Total.SUSPECTS, suspects)
            return self._woken(verdict)

    def retire(self, worker: str) -> None:
        """Give back what it holds and take it off the list."""
        with self._changed:
            returned = self._woken(self._state.put_back(self._state.remove_worker(worker)))
            self._state.count(Total.GIVEN_BACK, len(returned), label="retired")

    def sweep(self) -> list[str]:
        """Bury silent workers, give up speech requests that nobody waits for; returns the buried.

        Counts cannot come apart in memory.
        """
        with self._changed:
            oldest_s = self._state.clock() - self._worker_ttl_s
            stale = sorted(name for name, entry in self._state.workers.items() if entry.beat_at_s < oldest_s)
            for worker in stale:
                returned = self._state.put_back(self._state.remove_worker(worker))
                self._state.count(Total.GIVEN_BACK, len(returned), label="silent")
            for job in self._state.left_speech():
                self._move(job, JobState.FAILED, LEFT_REASON)
            return self._woken(stale)

    def workers(self) -> list[WorkerStatus]:
        """All living workers, by name."""
        with self._changed:
            return [
                WorkerStatus(
                    info=entry.info,
                    beat_age_s=max(0.0, self._state.clock() - entry.beat_at_s),
                    held=len(entry.held),
                    slots_busy=entry.beat.slots_busy,
                    segments_done=entry.beat.segments_done,
                    audio_s=entry.beat.audio_s,
                    figures=entry.figures,
                )
                for _name, entry in sorted(self._state.workers.items())
            ]

    def depth(self) -> Depth:
        """How much waits, by class (suspects in their own, paused jobs not at all), and how much workers hold."""
        with self._changed:
            waiting = {priority: self._state.waiting_in(number) for priority, number in PRIORITY_CLASS.items()}
            held = sum(len(worker.held) for worker in self._state.workers.values())
            return Depth(waiting, held, len(self._state.outbox))

    def wait_for_work(self, timeout_s: float) -> bool:
        """Sleep until something was queued since this thread's last call (at its first: ever); False: time is up."""
        seen: int = getattr(self._seen, "wakes", 0)
        with self._changed:
            woken = self._changed.wait_for(lambda: self._state.wakes > seen, timeout_s)
            self._seen.wakes = self._state.wakes
            return woken

    def take_steps(self, consumer: str, *, limit: int, timeout_s: float) -> list[Step]:  # noqa: ARG002  # for pending lists
        """Steps to hand over, oldest first: those left unconfirmed for a while, else new ones."""
        with self._changed:
            taken = self._changed.wait_for(lambda: self._takeable()[:limit], timeout_s)
            for entry in taken:
                entry.taken_at_s = self._state.clock()
            return [entry.step for entry in taken]

    def step_sent(self, step: Step) -> None:
        """Take a step off the outbox."""
        with self._changed:
            self._state.outbox = [entry for entry in self._state.outbox if entry.step.entry != step.entry]

    def reconcile(self, *, quiet_s: float | None = None) -> list[Step]:
        """Put steps back that the truth calls for but that neither wait in the outbox nor were done for a while."""
        with self._changed:
            since_s = self._state.clock() - (self._reconcile_after_s if quiet_s is None else quiet_s)
            entries = [self._state.jobs[record.job] for record in self.jobs()]
            quiet = [entry for entry in entries if entry.touched_at_s <= since_s]
            left = self._unconfirmed(since_s)
            self._state.outbox = [entry for entry in self._state.outbox if entry not in left]
            lost = [_name(entry) for entry in left]
            lost += [(entry.record.job, *step, None) for entry in quiet for step in self._called_for(entry)]
            there = set(map(_name, self._state.outbox))
            steps = [
                self._state.put_step(name[1], self._state.jobs[name[0]], *name[2:])
                for name in dict.fromkeys(lost)  # once each, in this order
                if name[0] in self._state.jobs and name not in there
            ]
            return self._woken(steps)

    def _worker(self, worker: str) -> Worker:
        if worker not in self._state.workers:
            raise fenced(worker)
        return self._state.workers[worker]

    def _accept(self, me: Worker, result: SegmentResult) -> bool:
        ref = (result.job, result.segment)
        if ref not in me.held:
            return False
        me.held.remove(ref)
        if not self._state.goes_on(result.job):
            self._state.put_back([ref])
            return False
        job = self._state.jobs[result.job]
        self._state.finish_segment(job, job.tasks[result.segment].chapter, result)
        return True

    def _takeable(self) -> list[OutboxEntry]:
        left = self._unconfirmed(self._state.clock() - self._claim_after_s)
        return left or [entry for entry in self._state.outbox if entry.taken_at_s is None]

    def _unconfirmed(self, since_s: float) -> list[OutboxEntry]:
        return [entry for entry in self._state.outbox if entry.taken_at_s is not None and entry.taken_at_s <= since_s]

    def _called_for(self, entry: Job) -> list[tuple[StepKind, int | None]]:
        if entry.record.state is JobState.PLANNING:
            return [(StepKind.PLAN, None)]
        is_at_work = entry.record.state in OPEN_STATES | {JobState.ASSEMBLING}
        return self._state.closing_steps(entry) if is_at_work else []

    def _woken(self, value: T) -> T:
        """Tell waiting threads that something may have changed; hands the value through."""
        self._changed.notify_all()
        return value


def _name(entry: OutboxEntry) -> tuple[str, StepKind, int | None, int | None]:
    return entry.step.job, entry.step.kind, entry.step.chapter, entry.step.part
