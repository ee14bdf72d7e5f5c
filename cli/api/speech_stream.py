"""One speech request from its text to the bytes of its answer: what runs in a thread of the pump."""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

from cli.api.access import speaking, spend_chars
from cli.api.admission import RETRY_AFTER_S
from cli.api.errors import ApiError, ErrorBody, of_ours, type_of
from cli.api.live_answer import Head, encoded
from cli.api.service import Service
from jobs.access.gate import Caller
from jobs.errors import BrokerUnavailable, IllegalMove, JobsError, SpeechIncomplete, UnknownJob
from jobs.listen import Listener, Sound
from jobs.live_formats import LiveFormat
from jobs.protocols import Truth
from jobs.speech import Speech, Wanted, begin
from jobs.state import FINAL_JOB_STATES

log = logging.getLogger(__name__)

NOBODY_S = 20.0
"""How long a request waits while no worker lives that could speak it."""
LOOK_EVERY_S = 5.0
CANCEL_FOR_S = 300.0
"""How long it is tried to cancel a request that nobody hears, while the broker is away."""
CANCEL_AGAIN_S = 1.0
SSE = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be sent, to whom. `sse`: as events with base64 in them, as OpenAI's clients read it."""

    wanted: Wanted
    live_format: LiveFormat
    sse: bool
    caller: Caller
    request_id: str


def pieces(service: Service, order: Order, stopped: Callable[[], bool]) -> Iterator[Head | bytes]:
    """Queue a text; its answer once the first sound is there. Whoever stops reading cancels it.

    Raises:
        ApiError: 429 over a quota, 503 nobody speaks it, 500 it failed.
        BadInput: there is nothing to speak, or not so.
        SpeechIncomplete: after the head: what was sent is not the whole.
    """
    with speaking(service, order.caller, order.request_id), service.waiting.for_request(order.request_id):
        spend_chars(service, order.caller, len(order.wanted.text))
        home = service.home
        # From before it is queued: a broker that goes away then may have taken it.
        with _cancelled_unless_whole(service.truth, order.request_id) as whole:
            speech = begin(order.wanted, service.truth, store_url=home.url, job=order.request_id)
            waiting = _Waiting(service, speech, stopped)
            listener = Listener(service.truth, service.streams, home, job=speech.job, plan=speech.plan)
            sounds = listener.sounds(whole=True, stopped=waiting)
            first = _first(speech, sounds, waiting)
            if first is None:
                return
            body = _events if order.sse else _audio
            yield _head(order, first)
            yield from body(order, speech, chain([first], _rest(sounds, waiting, whole)))


def _first(speech: Speech, sounds: Iterator[Sound], waiting: _Waiting) -> Sound | None:
    """The first sound; None: nobody waits for it any more. An error has the id by which its end can be asked for."""
    named = {"X-Request-Id": speech.job}
    try:
        first = next(sounds, None)
    except SpeechIncomplete as error:
        raise ApiError(500, str(error), code="speech_failed", headers=named) from error
    if first is None and waiting.nobody:
        headers = {"Retry-After": str(RETRY_AFTER_S)} | named
        raise ApiError(503, waiting.why, code="no_worker", headers=headers)
    return first


def _rest(sounds: Iterator[Sound], waiting: _Waiting, whole: Callable[[], None]) -> Iterator[Sound]:
    """All further sounds, then `whole()`: an end that is none of the text is an error."""
    yield from sounds
    if waiting.nobody:
        raise SpeechIncomplete(waiting.why)
    if waiting.left:
        msg = "nobody listens any more"
        raise SpeechIncomplete(msg)
    whole()


def _head(order: Order, first: Sound) -> Head:
    rate_hz = order.live_format.rate_hz(first.sample_rate_hz)
    media_type = SSE if order.sse else order.live_format.media_type
    return Head(media_type, {"X-Request-Id": order.request_id, "X-Sample-Rate": str(rate_hz)})


def _audio(order: Order, _speech: Speech, sounds: Iterator[Sound]) -> Iterator[bytes]:
    return encoded(sounds, order.live_format)


