"""Write the archive of an EPUB: what is new, and the rest of another one. The same bytes whenever it is repeated.

OCF 3.3 section 4: `mimetype` first and stored without an extra field; no times of this machine anywhere.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Container
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Self

from jobs.reading.markup.archive import Archive

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time an archive can say."""
_BLOCK_BYTES = 1 << 20
_LARGE_BYTES = 1 << 31
_LEFT_OUT = frozenset({"mimetype", "META-INF/signatures.xml"})
"""Written anew; and signatures, which hold for the bytes of the source alone."""


class EpubWriter:
    """An archive to which files are added, open for the time of a `with`."""

    def __init__(self, target: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED)
        self.put("mimetype", b"application/epub+zip", stored=True)

    def put(self, name: str, data: bytes, *, stored: bool = False) -> None:
        """Add a file; `stored`: as it is, not deflated."""
        self._zip.writestr(_entry(name, stored=stored), data)

    def stream(self, name: str, source: BinaryIO | IO[bytes], size_bytes: int, *, stored: bool) -> None:
        """Add a file of that size out of an open one."""
        entry = _entry(name, stored=stored)
        with self._zip.open(entry, "w", force_zip64=size_bytes >= _LARGE_BYTES) as target:
            shutil.copyfileobj(source, target, _BLOCK_BYTES)

    def copy(self, archive: Archive, without: Container[str]) -> None:
        """Add the files of another archive, each once, but for some names, folders and what would lead out of it."""
        for name, info in archive.zip.NameToInfo.items():
            path = PurePosixPath(name)
            if name in without or name in _LEFT_OUT or info.is_dir() or path.is_absolute() or ".." in path.parts:
                continue
            with archive.zip.open(info) as source:
                self.stream(name, source, info.file_size, stored=info.compress_type == zipfile.ZIP_STORED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Write the table of contents of the archive."""
        self._zip.close()


def _entry(name: str, *, stored: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry
