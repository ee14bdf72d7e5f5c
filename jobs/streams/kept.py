"""What one process keeps of streams that it read once for many readers. Pure: no thread, no clock, no connection."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
Place = tuple[int, int]
"""A stream id as numbers, so that ids can be compared."""
FIRST: Place = (0, 0)
ENTRY_BYTES = 1024
"""What an entry takes beside its audio data, about: Python's objects."""


def place_of(entry: str) -> Place:
    """The place of a stream id (`1700000000000-3`, or `0`)."""
    number, _, sequence = entry.partition("-")
    return int(number), int(sequence or 0)


class Direct(Protocol[T]):
    """A read that goes to the streams themselves: `Streams.events` or `Streams.audio`."""

    def __call__(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, T]]:
        """Entries after an id, oldest first; waits up to `timeout_s` for the first."""
        ...


@dataclass
class Log(Generic[T]):
    """What was read of one stream after `floor`, oldest first. `seen` is the id after which reading goes on."""

    seen: str
    asked_at_s: float
    floor: Place = FIRST
    held_bytes: int = 0
    _places: list[Place] = field(default_factory=list)
    _entries: list[tuple[str, T]] = field(default_factory=list)
    _bytes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.floor = place_of(self.seen)

    def after(self, place: Place, count: int) -> list[tuple[str, T]]:
        """Up to `count` entries after a place that is not before `floor`."""
        start = bisect_right(self._places, place)
        return self._entries[start : start + count]

    def is_read_to(self, place: Place) -> bool:
        """Whether nothing is kept after a place, and nothing after it was dropped."""
        return place >= (self._places[-1] if self._places else self.floor)

    def add(self, entries: Sequence[tuple[str, T]], data_bytes: Callable[[T], int]) -> None:
        """Append entries that came after `seen`."""
        for entry in entries:
            self._places.append(place_of(entry[0]))
            self._entries.append(entry)
            self._bytes.append(ENTRY_BYTES + data_bytes(entry[1]))
            self.held_bytes += self._bytes[-1]
        if entries:
            self.seen = entries[-1][0]

    def drop(self, least_bytes: int) -> None:
        """Give up the oldest entries: as few as make `least_bytes`, or all. Who has not read them finds `floor` later.

        A negative number drops none.
        """
        count = dropped = 0
        while dropped < least_bytes and count < len(self._entries):
            dropped += self._bytes[count]
            count += 1
        if count:
            self.floor = self._places[count - 1]
            self.held_bytes -= dropped
            del self._places[:count], self._entries[:count], self._bytes[:count]


@dataclass
class Kind(Generic[T]):
    """One of a job's two streams, of all jobs: how to read it, and what is kept by job."""

    direct: Direct[T]
    per_read: int
    data_bytes: Callable[[T], int]
    logs: dict[str, Log[T]] = field(default_factory=dict)

    def seen(self, job: str) -> str | None:
        """How far a job is read; None: it is not followed."""
        log = self.logs.get(job)
        return None if log is None else log.seen

    def add(self, job: str, seen: str | None, entries: Sequence[tuple[str, T]], most_bytes: int) -> bool:
        """Keep what was read after `seen`; False if that is nothing, or the log begins elsewhere meanwhile."""
        log = self.logs.get(job)
        if log is None or log.seen != seen or not entries:
            return False
        log.add(entries, self.data_bytes)
        log.drop(log.held_bytes - most_bytes)
        return True

    def forget_unasked(self, since_s: float) -> None:
        """Drop the logs that nobody asked for since then."""
        for job in [job for job, log in self.logs.items() if log.asked_at_s < since_s]:
            del self.logs[job]


def bound(logs: Iterable[Log[Any]], most_bytes: int) -> None:
    """Keep all logs together within a bound: whoever holds most gives way."""
    held = list(logs)
    over_bytes = sum(log.held_bytes for log in held) - most_bytes
    while over_bytes > 0:
        fattest = max(held, key=lambda log: log.held_bytes)
        before_bytes = fattest.held_bytes
        fattest.drop(min(over_bytes, before_bytes // 2 + 1))
        over_bytes -= before_bytes - fattest.held_bytes


@dataclass
class Want(Generic[T]):
    """One stream that a call asks for: how far its reader has read, and what was found."""

    kind: Kind[T]
    job: str
    after: str
    place: Place = FIRST
    found: list[tuple[str, T]] = field(default_factory=list)

    def __post_init__(self) -> None:
        log = self.kind.logs.get(self.job)
        if self.after == "$" and log is not None:
            self.after = log.seen
        if self.after != "$":
            self.place = place_of(self.after)

    @property
    def log(self) -> Log[T] | None:
        """What is kept for this reader; None: it must read by itself."""
        log = self.kind.logs.get(self.job)
        return log if log is not None and self.after != "$" and self.place >= log.floor else None

    @property
    def has_all(self) -> bool:
        """Whether nothing is kept that the reader has not seen, so that it can wait."""
        log = self.log
        return log is not None and log.is_read_to(self.place)
