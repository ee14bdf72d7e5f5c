"""What batches are worked on with: the queue, a store, what is offered, and the lines of batches that were asked for.

desk = Desk(truth, store, offers=service.offers)
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import ValidationError

from jobs import keys
from jobs.batches.files import Files
from jobs.batches.records import LINES, Line
from jobs.errors import ObjectDamaged
from jobs.protocols import Store, Truth
from jobs.spec import ModelOffer
from jobs.speech_body import MAX_INPUT_CHARS

KEPT_BATCHES = 2
"""Batches whose lines are kept in memory: they never change, and 50,000 take 60 MB."""


class BrokenOff(Exception):
    """The work on a batch was not done to its end: the server stops, or things are not any more as it found them."""


@dataclass(frozen=True)
class Lines:
    """The lines of one batch, in order."""

    all: tuple[Line, ...]

    @cached_property
    def by_id(self) -> dict[str, Line]:
        """Each by its custom_id."""
        return {line.custom_id: line for line in self.all}

    @cached_property
    def by_job(self) -> dict[int, list[Line]]:
        """Those that are in a job, by its place among the batch's jobs."""
        found: dict[int, list[Line]] = {}
        for line in self.all:
            if line.error is None:
                found.setdefault(line.job, []).append(line)
        return found


@dataclass(frozen=True)
class Desk:
    """Safe for many threads. `aliases` are other names for models and voices; `max_chars` bounds a line's input.

    `wording` turns texts of this room into those of the door that batches come by.
    """

    truth: Truth
    store: Store
    offers: Callable[[], Sequence[ModelOffer]]
    aliases: Mapping[str, str] = field(default_factory=dict)
    max_chars: int = MAX_INPUT_CHARS
    wording: Callable[[str], str] = str
    clock: Callable[[], float] = time.time
    _kept: OrderedDict[str, Lines] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def files(self) -> Files:
        """The files of the store."""
        return Files(self.store, self.clock)

    def lines(self, batch: str) -> Lines:
        """The lines of a batch whose jobs are accepted.

        Raises:
            ObjectMissing: they are not there yet.
            ObjectDamaged: what is there are no lines.
        """
        with self._lock:
            if batch in self._kept:
                self._kept.move_to_end(batch)
                return self._kept[batch]
        found = Lines(tuple(self._read_lines(batch)))
        with self._lock:
            self._kept[batch] = found
            while len(self._kept) > KEPT_BATCHES:
                self._kept.popitem(last=False)
        return found

    def write_lines(self, batch: str, lines: Iterable[Line]) -> None:
        """Keep the lines of a batch. Raises StoreError."""
        with self.store.writer(keys.batch_object(batch, LINES)) as path, path.open("wb") as file:
            for line in lines:
                file.write(line.model_dump_json(exclude_defaults=True).encode() + b"\n")

    def _read_lines(self, batch: str) -> Iterator[Line]:
        key = keys.batch_object(batch, LINES)
        with self.store.open(key) as file:
            for text in file:
                try:
                    yield Line.model_validate_json(text)
                except ValidationError as error:
                    msg = f"{key} in {self.store.url} has a line that is none: {error}; cancel the batch"
                    raise ObjectDamaged(msg) from error
