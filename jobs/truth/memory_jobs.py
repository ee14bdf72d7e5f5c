"""The part of MemoryTruth that users and CPU workers move jobs with: the mirror of `redis_jobs` and its scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from jobs.events import EventKind
from jobs.figures import Total
from jobs.protocols import StepKind
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.state import FINAL_JOB_STATES, JOB_MOVES, JobState, SegmentState
from jobs.streams.memory import MemoryStreams
from jobs.truth.memory_kept import Changed, Job
from jobs.truth.memory_state import State
from jobs.truth.rules import (
    SPEECH_TURN,
    as_speech,
    check_enqueue,
    check_rule,
    check_speak,
    check_tasks,
    illegal_move,
    not_final,
    not_for_speech,
)


class MemoryJobs:
    """Jobs: from PLANNING to their end. `jobs.protocols.Truth` says what each method promises."""

    def __init__(self, streams: MemoryStreams, clock: Callable[[], float], speech_ttl_s: float) -> None:
        self._state = State(streams, clock, speech_ttl_s)
        self._changed = Changed(self._state.forget_expired)

    def create_job(self, record: JobRecord) -> bool:
        """Register a job in PLANNING with its PLAN step; False: it exists."""
        with self._changed:
            if record.job in self._state.jobs:
                return False
            entry = Job(record.model_copy(update={"state": JobState.PLANNING}), self._state.clock())
            self._state.jobs[record.job] = entry
            self._state.emit(entry, EventKind.JOB)
            self._state.put_step(StepKind.PLAN, entry)
            self._changed.notify_all()
            return True

    def speak(self, record: JobRecord, tasks: Sequence[SegmentTask]) -> bool:
        """Register a speech request and queue its segments; False: a job of that id exists. Raises ValueError."""
        check_speak(record, tasks)
        with self._changed:
            if record.job in self._state.jobs:
                return False
            chars = sum(len(task.spoken) for task in tasks)
            counts = {"state": JobState.PLANNING, "total": len(tasks), "total_chars": chars, "chapters": 0}
            entry = Job(record.model_copy(update=counts), self._state.clock(), planned=True, speech=True)
            entry.wanted_at_s = entry.touched_at_s
            entry.tasks = {task.segment: as_speech(task) for task in tasks}
            entry.waiting = {task.segment: task.segment for task in tasks}
            self._state.jobs[record.job] = entry
            self._state.set_state(entry, JobState.QUEUED)
            self._state.virtual_now[entry.priority_class] += SPEECH_TURN
            self._changed.notify_all()
            return True

    def still_wanted(self, jobs: Sequence[str]) -> None:
        """Say that somebody waits for speech requests."""
        with self._changed:
            for job in jobs:
                if job in self._state.jobs:
                    self._state.jobs[job].wanted_at_s = self._state.clock()

    def job(self, job: str) -> JobRecord:
        """The record of one job. Raises UnknownJob."""
        with self._changed:
            return self._state.job(job).record

    def jobs(self) -> list[JobRecord]:
        """All jobs but speech requests, oldest first."""
        with self._changed:
            records = [entry.record for entry in self._state.jobs.values() if not entry.speech]
        return sorted(records, key=lambda record: (record.created_at_s, record.job))

    def enqueue(self, job: str, tasks: Sequence[SegmentTask], finished: Sequence[SegmentResult]) -> None:
        """Queue a planned job's segments. Raises UnknownJob, ValueError."""
        check_enqueue(job, tasks, finished)
        with self._changed:
            entry = self._state.job(job)
            if entry.record.state is not JobState.PLANNING:
                return
            entry.planned = True
            entry.starts.clear()
            entry.left = dict(Counter([task.chapter for task in tasks] + [result.chapter for result in finished]))
            entry.tasks = {task.segment: task for task in tasks}
            entry.waiting = {task.segment: task.segment for task in tasks}
            total, chars = len(tasks) + len(finished), sum(len(task.spoken) for task in tasks)
            self._state.change(entry, total=total, chapters=len(entry.left), total_chars=chars)
            for result in finished:
                self._state.record_result(entry, result.chapter, result)
            self._state.set_state(entry, JobState.QUEUED if tasks else JobState.ASSEMBLING)
            if not entry.left:
                self._state.put_step(StepKind.FINISH, entry)
            self._changed.notify_all()

    def move_job(self, job: str, state: JobState, *, reason: str = "") -> JobState:
        """Change a job's state with all that follows; returns the state before. Raises UnknownJob, IllegalMove."""
        with self._changed:
            old = self._state.job(job).record.state
            self._move(self._state.job(job), state, reason)
            return old

    def pause(self, job: str) -> None:
        """Hold a job. Raises UnknownJob, IllegalMove."""
        self.move_job(job, JobState.PAUSED)

    def unpause(self, job: str) -> None:
        """Let a paused job go on. Raises UnknownJob."""
        with self._changed:
            entry = self._state.job(job)
            if entry.record.state is JobState.PAUSED:
                planned = JobState.QUEUED if entry.unfinished > 0 else JobState.ASSEMBLING
                self._move(entry, planned if entry.planned else JobState.PLANNING, "")

    def cancel(self, job: str) -> int:
        """Take a job back; returns how many waiting segments vanished. Raises UnknownJob, IllegalMove."""
        with self._changed:
            return self._move(self._state.job(job), JobState.CANCELLED, "")

    def retry_failed(self, job: str, again: Sequence[SegmentTask] = (), *, others: bool = True) -> int:
        """Put failed segments back; returns how many. Raises UnknownJob, IllegalMove, ValueError."""
        check_tasks("retry_failed", job, again)
        with self._changed:
            entry = self._whole(job)
            old = entry.record.state
            if not (old is JobState.DONE_WITH_FAILURES or (old is JobState.FAILED and entry.planned)):
                raise illegal_move(old, JobState.QUEUED, entry.unfinished)
            tasks = {**(entry.tasks if others else {}), **{task.segment: task for task in again}}
            back = [task for number, task in tasks.items() if number in entry.results]
            for task in back:
                self._state.unfinish(entry, task)
            self._state.count(Total.SPOKEN_AGAIN, len(back), label="retry")
            if entry.unfinished > 0 or old is JobState.FAILED:
                self._state.reopen(entry)
            self._changed.notify_all()
            return len(back)

    def speak_again(self, job: str, tasks: Sequence[SegmentTask]) -> int:
        """Put done segments whose take is lost back; returns how many. Raises UnknownJob, IllegalMove, ValueError."""
        check_tasks("speak_again", job, tasks)
        with self._changed:
            entry = self._whole(job)
            old, results = entry.record.state, entry.results
            if old in FINAL_JOB_STATES - {JobState.FAILED}:
                raise illegal_move(old, JobState.QUEUED, entry.unfinished)
            done = {segment for segment, result in results.items() if result.state is SegmentState.DONE}
            lost = [task for task in tasks if task.segment in done]
            for task in lost:
                self._state.unfinish(entry, task)
            self._state.count(Total.SPOKEN_AGAIN, len(lost), label="missing")
            if lost:
                self._state.touch(entry)
                self._state.sync_lane(entry)
            if lost and old in (JobState.ASSEMBLING, JobState.FAILED):
                self._state.reopen(entry)
            self._changed.notify_all()
            return len(lost)

    def rule(self, job: str, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> int:
        """Apply what the checks of a chapter found; returns how many of its segments are not finished now.

        Raises UnknownJob, IllegalMove, ValueError.
        """
        check_rule(job, chapter, settled, again)
        with self._changed:
            entry = self._whole(job)
            old = entry.record.state
            if old in FINAL_JOB_STATES:
                raise illegal_move(old, JobState.QUEUED, entry.unfinished)
            if entry.awaits_assembly(chapter):
                self._rule(entry, chapter, settled, again)
                if entry.left[chapter] > 0 and old is JobState.ASSEMBLING:
                    self._state.reopen(entry)
                self._changed.notify_all()
            return entry.left.get(chapter, 0)

    def put_checks(self, job: str, chapter: int, parts: Sequence[int]) -> None:
        """CHECK steps of parts of a complete chapter, or (no parts) its ASSEMBLE step. Raises UnknownJob."""
        with self._changed:
            entry = self._state.job(job)
            if entry.record.state in FINAL_JOB_STATES or not entry.awaits_assembly(chapter):
                return
            entry.forget_starts(StepKind.ASSEMBLE if parts else StepKind.CHECK, chapter)
            for part in parts:
                self._state.put_step(StepKind.CHECK, entry, chapter, part)
            if not parts:
                self._state.put_step(StepKind.ASSEMBLE, entry, chapter)
            self._changed.notify_all()

    def step_started(self, job: str, kind: StepKind, chapter: int | None, part: int | None = None) -> int:
        """Count the start of a step; 0: the truth does not call for it. Raises UnknownJob."""
        with self._changed:
            entry = self._state.job(job)
            if not entry.calls_for(kind, chapter):
                return 0
            count = entry.starts.get((kind, chapter, part), 0) + 1
            entry.starts[kind, chapter, part] = count
            entry.touched_at_s = self._state.clock()
            return count

    def chapter_assembled(self, job: str, chapter: int) -> None:
        """Note that a chapter's audio is in the store. Raises UnknownJob."""
        with self._changed:
            entry = self._state.job(job)
            if entry.record.state in FINAL_JOB_STATES or not entry.awaits_assembly(chapter):
                return
            entry.assembled.add(chapter)
            for kind in (StepKind.CHECK, StepKind.ASSEMBLE):
                entry.forget_starts(kind, chapter)
            self._state.change(entry, chapters_assembled=len(entry.assembled))
            self._state.touch(entry)
            self._state.emit(entry, EventKind.CHAPTER_ASSEMBLED, chapter=chapter)
            if entry.all_assembled:
                self._state.put_step(StepKind.FINISH, entry)
            self._changed.notify_all()

    def results(self, job: str) -> dict[int, SegmentResult]:
        """Every done or failed segment of a job, in order."""
        with self._changed:
            return dict(sorted(self._state.jobs[job].results.items())) if job in self._state.jobs else {}

    def forget(self, job: str) -> None:
        """Delete all that is kept of a final job. Raises UnknownJob, IllegalMove."""
        with self._changed:
            entry = self._state.job(job)
            if entry.record.state not in FINAL_JOB_STATES:
                raise not_final(job, entry.record.state)
            self._state.drop_suspects(job)
            for worker in self._state.workers.values():
                worker.held = {ref for ref in worker.held if ref[0] != job}
            del self._state.jobs[job]
            self._state.streams.forget(job)

    def _rule(self, entry: Job, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> None:
        known = entry.results
        may_change = {
            number
            for number, result in known.items()
            if result.state is SegmentState.DONE and not result.settled and result.chapter == chapter
        }
        for result in settled:
            if result.segment in may_change:
                self._state.settle(entry, result)
        back = [task for task in again if task.segment in may_change]
        for task in back:
            self._state.unfinish(entry, task)
            self._state.count(Total.SPOKEN_AGAIN, label="rule")
            self._state.emit(entry, EventKind.SEGMENT_AGAIN, segment=task.segment, chapter=chapter)
        self._state.touch(entry)
        if back:
            for kind in (StepKind.CHECK, StepKind.ASSEMBLE):
                entry.forget_starts(kind, chapter)
            self._state.sync_lane(entry)

    def _whole(self, job: str) -> Job:
        """The entry of a job that has chapters. Raises UnknownJob, IllegalMove."""
        entry = self._state.job(job)
        if entry.speech:
            raise not_for_speech(job)
        return entry

    def _move(self, entry: Job, new: JobState, reason: str) -> int:
        old, unfinished = entry.record.state, entry.unfinished
        if old is new:
            return 0
        is_dropped = new is JobState.CANCELLED or (entry.speech and new is JobState.FAILED)
        if entry.speech and not is_dropped:
            raise not_for_speech(entry.record.job)
        possible = {
            JobState.QUEUED: unfinished > 0,
            JobState.RUNNING: unfinished > 0,
            JobState.ASSEMBLING: unfinished == 0 and entry.planned,
            JobState.PLANNING: not entry.planned,
            JobState.DONE: entry.all_assembled,
            JobState.DONE_WITH_FAILURES: entry.all_assembled,
        }
        if new not in JOB_MOVES[old] or not possible.get(new, True):
            raise illegal_move(old, new, unfinished)
        vanished = 0
        if is_dropped:
            vanished = len(entry.waiting) + self._state.drop_suspects(entry.record.job)
            entry.waiting.clear()
            entry.tasks.clear()
            self._state.change(entry, held=0)
        self._state.set_state(entry, new, reason)
        if new is JobState.ASSEMBLING:
            self._state.put_closing_steps(entry)
        if new is JobState.PLANNING:
            self._state.put_step(StepKind.PLAN, entry)
        self._changed.notify_all()
        return vanished
