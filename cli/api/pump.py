"""From a generator that blocks to an asynchronous one: each runs in a thread of its own and is stopped with its reader.

`StreamingResponse(pump.run(lambda stopped: listener.sounds(stopped=stopped)))`
"""

from __future__ import annotations

import asyncio
import threading
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
        self._free = threading.BoundedSemaphore(limit)
        self._limit = limit
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="stream")

    def close(self) -> None:
        """Take no more; those that run end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def run(self, make: Callable[[Stopped], Iterator[T]]) -> AsyncIterator[T]:
        """The pieces of `make(stopped)`; an error in it comes out here. The place is taken now, before any answer.

        Raises:
            ApiError: 503, `limit` generators run already.
        """
        if not self._free.acquire(blocking=False):
            msg = f"this server sends {self._limit} streams already; try again in a moment"
            raise ApiError(503, msg, code="too_many_streams", headers={"Retry-After": str(RETRY_AFTER_S)})
        return self._pieces(make)

    async def _pieces(self, make: Callable[[Stopped], Iterator[T]]) -> AsyncIterator[T]:
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
                loop.call_soon_threadsafe(pieces.put_nowait, _END)
                self._free.release()

        future = asyncio.wrap_future(self._threads.submit(work))
        try:
            while not isinstance(piece := await pieces.get(), _End):
                room.release()
                yield piece
            await future
        finally:
            stop.set()
