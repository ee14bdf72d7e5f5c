"""AudioFolder of Hugging Face: `train/ID.flac` and `train/metadata.jsonl` beside them.

The metadata is in the split's own folder (above it, recent versions lose its columns) and names every file there is.
"""

from __future__ import annotations

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import IndexFile, Layout, View, described, json_line
from jobs.kinds import DatasetLayout

SPLIT = "train"


def _row(entry: Entry, _view: View) -> str:
    return json_line({"file_name": entry.file.removeprefix(f"{SPLIT}/"), **described(entry)})


AUDIOFOLDER = Layout(
    DatasetLayout.AUDIOFOLDER, Codec.FLAC, SPLIT, (IndexFile(f"{SPLIT}/metadata.jsonl", _row),), card=f"{SPLIT}/**"
)
