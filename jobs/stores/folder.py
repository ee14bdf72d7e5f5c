"""A store in a folder: one file per object, written beside its place, flushed to the disk and then renamed.

A reader sees the old object, the new one or none, never half of one; after a power cut as well. What a killed writer
leaves is a hidden temporary file, which no listing shows and `sweep_unfinished` removes.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from jobs.errors import ObjectChanged, ObjectMissing, StoreAway, StoreError
from jobs.stores.names import check_key

_TEMPORARY_MARK = ".part-"
_MISSING = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
_AWAY = {
    *(errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.ECONNRESET, errno.ECONNREFUSED),
    *(errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH, errno.EREMOTEIO),
}
"""What a folder on a network says when its server is away."""
_NEXT_STEP = {
    errno.ENOSPC: "free some space there or use a store on another disk",
    errno.EDQUOT: "raise the quota there or use a store on another disk",
    errno.EACCES: "give this user the right to write there or use another store",
    errno.EPERM: "give this user the right to write there or use another store",
    errno.EROFS: "mount it writable or use another store",
}


class FolderStore:
    """Objects as files under `root`. Safe for many processes and threads at once, also on several machines."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.url = f"file://{root}"

    def put(self, key: str, data: bytes) -> None:
        """See `Store.put`."""
        with self._temporary(key, lambda: None) as path:
            path.write_bytes(data)

    @contextmanager
    def writer(self, key: str) -> Iterator[Path]:
        """See `Store.writer`.

        Raises:
            ObjectChanged: somebody else wrote or deleted it meanwhile.
            StoreError: the folder is full, not writable or not there; nothing half-written stays.
        """
        target = self._path(key)
        try:
            seen = _version(target)
        except OSError as error:
            raise self._store_error(key, error, verb="write") from error

        def check() -> None:
            if _version(target) != seen:  # a moment before the rename: as near as file systems let us
                msg = f"{target} was written by somebody else while it was being written here; theirs is kept"
                raise ObjectChanged(msg)

        with self._temporary(key, check) as path:
            yield path

    @contextmanager
    def _temporary(self, key: str, check: Callable[[], None]) -> Iterator[Path]:
        """A temporary file in the object's own folder, so that the rename to it is atomic; `check` is done before."""
        target = self._path(key)
        temporary: Path | None = None
        try:
            temporary = self._new_temporary(target.parent)
            yield temporary
            _flush(temporary)
            check()
            temporary.replace(target)
            _flush(target.parent)
        except OSError as error:
            raise self._store_error(key, error, verb="write") from error
        finally:
            if temporary is not None:
                with suppress(OSError):  # after the rename it is gone; a failing disk leaves it to the sweep
                    temporary.unlink()

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        with self.open(key) as file:
            return file.read()

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """See `Store.open`."""
        try:
            file = self._path(key).open("rb")
        except OSError as error:
            raise self._store_error(key, error, verb="read") from error
        with file:
            yield file

    def exists(self, key: str) -> bool:
        """See `Store.exists`."""
        return self._path(key).is_file()

    def size_bytes(self, key: str) -> int:
        """See `Store.size_bytes`."""
        path = self._path(key)
        try:
            size = path.stat().st_size
        except OSError as error:
            raise self._store_error(key, error, verb="read") from error
        if not path.is_file():
            raise _missing(key, self.url)
        return size

    def list(self, prefix: str) -> Iterator[str]:
        """See `Store.list`. Keys come in the order of their text, the same on every machine."""
        folder = prefix.rpartition("/")[0]
        if folder:
            check_key(folder)
        for key in _walk(self.root / folder, f"{folder}/" if folder else ""):
            if key.startswith(prefix):
                yield key

    def delete(self, key: str) -> None:
        """See `Store.delete`. Folders that became empty go too."""
        path = self._path(key)
        try:
            path.unlink()
        except _MISSING:
            return
        except OSError as error:
            raise self._store_error(key, error, verb="delete") from error
        with suppress(OSError):  # not empty, or another process was faster
            for folder in list(path.relative_to(self.root).parents)[:-1]:
                (self.root / folder).rmdir()

    def sweep_unfinished(self, *, older_than_s: float) -> int:
        """Remove temporary files that are older and whose writer is not a living process of this host; count them."""
        removed = 0
        oldest_s = time.time() - older_than_s
        for path in self.root.rglob(f"{_TEMPORARY_MARK}*"):
            with suppress(FileNotFoundError):  # its writer finished meanwhile
                if path.stat().st_mtime < oldest_s and not _writer_lives(path.name):
                    path.unlink()
                    removed += 1
        return removed

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _new_temporary(self, folder: Path) -> Path:
        for _ in range(3):  # another process may remove the empty folder between the two steps
            path = folder / f"{_TEMPORARY_MARK}{_host()}-{os.getpid()}-{secrets.token_hex(8)}"
            with suppress(FileNotFoundError):
                _make_folder(folder)
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # the umask decides, as for files
                return path
        msg = f"{folder} is removed by another program again and again"
        raise StoreError(msg)

    def _store_error(self, key: str, error: OSError, *, verb: str) -> StoreError:
        if verb == "read" and isinstance(error, _MISSING):
            return _missing(key, self.url)
        code = error.errno or 0
        free = _free_bytes(self.root)
        space = "" if free is None else f" ({free:,} bytes free)"
        advice = _NEXT_STEP.get(code, "check the folder and the disk")
        reason = os.strerror(code) if code else str(error)
        kind = StoreAway if code in _AWAY else StoreError
        return kind(f"cannot {verb} {self.root / key}: {reason}{space}; {advice}, then repeat the step")


def _version(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is replaced; None: there is none. A rename gives it another inode."""
    try:
        status = path.stat()
    except _MISSING:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _missing(key: str, url: str) -> ObjectMissing:
    return ObjectMissing(f"no object {key!r} in {url}")


def _walk(folder: Path, prefix: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except _MISSING:
        return
    for name in names:  # a folder sorts with its slash: the walk gives keys in the order of their text
        if name.startswith("."):
            continue
        if name.endswith("/"):
            yield from _walk(folder / name, prefix + name)
        else:
            yield prefix + name


def _make_folder(folder: Path) -> None:
    """Make a folder and its parents, each noted on the disk in its own parent."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()
        _flush(folder.parent)


def _flush(path: Path) -> None:
    """Bring a file's content, or a folder's names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64]


def _writer_lives(name: str) -> bool:
    host, _, rest = name.removeprefix(_TEMPORARY_MARK).partition("-")
    pid = rest.partition("-")[0]
    if host != _host() or not pid.isdecimal():
        return False  # a writer elsewhere cannot be asked: its age alone decides
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it lives and belongs to another user
    return True


def _free_bytes(root: Path) -> int | None:
    for folder in (root, *root.parents):
        with suppress(OSError):
            return shutil.disk_usage(folder).free
    return None
