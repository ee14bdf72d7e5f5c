"""What a synthesis process has in hand, from the lease until the truth was told: the other side of `Truth.holding`.

A server that is killed may forget what it had confirmed (its file is written once a second). The truth then says that
this process holds a segment that it finished, and as long as it beats nobody else would get it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable


class Hand:
    """The references of segments in this process. May be used by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refs: set[str] = set()
        self._missed: frozenset[str] = frozenset()

    def took(self, refs: Iterable[str]) -> None:
        """They were leased."""
        with self._lock:
            self._refs.update(refs)

    def left(self, refs: Iterable[str]) -> None:
        """The truth was told of them, or got them back."""
        with self._lock:
            self._refs.difference_update(refs)

    def forgotten(self, held: frozenset[str]) -> list[str]:
        """What the truth says is here and is not, at this look and at the one before; sorted.

        Twice, since a lease that was given may be on its way here at one look.
        """
        with self._lock:
            missed = held - self._refs
            found = missed & self._missed
            self._missed = missed - found
        return sorted(found)
