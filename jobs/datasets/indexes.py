"""Index files of a dataset, each written whole from the ledger in one pass over its entries."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import IO

from jobs.datasets.entries import Entry
from jobs.datasets.info import FileInfo, file_info
from jobs.datasets.layouts import IndexFile, Layout, View
from jobs.protocols import Store


def write_indexes(
    store: Store, prefix: str, layout: Layout, view: View, entries: Iterable[Entry]
) -> dict[str, FileInfo]:
    """Write the index files and documents of a layout; all of them appear when the last entry was written.

    Raises:
        StoreError: the store refused. A file is the old one then, or the new one.
    """
    found: dict[str, FileInfo] = {}
    with ExitStack() as stack:
        paths = {index.name: stack.enter_context(store.writer(prefix + index.name)) for index in layout.indexes}
        with ExitStack() as files:
            writers = [_Writer(index, view, files.enter_context(_opened(index, paths))) for index in layout.indexes]
            for entry in entries:
                for writer in writers:
                    writer.add(entry)
            for writer in writers:
                writer.finish()
        found |= {name: file_info(path) for name, path in paths.items()}
    for name, text in (layout.documents or {}).items():
        data = text(view).encode()
        store.put(prefix + name, data)
        found[name] = FileInfo(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    return found


class _Writer:
    """Writes the lines of one index file, at once or (where they are sorted) at the end."""

    def __init__(self, index: IndexFile, view: View, file: IO[bytes]) -> None:
        self._index = index
        self._view = view
        self._raw = file
        self._file = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if index.gzipped else file
        self._lines: list[bytes] = []

    def add(self, entry: Entry) -> None:
        line = self._index.line(entry, self._view).encode()
        if self._index.by_bytes:
            self._lines.append(line)
        else:
            self._file.write(line + b"\n")

    def finish(self) -> None:
        lines = sorted(self._lines)
        for line in _grouped(lines) if self._index.grouped else lines:
            self._file.write(line + b"\n")
        if self._file is not self._raw:
            self._file.close()


def _opened(index: IndexFile, paths: dict[str, Path]) -> IO[bytes]:
    return paths[index.name].open("wb")


def _grouped(lines: list[bytes]) -> Iterator[bytes]:
    """`a 1`, `a 2`, `b 3` as `a 1 2`, `b 3`."""
    for word, group in groupby(lines, key=lambda line: line.partition(b" ")[0]):
        yield b" ".join([word, *(line.partition(b" ")[2] for line in group)])
