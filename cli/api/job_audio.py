"""`/v1/jobs/{job}/audio`: a job's audio in reading order while it is being made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from cli.api.access import READ
from cli.api.errors import ApiError
from cli.api.live_answer import Head, LiveAnswer, encoded
from cli.api.service import Served
from jobs.listen import Listener
from jobs.live_formats import LiveFormat
from jobs.positions import BEGINNING, Start
from jobs.speech import is_speech

router = APIRouter(dependencies=[READ])
MAX_SAMPLE = 2**53
MAX_S = 1e7
"""A bound for what is asked, far behind the end of any job."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to begin, as it is asked for: one of these at most. `from_sample` counts at the rate that is sent."""

    from_s: Annotated[float | None, Query(ge=0, le=MAX_S, description="Seconds from the job's beginning.")] = None
    from_sample: Annotated[
        int | None, Query(ge=0, le=MAX_SAMPLE, description="Samples from the job's beginning, at `X-Sample-Rate`.")
    ] = None
    segment: Annotated[int | None, Query(ge=0, le=MAX_SAMPLE, description="The beginning of this segment.")] = None
    from_: Annotated[
        Literal["start", "now"] | None, Query(alias="from", description="`now`: the first segment not finished yet.")
    ] = None

    def start(self, listener: Listener, live_format: LiveFormat) -> Start:
        """The same in the listener's words."""
        if self.from_s is not None:
            at_s = self.from_s
            return listener.known.at(lambda rate_hz: round(at_s * rate_hz))
        if self.from_sample is not None:
            sample = self.from_sample
            return listener.known.at(lambda rate_hz: live_format.place_of(sample, rate_hz)[0])
        if self.segment is not None:
            return listener.known.at_segment(self.segment)
        return listener.now() if self.from_ == "now" else BEGINNING

    def dropped(self, live_format: LiveFormat, sample_rate_hz: int) -> int:
        """How many samples of what is sent come before the place."""
        return 0 if self.from_sample is None else live_format.place_of(self.from_sample, sample_rate_hz)[1]

    def check(self, segments: int) -> None:
        """Raise ApiError where more than one place is asked for, or a segment that the job does not have."""
        asked = [name for name, value in self._asked().items() if value is not None]
        if len(asked) > 1:
            msg = f"{' and '.join(asked)} are both given; one place to begin is enough"
            raise ApiError(400, msg, code="ambiguous_place", param=asked[1])
        if self.segment is not None and self.segment >= segments:
            msg = f"segment {self.segment} is asked for; this job has {segments}, counted from 0"
            raise ApiError(404, msg, code="segment_not_found", param="segment")

    def _asked(self) -> dict[str, object]:
        return {
            "from_s": self.from_s,
            "from_sample": self.from_sample,
            "segment": self.segment,
            "from": self.from_,
        }


def _number(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer"}}


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The audio while it is made; it ends with the job.",
        "content": {
            live_format.media_type: {"schema": {"type": "string", "format": "binary"}} for live_format in LiveFormat
        },
        "headers": {
            "X-Sample-Rate": _number("Samples per second of what is sent."),
            "X-Start-Segment": _number("The segment in which it begins."),
            "X-Start-Sample": _number("Where it begins in the job, in samples at X-Sample-Rate; missing if not known."),
        },
    }
}


@router.get("/v1/jobs/{job}/audio", response_class=Response, responses=_ANSWER)
def job_audio(
    job: str,
    request: Request,
    service: Served,
    place: Annotated[Place, Depends()],
    live_format: Annotated[LiveFormat, Query(alias="format")] = LiveFormat.WAV,
) -> LiveAnswer:
    """Hear a job, from its beginning or another place, while it is made or afterwards. What is not made is waited for.

    A segment that could not be spoken is a gap. The answer begins with the first sound.
    """
    if is_speech(job):
        msg = f"{job} is a speech request: its audio was its answer; jobs can be heard again"
        raise ApiError(404, msg, code="unknown_job")
    record = service.truth.job(job)
    store = service.store_of(record)
    plan = service.boards.of(record, service.truth, store).plan
    place.check(len(plan.segments))
    listener = Listener(service.truth, service.streams, store, job=job, plan=plan)
    start = place.start(listener, live_format)
    return LiveAnswer(request.app.state.pump.run(partial(_pieces, listener, place, live_format, start)))


def _pieces(
    listener: Listener, place: Place, live_format: LiveFormat, start: Start, stopped: Callable[[], bool]
) -> Iterator[Head | bytes]:
    sounds = listener.sounds(start, stopped=stopped)
    first = next(sounds, None)
    if first is None:
        if stopped():
            return
        msg = "the job has ended and there is nothing to hear from there on"
        raise ApiError(416, msg, code="behind_the_end")
    rate_hz, drop = live_format.rate_hz(first.sample_rate_hz), place.dropped(live_format, first.sample_rate_hz)
    headers = {"X-Sample-Rate": str(rate_hz), "X-Start-Segment": str(start.segment), "Accept-Ranges": "none"}
    if (sample := start.sample_at(first.sample_rate_hz)) is not None:
        headers["X-Start-Sample"] = str(round(sample * rate_hz / first.sample_rate_hz) + drop)
    yield Head(live_format.media_type, headers)
    yield from _without(encoded(chain([first], sounds), live_format), 2 * drop)


def _without(pieces: Iterator[bytes], drop_bytes: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[drop_bytes:]
        drop_bytes = max(0, drop_bytes - len(piece))
