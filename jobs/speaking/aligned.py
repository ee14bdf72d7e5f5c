"""What is spoken for a text, each character of it with the place it came from. Pure.

A text is divided into runs: as it stands, replaced, or dropped. The runs follow each other and cover it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from jobs.account import Why
from jobs.speaking.base import Replacement

_CLINGS = frozenset(".,;:!?…)]}”’»")
"""Marks that stand right after a word: where one was dropped before them, its space goes too."""


@dataclass(frozen=True, slots=True)
class Run:
    """`text[start:end]` is spoken as `now`; `why` is None where it is spoken as it stands."""

    start: int
    end: int
    now: str
    why: Why | None = None


@dataclass(frozen=True)
class Aligned:
    """The runs of a text, in order."""

    runs: tuple[Run, ...]

    @cached_property
    def text(self) -> str:
        """What is spoken."""
        return "".join(run.now for run in self.runs)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each run begins in what is spoken."""
        return list(accumulate((len(run.now) for run in self.runs), initial=0))[:-1]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text `self.text[start:end]` (not empty) was made of; for a part of a replacement: all of it."""
        first = self.runs[bisect_right(self._starts, start) - 1]
        last_index = bisect_right(self._starts, end - 1) - 1
        last = self.runs[last_index]
        begin = first.start
        if first.why is None:
            begin += start - self._starts[bisect_right(self._starts, start) - 1]
        stop = last.end
        if last.why is None:
            stop = last.start + end - self._starts[last_index]
        return begin, stop


def runs_of(text: str, start: int, replacements: Iterable[Replacement]) -> Iterator[Run]:
    """The runs of a sentence that begins at `start` of the paragraph; `replacements` are in its own coordinates."""
    at = 0
    for one in replacements:
        if one.start > at:
            yield Run(start + at, start + one.start, text[at : one.start])
        yield Run(start + one.start, start + one.end, one.now, one.why)
        at = one.end
    if at < len(text):
        yield Run(start + at, start + len(text), text[at:])


def without_double_spaces(runs: Iterable[Run]) -> list[Run]:
    """The runs without the spaces that dropped text leaves: two in a row, at the start, before a closing mark."""
    tidy = _Tidy()
    for run in runs:
        tidy.add(run)
    return tidy.runs


def dropped(runs: Sequence[Run]) -> list[Run]:
    """The runs of a sentence in which nothing can be spoken: all of it is left out."""
    return [Run(run.start, run.end, "", run.why or Why.PUNCTUATION) for run in runs]


@dataclass
class _Tidy:
    """Takes runs in order. `said` are the places of those that say something: looking back costs the same each time."""

    runs: list[Run] = field(default_factory=list)
    said: list[int] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if run.now.startswith(" ") and self._ends_blank():
            if run.why is None:
                self._put(Run(run.start, run.start + 1, "", Why.WHITE_SPACE))
                run = Run(run.start + 1, run.end, run.now[1:])  # what is left of it
            elif run.now.strip():
                run = Run(run.start, run.end, run.now[1:], run.why)
        elif self.runs and not self.runs[-1].now and run.now[:1] in _CLINGS:
            self._drop_last_space()
        self._put(run)

    def _put(self, run: Run) -> None:
        if run.end > run.start:
            self.said += [len(self.runs)] if run.now else []
            self.runs.append(run)

    def _ends_blank(self) -> bool:
        """Whether what is spoken so far is nothing or ends in a space."""
        return not self.said or self.runs[self.said[-1]].now.endswith(" ")

    def _drop_last_space(self) -> None:
        if not self.said or not self._ends_blank() or self.runs[self.said[-1]].why is not None:
            return
        index = self.said[-1]
        run = self.runs[index]
        parts = [Run(run.start, run.end - 1, run.now[:-1]), Run(run.end - 1, run.end, "", Why.WHITE_SPACE)]
        if run.end - run.start == 1:
            del parts[0]
            self.said.pop()
        self.runs[index : index + 1] = parts
