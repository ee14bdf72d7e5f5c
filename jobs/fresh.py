"""A value that is read anew when it has grown old: for what costs much, is asked for often and may be a moment late."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Fresh(Generic[T]):
    """What `read()` gave at most `kept_s` ago. One thread reads, the others wait for it; an error is not kept."""

    def __init__(self, read: Callable[[], T], *, kept_s: float) -> None:
        self._read = read
        self._kept_s = kept_s
        self._lock = threading.Lock()
        self._kept: tuple[float, T] | None = None

    def get(self, *, no_older_than_s: float | None = None) -> T:
        """The value; `no_older_than_s` 0 reads it now. Raises what `read` raises."""
        kept_s = self._kept_s if no_older_than_s is None else no_older_than_s
        asked_s = time.monotonic()
        with self._lock:
            # Read by another thread while this one waited for the lock: it is as new as this call.
            if self._kept is None or asked_s - self._kept[0] >= kept_s:
                read_s = time.monotonic()
                self._kept = (read_s, self._read())
            return self._kept[1]
