"""What a layout is: codec and folder of its audio, and its index files as functions from an entry to a line. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jobs.datasets.audio import Codec
from jobs.datasets.entries import Entry
from jobs.kinds import DatasetLayout

Fields = dict[str, object]
_NOT_IN_A_LINE = re.compile("[\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class View:
    """What index lines need beside their entry: numbers of speakers, and what stands before paths of audio files."""

    speakers: Mapping[str, int]
    path_prefix: str = ""

    def path(self, entry: Entry) -> str:
        """The path of an entry's file as an index names it."""
        return self.path_prefix + entry.file


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One index file: a line for each entry, in the order of the ledger.

    `by_bytes`: the lines are sorted by their bytes (the order of LC_ALL=C); `grouped`: lines of one first word become
    one line; `gzipped`: the file is a gzip of them (without a time in its header).
    """

    name: str
    line: Callable[[Entry, View], str]
    by_bytes: bool = False
    grouped: bool = False
    gzipped: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How a dataset is laid out. `folder` is where audio files are; empty: they are in shards, with their text.

    `documents` are small files made of the view alone. `card`: a README.md for people and for the Hugging Face hub.
    """

    kind: DatasetLayout
    codec: Codec
    folder: str
    indexes: tuple[IndexFile, ...] = ()
    documents: Mapping[str, Callable[[View], str]] | None = None
    names_paths: bool = False
    """Whether index lines hold paths, which a prefix may stand before."""
    card: str = ""
    """The paths of its train split, as the head of a card names them; empty: no card."""

    @property
    def resamples(self) -> bool:
        """Whether it can hold audio at another rate than the takes'."""
        return self.codec is Codec.WAV

    @property
    def sharded(self) -> bool:
        """Whether audio is in shards."""
        return not self.folder

    def file_of(self, utterance_id: str) -> str:
        """The audio file of an utterance: below the dataset, or inside its shard."""
        name = f"{utterance_id}.{self.codec.value}"
        return name if self.sharded else f"{self.folder}/{name}"


def json_line(fields: Mapping[str, object]) -> str:
    """One JSON object in one line for every reader: what some take for a line end is escaped."""
    text = json.dumps(fields, ensure_ascii=False)
    return _NOT_IN_A_LINE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def one_line(text: str) -> str:
    """A text with one blank wherever it has white space of any kind, line ends too."""
    return " ".join(text.split())


def described(entry: Entry) -> Fields:
    """What is told of an utterance beside its audio, flat and of the same types (but for a rate that nobody knows)."""
    utterance = entry.utterance
    return {
        "id": utterance.id,
        "text": utterance.text,
        "normalized_text": utterance.spoken,
        "speaker": utterance.speaker,
        "language": utterance.language,
        "duration_s": round(entry.duration_s, 6),
        "samples": entry.samples,
        "sample_rate_hz": entry.sample_rate_hz,
        "synthetic": True,
        "model": utterance.model,
        "voice": utterance.voice,
        "voice_revision": utterance.voice_revision,
        "numerics": utterance.numerics,
        "speed": utterance.speed,
        "seed": utterance.seed,
        "grade": utterance.grade.value,
        "word_error_rate": utterance.word_error_rate,
        "job": utterance.job,
        "title": utterance.title,
        "chapter": utterance.chapter,
        "chapter_title": utterance.chapter_title,
        "item": utterance.item or "",
        "segment": utterance.segments[0],
    }
