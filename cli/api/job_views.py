"""Jobs as the HTTP API shows them: one model for each answer, and how it is made from what `jobs/` knows."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import quote

from pydantic import BaseModel

from jobs.board import Board
from jobs.cost import RunReport
from jobs.deliver import Finished
from jobs.failures import Reasons
from jobs.kinds import DatasetLayout, Grade, SubtitleFormat
from jobs.progress import Progress, audio_s_of
from jobs.spec import AudioFormat, Checks, JobRecord, JobSpec, Mastering, Priority, SourceKind
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState


class JobCounts(BaseModel):
    """Segments by what became of them; `chapters_assembled` of `chapters` have their audio in the store."""

    total: int
    done: int
    failed: int
    held: int
    waiting: int
    reused: int
    marked: int
    retakes: int
    chapters: int
    chapters_assembled: int


class JobView(BaseModel):
    """A job. Times are seconds since 1970; `audio_s` is the length of what is spoken so far.

    `progress` is the share of segments that are finished. `times_real_time` (seconds of audio made in a second) and
    `eta_s` are null until this server has seen the job go on for a moment.
    """

    object: Literal["job"] = "job"
    id: str
    state: JobState
    reason: str
    title: str
    author: str
    created_at: float
    updated_at: float
    model: str
    voice: str
    language: str
    priority: Priority
    live: bool
    formats: list[AudioFormat]
    source_kind: SourceKind
    counts: JobCounts
    audio_s: float
    progress: float
    times_real_time: float | None
    eta_s: float | None


class JobList(BaseModel):
    """A page of jobs, newest first; `has_more`: ask again with the last id as `after`."""

    object: Literal["list"] = "list"
    data: list[JobView]
    has_more: bool


class FailureView(BaseModel):
    """Why segments failed, and how many for that reason."""

    reason: str
    segments: int


class FileView(BaseModel):
    """A finished file; `url` is a path of this server."""

    name: str
    size_bytes: int
    url: str
    media_type: str


class FileList(BaseModel):
    """Finished files of a job, in reading order; `has_more`: ask again with the last name as `after`."""

    object: Literal["list"] = "list"
    data: list[FileView]
    has_more: bool


class SpecView(BaseModel):
    """What was asked for beyond what every job shows. `licences` are those of the voices that may be heard."""

    source_name: str
    seed: int
    speed: float
    checks: Checks
    mastering: Mastering
    subtitles: list[SubtitleFormat]
    exports: list[DatasetLayout]
    read_along: bool
    licences: dict[str, str]


class JobDetail(JobView):
    """A job with all that is known of it. Of a dataset only its `dataset.json` is among the `files`."""

    failures: list[FailureView]
    cost: RunReport
    files: list[FileView]
    spec: SpecView


class ChapterView(BaseModel):
    """A chapter. `start_s`: where it begins in `/audio`; null until all before it is finished.

    `audio_s` is the length of its takes, without the pauses between them. `marked`: done without a good take.
    """

    chapter: int
    title: str
    segments: int
    done: int
    failed: int
    marked: int
    assembled: bool
    start_s: float | None
    audio_s: float


class ChapterList(BaseModel):
    """The chapters of a job, in reading order. `known_s`: how far `/audio` can be heard without waiting."""

    object: Literal["list"] = "list"
    data: list[ChapterView]
    known_s: float


class SegmentView(BaseModel):
    """A segment. `state` waiting: nobody has finished it yet (somebody may be at it). `grade` is that of its take."""

    segment: int
    chapter: int
    text: str
    state: SegmentState
    grade: Grade | None
    reason: str
    takes: int
    audio_s: float | None
    start_s: float | None


class SegmentList(BaseModel):
    """A page of segments, in reading order; `has_more`: ask again with the last number as `after`."""

    object: Literal["list"] = "list"
    data: list[SegmentView]
    has_more: bool


class PurgeView(BaseModel):
    """What `purge` did."""

    object: Literal["job.deleted"] = "job.deleted"
    id: str
    deleted: bool = True


def job_view(record: JobRecord, pace: Progress) -> JobView:
    """A job as lists show it."""
    return JobView.model_validate(_job_fields(record, pace))


def job_detail(
    record: JobRecord, pace: Progress, *, reasons: Reasons, cost: RunReport, files: list[Finished]
) -> JobDetail:
    """A job with all that is known of it."""
    return JobDetail(
        **_job_fields(record, pace),
        failures=[FailureView(reason=reason, segments=count) for reason, count in reasons],
        cost=cost,
        files=[file_view(record.job, file) for file in files],
        spec=_spec_view(record.spec),
    )


def file_view(job: str, file: Finished) -> FileView:
    """A finished file with its place on this server."""
    return FileView(
        name=file.name,
        size_bytes=file.size_bytes,
        url=f"/v1/jobs/{quote(job, safe='')}/files/{quote(file.name)}",
        media_type=file.media_type,
    )


def chapter_views(board: Board) -> list[ChapterView]:
    """The chapters of a job."""
    return [
        ChapterView(
            chapter=chapter.chapter,
            title=chapter.title,
            segments=chapter.segments,
            done=sums.done,
            failed=sums.failed,
            marked=sums.marked,
            assembled=chapter.chapter in board.assembled,
            start_s=board.start_s(first),
            audio_s=sums.audio_s,
        )
        for chapter, first, sums in zip(board.plan.chapters, board.firsts, board.chapters, strict=True)
    ]


def segment_view(board: Board, number: int) -> SegmentView:
    """One segment of a job."""
    segment, result = board.plan.segments[number], board.results.get(number)
    done = result is not None and result.state is SegmentState.DONE
    return SegmentView(
        segment=number,
        chapter=segment.chapter,
        text=segment.text,
        state=SegmentState.WAITING if result is None else result.state,
        grade=result.grade if result is not None and done else None,
        reason="" if result is None else result.reason,
        takes=0 if result is None else result.takes,
        audio_s=audio_s_of(result) if result is not None and done else None,
        start_s=board.start_s(number),
    )


def _job_fields(record: JobRecord, pace: Progress) -> dict[str, Any]:
    spec = record.spec
    counts = {name: getattr(record, name) for name in JobCounts.model_fields}
    finished = record.state in FINAL_JOB_STATES and record.state is not JobState.CANCELLED
    share = (record.done + record.failed) / record.total if record.total else float(finished)
    return {
        "id": record.job,
        "state": record.state,
        "reason": record.reason,
        "title": record.title,
        "author": record.author,
        "created_at": record.created_at_s,
        "updated_at": record.updated_at_s,
        "model": spec.model,
        "voice": spec.voice,
        "language": spec.language,
        "priority": spec.priority,
        "live": spec.live,
        "formats": list(spec.formats),
        "source_kind": spec.source_kind,
        "counts": JobCounts(**counts),
        "audio_s": record.audio_s,
        "progress": round(min(1.0, share), 4),
        "times_real_time": pace.times_real_time,
        "eta_s": pace.eta_s,
    }


def _spec_view(spec: JobSpec) -> SpecView:
    return SpecView(
        source_name=spec.source_name,
        seed=spec.seed,
        speed=spec.speed,
        checks=spec.checks,
        mastering=spec.mastering,
        subtitles=list(spec.subtitles),
        exports=list(spec.exports),
        read_along=spec.read_along,
        licences=spec.licences,
    )
