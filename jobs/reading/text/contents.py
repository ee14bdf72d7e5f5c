"""Contents lists of plain text: which blocks are one, by heading, page numbers, or lines that come again. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.headings import keyword_heading
from jobs.reading.text.lines import Block, Line
from jobs.reading.text.names import CONTENTS_NAMES, named_line

_HEADING = named_line(CONTENTS_NAMES)
_NUMBERED = re.compile(r"(?:(?i:chapter|book|part)\s+)?(?:(?:\d{1,3}|[IVXLC]{1,8})[.:)]?\s+)?(?=\S)")
_PAGE = re.compile(r"(?<=[\s.…·_])(?:\d{1,4}|[ivxlc]{1,8})$")
_PAGE_CHARS = 10
_PLATE = re.compile(r"(?:\b_?frontispiece_?|\b(?:facing|to face)_?(?: page| p\.)?_? \d{1,4})$", re.IGNORECASE)
"""Where a picture is, in a list of them."""
_PLATE_CHARS = 30
_NO_LETTERS = re.compile(r"[\W_]+")
_FILLING = " .…·_"
_MIN_DOTS = 3
_COLUMN = re.compile(r"(?:page|chapter|chap\.|seite|chapter\s+page)\.?$", re.IGNORECASE)
_MIN_ROW = 3
_MAX_ENTRY_CHARS = 200


def without_contents(found: Sequence[Block], skip: frozenset[Why]) -> tuple[list[Block], list[Skip]]:
    """The blocks without contents lists, and what was taken out; when they are kept, each entry is a plain block.

    After a block `CONTENTS`, blocks go as long as most of their lines end in the number of a page, or come again below
    (as headings do) and were not in the list before: so the first real heading stays.
    """
    heads = [index for index, block in enumerate(found) if _HEADING.match(block.lines[0].text)]
    leaders = _leader_rows(found)
    rows = _heading_rows(found)
    listed: set[int] = set()
    if heads or leaders or rows:
        last_seen = {key: index for index, block in enumerate(found) for key in _block_keys(block)}
        listed = _headed(found, heads, last_seen) | _leaders(found, leaders, last_seen) | _rows(found, rows, last_seen)
    kept: list[Block] = []
    skips: list[Skip] = []
    for index, block in enumerate(found):
        if index not in listed:
            kept.append(block)
        elif Why.CONTENTS in skip:
            skips.append(Skip(block.start, block.end, Why.CONTENTS))
        else:
            kept += (Block((line,), block.gap, plain=True) for line in block.lines)
    return _without_bare_rows(kept), skips


def _headed(found: Sequence[Block], heads: Sequence[int], last_seen: dict[str, int]) -> set[int]:
    """Lists below a heading that says so."""
    listed: set[int] = set()
    for head in heads:
        if head in listed:
            continue
        end, seen = head, set[str]()
        while end < len(found) and _goes_on(found[end], end, last_seen, seen):
            seen |= _block_keys(found[end])
            end += 1
        entries = sum(len(one.lines) for one in found[head:end]) - 1
        if entries >= 2 or (entries == 1 and _is_paged(found[end - 1].lines[-1])):
            listed |= set(range(head, end))
    return listed


def _leaders(found: Sequence[Block], rows: Sequence[Sequence[int]], last_seen: dict[str, int]) -> set[int]:
    """Lists without a heading: rows of lines with dots up to a number, most of which come again or are key words."""
    listed: set[int] = set()
    for row in rows:
        lines = [line for index in row for line in found[index].lines]
        again = sum(any(last_seen[key] > row[-1] for key in _keys(line)) for line in lines)
        named = sum(keyword_heading(line.text) is not None for line in lines)
        if (again + named) * 2 > len(lines):
            listed |= set(row)
    return listed


def _rows(found: Sequence[Block], rows: Sequence[Sequence[int]], last_seen: dict[str, int]) -> set[int]:
    """Lists without heading and numbers: headings in a row that all come again further down, one by one."""
    listed: set[int] = set()
    for row in rows:
        again = list(row)
        while again and any(last_seen[key] <= again[-1] for line in found[again[-1]].lines for key in _keys(line)):
            again.pop()  # the first real heading may follow the list at once
        lines = [line.text for index in again for line in found[index].lines]
        keys = [_key(line) for line in lines]
        if len(lines) >= _MIN_ROW and len(set(keys)) == len(keys) and all(last_seen[key] > again[-1] for key in keys):
            listed |= set(again)
    return listed


def _without_bare_rows(found: Sequence[Block]) -> list[Block]:
    """Headings of one kind in a row, without text between, are a list and no chapters; the last may have text below."""
    plain: set[int] = set()
    for row in _heading_rows(found):
        plain |= set(row if row[-1] + 1 == len(found) or len(found[row[-1]].lines) > 1 else row[:-1])
    result: list[Block] = []
    for index, block in enumerate(found):
        if index in plain:
            result += (Block((line,), block.gap, plain=True) for line in block.lines)
        else:
            result.append(block)
    return result


def _leader_rows(found: Sequence[Block]) -> list[list[int]]:
    """Indexes of blocks in a row whose lines all have dots up to a number."""
    rows: list[list[int]] = [[]]
    for index, block in enumerate(found):
        if all(_dots(line.text) >= _MIN_DOTS for line in block.lines):
            rows[-1].append(index)
        elif rows[-1]:
            rows.append([])
    return [row for row in rows if sum(len(found[index].lines) for index in row) >= _MIN_ROW]


def _heading_rows(found: Sequence[Block]) -> list[list[int]]:
    """Indexes of blocks that follow each other and have only headings of one level, three lines of them or more."""
    rows: list[list[int]] = []
    level_before = None
    for index, block in enumerate(found):
        level = None if block.plain else _one_level(block)
        if level is not None and level == level_before:
            rows[-1].append(index)
        elif level is not None:
            rows.append([index])
        level_before = level
    return [row for row in rows if sum(len(found[index].lines) for index in row) >= _MIN_ROW]


def _one_level(block: Block) -> int | None:
    levels = {(heading.level if (heading := keyword_heading(line.text)) else None) for line in block.lines}
    return levels.pop() if len(levels) == 1 else None


def _goes_on(block: Block, index: int, last_seen: dict[str, int], listed: set[str]) -> bool:
    """Whether a block is the heading of a list or goes on with it: a line that was listed is a real heading."""
    lines = [line for line in block.lines if not _HEADING.match(line.text) and not _COLUMN.match(line.text)]
    if len(lines) == 1 and listed & _keys(lines[0]):
        return False
    if any(len(line.text) > _MAX_ENTRY_CHARS for line in lines):
        return False
    entries = sum(_is_paged(line) or any(last_seen[key] > index for key in _keys(line)) for line in lines)
    return entries * 2 > len(lines) or not lines


def _is_paged(line: Line) -> bool:
    """Whether a line ends in a number that is set off as that of a page is: by dots, or by white space (now gone)."""
    if _PLATE.search(line.text[-_PLATE_CHARS:]) is not None:
        return True
    if _PAGE.search(line.text[-_PAGE_CHARS:]) is None:
        return False
    return _dots(line.text) >= _MIN_DOTS or line.end - line.start - line.indent > len(line.text)


def _dots(line: str) -> int:
    """How many dots lead to the number at the end of a line."""
    match = _PAGE.search(line[-_PAGE_CHARS:])
    if match is None:
        return 0
    before = line[: len(line) - len(match.group())]
    filling = before[len(before.rstrip(_FILLING)) :]
    return len(filling) - filling.count(" ") + 2 * filling.count("…")


def _block_keys(block: Block) -> set[str]:
    return {key for line in block.lines for key in _keys(line)}


def _keys(line: Line) -> set[str]:
    """What a heading and its entry have in common: the letters of all of it, and of its title alone."""
    text = line.text
    if len(text) > _MAX_ENTRY_CHARS:
        return set()
    page = _PAGE.search(text[-_PAGE_CHARS:]) if _is_paged(line) else None
    named = text if page is None else text[: len(text) - len(page.group())]
    match = _NUMBERED.match(named)
    title = _key(named[match.end() :] if match else named)
    return {_key(text), _key(named), "" if title.isdecimal() else title} - {""}


def _key(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())
