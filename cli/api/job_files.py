"""`/v1/jobs/{job}/files/…`: finished audio and what goes with it, with range requests; all of it as one zip."""

from __future__ import annotations

import hashlib
from itertools import chain
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from cli.api.access import READ
from cli.api.errors import ApiError, told
from cli.api.job_views import FileList, file_view
from cli.api.live_answer import Head, LiveAnswer
from cli.api.pump import Pump
from cli.api.service import Served
from cli.api.stored import ANSWERS, Stored, send
from jobs.deliver import Finished
from jobs.file_lists import JobFiles
from jobs.spec import JobRecord
from jobs.zipping import zipped

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

MAX_FILES = 1000
_ZIP: dict[str, Any] = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}


@router.head("/{job}/files", dependencies=[READ], include_in_schema=False)
@router.get("/{job}/files", dependencies=[READ], responses=told(404))
def list_job_files(
    service: Served,
    job: str,
    everything: Annotated[bool, Query(alias="all", description="Also each file of the job's datasets.")] = False,
    after: Annotated[str | None, Query(description="The last name of the page before (with `all`).")] = None,
) -> FileList:
    """The finished files of a job, in reading order; of a dataset only its `dataset.json`, unless asked for `all`."""
    record = service.truth.job(job)
    store = service.store_of(record)
    listed_files = service.file_lists.of(record, store)
    if not everything:
        return FileList(data=[file_view(job, file) for file in listed_files.shown], has_more=False)
    names = listed_files.names[_place(listed_files, after) :]
    found = listed_files.of_names(store, names[:MAX_FILES])
    return FileList(data=[file_view(job, file) for file in found], has_more=len(names) > MAX_FILES)


@router.get(
    "/{job}/files.zip",
    dependencies=[READ],
    response_class=Response,
    responses={200: {"description": "A zip", "content": _ZIP}, **told(404, 503)},
)
def download_job_zip(request: Request, service: Served, job: str) -> LiveAnswer:
    """The finished files of a job as one zip, made while it is sent."""
    record = service.truth.job(job)
    store = service.store_of(record)
    files = service.file_lists.of(record, store).shown
    if not files:
        msg = f"job {job} is {record.state} and has no finished files yet"
        raise ApiError(404, msg, code="no_files")
    head = Head("application/zip", {"Content-Disposition": f'attachment; filename="{quote(job, safe="")}.zip"'})
    pump: Pump = request.app.state.pump
    return LiveAnswer(pump.run(lambda _stopped: chain([head], zipped(store, files, made_at_s=record.created_at_s))))


@router.head("/{job}/files/{name:path}", dependencies=[READ], include_in_schema=False)
@router.get(
    "/{job}/files/{name:path}",
    dependencies=[READ],
    response_class=StreamingResponse,
    responses=ANSWERS,
)
def download_job_file(request: Request, service: Served, job: str, name: str) -> Response:
    """One finished file, or a range of its bytes."""
    record = service.truth.job(job)
    store = service.store_of(record)
    listed_files = service.file_lists.of(record, store)
    # Looked up among the names of the job's own files: no path is ever made of what a caller sends.
    found = listed_files.of_names(store, [name]) if name in listed_files.names else []
    if not found:
        msg = f"job {job} has no finished file {name[:200]!r}; GET /v1/jobs/{job}/files lists them"
        raise ApiError(404, msg, code="unknown_file")
    (file,) = found
    filename = name.rpartition("/")[2]
    return send(request, Stored(store, file.key, file.media_type, filename, _version(record, file)))


def _place(files: JobFiles, after: str | None) -> int:
    if after is None:
        return 0
    if after not in files.names:
        msg = f"job {files.job} has no finished file {after[:200]!r}"
        raise ApiError(404, msg, code="unknown_file", param="after")
    return files.names.index(after) + 1


def _version(record: JobRecord, file: Finished) -> str:
    """Of the name, the size, and what changes in a job when a retry makes its files anew."""
    facts = (file.key, file.size_bytes, record.created_at_s, record.failed, record.marked)
    return hashlib.blake2b(repr(facts).encode(), digest_size=12).hexdigest()
