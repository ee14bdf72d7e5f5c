"""Answers that are sent while they are made: the status waits for the first piece, the end tells whether all came.

    return LiveAnswer(request.app.state.pump.run(pieces))   # pieces(stopped) yields a Head, then bytes

An error before the head is an answer like any other. One after it closes the connection without the end of the body:
a reader sees that something is missing, and never takes a part for the whole. A reader that goes away, also while it
waits for the head, stops the generator.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cli.api.errors import ApiError, request_id_of
from jobs.errors import JobsError
from jobs.listen import Sound
from jobs.live_formats import LiveEncoder, LiveFormat

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Head:
    """What an answer begins with."""

    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


def encoded(sounds: Iterable[Sound], live_format: LiveFormat) -> Iterator[bytes]:
    """The bytes of sounds of one sample rate as they come; nothing where there are none."""
    encoder = None
    for sound in sounds:
        encoder = encoder or LiveEncoder(live_format, sound.sample_rate_hz)
        yield encoder.add(sound.samples)
    if encoder is not None:
        yield encoder.close()


class LiveAnswer(Response):
    """A response of a Head and the bytes that follow it."""

    def __init__(self, pieces: AsyncIterator[Head | bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        sending = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sent = sending.done()
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)
        if not sent:
            log.info("request %s: the reader went away", request_id_of(scope))
            return
        try:
            sending.result()
        except (ApiError, JobsError) as error:
            if not self._started:
                raise
            # Nothing more is sent: the server closes a connection whose answer was not brought to its end.
            log.warning("request %s was broken off: %s", request_id_of(scope), error)

    async def _send(self, send: Send) -> None:
        try:
            async for piece in self._pieces:
                if isinstance(piece, Head):
                    await self._start(piece, send)
                elif piece:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            close = getattr(self._pieces, "aclose", None)
            if close is not None:
                with suppress(RuntimeError):  # it runs: it is being closed already
                    await close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, head: Head, send: Send) -> None:
        headers = MutableHeaders(headers={"Content-Type": head.media_type, "Cache-Control": "no-store", **head.headers})
        headers.setdefault("X-Accel-Buffering", "no")  # a proxy in between passes on what comes
        self._started = True
        await send({"type": "http.response.start", "status": 200, "headers": headers.raw})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
