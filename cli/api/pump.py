"""From a generator that blocks to an asynchronous one: each runs in a thread of its own and is stopped with its reader.

`StreamingResponse(pump.run(lambda stopped: listener.sounds(stopped=stopped)))`
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from cli.api.errors import ApiError

T = TypeVar("T")
Stopped = Callable[[], bool]
"""Whether nobody reads any more. A generator asks it at least every STOP_WITHIN_S and returns then."""
STOP_WITHIN_S = 0.25
AHEAD = 16
"""Pieces made ahead of a slow reader; then the generator waits."""
RETRY_AFTER_S = 5


class _End:
    """Comes after the last piece."""


_END: Final = _End()


class Pump:
    """At most `limit` generators at one time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._taken = 0
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="stream")

    @property
    def running(self) -> int:
        """Generators at work now."""
        return self._taken

    def close(self) -> None:
        """Take no more; those that run end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def run(self, make: Callable[[Stopped], Iterator[T]]) -> AsyncIterator[T]:
        """The pieces of `make(stopped)`; an error in it comes out here. The place is taken now, before any answer.

        Raises:
            ApiError: 503, `limit` generators run already.
        """
        with self._lock:
            if self._taken >= self._limit:
                msg = f"this server sends {self._limit} streams already; try again in a moment"
                raise ApiError(503, msg, code="too_many_streams", headers={"Retry-After": str(RETRY_AFTER_S)})
            self._taken += 1
        begun = threading.Event()
        pieces = self._pieces(make, begun)
        # Whoever never asks for the first piece (its reader was gone already) must not keep the place.
        weakref.finalize(pieces, self._leave_unless, begun).atexit = False
        return pieces

    def _leave(self) -> None:
        with self._lock:
            self._taken -= 1

    def _leave_unless(self, begun: threading.Event) -> None:
        if not begun.is_set():
            self._leave()

    async def _pieces(self, make: Callable[[Stopped], Iterator[T]], begun: threading.Event) -> AsyncIterator[T]:
        begun.set()
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[T | _End] = asyncio.Queue()
        room, stop = threading.Semaphore(AHEAD), threading.Event()

        def work() -> None:
            try:
                for piece in make(stop.is_set):
                    while not room.acquire(timeout=STOP_WITHIN_S):
                        if stop.is_set():
                            return
                    if stop.is_set():
                        return
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)
            finally:
                self._leave()
                loop.call_soon_threadsafe(pieces.put_nowait, _END)

        future = asyncio.wrap_future(self._threads.submit(work))
        try:
            while not isinstance(piece := await pieces.get(), _End):
                room.release()
                yield piece
            await future
        finally:
            stop.set()
            future.cancel()  # how it ends now, nobody hears
