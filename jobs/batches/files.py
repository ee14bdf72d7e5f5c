"""Files of batches in a store: kept, listed, read, deleted, and gone when their time is up.

files = Files(store)
record = files.keep(source, filename="lines.jsonl", limit_bytes=MAX_BYTES)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from jobs import keys
from jobs.batches.ids import FILE, is_id, made_at_s, new_id
from jobs.batches.records import DEFAULT_KEPT_S, MAX_WINDOW_S, FileRecord, Purpose, read, write
from jobs.errors import TooLarge, UnknownFile
from jobs.protocols import Store

MAX_BYTES = 200 * 1024 * 1024
"""Largest file: what OpenAI's API takes for a batch."""
LOST_AFTER_S = MAX_WINDOW_S + 86_400.0
"""Content without a record is what a dead server left, if it is older than this: the name of what a batch writes is as
old as the batch."""
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one store. Safe for many threads and servers: each file is written once, whole or not at all."""

    store: Store
    clock: Callable[[], float] = time.time

    def keep(
        self, source: BinaryIO, *, filename: str, limit_bytes: int = MAX_BYTES, kept_s: int = DEFAULT_KEPT_S
    ) -> FileRecord:
        """Keep an uploaded file for so many seconds.

        Raises:
            TooLarge: it is larger than `limit_bytes`; nothing is kept.
            StoreError: the store refused.
        """
        now_s = self.clock()
        file = new_id(FILE, now_s)
        with self.store.writer(keys.file_content(file)) as path, path.open("wb") as target:
            size_bytes = 0
            while block := source.read(_BLOCK_BYTES):
                size_bytes += len(block)
                check_size(size_bytes, limit_bytes)
                target.write(block)
        created_at = int(now_s)
        return self.add(
            FileRecord(
                id=file,
                bytes=size_bytes,
                created_at=created_at,
                filename=filename,
                purpose=Purpose.BATCH,
                expires_at=created_at + kept_s,
            )
        )

    def add(self, record: FileRecord) -> FileRecord:
        """Make content that is written already a file. Raises StoreError."""
        write(self.store, keys.file_record(record.id), record)
        return record

    def get(self, file: str) -> FileRecord:
        """The record of a file.

        Raises:
            UnknownFile: there is none of that id, or its time is up.
        """
        record = read(self.store, keys.file_record(file), FileRecord) if is_id(FILE, file) else None
        if record is None or record.expires_at <= self.clock():
            msg = f"no file {file!r}; it was deleted, its time is up, or it never was: see GET /v1/files"
            raise UnknownFile(msg)
        return record

    def open(self, file: str) -> AbstractContextManager[BinaryIO]:
        """What is in a file. Raises UnknownFile."""
        return self.store.open(keys.file_content(self.get(file).id))

    def all(self) -> list[FileRecord]:
        """All files, oldest first."""
        now_s = self.clock()
        records = (read(self.store, keys.file_record(file), FileRecord) for file in self._ids())
        found = [record for record in records if record is not None and record.expires_at > now_s]
        return sorted(found, key=lambda record: (record.created_at, record.id))

    def delete(self, file: str) -> None:
        """Delete a file; with one that a batch wrote goes the audio that was converted for it.

        Raises:
            UnknownFile: there is none of that id.
            StoreError: the store refused.
        """
        self._remove(self.get(file))

    def expire(self) -> int:
        """Delete files whose time is up, and what dead uploads left; returns how many went."""
        now_s, gone = self.clock(), 0
        for file in list(self._ids()):
            record = read(self.store, keys.file_record(file), FileRecord)
            if record is not None and record.expires_at <= now_s:
                self._remove(record)
                gone += 1
            elif record is None and made_at_s(file) < now_s - LOST_AFTER_S:
                self.store.delete(keys.file_content(file))
                gone += 1
        return gone

    def _ids(self) -> Iterator[str]:
        """Every file that has content or a record, once."""
        last = ""
        for key in self.store.list(keys.FILES):
            file = key.removeprefix(keys.FILES).partition("/")[0]
            if file != last and is_id(FILE, file):
                yield file
            last = file

    def _remove(self, record: FileRecord) -> None:
        """First the record: what is without one is no file any more."""
        self.store.delete(keys.file_record(record.id))
        self.store.delete(keys.file_content(record.id))
        if record.batch:
            for key in list(self.store.list(keys.batch_audios(record.batch))):
                self.store.delete(key)


def check_size(size_bytes: int, limit_bytes: int) -> None:
    """Raise TooLarge where a file, or as much as has come of it, is over the limit."""
    if size_bytes > limit_bytes:
        msg = f"the file has more than the {limit_bytes} bytes that are taken; split it into several batches"
        raise TooLarge(msg)
