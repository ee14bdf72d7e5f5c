"""`/v1/jobs`: submit, list, look at, cancel, pause, resume, retry and purge jobs. `docs/api_jobs.md` shows them all."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import JOBS, READ, allowed, spend_chars
from cli.api.admission import check_queue
from cli.api.errors import ApiError, told
from cli.api.job_forms import SentJob, body_schema, drafted
from cli.api.job_views import (
    ChapterList,
    JobDetail,
    JobList,
    JobView,
    PurgeView,
    SegmentList,
    chapter_views,
    job_detail,
    job_view,
    segment_view,
)
from cli.api.service import Served, Service
from jobs import control
from jobs.access.gate import Caller, Scope
from jobs.board import Board
from jobs.errors import BadOption, UnknownJob
from jobs.failures import failure_reasons
from jobs.purge import purge_jobs
from jobs.retry import tasks_to_retry
from jobs.spec import JobRecord
from jobs.state import JobState
from jobs.submit import accept

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
Submitter = Annotated[Caller, Depends(allowed(Scope.JOBS))]
MAX_PAGE = 100
MAX_SEGMENTS = 1000


class Again(BaseModel):
    """What `retry` speaks anew: what failed or has no good take, or segments by number."""

    model_config = ConfigDict(extra="forbid")

    failed: bool = False
    segments: list[Annotated[int, Field(ge=0)]] = Field(default=[], max_length=100_000)


@router.post(
    "",
    status_code=202,
    openapi_extra=body_schema(),
    responses={
        200: {"model": JobView, "description": "The same job was there already"},
        **told(400, 404, 413, 415, 429, 503, 507),
    },
)
def create_job(service: Served, caller: Submitter, sent: SentJob, response: Response) -> JobView:
    """Plan a source and queue it. The same source with the same options is the same job: it goes on, and is a 200."""
    draft, _expecting = drafted(sent, service)
    if _is_there(service, draft.job):
        response.status_code = 200
    else:
        check_queue(service)
        spend_chars(service, caller, draft.plan.prompt_chars)
    return _shown(service, accept(draft, service.truth, service.home))


@router.get("", dependencies=[READ], responses=told(404))
def list_jobs(
    service: Served,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 20,
    after: Annotated[str | None, Query(description="The last id of the page before.")] = None,
    state: Annotated[list[JobState] | None, Query(description="Only jobs in these states.")] = None,
) -> JobList:
    """A page of the jobs, newest first. Speech requests are not among them."""
    found = service.truth.newest_jobs(limit + 1, after=after, states=frozenset(state or ()))
    return JobList(data=[_shown(service, record) for record in found[:limit]], has_more=len(found) > limit)


@router.get("/{job}", dependencies=[READ], responses=told(404))
def retrieve_job(service: Served, job: str) -> JobDetail:
    """One job with its failures, cost, files and options."""
    record = service.truth.job(job)
    board = _board(service, record)
    return job_detail(
        record,
        service.paces.of(record),
        reasons=failure_reasons(board.results.values()) if record.failed else [],
        cost=board.run.priced(service.settings.tariff),
        files=list(service.file_lists.of(record, service.store_of(record)).shown),
    )


@router.get("/{job}/chapters", dependencies=[READ], responses=told(404))
def list_chapters(service: Served, job: str) -> ChapterList:
    """The chapters of a job, and how far each is."""
    board = _board(service, service.truth.job(job))
    return ChapterList(data=chapter_views(board), known_s=board.known_s)


@router.get("/{job}/segments", dependencies=[READ], responses=told(404))
def list_segments(
    service: Served,
    job: str,
    chapter: Annotated[int | None, Query(ge=0)] = None,
    after: Annotated[int, Query(ge=-1, description="The last number of the page before.")] = -1,
    limit: Annotated[int, Query(ge=1, le=MAX_SEGMENTS)] = 100,
    only: Annotated[str | None, Query(pattern="^bad$", description="bad: failed, or without a good take.")] = None,
) -> SegmentList:
    """A page of the segments of a job with the verdict on each, in reading order."""
    board = _board(service, service.truth.job(job))
    numbers = _numbers(board, chapter, bad=only is not None)
    chosen = [number for number in numbers if number > after][: limit + 1]
    return SegmentList(data=[segment_view(board, number) for number in chosen[:limit]], has_more=len(chosen) > limit)


@router.post("/{job}/pause", dependencies=[JOBS], responses=told(404, 409))
def pause_job(service: Served, job: str) -> JobView:
    """Hold a job: workers get no more of its segments until it is resumed."""
    return _shown(service, control.pause(service.truth, job))


@router.post("/{job}/resume", dependencies=[JOBS], responses=told(404, 409))
def resume_job(service: Served, job: str) -> JobView:
    """Let a paused job go on. One that is not paused is left alone."""
    return _shown(service, control.resume(service.truth, job))


@router.post("/{job}/retry", dependencies=[JOBS], responses=told(400, 404, 409))
def retry_job(service: Served, job: str, again: Again) -> JobView:
    """Speak segments of a job that has ended again, with new seeds; or let a failed job go on."""
    if not (again.failed or again.segments):
        msg = 'say what to retry: {"failed": true}, or {"segments": [17, 42]}'
        raise ApiError(400, msg, code="nothing_to_retry", param="failed")
    record = service.truth.job(job)
    results = service.truth.results(job)
    store = service.store_of(record)
    tasks = tasks_to_retry(store, record, results, failed=again.failed, segments=again.segments)
    service.truth.retry_failed(job, tasks, others=again.failed)
    return _shown(service, service.truth.job(job))


@router.post("/{job}/purge", dependencies=[JOBS], responses=told(404, 409))
def purge_job(service: Served, job: str) -> PurgeView:
    """Delete a job that has ended: its record, streams and files. Takes are kept: other jobs may use them."""
    purge_jobs(service.truth, service.store, [job])
    return PurgeView(id=job)


@router.delete("/{job}", dependencies=[JOBS], responses=told(404, 409))
def cancel_job(service: Served, job: str) -> JobView:
    """Take a job back. Segments in work are dropped at the next step; takes that were made are kept for reuse."""
    control.cancel(service.truth, job)
    return _shown(service, service.truth.job(job))


def _shown(service: Service, record: JobRecord) -> JobView:
    return job_view(record, service.paces.of(record))


def _board(service: Service, record: JobRecord) -> Board:
    return service.boards.of(record, service.truth, service.store_of(record))


def _numbers(board: Board, chapter: int | None, *, bad: bool) -> list[int] | range:
    """The numbers of a chapter's segments (None: of all), or of those among them that failed or have no good take."""
    if chapter is not None and chapter >= len(board.firsts):
        msg = f"there is no chapter {chapter}; they are numbered from 0 to {len(board.firsts) - 1}"
        raise BadOption(msg)
    first = 0 if chapter is None else board.firsts[chapter]
    count = len(board.plan.segments) if chapter is None else board.plan.chapters[chapter].segments
    numbers = range(first, first + count)
    return [number for number in board.bad if number in numbers] if bad else numbers


def _is_there(service: Service, job: str) -> bool:
    """Whether submitting a job goes on with one that is there, instead of beginning it."""
    try:
        return service.truth.job(job).state not in {JobState.CANCELLED, JobState.FAILED}
    except UnknownJob:
        return False
