"""uvicorn's HTTP/1.1 with an end to its patience: who sends a request's head too slowly loses the connection.

uvicorn itself waits for ever for the head of a request, so that a few hundred idle connections could take all places;
and who comes when all are taken would get words that no client of ours reads.
Bodies are timed in `cli/api/middleware.py`, idle connections between requests by uvicorn's `timeout_keep_alive`.

HTTP/1.0 has no other sign of an answer's end than that the connection is closed: one that is broken off is reset.
"""

from __future__ import annotations

import asyncio
import socket
import struct

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from cli.api.errors import ApiError, answer

HEAD_S = 20.0
"""How long the request line and the headers may take, from the first byte (or from when the connection was made)."""

RETRY_AFTER_S = 5


class PatientProtocol(H11Protocol):
    """For `uvicorn.Config(http=PatientProtocol)`."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the parent's
        """See asyncio."""
        super().connection_made(transport)
        self._places, self.limit_concurrency = self.limit_concurrency, None
        self._all_routes = self.app
        self._wait()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        before = self.cycle
        if before is None or before.response_complete:
            self._wait()
        taken = max(len(self.connections), len(self.tasks))
        is_full = self._places is not None and taken >= self._places
        self.app = _no_place if is_full else self._all_routes
        super().data_received(data)
        if self.cycle is not before:
            self._done_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._done_waiting()
        cycle = self.cycle
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            self._reset_if_old(cycle.scope["http_version"])
        super().connection_lost(exc)

    def _reset_if_old(self, http_version: str) -> None:
        """The socket is closed after `connection_lost`: with a reset then."""
        if http_version == "1.0":
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_S, self.transport.close)

    def _done_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


async def _no_place(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers where all connections are taken."""
    busy = ApiError(503, "this server has as many connections as it takes; try again in a moment", code="too_busy")
    headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
    await answer(503, busy.body, headers)(scope, receive, send)
