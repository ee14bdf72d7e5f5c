"""LJSpeech: `wavs/ID.wav` (16 bit, mono) and `metadata.csv` with `ID|text|normalised text`.

As the original's: no header, no byte order mark, no quoting, three columns always (some readers take the third). A
vertical bar in a text becomes a blank, and so does every line end: both would shift the columns.
"""

from __future__ import annotations

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import IndexFile, Layout, View, one_line
from jobs.kinds import DatasetLayout


def _row(entry: Entry, _view: View) -> str:
    texts = (entry.utterance.text, entry.utterance.spoken)
    return "|".join([entry.id, *(one_line(text.replace("|", " ")) for text in texts)])


LJSPEECH = Layout(DatasetLayout.LJSPEECH, Codec.WAV, "wavs", (IndexFile("metadata.csv", _row),))