def _events(order: Order, speech: Speech, sounds: Iterator[Sound]) -> Iterator[bytes]:
    """Server-sent events: `speech.audio.delta`, at last `speech.audio.done` or `error`."""
    audio_s = 0.0

    def measured() -> Iterator[Sound]:
        nonlocal audio_s
        for sound in sounds:
            audio_s += sound.samples.size / sound.sample_rate_hz
            yield sound

    try:
        for data in encoded(measured(), order.live_format):
            if data:
                yield _event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
    except JobsError as error:
        told = str(error) if isinstance(error, SpeechIncomplete) else of_ours(error).body.message
        body = ErrorBody(message=told, type=type_of(500), code="speech_failed")
        yield _event({"type": "error", "error": body.model_dump(exclude={"problems"}), "request_id": order.request_id})
        log.warning("speech %s was broken off: %s", order.request_id, error)
        return
    chars = speech.plan.prompt_chars
    yield _event(
        {
            "type": "speech.audio.done",
            "usage": {"input_tokens": chars, "output_tokens": 0, "total_tokens": chars},
            "finish_reason": "stop",
            "audio_s": round(audio_s, 3),
            "request_id": order.request_id,
        }
    )


def _event(value: dict[str, object]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


class _Waiting:
    """Whether it is pointless to wait: the reader left, or no worker lives that speaks this (looked up now and then).

    Once it is, it stays so. What is spoken already needs no worker, however slowly it is read.
    """

    def __init__(self, service: Service, speech: Speech, stopped: Callable[[], bool]) -> None:
        self._service = service
        self._speech = speech
        self._stopped = stopped
        self._looked_s = time.monotonic()
        self._missed_s: float | None = None
        self.left = False
        self.nobody = False
        self.why = f"no worker that speaks {speech.engine} was up for {NOBODY_S:.0f} s; try again when one is"

    def __call__(self) -> bool:
        self.left = self.left or self._stopped()
        if not self.left and time.monotonic() - self._looked_s > LOOK_EVERY_S:
            self._look()
        return self.left or self.nobody

    def _look(self) -> None:
        self._looked_s = time.monotonic()
        lives = any(self._speech.engine in status.info.models for status in self._service.workers())
        if lives or self._is_over():
            self._missed_s = None
            return
        # Not since one was last seen: nobody looked while a slow reader kept this waiting.
        self._missed_s = self._looked_s if self._missed_s is None else self._missed_s
        self.nobody = self._looked_s - self._missed_s > NOBODY_S

    def _is_over(self) -> bool:
        try:
            return self._service.truth.job(self._speech.job).state in FINAL_JOB_STATES
        except UnknownJob:  # it ended some time ago
            return True


@contextmanager
def _cancelled_unless_whole(truth: Truth, job: str) -> Iterator[Callable[[], None]]:
    """Take a request back when the block is left before the given function was called."""
    done = away = False

    def whole() -> None:
        nonlocal done
        done = True

    try:
        yield whole
    except BrokerUnavailable:
        away = True
        raise
    finally:
        if not done and (away or not _cancelled(truth, job)):
            # Not here: whoever waits for the answer would wait for the broker too.
            threading.Thread(target=_cancel_later, args=(truth, job), name=f"cancel-{job}", daemon=True).start()


def _cancelled(truth: Truth, job: str) -> bool:
    """Cancel a request that is there and goes on; False: the broker is away."""
    try:
        truth.cancel(job)
    except (UnknownJob, IllegalMove):
        pass  # it was never queued, or it came to its end
    except BrokerUnavailable:
        return False
    return True


def _cancel_later(truth: Truth, job: str) -> None:
    give_up_s = time.monotonic() + CANCEL_FOR_S
    while not _cancelled(truth, job):
        if time.monotonic() > give_up_s:
            log.warning("speech %s may go on unheard: the broker was away too long to cancel it", job)
            return
        time.sleep(CANCEL_AGAIN_S)
