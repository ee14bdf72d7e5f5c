"""A sentence divided into cues, and a cue into lines: at the ends of clauses where it can be, about evenly. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from jobs.marks.widths import MAX_COLUMNS, ends_clause, width_of
from jobs.marks.written import Token

MAX_LINES = 2
MAX_S = 7.0
"""How long one cue is shown at most, unless it is a single word."""

# What is against a division, where 1.0 is the price of one more cue.
_WITHIN_CLAUSE = 1.2
_SCRAP = 0.5
_SCRAP_COLUMNS = 14
_SCRAP_S = 1.0
_UNFILLED = 0.6
_LINE_WITHIN_CLAUSE = 0.2


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence; all ranges are [start, end) of tokens."""

    tokens: Sequence[Token]
    sample_rate_hz: int

    @cached_property
    def _columns(self) -> list[int]:
        """Columns of all tokens before each one, with the blank that stands before it."""
        return list(accumulate((width_of(token.text) + token.blank_before for token in self.tokens), initial=0))

    @cached_property
    def _ends_clause(self) -> list[bool]:
        return [ends_clause(token.text) for token in self.tokens]

    def width(self, start: int, end: int) -> int:
        """Columns of a range on one line."""
        return self._columns[end] - self._columns[start] - self.tokens[start].blank_before

    def text(self, start: int, end: int) -> str:
        """A range on one line."""
        first, *rest = self.tokens[start:end]
        return first.text + "".join((" " if token.blank_before else "") + token.text for token in rest)

    def duration_s(self, start: int, end: int) -> float:
        """From the first token's start to the last one's end."""
        return (self.tokens[end - 1].end_sample - self.tokens[start].start_sample) / self.sample_rate_hz

    def cues(self) -> list[tuple[int, int]]:
        """The ranges of the cues: those that least speaks against."""
        best: list[tuple[float, int]] = [(0.0, 0)]  # for the first n tokens: the price, and where the last cue begins
        for end in range(1, len(self.tokens) + 1):
            choices = [(best[end - 1][0] + self._price(end - 1, end), end - 1)]
            for start in range(end - 2, -1, -1):
                if self.width(start, end) > MAX_LINES * MAX_COLUMNS + 1 or self.duration_s(start, end) > MAX_S:
                    break
                if self._fits(start, end):
                    choices.append((best[start][0] + self._price(start, end), start))
            best.append(min(choices))
        ranges: list[tuple[int, int]] = []
        end = len(self.tokens)
        while end:
            ranges.append((best[end][1], end))
            end = best[end][1]
        return ranges[::-1]

    def lines(self, start: int, end: int) -> tuple[str, ...]:
        """A range in as few lines as hold it; two are about equally long."""
        if self.width(start, end) <= MAX_COLUMNS:
            return (self.text(start, end),)
        place = self._line_end(start, end)
        if place is not None:
            return self.text(start, place), self.text(place, end)
        lines: list[str] = []
        first = start
        for at in range(start + 1, end + 1):
            if at == end or self.width(first, at + 1) > MAX_COLUMNS:
                lines.append(self.text(first, at))
                first = at
        return tuple(lines)

    def _price(self, start: int, end: int) -> float:
        """What speaks against a cue: its being one, a division inside a clause, too little in it."""
        width = self.width(start, end)
        price = 1.0 + _UNFILLED * max(0.0, 1 - width / (MAX_LINES * MAX_COLUMNS)) ** 2
        if end < len(self.tokens) and not self._ends_clause[end - 1]:
            price += _WITHIN_CLAUSE
        if width < _SCRAP_COLUMNS or self.duration_s(start, end) < _SCRAP_S:
            price += _SCRAP
        return price

    def _fits(self, start: int, end: int) -> bool:
        """Whether two lines hold a range: the second what is left when the first holds as much as it can."""
        most = MAX_COLUMNS + self._columns[start] + self.tokens[start].blank_before
        place = bisect_right(self._columns, most) - 1
        return place >= end or (place > start and self.width(place, end) <= MAX_COLUMNS)

    def _line_end(self, start: int, end: int) -> int | None:
        """Where the second of two lines begins; None if two do not hold the range."""
        choices = []
        for place in range(start + 1, end):
            first, second = self.width(start, place), self.width(place, end)
            if max(first, second) <= MAX_COLUMNS:
                inside = 0.0 if self._ends_clause[place - 1] else _LINE_WITHIN_CLAUSE
                choices.append((abs(first - second) / MAX_COLUMNS + inside, place))
        return min(choices)[1] if choices else None
