"""A store in memory, for tests and for trying things out: the same promises as a folder, gone with the process."""

from __future__ import annotations

import io
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from jobs.errors import ObjectChanged, ObjectMissing
from jobs.stores.names import check_key

_shared: dict[str, MemoryStore] = {}
_shared_lock = threading.Lock()


class MemoryStore:
    """Objects in a dict. Safe for the threads of one process."""

    def __init__(self, name: str = "unnamed") -> None:
        self.url = f"memory://{name}"
        self._objects: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def put(self, key: str, data: bytes) -> None:
        """See `Store.put`."""
        check_key(key)
        with self._lock:
            self._objects[key] = bytes(data)

    @contextmanager
    def writer(self, key: str) -> Iterator[Path]:
        """See `Store.writer`. The temporary file is a real one: encoders need something to seek in."""
        check_key(key)
        with self._lock:
            seen = self._objects.get(key)
        with tempfile.TemporaryDirectory(prefix="tts-batch-") as folder:
            path = Path(folder) / "object"
            path.touch()
            yield path
            data = path.read_bytes()
        with self._lock:
            if self._objects.get(key) is not seen:
                msg = f"{self.url}/{key} was written by somebody else while it was being written here; theirs is kept"
                raise ObjectChanged(msg)
            self._objects[key] = data

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        check_key(key)
        with self._lock:
            if key not in self._objects:
                msg = f"no object {key!r} in {self.url}"
                raise ObjectMissing(msg)
            return self._objects[key]

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """See `Store.open`."""
        yield io.BytesIO(self.get(key))

    def exists(self, key: str) -> bool:
        """See `Store.exists`."""
        check_key(key)
        with self._lock:
            return key in self._objects

    def size_bytes(self, key: str) -> int:
        """See `Store.size_bytes`."""
        return len(self.get(key))

    def list(self, prefix: str) -> Iterator[str]:
        """See `Store.list`."""
        folder = prefix.rpartition("/")[0]
        if folder:
            check_key(folder)
        with self._lock:
            keys = sorted(key for key in self._objects if key.startswith(prefix))
        yield from keys

    def delete(self, key: str) -> None:
        """See `Store.delete`."""
        check_key(key)
        with self._lock:
            self._objects.pop(key, None)

    def sweep_unfinished(self, *, older_than_s: float) -> int:  # noqa: ARG002  # nothing outlives its writer here
        """See `Store.sweep_unfinished`."""
        return 0


def shared_memory_store(name: str) -> MemoryStore:
    """The memory store of that name in this process; made when it is first asked for."""
    with _shared_lock:
        return _shared.setdefault(name, MemoryStore(name))
