"""Lhotse: `recordings.jsonl.gz`, `supervisions.jsonl.gz`, `cuts.jsonl.gz`, and the audio as `audio/ID.flac`.

Lhotse reads relative paths from the folder a program runs in: load with `with_path_prefix(folder)`, or export with
--path-prefix. Durations are samples divided by rate, never rounded: Lhotse counts them back into samples.
"""

from __future__ import annotations

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import Fields, IndexFile, Layout, View, described, json_line
from jobs.kinds import DatasetLayout

_IN_CUSTOM = (
    "normalized_text synthetic model voice voice_revision numerics speed seed grade word_error_rate "
    "job title chapter chapter_title item segment"
)


def _recording(entry: Entry, view: View) -> Fields:
    return {
        "id": entry.id,
        "sources": [{"type": "file", "channels": [0], "source": view.path(entry)}],
        "sampling_rate": entry.sample_rate_hz,
        "num_samples": entry.samples,
        "duration": entry.duration_s,
        "channel_ids": [0],
    }


def _supervision(entry: Entry) -> Fields:
    told = described(entry)
    return {
        "id": entry.id,
        "recording_id": entry.id,
        "start": 0.0,
        "duration": entry.duration_s,
        "channel": 0,
        "text": entry.utterance.text,
        "language": entry.utterance.language,
        "speaker": entry.utterance.speaker,
        "custom": {name: told[name] for name in _IN_CUSTOM.split()},
    }


def _recording_line(entry: Entry, view: View) -> str:
    return json_line(_recording(entry, view))


def _supervision_line(entry: Entry, _view: View) -> str:
    return json_line(_supervision(entry))


def _cut_line(entry: Entry, view: View) -> str:
    return json_line(
        {
            "id": entry.id,
            "start": 0.0,
            "duration": entry.duration_s,
            "channel": 0,
            "supervisions": [_supervision(entry)],
            "recording": _recording(entry, view),
            "type": "MonoCut",
        }
    )


LHOTSE = Layout(
    DatasetLayout.LHOTSE,
    Codec.FLAC,
    "audio",
    (
        IndexFile("recordings.jsonl.gz", _recording_line, gzipped=True),
        IndexFile("supervisions.jsonl.gz", _supervision_line, gzipped=True),
        IndexFile("cuts.jsonl.gz", _cut_line, gzipped=True),
    ),
    names_paths=True,
)
