"""Kaldi and ESPnet: a data folder with `wav.scp`, `text`, `utt2spk`, `spk2utt`, durations and samples.

Utterances are named `SPEAKER-ID`, every file is in the order of LC_ALL=C, and a recording is one utterance, so there is
no `segments`. `text` is as written, `text_normalized` as spoken. Paths are relative to the dataset: run there, or
export with --path-prefix.
"""

from __future__ import annotations

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.datasets.layouts.base import IndexFile, Layout, View, one_line
from jobs.kinds import DatasetLayout


def _name(entry: Entry) -> str:
    return f"{entry.utterance.speaker}-{entry.id}"


def _wav(entry: Entry, view: View) -> str:
    return f"{_name(entry)} {view.path(entry)}"


def _text(entry: Entry, _view: View) -> str:
    return f"{_name(entry)} {one_line(entry.utterance.text)}"


def _normalized(entry: Entry, _view: View) -> str:
    return f"{_name(entry)} {one_line(entry.utterance.spoken)}"


def _speaker(entry: Entry, _view: View) -> str:
    return f"{_name(entry)} {entry.utterance.speaker}"


def _by_speaker(entry: Entry, _view: View) -> str:
    return f"{entry.utterance.speaker} {_name(entry)}"


def _duration(entry: Entry, _view: View) -> str:
    return f"{_name(entry)} {entry.duration_s!r}"


def _samples(entry: Entry, _view: View) -> str:
    return f"{_name(entry)} {entry.samples}"


KALDI = Layout(
    DatasetLayout.KALDI,
    Codec.WAV,
    "wav",
    (
        IndexFile("wav.scp", _wav, by_bytes=True),
        IndexFile("text", _text, by_bytes=True),
        IndexFile("text_normalized", _normalized, by_bytes=True),
        IndexFile("utt2spk", _speaker, by_bytes=True),
        IndexFile("spk2utt", _by_speaker, by_bytes=True, grouped=True),
        IndexFile("utt2dur", _duration, by_bytes=True),
        IndexFile("reco2dur", _duration, by_bytes=True),
        IndexFile("utt2num_samples", _samples, by_bytes=True),
    ),
    names_paths=True,
)
