"""One export at a time into one folder: a lock that dies with its process. Knows nothing of datasets."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs.errors import BadOutput

LOCK_NAME = ".export-lock"


@contextmanager
def export_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder (made if it is not there); its file, and a folder that stayed empty, go at the end.

    Raises:
        BadOutput: another process exports into it, or it cannot be written.
    """
    was_there = folder.exists()
    handle = _take(folder)
    try:
        yield
    finally:
        with suppress(OSError):  # before the lock is free: who waits for it finds that it holds a dead file
            (folder / LOCK_NAME).unlink()
            if not was_there:
                folder.rmdir()
        os.close(handle)


def _take(folder: Path) -> int:
    path = folder / LOCK_NAME
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            msg = f"cannot write to {folder}: {error.strerror or error}; choose another folder with --out"
            raise BadOutput(msg) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            msg = f"another export writes to {folder} now ({error.strerror}); wait for it, or choose another folder"
            raise BadOutput(msg) from error
        if _still_there(path, handle):
            return handle
        os.close(handle)  # its holder ended between our two steps: the file that we locked is gone


def _still_there(path: Path, handle: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False
