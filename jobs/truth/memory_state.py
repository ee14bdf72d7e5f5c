"""The moves that the parts of the memory truth share: the plain-Python mirror of `scripts/prelude.lua`.

Every method expects the lock of MemoryTruth to be held. Knows no waiting and no threads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from jobs.events import Event, EventKind
from jobs.figures import Total, named
from jobs.kinds import Grade
from jobs.progress import audio_s_of
from jobs.protocols import Step, StepKind
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.streams.memory import MemoryStreams
from jobs.truth.memory_kept import OPEN_STATES, Job, OutboxEntry, Ref, Worker
from jobs.truth.rules import FRONT_ORDER, PRIORITY_CLASS, SPEECH_WANTED_S, SUSPECT_GROUP, unknown_job


class State:
    """All jobs, workers and queues."""

    def __init__(self, streams: MemoryStreams, clock: Callable[[], float], speech_ttl_s: float) -> None:
        self.streams = streams
        self.clock = clock
        self._speech_ttl_s = speech_ttl_s
        self.jobs: dict[str, Job] = {}
        self.workers: dict[str, Worker] = {}
        self.ready: dict[int, dict[str, float]] = {number: {} for number in PRIORITY_CLASS.values()}
        self.virtual_now = dict.fromkeys(PRIORITY_CLASS.values(), 0.0)
        self.suspects: list[list[Ref]] = []
        self.blame: dict[Ref, int] = {}
        self.outbox: list[OutboxEntry] = []
        self.dead: list[tuple[Ref, str]] = []
        self.totals: Counter[str] = Counter()
        self.wakes = 0
        self._steps = 0

    def count(self, total: Total, number: int = 1, *, label: str = "") -> None:
        """Add to what is counted of the whole deployment."""
        if number > 0:
            self.totals[named(total, label)] += number

    def job(self, job: str) -> Job:
        """The entry of a job. Raises UnknownJob."""
        if job not in self.jobs:
            raise unknown_job(job)
        return self.jobs[job]

    def goes_on(self, job: str) -> bool:
        """Whether a job is there and not at its end."""
        return job in self.jobs and self.jobs[job].record.state not in FINAL_JOB_STATES

    def waiting_in(self, priority_class: int) -> int:
        """Segments that wait in the open jobs of a class, suspects too."""
        lanes = sum(len(self.jobs[name].waiting) for name in self.ready[priority_class])
        jobs = [self.jobs[ref[0]] for group in self.suspects for ref in group]
        return lanes + sum(job.priority_class == priority_class and job.record.state in OPEN_STATES for job in jobs)

    def forget_expired(self) -> None:
        """Forget the speech requests whose time after their end is over."""
        now_s = self.clock()
        for name in [name for name, job in self.jobs.items() if job.gone_at_s <= now_s]:
            del self.jobs[name]
            self.streams.forget(name)

    def left_speech(self) -> list[Job]:
        """Speech requests that go on and that nobody said to wait for, for too long."""
        since_s = self.clock() - SPEECH_WANTED_S
        going_on = [job for name, job in self.jobs.items() if job.speech and self.goes_on(name)]
        return [job for job in going_on if job.wanted_at_s < since_s]

    def change(self, job: Job, **changes: object) -> None:
        """New values in a job's record."""
        job.record = job.record.model_copy(update=changes)

    def touch(self, job: Job) -> None:
        """Something about the job changed now."""
        job.touched_at_s = self.clock()
        self.change(job, updated_at_s=job.touched_at_s)

    def put_step(self, kind: StepKind, job: Job, chapter: int | None = None, part: int | None = None) -> Step:
        """A step into the outbox."""
        self._steps += 1
        job.touched_at_s = self.clock()
        step = Step(kind=kind, job=job.record.job, entry=f"{self._steps}-0", chapter=chapter, part=part)
        self.outbox.append(OutboxEntry(step))
        return step

    def emit(self, job: Job, kind: EventKind, **fields: object) -> None:
        """An event with the counters as they are now."""
        record = job.record
        counters = record.model_dump(include={"job", "state", "total", "done", "failed", "audio_s"})
        self.streams.write_event(Event.model_validate({"kind": kind, "at_s": self.clock(), **counters, **fields}))

    def sync_lane(self, job: Job) -> None:
        """A lane is ready if and only if its job is queued or running and has waiting segments."""
        lanes, name = self.ready[job.priority_class], job.record.job
        if job.record.state not in OPEN_STATES or not job.waiting:
            lanes.pop(name, None)
        elif name not in lanes:
            lanes[name] = max(self.virtual_now[job.priority_class], job.virtual_time)
            self.wakes += 1

    def set_state(self, job: Job, new: JobState, reason: str = "") -> None:
        """Change the state with its event, the life of the streams and the lane."""
        if new in FINAL_JOB_STATES:
            job.starts.clear()
            job.gone_at_s = self.clock() + self._speech_ttl_s if job.speech else math.inf
        self.change(job, state=new, reason=reason)
        self.touch(job)
        self.emit(job, EventKind.JOB, reason=reason or None)
        self.streams.keep(job.record.job, final=new in FINAL_JOB_STATES)
        self.sync_lane(job)
        if new is JobState.QUEUED and self.suspects:
            self.wakes += 1

    def push_suspects(self, refs: list[Ref], size: int = SUSPECT_GROUP) -> None:
        """Suspects into the queue of groups."""
        self.suspects += [refs[first : first + size] for first in range(0, len(refs), size)]
        self.wakes += bool(refs)

    def put_back(self, refs: Iterable[Ref]) -> list[Ref]:
        """Segments nobody holds any more wait again, in front; those of jobs that are gone vanish."""
        placed = []
        for ref in sorted(refs):
            job = self.jobs.get(ref[0])
            if job is not None and not job.takes_nothing_back:
                placed.append(ref)
                self.change(job, held=job.record.held - 1)
                if ref not in self.blame:
                    job.waiting[ref[1]] = FRONT_ORDER + ref[1]
        self.push_suspects([ref for ref in placed if ref in self.blame])
        for name in {ref[0] for ref in placed}:
            self.sync_lane(self.jobs[name])
        return placed

    def remove_worker(self, worker: str) -> list[Ref]:
        """Take a worker off the list; returns what it held, in order."""
        gone = self.workers.pop(worker, None)
        return sorted(gone.held) if gone else []

    def drop_suspects(self, name: str) -> int:
        """Take a job out of suspects and blame; returns how many suspects were waiting."""
        before = sum(map(len, self.suspects))
        groups = [[ref for ref in group if ref[0] != name] for group in self.suspects]
        self.suspects = [group for group in groups if group]
        self.blame = {ref: count for ref, count in self.blame.items() if ref[0] != name}
        return before - sum(map(len, self.suspects))

    def closing_steps(self, job: Job) -> list[tuple[StepKind, int | None]]:
        """Steps that stand between a planned job and its end and can be done now."""
        chapters = sorted(filter(job.awaits_assembly, job.left))
        finish: list[tuple[StepKind, int | None]] = [(StepKind.FINISH, None)] if job.unfinished == 0 else []
        return [(StepKind.ASSEMBLE, chapter) for chapter in chapters] or finish

    def put_closing_steps(self, job: Job) -> None:
        """All of them into the outbox."""
        for kind, chapter in self.closing_steps(job):
            self.put_step(kind, job, chapter)

    def count_result(self, job: Job, result: SegmentResult, sign: int) -> None:
        """Count a finished segment (sign 1), or count it no more (-1)."""
        good, record = result.state is SegmentState.DONE, job.record
        self.change(
            job,
            done=record.done + sign * good,
            failed=record.failed + sign * (not good),
            retakes=record.retakes + sign * max(0, result.takes - 1),
            reused=record.reused + sign * result.reused,
            marked=record.marked + sign * (good and result.grade is Grade.BAD),
            audio_s=round(max(0.0, record.audio_s + sign * good * audio_s_of(result)), 9),
        )

    def unfinish(self, job: Job, task: SegmentTask) -> None:
        """A finished segment waits again as `task` says: its result counts no more, its chapter is not assembled."""
        result = job.results.pop(task.segment)
        self.count_result(job, result, -1)
        job.tasks[task.segment] = task
        job.waiting[task.segment] = task.segment
        job.left[result.chapter] += 1
        job.assembled.discard(result.chapter)
        self.change(job, chapters_assembled=len(job.assembled))

    def reopen(self, job: Job) -> None:
        """A job that was assembling or at its end goes on; after a failure the steps it ignored are sent again."""
        old = job.record.state
        self.set_state(job, JobState.QUEUED if job.unfinished > 0 else JobState.ASSEMBLING)
        if old is JobState.FAILED:
            self.put_closing_steps(job)

    def record_result(self, job: Job, chapter: int, result: SegmentResult) -> None:
        """Count an accepted result, with its event and the ASSEMBLE step at the chapter's last segment."""
        good = result.state is SegmentState.DONE
        job.results[result.segment] = result
        self.blame.pop((job.record.job, result.segment), None)
        self.count_result(job, result, 1)
        if good:
            job.tasks.pop(result.segment, None)
        self.touch(job)
        self.emit_finished(job, chapter, result, EventKind.SEGMENT_DONE)
        if job.speech:
            return
        job.left[chapter] -= 1
        if job.left[chapter] == 0:
            self.put_step(StepKind.ASSEMBLE, job, chapter)

    def emit_finished(self, job: Job, chapter: int, result: SegmentResult, kind: EventKind) -> None:
        """An event about a finished segment: of this kind what is known of its take, or SEGMENT_FAILED."""
        about = {"segment": result.segment, "chapter": chapter}
        if result.state is SegmentState.DONE:
            told = result.model_dump(include={"take", "samples", "sample_rate_hz", "reused", "takes", "grade"})
            self.emit(job, kind, **about, **told, reason=result.reason or None)
        else:
            self.emit(job, EventKind.SEGMENT_FAILED, **about, reason=result.reason)

    def bury(self, result: SegmentResult) -> None:
        """A dead letter."""
        self.dead.append(((result.job, result.segment), result.reason))
        self.count(Total.DEAD_LETTERS)

    def settle(self, job: Job, new: SegmentResult) -> None:
        """Replace the result of a done segment; an event tells if that changes what is delivered."""
        old = job.results[new.segment]
        self.count_result(job, old, -1)
        self.count_result(job, new, 1)
        job.results[new.segment] = new
        if new.state is SegmentState.FAILED:
            self.bury(new)
        if new.state is SegmentState.FAILED or (new.take, new.grade) != (old.take, old.grade):
            self.emit_finished(job, new.chapter, new, EventKind.SEGMENT_SETTLED)

    def finish_segment(self, job: Job, chapter: int, result: SegmentResult) -> None:
        """Count the result of a held segment; dead letter, and the job's own move (not a paused one's) at its last."""
        self.change(job, held=job.record.held - 1)
        self.count(Total.SEGMENTS, label=result.state)
        if result.state is SegmentState.DONE:
            self.count(Total.GRADES, label=result.grade)
        self.record_result(job, chapter, result)
        if result.state is SegmentState.FAILED:
            self.bury(result)
        if job.unfinished > 0 or job.record.state is JobState.PAUSED:
            return
        self.set_state(job, JobState.ASSEMBLING)
        if job.speech:
            self.set_state(job, JobState.DONE_WITH_FAILURES if job.record.failed else JobState.DONE)
