"""Finished files of a job as one zip that is made while it is sent: nothing is written anywhere, nothing compressed."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator, Sequence

from jobs.deliver import Finished
from jobs.protocols import Store
from jobs.sink import Sink

PIECE_BYTES = 1 << 18
FIRST_DATE = (1980, 1, 1, 0, 0, 0)
"""The oldest date that a zip can hold."""


def zipped(store: Store, files: Sequence[Finished], *, made_at_s: float) -> Iterator[bytes]:
    """The bytes of the zip, in pieces of about PIECE_BYTES. Audio is compressed already, so files are only stored.

    Raises:
        StoreError: a file is gone or cannot be read; what was sent until then is no whole zip.
    """
    sink = Sink()
    date = max(FIRST_DATE, time.gmtime(made_at_s)[:6])
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.name, date)
            entry.external_attr = 0o644 << 16
            entry.file_size = file.size_bytes
            with store.open(file.key) as source, archive.open(entry, "w", force_zip64=True) as target:
                while piece := source.read(PIECE_BYTES):
                    target.write(piece)
                    yield sink.take()
            yield sink.take()
    yield sink.take()
