"""Turns at planning: so many sources are planned at one time, a few more wait, the others are sent away (503)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cli.api.errors import ApiError
from jobs.planner import PROCESSES

AT_ONCE = PROCESSES
"""Sources that are planned at one time: as many as there are processes for it (`jobs.planner`)."""
WAITING = 8
"""Requests that may wait for their turn. Each keeps a thread of the server's pool, which other routes need."""
WAIT_S = 30.0
RETRY_AFTER_S = 10


class Turns:
    """Hands out turns. May be used by many threads."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING, wait_s: float = WAIT_S) -> None:
        self._at_once = at_once
        self._room = threading.BoundedSemaphore(at_once + waiting)
        self._turns = threading.BoundedSemaphore(at_once)
        self._wait_s = wait_s

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The time of the block is one turn.

        Raises:
            ApiError: 503, too many wait already, or it did not come in time.
        """
        if not self._room.acquire(blocking=False):
            raise self._busy()
        try:
            if not self._turns.acquire(timeout=self._wait_s):
                raise self._busy()
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._room.release()

    def _busy(self) -> ApiError:
        msg = f"this server plans {self._at_once} sources at one time and others wait already; send it again later"
        return ApiError(503, msg, code="planning_is_busy", headers={"Retry-After": str(RETRY_AFTER_S)})
