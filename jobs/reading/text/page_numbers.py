"""Numbers of pages that stand alone on a line of plain text, and the running heads beside them. Pure.

`- 12 -` is one by its looks; a bare `12` only when it goes on with others through the text, for chapters have bare
numbers too. Where a number interrupts a sentence, the lines around it meet again.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.headings import chapter_line
from jobs.reading.text.lines import Line, ends_sentence
from jobs.reading.text.running_heads import heads_beside, numbered_heads

_DASHED = re.compile(
    r"(?:[-–—~•]\s?(?:\d{1,4}|[ivxlc]{1,8})\s?[-–—~•]|page \d{1,4} of \d{1,4}|\|\s?\d{1,4}\s?\|)$", re.I
)
_BARE = re.compile(r"(?:(?:page|p\.|seite|pg\.?)\s|\[)?(?P<number>\d{1,4})\]?$", re.IGNORECASE)
_MIN_ROW = 3
_MAX_STEP = 3
_MIN_LINES_APART = 3
_FIRST_YEAR = 1000
"""Numbers from here on are years, unless a sentence goes on over one: `1914`, `1915` head the parts of a diary."""
_NEAR_LINES = 6
"""How far the text around a number is looked for."""


def without_pages(lines: Sequence[Line | None]) -> tuple[list[Line | None], list[Skip]]:
    """The lines without those that are only the number of a page or its running head, and what was taken out."""
    gone = {index for index, line in enumerate(lines) if line is not None and not line.text}
    dashed = {index for index, line in enumerate(lines) if line is not None and _DASHED.match(line.text)}
    headed = numbered_heads(lines, lambda index: _goes_on(lines, *_around(lines, index, gone)))
    taken = dashed | headed | _bare(lines, gone)
    taken |= _heads(lines, taken, gone)
    skips = [Skip(line.start, line.end, Why.PAGE_NUMBERS) for index in sorted(taken) if (line := lines[index])]
    gone |= taken
    if not gone:
        return list(lines), []
    for index in sorted(gone):
        before, after = _around(lines, index, gone)
        if _goes_on(lines, before, after):
            gone |= set(range(before + 1, after))
    return [line for index, line in enumerate(lines) if index not in gone], skips


def _heads(lines: Sequence[Line | None], pages: set[int], gone: set[int]) -> set[int]:
    """Running heads beside page numbers, when a sentence goes on over one of each and its number."""
    beside = heads_beside(lines, pages)
    without = gone.union(pages, *beside.values())
    sure = [
        indexes
        for indexes in beside.values()
        if any(_goes_on(lines, *_around(lines, index, without)) for index in indexes)
    ]
    return set().union(*sure)


def _bare(lines: Sequence[Line | None], gone: set[int]) -> set[int]:
    """Bare numbers that are pages: rows of them, each a little higher than the one before."""
    taken: set[int] = set()
    row: list[tuple[int, int]] = []
    chapters = [index for index, line in enumerate(lines) if line is not None and chapter_line(line.text)]
    found = [
        (index, int(match["number"]))
        for index, line in enumerate(lines)
        if line is not None and (match := _BARE.match(line.text))
    ]
    for place in [*found, (len(lines), -1)]:
        if row and not 0 < place[1] - row[-1][1] <= _MAX_STEP:
            taken |= _pages_of(lines, row, gone, chapters)
            row = []
        row.append(place)
    return taken


def _pages_of(
    lines: Sequence[Line | None], row: Sequence[tuple[int, int]], gone: set[int], chapters: Sequence[int]
) -> set[int]:
    indexes = [index for index, _ in row]
    if len(row) < _MIN_ROW or indexes[-1] - indexes[0] < _MIN_LINES_APART * (len(row) - 1):
        return set()
    if any(b - a < 2 for a, b in itertools.pairwise(indexes)):
        return set()  # a column of numbers
    worded = any((line := lines[index]) is not None and line.text[0].isalpha() for index in indexes)
    broken = any(_goes_on(lines, *_around(lines, index, gone)) for index in indexes)
    if worded or broken or _through(lines, indexes, chapters):
        return set(indexes)
    # The chapters of an excerpt count up one by one as well: pages are those that leave numbers out.
    uneven = any(after - before != 1 for (_, before), (_, after) in itertools.pairwise(row))
    return set(indexes) if uneven and 1 < row[0][1] < _FIRST_YEAR else set()


def _through(lines: Sequence[Line | None], indexes: Sequence[int], chapters: Sequence[int]) -> bool:
    """Whether numbers run on through chapters; those of sections stand right below the headings of chapters."""
    inside = [index for index in chapters if indexes[0] < index < indexes[-1]]
    numbers = set(indexes)
    return any(_around(lines, index, set())[1] not in numbers for index in inside)


def _around(lines: Sequence[Line | None], index: int, gone: set[int]) -> tuple[int, int]:
    """The nearest lines with text before and after one, or where the search ended."""
    first, last = max(-1, index - _NEAR_LINES), min(len(lines), index + _NEAR_LINES)
    before = index - 1
    while before > first and (lines[before] is None or before in gone):
        before -= 1
    after = index + 1
    while after < last and (lines[after] is None or after in gone):
        after += 1
    return before, after


def _goes_on(lines: Sequence[Line | None], before: int, after: int) -> bool:
    """Whether a sentence goes on over a number: the line before does not end one, the line after begins small."""
    first = lines[before] if before >= 0 else None
    second = lines[after] if after < len(lines) else None
    return first is not None and second is not None and not ends_sentence(first.text) and second.text[:1].islower()
