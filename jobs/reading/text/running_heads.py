"""Running heads of plain text: the title or author that a printed page has beside its number. Pure.

`12 THE GLASS HARBOUR`, `ANN AUTHOR 13`, or such a line above or below a bare number. Story text looks the same, so a
head needs others like it on further pages, and a sentence that goes on over one of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jobs.reading.headings import keyword_heading, title_line
from jobs.reading.text.lines import Line

_MAX_HEAD_CHARS = 60
_FIRST = re.compile(r"\|?\s?(?P<number>\d{1,4})[\s|/•·—–-]{1,9}(?P<head>[^\W\d_].*)$")
_LAST = re.compile(r"(?P<head>[^\W\d_].*?)[\s|/•·—–-]{1,9}(?P<number>\d{1,4})\s?\|?$")
_MIN_ROW = 3
_MAX_STEP = 3
_MIN_LINES_APART = 3
_NEAR_LINES = 3
"""How far from the number of a page its head may stand, with blank lines between."""
_MIN_PAGES = 2
Broken = Callable[[int], bool]
"""Whether a sentence goes on over the line of an index."""


@dataclass(frozen=True, slots=True)
class _Head:
    index: int
    number: int
    words: str


def numbered_heads(lines: Sequence[Line | None], broken: Broken) -> set[int]:
    """Indexes of the lines that are a head with its page number: rows that count up, with heads that come again."""
    found = list(_numbered(lines))
    taken: set[int] = set()
    row: list[_Head] = []
    for head in [*found, _Head(-1, -1, "")]:
        if row and not 0 < head.number - row[-1].number <= _MAX_STEP:
            taken |= _row(row, broken)
            row = []
        row.append(head)
    return taken


def heads_beside(lines: Sequence[Line | None], pages: set[int]) -> dict[str, set[int]]:
    """Lines next to the number of a page that read alike on several pages, by what they say."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for page in pages:
        for step in (1, -1):
            index = _nearest(lines, page, step)
            line = None if index is None or index in pages else lines[index]
            if index is not None and line is not None and _is_head(line.text):
                found[line.text.casefold()].add(index)
    return {words: indexes for words, indexes in found.items() if len(indexes) >= _MIN_PAGES}


def _numbered(lines: Sequence[Line | None]) -> Iterator[_Head]:
    for index, line in enumerate(lines):
        if (
            line is None
            or len(line.text) > _MAX_HEAD_CHARS
            or not (line.text[:1].isdecimal() or line.text[-1:].isdecimal())
        ):
            continue
        match = _FIRST.match(line.text) or _LAST.match(line.text)
        if match is not None and _is_head(match["head"]) and keyword_heading(line.text) is None:
            yield _Head(index, int(match["number"]), match["head"].casefold())


def _row(row: Sequence[_Head], broken: Broken) -> set[int]:
    times = Counter(head.words for head in row)
    again = sum(times[head.words] >= _MIN_PAGES for head in row)
    if len(row) < _MIN_ROW or again * 2 <= len(row):
        return set()
    breaks = [broken(head.index) for head in row]
    apart = all(b.index - a.index >= _MIN_LINES_APART for a, b in itertools.pairwise(row))
    return {head.index for head in row} if all(breaks) or (apart and any(breaks)) else set()


def _is_head(text: str) -> bool:
    if len(text) > _MAX_HEAD_CHARS or keyword_heading(text) is not None:
        return False
    return title_line(text) or text.isupper()


def _nearest(lines: Sequence[Line | None], index: int, step: int) -> int | None:
    """The nearest line with text, above (-1) or below (1)."""
    for place in range(index + step, index + step * (_NEAR_LINES + 1), step):
        if not 0 <= place < len(lines):
            return None
        if lines[place] is not None:
            return place
    return None
