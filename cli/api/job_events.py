"""`/v1/jobs/{job}/events`: the job's events as server-sent events, from any of them on."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from cli.api.access import READ
from cli.api.errors import ApiError, told
from cli.api.live_answer import Head, LiveAnswer
from cli.api.pump import STOP_WITHIN_S, Pump, Stopped
from cli.api.service import Served, Service
from jobs.errors import UnknownJob
from jobs.events import Event
from jobs.state import FINAL_JOB_STATES, JobState

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

RECONNECT_MS = 2000
"""How long a browser waits before it comes back."""
KEEP_ALIVE_S = 15.0
"""A comment is sent when nothing else was for so long: proxies close what is silent."""
MEDIA_TYPE = "text/event-stream"
_ID = re.compile(r"[0-9]{1,19}-[0-9]{1,19}")
_STREAM = {"description": "Events, until the job's last one", "content": {MEDIA_TYPE: {}}}


@router.get(
    "/{job}/events",
    dependencies=[READ],
    response_class=Response,
    responses={200: _STREAM, **told(400, 404, 503)},
)
def stream_job_events(
    request: Request,
    service: Served,
    job: str,
    after: Annotated[str | None, Query(description="The id of the last event that was seen; 0: all.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> LiveAnswer:
    """All events of a job and those to come, as `docs/streams.md` describes them; `id:` is that of the stream.

    A reader that was cut off sends the last id it saw, in `Last-Event-ID` (as browsers do by themselves) or `after`,
    and gets what came since: nothing twice, nothing missed.
    """
    start, state = _start(last_event_id, after), service.truth.job(job).state
    pump: Pump = request.app.state.pump
    return LiveAnswer(pump.run(lambda stopped: _lines(service, job, start, state, stopped)))


def _start(last_event_id: str | None, after: str | None) -> str:
    """Where to begin: a browser that comes back knows better than the address it was first given."""
    named = last_event_id or after or "0"
    if named != "0" and _ID.fullmatch(named) is None:
        msg = f"{named[:100]!r} is no id of an event; send the last id that was seen, such as 1764500000000-0"
        raise ApiError(400, msg, code="bad_event_id", param="Last-Event-ID" if last_event_id else "after")
    return named


def _lines(service: Service, job: str, after: str, state: JobState, stopped: Stopped) -> Iterator[Head | bytes]:
    yield Head(MEDIA_TYPE + "; charset=utf-8")
    yield f"retry: {RECONNECT_MS}\n\n".encode()
    sent_s = time.monotonic()
    while not (stopped() or service.stopping.is_set()):
        found = service.streams.events(job, after=after, timeout_s=STOP_WITHIN_S)
        for entry, event in found:
            after, state = entry, event.state
            yield _line(entry, event)
        if found:
            sent_s = time.monotonic()
            continue
        is_quiet = time.monotonic() >= sent_s + KEEP_ALIVE_S
        if state in FINAL_JOB_STATES or is_quiet:
            state = _state(service, job)
            if state in FINAL_JOB_STATES and not service.streams.events(job, after=after):
                return
        if is_quiet:
            sent_s = time.monotonic()
            yield b": still here\n\n"


def _state(service: Service, job: str) -> JobState:
    """The state that counts. One whose events are gone is known by its record alone; one that was purged is over."""
    try:
        return service.truth.job(job).state
    except UnknownJob:
        return JobState.CANCELLED


def _line(entry: str, event: Event) -> bytes:
    return f"id: {entry}\nevent: {event.kind}\ndata: {event.model_dump_json()}\n\n".encode()
