"""NeMo: `manifest.json` (JSON lines) with paths relative to itself, `speakers.json` with the number of each speaker."""

from __future__ import annotations

import json

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import IndexFile, Layout, View, json_line
from jobs.kinds import DatasetLayout


def _row(entry: Entry, view: View) -> str:
    utterance = entry.utterance
    return json_line(
        {
            "audio_filepath": view.path(entry),
            "duration": round(entry.duration_s, 6),
            "text": utterance.text,
            "normalized_text": utterance.spoken,
            "speaker": view.speakers[utterance.speaker],
            "lang": utterance.language,
            "id": utterance.id,
            "synthetic": True,
        }
    )


def _speakers(view: View) -> str:
    return json.dumps(dict(view.speakers), indent=1) + "\n"


NEMO = Layout(
    DatasetLayout.NEMO,
    Codec.FLAC,
    "audio",
    (IndexFile("manifest.json", _row),),
    documents={"speakers.json": _speakers},
    names_paths=True,
)
