"""`dataset.json`: what a dataset is, of which jobs, under which licences, and the checksums of its files.

The first thing written into a new dataset (it claims the place) and the last thing of every export. Its content depends
on the exports alone: no clock, no machine.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from jobs import keys
from jobs.datasets.entries import Entry
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.kinds import DatasetLayout
from jobs.protocols import Store
from jobs.spec import Frozen, JobRecord

INFO_VERSION = 1


class DatasetSource(Frozen):
    """A job that a dataset holds utterances of. `voice` names all its voices, `licence` is theirs in words."""

    job: str
    title: str
    model: str
    voice: str
    licence: str
    utterances: int = 0
    duration_s: float = 0.0
    left_out: dict[str, int] = Field(default_factory=dict)


def source_info(record: JobRecord, left_out: Mapping[str, int]) -> DatasetSource:
    """A job before its utterances are counted."""
    licences = record.spec.licences
    alike = len(set(licences.values())) == 1
    return DatasetSource(
        job=record.job,
        title=record.title,
        model=record.spec.model,
        voice=", ".join(licences),
        licence=record.spec.voice_licence if alike else "; ".join(f"{name}: {text}" for name, text in licences.items()),
        left_out=dict(left_out),
    )


class FileInfo(Frozen):
    """Size and digest of one file."""

    bytes: int
    sha256: str


def file_info(path: Path) -> FileInfo:
    """Size and SHA-256 of a local file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileInfo(bytes=path.stat().st_size, sha256=digest)


class DatasetInfo(Frozen):
    """The whole of it. `sample_rate_hz` and `path_prefix` are what was asked for at the first export.

    `speakers` leads to numbers that never change again. `files` are index files and shards; each utterance's own audio
    file has its checksum in `entries/`.
    """

    v: int = INFO_VERSION
    name: str
    layout: DatasetLayout
    statement: Literal["synthetic speech"] = "synthetic speech"
    sample_rate_hz: int | None = None
    path_prefix: str = ""
    utterances: int = 0
    duration_s: float = 0.0
    hours: float = 0.0
    audio_bytes: int = 0
    sample_rates_hz: tuple[int, ...] = ()
    languages: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    speakers: dict[str, int] = Field(default_factory=dict)
    sources: tuple[DatasetSource, ...] = ()
    files: dict[str, FileInfo] = Field(default_factory=dict)


class Tally:
    """Sums over entries, in whole samples, so that their order does not matter."""

    def __init__(self) -> None:
        self.samples: Counter[int] = Counter()
        self.utterances = 0
        self.audio_bytes = 0
        self.languages: set[str] = set()

    def add(self, entry: Entry) -> None:
        """Count one entry."""
        self.samples[entry.sample_rate_hz] += entry.samples
        self.utterances += 1
        self.audio_bytes += entry.file_bytes
        self.languages.add(entry.utterance.language)

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tally:
        """The sum of several."""
        whole = cls()
        for tally in tallies:
            whole.samples += tally.samples
            whole.utterances += tally.utterances
            whole.audio_bytes += tally.audio_bytes
            whole.languages |= tally.languages
        return whole

    def counted(self, source: DatasetSource) -> DatasetSource:
        """A source with these sums."""
        return source.model_copy(update={"utterances": self.utterances, "duration_s": self.duration_s})

    @property
    def duration_s(self) -> float:
        """Seconds of audio."""
        return round(sum(samples / rate_hz for rate_hz, samples in sorted(self.samples.items())), 6)


def read_info(store: Store, prefix: str) -> DatasetInfo | None:
    """What is written below a prefix; None when no dataset is there.

    Raises:
        ObjectDamaged: `dataset.json` is not one of version 1.
    """
    key = prefix + keys.DATASET_INFO
    try:
        info = DatasetInfo.model_validate_json(store.get(key))
    except ObjectMissing:
        return None
    except ValidationError as error:
        msg = f"{key} in {store.url} does not describe a dataset of ours: {error}; choose another place"
        raise ObjectDamaged(msg) from error
    if info.v != INFO_VERSION:
        msg = f"{key} in {store.url} has version {info.v}; this program reads version {INFO_VERSION}"
        raise ObjectDamaged(msg)
    return info


def write_info(store: Store, prefix: str, info: DatasetInfo) -> None:
    """Write it. Raises StoreError."""
    store.put(prefix + keys.DATASET_INFO, (info.model_dump_json(indent=1) + "\n").encode())
