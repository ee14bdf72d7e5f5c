"""WebDataset: tar shards `NAME-000000.tar` with `ID.flac`, `ID.json` and `ID.txt` of each utterance side by side.

An id has no dot: a sample's name ends at the first one. Shards need no index.
"""

from __future__ import annotations

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import Layout, described, json_line
from jobs.kinds import DatasetLayout


def members(entry: Entry, audio: bytes) -> list[tuple[str, bytes]]:
    """Names and contents of one sample, sorted by name."""
    return [
        (f"{entry.id}.{Codec.FLAC.value}", audio),
        (f"{entry.id}.json", json_line(described(entry)).encode()),
        (f"{entry.id}.txt", entry.utterance.text.encode()),
    ]


WEBDATASET = Layout(DatasetLayout.WEBDATASET, Codec.FLAC, "", card="*.tar")
