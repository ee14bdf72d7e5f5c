"""From a generator that blocks to an asynchronous one: each runs in a thread of its own and is stopped with its reader.

`LiveAnswer(pump.run(lambda stopped: pieces(stopped)))`
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cli.api.errors import ApiError
from jobs.errors import JobsError

T = TypeVar("T")
Stopped = Callable[[], bool]
"""Whether nobody reads any more. A generator asks it at least every STOP_WITHIN_S and returns then."""
STOP_WITHIN_S = 0.25
AHEAD = 16
"""Pieces made ahead of a slow reader; then the generator waits."""
STALL_S = 60.0
"""A reader that has read nothing for so long gives its place away when others wait for one; else it may take its time
(players stop reading for minutes when they have enough)."""
RETRY_AFTER_S = 5


class _End:
    """Comes after the last piece."""


_END: Final = _End()


@dataclass(eq=False, slots=True)
class _Reader:
    """How far one reader lets its generator go. `stands_since_s`: monotonic time; None: it reads."""

    room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AHEAD))
    stop: threading.Event = field(default_factory=threading.Event)
    stands_since_s: float | None = None
    given_up: bool = False

    @property
    def stands_s(self) -> float:
        """How long it has read nothing, though there was something."""
        since_s = self.stands_since_s
        return 0.0 if since_s is None else time.monotonic() - since_s

    def takes_more(self) -> bool:
        """Wait until it takes one more piece; False: it has left, or was given up."""
        if not self.room.acquire(blocking=False):
            self.stands_since_s = time.monotonic()
            while not (self.stop.is_set() or self.room.acquire(timeout=STOP_WITHIN_S)):
                pass
            self.stands_since_s = None
        return not self.stop.is_set()


class Pump:
    """At most `limit` generators at one time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._taken = 0
        self._readers: set[_Reader] = set()
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
                self._give_up_one()
                msg = f"this server sends {self._limit} streams already; try again in a moment"
                raise ApiError(503, msg, code="too_many_streams", headers={"Retry-After": str(RETRY_AFTER_S)})
            self._taken += 1
        begun = threading.Event()
        pieces = self._pieces(make, begun)
        # Whoever never asks for the first piece (its reader was gone already) must not keep the place.
        weakref.finalize(pieces, self._leave_unless, begun).atexit = False
        return pieces

    def _give_up_one(self) -> None:
        """Stop the reader that has stood still longest, so that whoever comes again finds a place."""
        longest = max(self._readers, key=lambda reader: reader.stands_s, default=None)
        if longest is not None and longest.stands_s > STALL_S:
            longest.given_up = True
            longest.stop.set()
            self._readers.discard(longest)

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
        reader = _Reader()

        def work() -> None:
            try:
                for piece in make(reader.stop.is_set):
                    if not reader.takes_more():
                        break
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)
                if reader.given_up:
                    msg = f"its reader read nothing for {STALL_S:.0f} s, and others waited for its place"
                    raise JobsError(msg)
            finally:
                self._leave()
                loop.call_soon_threadsafe(pieces.put_nowait, _END)

        submitted = self._threads.submit(work)
        future = asyncio.wrap_future(submitted)
        with self._lock:
            self._readers.add(reader)
        try:
            while not isinstance(piece := await pieces.get(), _End):
                reader.room.release()
                yield piece
            await future
        finally:
            reader.stop.set()
            with self._lock:
                self._readers.discard(reader)
            if not future.done() and submitted.cancel():
                self._leave()  # no thread was free for it yet: it never begins
            future.cancel()  # how it ends now, nobody hears
