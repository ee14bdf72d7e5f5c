"""Tables in plain text: rows of cells parted by bars, tabs or columns of white space. Pure."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from jobs.reading.cleaning import clean, speakable
from jobs.reading.text.lines import Line

_MIN_ROWS = 3
_MAX_CELL_CHARS = 60
_BAR = re.compile(r"[ \t]*\|[ \t]*")
_TAB = re.compile(r"[ ]*\t[ \t]*")
_GAP = re.compile(r"[ \t]{2,}")
_COLUMNS = re.compile(r"[|\t]|\S {2}")
_BORDER = re.compile(r"[-+=|:\s─│┼├┤┬┴┌┐└┘═║]+$")
_NUMBER = re.compile(r"[-+($€£~]{0,3}\d[\d.,:/ ]{0,20}[%)€]?\s?\w{0,4}$|[-–—]$")
_SENTENCE = re.compile(r"[.!?…]['\"”’»]?$")
_ITEM = re.compile(r"(?:\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})[.)]|[-*•+◦▪·–—]|[^\W\d_][\w .'’-]{0,40}:)\s")
"""What begins an item of a list, or a turn: `1.`, `•`, `Ann:`."""
_FEW_SENTENCES = 0.25
_MOSTLY_NUMBERS = 0.6


class _By(Enum):
    """What parts the cells."""

    BAR = _BAR
    TAB = _TAB
    GAP = _GAP


_Row = tuple[tuple[int, int], ...]
"""Where the cells of a row are."""


@dataclass(frozen=True, slots=True)
class Table:
    """Lines [first, end) are rows. `sure`: nobody would read it aloud; else it may be text that is set in columns."""

    first: int
    end: int
    rows: tuple[_Row, ...]
    sure: bool


@dataclass(slots=True)
class _Scan:
    """Looks for tables whose cells are parted in one way. `after`: no table begins before this line.

    Where a row of lines is no table, none begins inside it, so each line is looked at once.
    """

    lines: Sequence[Line]
    text: str
    borders: Sequence[bool]
    by: _By
    after: int = 0

    def table(self, first: int) -> Table | None:
        """The table that begins at a line, None if none does."""
        if first < self.after:
            return None
        rows: list[_Row] = []
        worded: list[_Row] = []
        end = first
        while end < len(self.lines):
            cells = () if self.borders[end] else _cells(self.lines[end], self.text, self.by)
            if not self.borders[end]:
                if len(cells) < 2 or (worded and not _fits(worded, cells, self.text, self.by)):
                    break
                worded.append(cells)
            rows.append(cells)
            end += 1
        self.after = max(end, first + 1)
        if len(worded) < _MIN_ROWS or _sentences(worded, self.text):
            return None
        return Table(first, end, tuple(rows), sure=self.by is _By.BAR or _sure(worded, self.text))


def tables_of(lines: Sequence[Line], text: str) -> list[Table]:
    """The tables among lines that no blank line parts; `text` is the source."""
    tables: list[Table] = []
    if len(lines) < _MIN_ROWS or not _COLUMNS.search(text, lines[0].start, lines[-1].end):
        return tables
    if _is_list(lines):
        return tables
    borders = [_is_border(line, text) for line in lines]
    scans = [_Scan(lines, text, borders, by) for by in _By]
    first = 0
    while first + _MIN_ROWS <= len(lines):
        found = next((table for scan in scans if (table := scan.table(first)) is not None), None)
        if found is not None:
            tables.append(found)
        first = min(scan.after for scan in scans) if found is None else found.end
    return tables


def row_text(text: str, cells: Sequence[tuple[int, int]]) -> tuple[str, Sequence[int]]:
    """A row as a sentence, `a, b, c`, with its offsets: comma and blank stand where the white space is."""
    pieces: list[str] = []
    offsets: array[int] = array("Q")
    before = None
    for start, end in cells:
        cell, places = clean(text[start:end], range(start, end))
        if not cell:
            continue
        if before is not None:
            pieces.append(", ")
            offsets.extend((before, start - 1))
        pieces.append(cell)
        offsets.extend(places)
        before = places[-1] + 1
    return "".join(pieces), offsets


def _is_list(lines: Sequence[Line]) -> bool:
    """Whether lines begin with the number, sign or name of an item or a turn and only then have a gap."""
    return sum(_ITEM.match(line.text) is not None for line in lines) * 2 > len(lines)


def _is_border(line: Line, text: str) -> bool:
    return not speakable(line.text) and _BORDER.match(text[line.start : line.end]) is not None


def _cells(line: Line, text: str, by: _By) -> tuple[tuple[int, int], ...]:
    """Where the cells of a line are."""
    if line.end - line.start > _MAX_CELL_CHARS * 20:
        return ()
    start, end = line.offsets[0], line.offsets[-1] + 1
    raw = text[start:end]
    if by is _By.BAR:
        raw = raw.removesuffix("|")
    places = [0, *(edge for match in by.value.finditer(raw) for edge in match.span()), len(raw)]
    return tuple(
        (start + left, start + right) for left, right in zip(places[::2], places[1::2], strict=True) if left < right
    )


def _fits(rows: Sequence[Sequence[tuple[int, int]]], cells: Sequence[tuple[int, int]], text: str, by: _By) -> bool:
    """Whether a line goes on with a table: as many cells, and for columns of white space edges below each other."""
    first = rows[0]
    if by is not _By.GAP:
        return abs(len(cells) - len(first)) <= 1
    if len(cells) != len(first):
        return False
    last = rows[-1]
    above, here = _line_start(text, last[0][0]), _line_start(text, cells[0][0])
    return all(
        a[0] - above == b[0] - here or a[1] - above == b[1] - here for a, b in zip(last[1:], cells[1:], strict=True)
    )


def _line_start(text: str, place: int) -> int:
    return max(text.rfind(mark, max(0, place - _MAX_CELL_CHARS * 20), place) for mark in "\n\r")


def _sentences(rows: Sequence[Sequence[tuple[int, int]]], text: str) -> bool:
    """Whether the cells are prose after all: long, or many of them end as sentences do."""
    cells = [text[start:end] for row in rows for start, end in row]
    ended = sum(_SENTENCE.search(cell) is not None for cell in cells)
    return sum(map(len, cells)) > _MAX_CELL_CHARS * len(cells) or ended > _FEW_SENTENCES * len(cells)


def _sure(rows: Sequence[Sequence[tuple[int, int]]], text: str) -> bool:
    """Whether columns are a table: three or more, or one of the two has numbers."""
    if len(rows[0]) > 2:
        return True
    numbers = sum(_NUMBER.match(text[slice(*row[1])]) is not None for row in rows)
    return numbers >= _MOSTLY_NUMBERS * len(rows)
