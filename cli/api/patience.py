"""uvicorn's HTTP/1.1 with an end to its patience: who sends a request's head too slowly loses the connection.

uvicorn itself waits for ever for the head of a request, so that a few hundred idle connections could take all places.
Bodies are timed in `cli/api/limits.py`, idle connections between requests by uvicorn's `timeout_keep_alive`.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0
"""How long the request line and the headers may take, from the first byte (or from when the connection was made)."""


class PatientProtocol(H11Protocol):
    """For `uvicorn.Config(http=PatientProtocol)`."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the parent's
        """See asyncio."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        before = self.cycle
        if before is None or before.response_complete:
            self._wait()
        super().data_received(data)
        if self.cycle is not before:
            self._done_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._done_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_S, self.transport.close)

    def _done_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
