"""The audio of a dataset: a file for each utterance, or shards; cut into parts in the order of the utterances.

Where a part ends depends on the utterances before it alone, so an export that goes on cuts as one that never stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from jobs.datasets.audio import clip_of
from jobs.datasets.entries import Entry, Ledger, Part, PartHead
from jobs.datasets.info import FileInfo, file_info
from jobs.datasets.layouts import LAYOUTS
from jobs.datasets.layouts.webdataset import members
from jobs.datasets.manifest import Utterance
from jobs.datasets.names import job_names
from jobs.datasets.shards import Members, sample_bytes, write_tar
from jobs.errors import BadOption
from jobs.kinds import DatasetLayout
from jobs.protocols import Store

T = TypeVar("T")
R = TypeVar("R")
PART_ENTRIES = 500
"""Utterances of a part, where each has a file of its own: what a kill makes an export do again at most."""
SHARD_BYTES = 1_000_000_000
SHARD_ENTRIES = 10_000
_THREADS = 4
"""Waiting for the disk (or a bucket) and decoding overlap; more threads than that gain nothing."""
_AHEAD = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where a dataset is: below `prefix` (empty, or with a slash at its end) in a store."""

    store: Store
    prefix: str = ""

    def put(self, name: str, data: bytes) -> None:
        """Write one file of the dataset. Raises StoreError."""
        self.store.put(self.prefix + name, data)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a dataset is to be. `rate_hz`: resample to it (None: each voice's own rate), for layouts that hold WAV.

    `path_prefix` stands before the paths in index files (NeMo, Lhotse, Kaldi). A shard ends before the sample that
    would take it over `shard_bytes` or `shard_entries`.
    """

    layout: DatasetLayout
    name: str
    rate_hz: int | None = None
    path_prefix: str = ""
    shard_bytes: int = SHARD_BYTES
    shard_entries: int = SHARD_ENTRIES


@dataclass
class _Samples:
    """Samples of a shard, taken from the entries to come until one is full. `waiting` is the first that did not fit."""

    coming: Iterator[tuple[Entry, bytes]]
    waiting: tuple[Entry, bytes] | None = None
    taken: list[Entry] = field(default_factory=list)
    full: bool = False

    def __post_init__(self) -> None:
        self.waiting = next(self.coming, None)

    def shard(self, max_bytes: int, max_entries: int) -> Iterator[Members]:
        """The samples of the next shard, one or more."""
        self.taken, self.full, size_bytes = [], False, 0
        while self.waiting is not None and not self.full:
            entry, audio = self.waiting
            sample = members(entry, audio)
            size_bytes += sample_bytes(sample)
            if self.taken and size_bytes > max_bytes:
                self.full = True
                return
            self.taken.append(entry)
            yield sample
            self.full = len(self.taken) >= max_entries
            self.waiting = next(self.coming, None)


class AudioWriter:
    """Writes audio and says, part by part, what is there. The ledger is only read."""

    def __init__(self, place: Place, terms: Terms, ledger: Ledger) -> None:
        """Raises BadOption: the layout holds the takes' own FLAC, and another rate was asked for."""
        self._place = place
        self._terms = terms
        self._ledger = ledger
        self._layout = LAYOUTS[terms.layout]
        if terms.rate_hz is not None and not self._layout.resamples:
            wav = ", ".join(kind.value for kind, layout in LAYOUTS.items() if layout.resamples)
            msg = f"--rate is not for layout {terms.layout}, which holds the takes as they are; it is for {wav}"
            raise BadOption(msg)

    def parts(self, source: Store, job: str, utterances: Iterable[Utterance], number: int) -> Iterator[Part]:
        """Write utterances that are not in the dataset; a part is given when all its audio is in the store.

        `number` is the first part's: a step of a job that runs twice at once writes each part to the same place.

        Raises:
            StoreError: a take is gone or damaged (ObjectMissing, ObjectDamaged), or the store refused.
        """
        with self._clips(source, utterances) as clips:
            yield from self._shards(job, number, clips) if self._layout.sharded else self._files(job, number, clips)

    def mend(self, source: Store, job: str) -> None:
        """Write audio again that the ledger names and that is not there (any more). Raises as `parts`."""
        present = self.present([job])
        for part in self._ledger.parts(job):
            lost = [entry for entry in part.entries if part.head.shard is None and entry.file not in present]
            if part.head.shard is not None and part.head.shard not in present:
                lost = list(part.entries)
            if not lost:
                continue
            with self._clips(source, (entry.utterance for entry in lost)) as clips:
                if part.head.shard is None:
                    for entry, audio in clips:
                        self._place.put(entry.file, audio)
                else:
                    self._shard(part.head.shard, (members(entry, audio) for entry, audio in clips))

    def present(self, jobs: Iterable[str]) -> set[str]:
        """Audio files that are named as those of some jobs; where audio is in shards, all shards of the dataset."""
        start = f"{self._terms.name}-" if self._layout.sharded else f"{self._layout.folder}/"
        names = (key.removeprefix(self._place.prefix) for key in self._place.store.list(self._place.prefix + start))
        if self._layout.sharded:
            return {name for name in names if _shard_number(name, self._terms.name) is not None}
        ours = job_names(jobs, self._layout.codec.value)
        return {name for name in names if ours.fullmatch(name.rpartition("/")[2])}

    @contextmanager
    def _clips(self, source: Store, utterances: Iterable[Utterance]) -> Iterator[Iterator[tuple[Entry, bytes]]]:
        """Entries with their audio, in order, some made ahead by other threads."""

        def made(utterance: Utterance) -> tuple[Entry, bytes]:
            clip = clip_of(source, utterance, self._layout.codec, self._terms.rate_hz)
            entry = Entry(
                file=self._layout.file_of(utterance.id),
                file_bytes=len(clip.data),
                file_sha256=hashlib.sha256(clip.data).hexdigest(),
                samples=clip.samples,
                sample_rate_hz=clip.sample_rate_hz,
                utterance=utterance,
            )
            return entry, clip.data

        with ThreadPoolExecutor(_THREADS) as pool:
            yield _mapped(pool, made, utterances)

    def _files(self, job: str, number: int, clips: Iterator[tuple[Entry, bytes]]) -> Iterator[Part]:
        def put(pair: tuple[Entry, bytes]) -> Entry:
            self._place.put(pair[0].file, pair[1])
            return pair[0]

        with ThreadPoolExecutor(_THREADS) as pool:
            while entries := tuple(_mapped(pool, put, islice(clips, PART_ENTRIES))):
                full = len(entries) == PART_ENTRIES
                yield Part(PartHead(job=job, part=number, entries=len(entries), full=full), entries)
                number += 1

    def _shards(self, job: str, number: int, clips: Iterator[tuple[Entry, bytes]]) -> Iterator[Part]:
        samples = _Samples(clips)
        free = self._free_shard(job, number)
        while samples.waiting is not None:
            name = f"{self._terms.name}-{free:06d}.tar"
            info = self._shard(name, samples.shard(self._terms.shard_bytes, self._terms.shard_entries))
            head = PartHead(
                job=job,
                part=number,
                entries=len(samples.taken),
                full=samples.full,
                shard=name,
                shard_bytes=info.bytes,
                shard_sha256=info.sha256,
            )
            yield Part(head, tuple(samples.taken))
            number, free = number + 1, free + 1

    def _shard(self, name: str, samples: Iterator[Members]) -> FileInfo:
        with self._place.store.writer(self._place.prefix + name) as path:
            write_tar(path, samples)
            return file_info(path)

    def _free_shard(self, job: str, part: int) -> int:
        """The first number after those before a part of a job: a shard that no part names was left by a kill."""
        heads = (head for other in self._ledger.jobs() for head in self._ledger.heads(other))
        used = (head.shard for head in heads if head.job != job or head.part < part)
        numbers = [_shard_number(name, self._terms.name) for name in used if name is not None]
        return 1 + max((number for number in numbers if number is not None), default=-1)


def _mapped(pool: ThreadPoolExecutor, function: Callable[[T], R], values: Iterable[T]) -> Iterator[R]:
    """`map` by threads that runs only some values ahead of who takes the results."""
    rest = iter(values)
    while batch := list(islice(rest, _AHEAD)):
        yield from pool.map(function, batch)


def _shard_number(name: str, dataset: str) -> int | None:
    number = name.removeprefix(f"{dataset}-").removesuffix(".tar")
    return int(number) if name == f"{dataset}-{number}.tar" and number.isdecimal() else None
