"""`/v1/audio/speech`: text in, audio out at once, through the same queue in class live."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel

from cli.api.access import allowed
from cli.api.admission import check_queue, offer_of
from cli.api.errors import ApiError, blamed
from cli.api.live_answer import LiveAnswer
from cli.api.service import Served, Service
from cli.api.speech_stream import Order, pieces
from jobs.access.gate import Caller, Scope
from jobs.errors import UnknownJob
from jobs.live_formats import LiveFormat
from jobs.references import check_clones
from jobs.spec import JobRecord, ModelOffer
from jobs.speech import Wanted, is_speech, new_id
from jobs.speech_body import SpeechBody, check_body, unspeakable
from jobs.state import FINAL_JOB_STATES, JobState

router = APIRouter()
Speaker = Annotated[Caller, Depends(allowed(Scope.SPEAK))]


class SpeechEnd(BaseModel):
    """How a speech request went, or how far it is (`finish_reason` null).

    `stop`: all of it was spoken; `error`: a part of it could not be; `cancelled`: it was taken back, or its reader went
    away. Of its `segments`, `done` were spoken, `failed` were not, and of `marked` ones no take was good. `audio_s` is
    without the pauses between segments. `created_at` is in seconds since 1970.
    """

    id: str
    object: Literal["audio.speech"] = "audio.speech"
    finish_reason: Literal["stop", "error", "cancelled"] | None
    created_at: float
    model: str
    voice: str
    audio_s: float
    segments: int
    done: int
    failed: int
    marked: int
    reason: str


_BODY = {"schema": {"type": "string", "format": "binary"}}
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The audio while it is made; with `stream_format` `sse`, events that carry it.",
        "content": {
            **{live_format.media_type: _BODY for live_format in LiveFormat},
            "text/event-stream": {},
        },
        "headers": {
            "X-Request-Id": {"description": "Ask how it ended by this id.", "schema": {"type": "string"}},
            "X-Sample-Rate": {"description": "Samples per second of what is sent.", "schema": {"type": "integer"}},
        },
    }
}


@router.post("/v1/audio/speech", response_class=Response, responses=_ANSWER)
def create_speech(body: SpeechBody, request: Request, service: Served, caller: Speaker) -> LiveAnswer:
    """Speak a text. The answer begins with the first sound; whoever goes away meanwhile cancels the rest."""
    check_input(service, body.input)
    offer = offer_of(service, body.model)
    wanted = _wanted(service, body, offer)
    check_queue(service)
    order = Order(wanted, body.response_format, body.stream_format == "sse", caller, new_id())
    return LiveAnswer(request.app.state.pump.run(partial(pieces, service, order)))


@router.get("/v1/audio/speech/{request_id}")
def retrieve_speech(request_id: str, service: Served, _caller: Speaker) -> SpeechEnd:
    """How a speech request ended; known until some minutes after its end."""
    record = None
    if is_speech(request_id):
        with suppress(UnknownJob):
            record = service.truth.job(request_id)
    if record is None:
        msg = f"there is no speech request {request_id[:100]!r}, or it ended too long ago"
        raise ApiError(404, msg, code="speech_not_found", param="request_id")
    return _end(record)


def check_input(service: Service, text: str) -> None:
    """Raise ApiError 400 where a text is longer than one request may be, or nothing in it can be spoken."""
    limit = service.limits.speech_chars
    if len(text) > limit:
        msg = f"input has {len(text)} characters; a speech request may have {limit}: submit longer texts as jobs"
        raise ApiError(400, msg, code="string_above_max_length", param="input")
    if told := unspeakable(text):
        raise ApiError(400, told, code="empty_text", param="input")


def _wanted(service: Service, body: SpeechBody, offer: ModelOffer) -> Wanted:
    voice = service.voice_name(body.voice_name or offer.default_voice)
    with blamed("voice", "voice_not_found"):
        check_clones(service.home, offer, voice)
    return Wanted(
        text=body.input,
        offer=offer,
        voice=voice,
        language=check_body(body, offer, voice=voice).language,
        seed=body.seed or 0,
        speed=body.speed,
        instructions=body.instructions,
        checked=body.checked,
    )


def _end(record: JobRecord) -> SpeechEnd:
    return SpeechEnd(
        id=record.job,
        finish_reason=_finish_reason(record),
        created_at=record.created_at_s,
        model=record.spec.model,
        voice=record.spec.voice,
        audio_s=round(record.audio_s, 3),
        segments=record.total,
        done=record.done,
        failed=record.failed,
        marked=record.marked,
        reason=record.reason,
    )


def _finish_reason(record: JobRecord) -> Literal["stop", "error", "cancelled"] | None:
    """What came first counts: of a request one of whose segments failed the rest is cancelled."""
    if record.state not in FINAL_JOB_STATES:
        return None
    if record.state is JobState.DONE:
        return "stop"
    return "cancelled" if record.state is JobState.CANCELLED and not record.failed else "error"
