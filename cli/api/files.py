"""`/v1/files`: uploaded files of batches, and what came of them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import JOBS, READ
from cli.api.errors import ApiError
from cli.api.service import Served, Service
from cli.api.stored import ANSWERS, Stored, send
from jobs import keys
from jobs.batches.files import Files
from jobs.batches.records import DEFAULT_KEPT_S, MAX_KEPT_S, MIN_KEPT_S, FileRecord, Purpose

router = APIRouter(prefix="/v1/files")
MAX_PAGE = 10_000
MAX_NAME_CHARS = 255
MEDIA_TYPE = "application/jsonl"


class FileObject(BaseModel):
    """A file, in the form of OpenAI's API. Times are seconds since 1970."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    expires_at: int
    filename: str
    purpose: Purpose
    status: Literal["processed"] = "processed"
    status_details: None = None


class FileList(BaseModel):
    """A page of files."""

    object: Literal["list"] = "list"
    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


class FileDeleted(BaseModel):
    """A file that is gone."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class NewFile(BaseModel):
    """A file to keep, as a form. OpenAI's clients write `expires_after` as two fields."""

    model_config = ConfigDict(extra="forbid")

    file: UploadFile
    """JSON lines, one request each."""
    purpose: Literal["batch"]
    anchor: Annotated[Literal["created_at"] | None, Field(alias="expires_after[anchor]")] = None
    seconds: Annotated[int | None, Field(alias="expires_after[seconds]", ge=MIN_KEPT_S, le=MAX_KEPT_S)] = None


@router.post("", dependencies=[JOBS])
def create_file(form: Annotated[NewFile, Form(media_type="multipart/form-data")], service: Served) -> FileObject:
    """Keep a file of requests for a batch: for 30 days, or as long as `expires_after` says."""
    if (form.anchor is None) != (form.seconds is None):
        msg = "expires_after has two fields, anchor and seconds; give both or neither"
        raise ApiError(400, msg, code="missing_required_parameter", param="expires_after")
    name = (form.file.filename or "file.jsonl")[-MAX_NAME_CHARS:]
    limit_bytes = service.limits.upload_bytes
    kept_s = DEFAULT_KEPT_S if form.seconds is None else form.seconds
    return shown(files_of(service).keep(form.file.file, filename=name, limit_bytes=limit_bytes, kept_s=kept_s))


@router.get("", dependencies=[READ])
def list_files(
    service: Served,
    after: Annotated[str | None, Query(description="The last id of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = MAX_PAGE,
    order: Literal["asc", "desc"] = "desc",
    purpose: Purpose | None = None,
) -> FileList:
    """A page of the files, newest first unless `order` is `asc`."""
    found = files_of(service).all()
    if order == "desc":
        found.reverse()
    if after is not None:
        place = next((place for place, record in enumerate(found, 1) if record.id == after), None)
        if place is None:
            msg = f"there is no file {after[:100]!r} to go on after"
            raise ApiError(404, msg, code="unknown_file", param="after")
        found = found[place:]
    wanted = [record for record in found if purpose in (None, record.purpose)]
    page = [shown(record) for record in wanted[:limit]]
    ends = (page[0].id, page[-1].id) if page else (None, None)
    return FileList(data=page, first_id=ends[0], last_id=ends[1], has_more=len(wanted) > limit)


@router.get("/{file_id}", dependencies=[READ])
def retrieve_file(file_id: str, service: Served) -> FileObject:
    """One file."""
    return shown(files_of(service).get(file_id))


@router.head("/{file_id}/content", dependencies=[READ], include_in_schema=False)
@router.get("/{file_id}/content", dependencies=[READ], response_class=Response, responses=ANSWERS)
def retrieve_file_content(file_id: str, request: Request, service: Served) -> Response:
    """What is in a file, whole or a range of it."""
    record = files_of(service).get(file_id)
    name = record.filename if record.filename.endswith(".jsonl") else f"{record.filename}.jsonl"
    return send(request, Stored(service.home, keys.file_content(record.id), MEDIA_TYPE, name, record.id))


@router.delete("/{file_id}", dependencies=[JOBS])
def delete_file(file_id: str, service: Served) -> FileDeleted:
    """Delete a file. A batch that has not read it yet will fail; with an output goes audio converted for it."""
    files_of(service).delete(file_id)
    return FileDeleted(id=file_id)


def files_of(service: Service) -> Files:
    """The files of a server."""
    return Files(service.home)


def shown(record: FileRecord) -> FileObject:
    """A file as it is answered."""
    return FileObject(
        id=record.id,
        bytes=record.bytes,
        created_at=record.created_at,
        expires_at=record.expires_at,
        filename=record.filename,
        purpose=record.purpose,
    )
