"""What became of the lines of a batch, read from the results of its jobs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs import keys
from jobs.assembly.items import write_items
from jobs.assembly.timeline import ItemTimeline, place_items
from jobs.batches.desk import BrokenOff, Desk
from jobs.batches.parts import JOB_FORMATS, job_format
from jobs.batches.records import Counts, Line, PartJob, Submitted
from jobs.errors import BadInput, EncodeMismatch, ObjectDamaged, ObjectMissing, UnknownJob
from jobs.kinds import Grade
from jobs.live_formats import LiveFormat
from jobs.plan import SegmentPlan
from jobs.plan_store import load_plan
from jobs.spec import JobRecord, SegmentResult
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState

log = logging.getLogger(__name__)
ASSEMBLED = frozenset({JobState.DONE, JobState.DONE_WITH_FAILURES})
"""Jobs whose items are all written."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line that has audio: `samples` at `sample_rate_hz` of the model, the worst grade and all takes of its parts."""

    samples: int
    sample_rate_hz: int
    grade: Grade
    takes: int


@dataclass(frozen=True, slots=True)
class Unspoken:
    """A line that has none, and why. `code` is empty for one that nobody came to before the job was stopped."""

    code: str = ""
    message: str = ""


def jobs_over(desk: Desk, submitted: Submitted) -> bool:
    """Whether no job of a batch goes on by itself; a deleted one does not."""
    return all(_record(desk, part.job) is None for part in submitted.jobs)


def counts_now(desk: Desk, batch: str, submitted: Submitted) -> Counts:
    """How many lines are spoken, and how many cannot be, at this moment."""
    done, failed = 0, submitted.rejected
    for place, part in enumerate(submitted.jobs):
        more_done, more_failed = _counts_of(desk, batch, place, part)
        done, failed = done + more_done, failed + more_failed
    return Counts(total=submitted.total, completed=done, failed=failed)


def outcomes_of(desk: Desk, lines: Sequence[Line], part: PartJob) -> dict[int, Spoken | Unspoken]:
    """What became of the lines of one job that is over, by their number; what is spoken has its audio in the store.

    The items of a job that was stopped are written here: it wrote only those of whole chapters.

    Raises:
        BrokenOff: the job is not over any more: somebody had it tried again.
        StoreError: the store refused.
        BrokerUnavailable: the queue does not answer.
    """
    try:
        record = desk.truth.job(part.job)
        results = desk.truth.results(part.job)
        segments = load_plan(desk.store, part.job).segments
    except (UnknownJob, ObjectMissing, ObjectDamaged) as error:
        log.warning("job %s of a batch is gone: %s", part.job, error)
        gone = Unspoken("job_deleted", "its job was deleted before the batch ended")
        return {line.line: gone for line in lines}
    if record.state not in FINAL_JOB_STATES:
        raise BrokenOff
    found: dict[int, Spoken | Unspoken] = {}
    for line in lines:
        parts = segments[line.segment : line.segment + line.segments]
        found[line.line] = _outcome(desk, record, parts, results)
    return found


def audio_key(batch: str, line: Line, part: PartJob) -> str:
    """Store key of the audio of a line that is in a job."""
    audio_format = line.audio_format or LiveFormat.MP3
    if audio_format not in JOB_FORMATS:
        return keys.batch_audio(batch, line.line, audio_format.value)
    return item_key(line, part)


def item_key(line: Line, part: PartJob) -> str:
    """Store key of what the job of a line writes for it."""
    audio_format = job_format(line.audio_format or LiveFormat.MP3)
    return keys.item_object(part.job, line.segment, line.custom_id, audio_format.value)


def _record(desk: Desk, job: str) -> JobRecord | None:
    """A job that is at work, None if it is over or deleted."""
    try:
        record = desk.truth.job(job)
    except UnknownJob:
        return None
    return None if record.state in FINAL_JOB_STATES else record


def _counts_of(desk: Desk, batch: str, place: int, part: PartJob) -> tuple[int, int]:
    """Lines of one job that are done, and that have failed."""
    try:
        record = desk.truth.job(part.job)
        if part.items == part.segments:
            return record.done, record.failed
        if not record.failed and record.done in {0, part.segments}:  # most jobs of a large batch: they are not read
            return (part.items if record.done else 0), 0
        results = desk.truth.results(part.job)
    except UnknownJob:
        return 0, 0
    lines = desk.lines(batch).by_job.get(place, [])
    states = [_state(range(line.segment, line.segment + line.segments), results) for line in lines]
    return states.count(SegmentState.DONE), states.count(SegmentState.FAILED)


def _state(segments: Sequence[int], results: Mapping[int, SegmentResult]) -> SegmentState:
    states = {results[segment].state if segment in results else SegmentState.WAITING for segment in segments}
    if SegmentState.FAILED in states:
        return SegmentState.FAILED
    return SegmentState.DONE if states == {SegmentState.DONE} else SegmentState.WAITING


def _outcome(
    desk: Desk, record: JobRecord, parts: Sequence[SegmentPlan], results: Mapping[int, SegmentResult]
) -> Spoken | Unspoken:
    numbers = [part.segment for part in parts]
    state = _state(numbers, results)
    if state is SegmentState.FAILED:
        reasons = (results[number].reason for number in numbers if number in results)
        return Unspoken("speech_failed", "; ".join(dict.fromkeys(filter(None, reasons))) or "a part of it failed")
    if state is not SegmentState.DONE:
        return _unfinished(record)
    own = {number: results[number] for number in numbers}
    try:
        placed = next(place_items(parts, own))
        if record.state not in ASSEMBLED:
            _write_missing(desk, record, placed, own)
    except (BadInput, EncodeMismatch, ObjectMissing, ObjectDamaged) as error:
        log.warning("segments %s of job %s have no audio: %s", numbers, record.job, error)
        return Unspoken("audio_failed", "it was spoken, but its audio could not be written; the server's log says why")
    grade = max((result.grade for result in own.values()), key=lambda grade: grade.rank)
    return Spoken(placed.samples, placed.sample_rate_hz, grade, sum(result.takes for result in own.values()))


def _unfinished(record: JobRecord) -> Unspoken:
    """Why a line of a job that is over was not spoken."""
    if record.state is JobState.FAILED:
        return Unspoken("job_failed", f"its job failed before it was spoken; GET /v1/jobs/{record.job} says why")
    return Unspoken()


def _write_missing(desk: Desk, record: JobRecord, placed: ItemTimeline, results: Mapping[int, SegmentResult]) -> None:
    key = keys.item_object(record.job, placed.parts[0].segment, placed.item, record.spec.formats[0].value)
    if not desk.store.exists(key):
        write_items(desk.store, record, placed.parts, results)
