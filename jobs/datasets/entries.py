"""The ledger of a dataset: what it holds, in parts of some hundred utterances of one job (or one shard).

A part is written when all the audio that it names is there: an export that was killed goes on after the last part.
Index files are made from the ledger alone. Each line is an entry with the whole row of the job's manifest; the first is
a head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from jobs import keys
from jobs.datasets.manifest import Utterance
from jobs.datasets.selecting import LeftOut
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.protocols import Store
from jobs.spec import Frozen

ENTRIES_VERSION = 1


class Entry(Frozen):
    """One utterance of a dataset. `file` is below the dataset, or inside its part's shard; the digest is the file's.

    `samples` and `sample_rate_hz` are the file's too: they differ from the utterance's where it was resampled.
    """

    file: str
    file_bytes: int
    file_sha256: str
    samples: int
    sample_rate_hz: int
    utterance: Utterance

    @property
    def id(self) -> str:
        """The utterance's id."""
        return self.utterance.id

    @property
    def duration_s(self) -> float:
        """Length in seconds, as exact as a number can be."""
        return self.samples / self.sample_rate_hz


class PartHead(Frozen):
    """The first line of a part. `shard` is the file that holds its audio; None: each entry has a file of its own.

    `full`: a limit ended it, not the end of the job.
    """

    v: int = ENTRIES_VERSION
    job: str
    part: int
    entries: int
    full: bool
    shard: str | None = None
    shard_bytes: int = 0
    shard_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part with its entries."""

    head: PartHead
    entries: tuple[Entry, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold its audio."""
        return tuple(entry.file for entry in self.entries) if self.head.shard is None else (self.head.shard,)


class Ledger:
    """The entries of a dataset below `prefix` in a store."""

    def __init__(self, store: Store, prefix: str) -> None:
        self._store = store
        self._prefix = prefix

    def parts(self, job: str) -> Iterator[Part]:
        """The parts of one job, in order, up to the first number that is missing.

        Raises:
            ObjectDamaged: a part is not what this program writes.
        """
        number = 0
        while (part := self.part(job, number)) is not None:
            yield part
            number += 1

    def part(self, job: str, number: int) -> Part | None:
        """One part; None: it is not there. Raises ObjectDamaged."""
        try:
            data = self._store.get(self._prefix + keys.dataset_part(job, number))
        except ObjectMissing:
            return None
        head_line, *lines = data.splitlines() or [b""]  # bytes: only \n, \r and \r\n end a line
        try:
            head = PartHead.model_validate_json(head_line)
            entries = tuple(Entry.model_validate_json(line) for line in lines)
        except ValidationError as error:
            raise self._damaged(job, number, str(error)) from error
        if head.v != ENTRIES_VERSION or head.entries != len(entries):
            found = f"version {head.v} (this program reads {ENTRIES_VERSION}), {len(entries)} of {head.entries} entries"
            raise self._damaged(job, number, found)
        return Part(head, entries)

    def heads(self, job: str) -> Iterator[PartHead]:
        """The first lines of a job's parts, in order. Raises ObjectDamaged."""
        for number in range(self.count(job)):
            with self._store.open(self._prefix + keys.dataset_part(job, number)) as file:
                try:
                    yield PartHead.model_validate_json(file.readline())
                except ValidationError as error:
                    raise self._damaged(job, number, str(error)) from error

    def count(self, job: str) -> int:
        """How many parts a job has, up to the first number that is missing."""
        number = 0
        while self._store.exists(self._prefix + keys.dataset_part(job, number)):
            number += 1
        return number

    def put(self, part: Part) -> None:
        """Write a part: from now on the dataset holds what it names. Raises StoreError."""
        lines = [part.head.model_dump_json(), *(entry.model_dump_json() for entry in part.entries)]
        data = "".join(f"{line}\n" for line in lines).encode()
        self._store.put(self._prefix + keys.dataset_part(part.head.job, part.head.part), data)

    def drop(self, job: str, first: int) -> None:
        """Forget the parts of a job from a number on, the last one first: what stays never has a gap."""
        prefix = self._prefix + keys.dataset_entries(job)
        numbers = [int(name) for name in map(_number, self._store.list(prefix)) if name]
        for number in sorted((number for number in numbers if number >= first), reverse=True):
            self._store.delete(self._prefix + keys.dataset_part(job, number))

    def jobs(self) -> list[str]:
        """Every job that has parts, whether the dataset names it already or not."""
        prefix = self._prefix + keys.DATASET_ENTRIES
        return list(dict.fromkeys(key.split("/")[-2] for key in self._store.list(prefix) if _number(key)))

    def put_left_out(self, job: str, left_out: Sequence[LeftOut]) -> None:
        """Write what the dataset does not hold of a job; a file without lines when it holds everything."""
        lines = [one.model_dump_json() + "\n" for one in left_out]
        self._store.put(self._prefix + keys.dataset_left_out(job), "".join(lines).encode())

    def _damaged(self, job: str, number: int, found: str) -> ObjectDamaged:
        key = self._prefix + keys.dataset_part(job, number)
        return ObjectDamaged(
            f"{key} in {self._store.url} is not part of a dataset: {found}; delete it and export again"
        )


def _number(key: str) -> str:
    name = key.rpartition("/")[2].removesuffix(".jsonl")
    return name if name.isdecimal() else ""
