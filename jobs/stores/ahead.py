"""Reading ahead: a store that is far away is asked for the next objects while somebody works on this one.

    with reading_ahead(store, keys) as near:   # in the order in which they will be read
        near.get(keys[0])

Nothing is read otherwise than before, only sooner: every object is what the store has, and errors come when their
object's turn comes. `side_by_side` does the same for any question that is asked of many things.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

from jobs.protocols import Store

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 16
"""Objects on their way at one time. Takes have about 0.3 MB."""
SMALL_BYTES = 64 * 1024
"""Objects up to this size are kept while the block lasts: a step reads the record of a take several times."""


@contextmanager
def reading_ahead(store: Store, keys: Sequence[str]) -> Iterator[Store]:
    """The store, which reads `keys` ahead in this order; the order in which they are asked for may be another one.

    A folder or memory is given back as it is: there is nothing to wait for.
    """
    if store.url.startswith(("file:", "memory:")):
        yield store
        return
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="read-ahead") as pool:
        ahead = ReadAhead(store, keys, pool)
        try:
            yield ahead
        finally:
            ahead.stop()


def side_by_side(ask: Callable[[T], R], things: Iterable[T]) -> Iterator[R]:
    """`map(ask, things)` with AT_ONCE questions at one time: the same answers in the same order."""
    left = iter(things)
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="side-by-side") as pool:
        asked = [pool.submit(ask, thing) for thing in islice(left, AT_ONCE)]
        try:
            while asked:
                yield asked.pop(0).result()
                asked += [pool.submit(ask, thing) for thing in islice(left, 1)]
        finally:
            for future in asked:
                future.cancel()


class ReadAhead:
    """A store behind which a pool reads. One thread uses it."""

    def __init__(self, store: Store, keys: Sequence[str], pool: ThreadPoolExecutor) -> None:
        self.url = store.url
        self._store = store
        self._keys = list(dict.fromkeys(keys))
        self._places = {key: place for place, key in enumerate(self._keys)}
        self._pool = pool
        self._coming: dict[str, Future[bytes]] = {}
        self._small: dict[str, bytes] = {}

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        if key in self._small:
            return self._small[key]
        place = self._places.get(key)
        if place is None:
            return self._store.get(key)
        wanted = [name for name in self._keys[place : place + AT_ONCE] if name not in self._small]
        for name in wanted:
            if name not in self._coming:
                self._coming[name] = self._pool.submit(self._store.get, name)
        self._drop([name for name in self._coming if name not in wanted])
        data = self._coming.pop(key).result()
        if len(data) <= SMALL_BYTES:
            self._small[key] = data
        return data

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """See `Store.open`."""
        if key in self._places:
            yield io.BytesIO(self.get(key))
        else:
            with self._store.open(key) as file:
                yield file

    def put(self, key: str, data: bytes) -> None:
        """See `Store.put`."""
        self._forget(key)
        self._store.put(key, data)

    def writer(self, key: str) -> AbstractContextManager[Path]:
        """See `Store.writer`."""
        self._forget(key)
        return self._store.writer(key)

    def exists(self, key: str) -> bool:
        """See `Store.exists`."""
        return key in self._small or self._store.exists(key)

    def size_bytes(self, key: str) -> int:
        """See `Store.size_bytes`."""
        return self._store.size_bytes(key)

    def list(self, prefix: str) -> Iterator[str]:
        """See `Store.list`."""
        return self._store.list(prefix)

    def delete(self, key: str) -> None:
        """See `Store.delete`."""
        self._forget(key)
        self._store.delete(key)

    def sweep_unfinished(self, *, older_than_s: float) -> int:
        """See `Store.sweep_unfinished`."""
        return self._store.sweep_unfinished(older_than_s=older_than_s)

    def stop(self) -> None:
        """What was not asked for is not wanted any more."""
        self._drop(list(self._coming))

    def _forget(self, key: str) -> None:
        self._small.pop(key, None)
        self._drop([key] if key in self._coming else [])

    def _drop(self, names: Iterable[str]) -> None:
        for name in names:
            self._coming.pop(name).cancel()
