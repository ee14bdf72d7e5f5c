"""The part of RedisTruth that users and CPU workers move jobs with. Each method is one script (see `scripts/`)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from jobs import keys
from jobs.protocols import StepKind
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.state import JobState
from jobs.truth.calls import Value
from jobs.truth.records import job_fields, job_record, text
from jobs.truth.redis_base import RedisPart
from jobs.truth.rules import (
    SPEECH_TTL_S,
    as_speech,
    check_enqueue,
    check_rule,
    check_speak,
    check_tasks,
    unknown_job,
)


class RedisJobs(RedisPart):
    """Jobs: from PLANNING to their end. `jobs.protocols.Truth` says what each method promises."""

    _speech_ttl_s: float = SPEECH_TTL_S

    def create_job(self, record: JobRecord) -> bool:
        """Register a job in PLANNING with its PLAN step; False: it exists."""
        now = self._calls.repeat(lambda _again: self._calls.client.time())
        now_s = now[0] + now[1] / 1e6
        about = [record.job, str(record.created_at_s)]
        return bool(self._run_marked("create", about, job_fields(record, now_s)))

    def speak(self, record: JobRecord, tasks: Sequence[SegmentTask]) -> bool:
        """Register a speech request and queue its segments; False: a job of that id exists.

        Raises:
            ValueError: it is not of class LIVE, or has no segment, one of another job, or one that comes twice.
        """
        check_speak(record, tasks)
        planned = record.model_copy(
            update={"total": len(tasks), "total_chars": sum(len(task.spoken) for task in tasks), "chapters": 0}
        )
        ttl_ms = max(1, round(1000 * self._speech_ttl_s))
        fields = job_fields(planned, 0.0, planned=1, speech_ttl_ms=ttl_ms)  # the script puts in the server's time
        rows = [part for task in tasks for part in (task.segment, as_speech(task).model_dump_json())]
        about: list[Value] = [record.job, str(record.created_at_s), len(fields)]
        return bool(self._run_marked("speak", about, [*fields, *rows]))

    def still_wanted(self, jobs: Sequence[str]) -> None:
        """Say that somebody waits for speech requests."""
        self._run("wanted", *jobs)

    def job(self, job: str) -> JobRecord:
        """The record of one job.

        Raises:
            UnknownJob: there is none.
        """
        fields = self._calls.repeat(lambda _again: self._calls.client.hgetall(keys.job(job)))
        if not fields:
            raise unknown_job(job)
        return job_record(fields)

    def jobs(self) -> list[JobRecord]:
        """All jobs but speech requests, oldest first."""
        ids = self._calls.repeat(lambda _again: self._calls.client.zrange(keys.JOBS, 0, -1))

        stored = self._calls.together(("HGETALL", keys.job(text(job))) for job in ids)
        return [job_record(fields) for fields in stored if fields]

    def enqueue(self, job: str, tasks: Sequence[SegmentTask], finished: Sequence[SegmentResult]) -> None:
        """Queue a planned job's segments; nothing changes if it is past PLANNING or paused.

        `total_chars` of the record becomes the characters of `tasks`: what there is to speak.

        Raises:
            UnknownJob: there is no such job.
            ValueError: a segment of another job, or one that comes twice.
        """
        check_enqueue(job, tasks, finished)
        rows = [part for task in tasks for part in (task.segment, task.chapter, task.model_dump_json())]
        chars = sum(len(task.spoken) for task in tasks)
        self._run("enqueue", job, chars, len(tasks), *rows, *(result.model_dump_json() for result in finished))

    def move_job(self, job: str, state: JobState, *, reason: str = "") -> JobState:
        """Change a job's state with all that follows; returns the state before.

        Raises:
            UnknownJob: there is no such job.
            IllegalMove: the table, or unfinished segments, forbid it.
        """
        old, _vanished = self._run("move", job, state, reason)
        return JobState(text(old))

    def pause(self, job: str) -> None:
        """Hold a job. Raises UnknownJob, IllegalMove."""
        self._run("move", job, JobState.PAUSED, "")

    def unpause(self, job: str) -> None:
        """Let a paused job go on. Raises UnknownJob."""
        self._run("unpause", job)

    def cancel(self, job: str) -> int:
        """Take a job back; returns how many waiting segments vanished. Raises UnknownJob, IllegalMove."""
        _old, vanished = self._run("move", job, JobState.CANCELLED, "")
        return int(vanished)

    def retry_failed(self, job: str, again: Sequence[SegmentTask] = (), *, others: bool = True) -> int:
        """Put failed segments back (of a job that failed as a whole: go on where it stood); returns how many.

        Raises:
            UnknownJob: there is no such job.
            IllegalMove: it is neither DONE_WITH_FAILURES nor FAILED after it was planned.
            ValueError: a segment of another job, or one that comes twice.
        """
        check_tasks("retry_failed", job, again)
        rows = [part for task in again for part in (task.segment, task.model_dump_json())]
        return int(self._run_marked("retry", [job, int(others)], rows))

    def rule(self, job: str, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> int:
        """Apply what the checks of a chapter found; returns how many of its segments are not finished now.

        Raises:
            UnknownJob: there is no such job.
            IllegalMove: it is over.
            ValueError: a segment of another job or chapter, one that comes twice, or a result that is not finished.
        """
        check_rule(job, chapter, settled, again)
        rows = [part for task in again for part in (task.segment, task.model_dump_json())]
        return int(
            self._run("rule", job, chapter, len(settled), *(result.model_dump_json() for result in settled), *rows)
        )

    def put_checks(self, job: str, chapter: int, parts: Sequence[int]) -> None:
        """CHECK steps of parts of a complete chapter, or (no parts) its ASSEMBLE step. Raises UnknownJob."""
        self._run("checks", job, chapter, *parts)

    def speak_again(self, job: str, tasks: Sequence[SegmentTask]) -> int:
        """Put done segments whose take is lost back to waiting; returns how many.

        Raises:
            UnknownJob: there is no such job.
            IllegalMove: it is at an end other than FAILED.
            ValueError: a segment of another job, or one that comes twice.
        """
        check_tasks("speak_again", job, tasks)
        rows = [part for task in tasks for part in (task.segment, task.chapter, task.model_dump_json())]
        return int(self._run_marked("speak_again", [job], rows))

    def step_started(self, job: str, kind: StepKind, chapter: int | None, part: int | None = None) -> int:
        """Count the start of a step; 0: the truth does not call for it. Raises UnknownJob."""
        place = ["" if number is None else number for number in (chapter, part)]
        return int(self._run("started", job, kind, *place, uuid.uuid4().hex))

    def chapter_assembled(self, job: str, chapter: int) -> None:
        """Note that a chapter's audio is in the store; a chapter without segments counts for nothing.

        Raises:
            UnknownJob: there is no such job.
        """
        self._run("assembled", job, chapter)

    def results(self, job: str) -> dict[int, SegmentResult]:
        """Every done or failed segment of a job, in order."""
        stored = self._calls.repeat(lambda _again: self._calls.client.hgetall(keys.results(job)))
        found = {int(segment): SegmentResult.model_validate_json(value) for segment, value in stored.items()}
        return dict(sorted(found.items()))

    def forget(self, job: str) -> None:
        """Delete all that is kept of a final job. Raises UnknownJob, IllegalMove."""
        self._run_marked("forget", [job])
