"""What is spoken for a text, each character of it with the place it came from. Pure.

A text is divided into runs: as it stands, replaced, or dropped. The runs follow each other and cover it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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


def without_double_spaces(runs: Sequence[Run]) -> list[Run]:
    """The runs without the spaces that dropped text leaves: two in a row, at the start, before a closing mark."""
    tidy: list[Run] = []
    for run in runs:
        if run.now.startswith(" ") and run.why is None and _ends_blank(tidy):
            tidy.append(Run(run.start, run.start + 1, "", Why.WHITE_SPACE))
            run = Run(run.start + 1, run.end, run.now[1:])  # what is left of it
        elif run.now.startswith(" ") and run.now.strip() and _ends_blank(tidy):
            run = Run(run.start, run.end, run.now[1:], run.why)
        elif tidy and not tidy[-1].now and run.now[:1] in _CLINGS:
            _drop_last_space(tidy)
        if run.end > run.start:
            tidy.append(run)
    return tidy


def dropped(runs: Sequence[Run]) -> list[Run]:
    """The runs of a sentence in which nothing can be spoken: all of it is left out."""
    return [Run(run.start, run.end, "", run.why or Why.PUNCTUATION) for run in runs]


def _ends_blank(runs: Sequence[Run]) -> bool:
    """Whether what is spoken so far is nothing or ends in a space."""
    said = next((run for run in reversed(runs) if run.now), None)
    return said is None or said.now.endswith(" ")


def _drop_last_space(runs: list[Run]) -> None:
    index = next((index for index in range(len(runs) - 1, -1, -1) if runs[index].now), None)
    if index is None or runs[index].why is not None or not runs[index].now.endswith(" "):
        return
    run = runs[index]
    runs[index : index + 1] = [
        *([Run(run.start, run.end - 1, run.now[:-1])] if run.end - run.start > 1 else []),
        Run(run.end - 1, run.end, "", Why.WHITE_SPACE),
    ]
