"""`/v1/batches`: speech requests by the thousand, as OpenAI's clients send them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import JOBS, READ, allowed, spend_chars
from cli.api.admission import check_queue
from cli.api.errors import told
from cli.api.service import Served, Service
from cli.api.stored import ANSWERS, Stored, send
from jobs.access.gate import Caller, Scope
from jobs.batches.batches import Batch, Batches, Order
from jobs.batches.lines import chars_of
from jobs.batches.records import DEFAULT_KEPT_S, MAX_KEPT_S, MIN_KEPT_S, AudioIn, Status, Why

router = APIRouter(prefix="/v1/batches")
MAX_PAGE = 100
MAX_PAIRS = 16
Key = Annotated[str, Field(max_length=64)]
Value = Annotated[str, Field(max_length=512)]


class ExpiresAfter(BaseModel):
    """How long files are kept, from when they were written."""

    model_config = ConfigDict(extra="forbid")

    anchor: Literal["created_at"]
    seconds: Annotated[int, Field(strict=True, ge=MIN_KEPT_S, le=MAX_KEPT_S)]


class NewBatch(BaseModel):
    """A batch to begin. `completion_window`: hours or days, such as `24h` or `3d`, up to 30 days.

    `audio` (ours): `url`, each line of the output file tells where its audio is; `inline`, it also has it in base64.
    """

    model_config = ConfigDict(extra="forbid")

    input_file_id: Annotated[str, Field(max_length=100)]
    endpoint: Literal["/v1/audio/speech"]
    completion_window: Annotated[str, Field(pattern="^[1-9][0-9]{0,2}[hd]$")]
    metadata: Annotated[dict[Key, Value], Field(max_length=MAX_PAIRS)] | None = None
    output_expires_after: ExpiresAfter | None = None
    audio: AudioIn = AudioIn.URL


class RequestCounts(BaseModel):
    """Lines of a batch."""

    total: int
    completed: int
    failed: int


class BatchErrorView(BaseModel):
    """What is wrong with the input file; `line` is counted from 1."""

    code: str
    message: str
    line: int | None
    param: str | None


class BatchErrors(BaseModel):
    """All that is wrong with it."""

    object: Literal["list"] = "list"
    data: list[BatchErrorView]


class BatchObject(BaseModel):
    """A batch, in the form of OpenAI's API. Times are seconds since 1970, null for what has not happened."""

    id: str
    object: Literal["batch"] = "batch"
    endpoint: Literal["/v1/audio/speech"] = "/v1/audio/speech"
    model: str | None = None
    errors: BatchErrors | None = None
    input_file_id: str
    completion_window: str
    status: Status
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int
    in_progress_at: int | None = None
    expires_at: int
    finalizing_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    expired_at: int | None = None
    cancelling_at: int | None = None
    cancelled_at: int | None = None
    request_counts: RequestCounts
    usage: None = None
    metadata: dict[str, str] | None = None
    audio: AudioIn


class BatchList(BaseModel):
    """A page of batches."""

    object: Literal["list"] = "list"
    data: list[BatchObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


@router.post("", responses=told(404))
def create_batch(
    body: NewBatch, service: Served, caller: Annotated[Caller, Depends(allowed(Scope.JOBS))]
) -> BatchObject:
    """Begin a batch. Its file is looked at in the background: see `status`, and `errors` where that is `failed`."""
    batches = batches_of(service)
    kept = body.output_expires_after
    order = Order(
        input_file_id=body.input_file_id,
        window=body.completion_window,
        metadata=body.metadata,
        audio=body.audio,
        output_kept_s=DEFAULT_KEPT_S if kept is None else kept.seconds,
    )
    batches.check(order)
    check_queue(service)
    if caller.token is not None and caller.token.quota.chars_per_day is not None:
        with batches.desk.files.open(order.input_file_id) as file:
            spend_chars(service, caller, chars_of(file))
    return shown(batches.get(batches.create(order).id))


@router.get("", dependencies=[READ], responses=told(404))
def list_batches(
    service: Served,
    after: Annotated[str | None, Query(description="The last id of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 20,
) -> BatchList:
    """A page of the batches, newest first."""
    found, has_more = batches_of(service).page(after=after, limit=limit)
    page = [shown(batch) for batch in found]
    ends = (page[0].id, page[-1].id) if page else (None, None)
    return BatchList(data=page, first_id=ends[0], last_id=ends[1], has_more=has_more)


@router.get("/{batch_id}", dependencies=[READ], responses=told(404))
def retrieve_batch(batch_id: str, service: Served) -> BatchObject:
    """One batch as it is now."""
    return shown(batches_of(service).get(batch_id))


@router.post("/{batch_id}/cancel", dependencies=[JOBS], responses=told(404, 409))
def cancel_batch(batch_id: str, service: Served) -> BatchObject:
    """Stop a batch: what is spoken is kept, and is in its output file in a moment."""
    return shown(batches_of(service).cancel(batch_id))


@router.head("/{batch_id}/audio/{custom_id:path}", dependencies=[READ], include_in_schema=False)
@router.get("/{batch_id}/audio/{custom_id:path}", dependencies=[READ], response_class=Response, responses=ANSWERS)
def retrieve_batch_audio(batch_id: str, custom_id: str, request: Request, service: Served) -> Response:
    """The audio of one line, whole or a range of it, as soon as it is made."""
    audio = batches_of(service).audio(batch_id, custom_id)
    name = f"{custom_id.rpartition('/')[2] or 'audio'}.{audio.audio_format.value}"
    return send(request, Stored(service.home, audio.key, audio.audio_format.media_type, name, audio.version))


def batches_of(service: Service) -> Batches:
    """The batches of a server."""
    return Batches(service.desk)


def shown(batch: Batch) -> BatchObject:
    """A batch as it is answered."""
    record, counts, end = batch.record, batch.counts, batch.end
    errors = [BatchErrorView(**error.model_dump()) for error in end.errors] if end is not None else []
    return BatchObject(
        id=record.id,
        errors=BatchErrors(data=errors) if errors else None,
        input_file_id=record.input_file_id,
        completion_window=record.window,
        status=batch.status,
        output_file_id=None if end is None else end.output_file_id,
        error_file_id=None if end is None else end.error_file_id,
        created_at=record.created_at,
        expires_at=record.expires_at,
        request_counts=RequestCounts(**counts.model_dump()),
        metadata=record.metadata,
        audio=record.audio,
    ).model_copy(update=_times(batch))


def _times(batch: Batch) -> dict[str, int | None]:
    """When it came where, by the name of the field."""
    end, stop = batch.end, batch.stop
    times = {
        "in_progress_at": None if batch.submitted is None else batch.submitted.at,
        "cancelling_at": stop.at if stop is not None and stop.why is Why.CANCELLED else None,
        "finalizing_at": None if end is None else end.finalizing_at,
    }
    return times if end is None else times | {f"{end.status.value}_at": end.at}
