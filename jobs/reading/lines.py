"""Plain text as blocks of lines, and the lines of a block joined into a paragraph. Pure.

Line ends are LF, CRLF, CR, VT, NEL and U+2028; a blank line, form feed or U+2029 ends a block.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from jobs.reading.cleaning import clean

# Widths from which a line was not broken by hand: the usual limits of plain text are 60 to 80 characters.
LONG_LINE_CHARS = 110
_LINE_END = re.compile("\r\n|[\n\r\v\x85\u2028\f\u2029]")
_BLOCK_END = frozenset("\f\u2029")
# Chinese, Japanese kana and full-width marks: no space where their lines meet.
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its cleaned text with the source offset of each character, and where the raw line ends.

    `divided`: it ends in a soft hyphen, so its last word goes on in the next line.
    """

    text: str
    offsets: Sequence[int]
    end: int
    divided: bool


class _Joint(Enum):
    """What becomes of a line end."""

    SPACE = auto()
    NOTHING = auto()
    DROP_HYPHEN = auto()
    """Nothing, and the hyphen before it goes too."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between blank ones; `gap` is how many blank lines stand before it."""

    lines: tuple[Line, ...]
    gap: int

    @property
    def words(self) -> str:
        """Its lines with a space between."""
        return " ".join(line.text for line in self.lines)


def split_lines(text: str) -> list[Line | None]:
    """The lines of a text, None for a blank one (or where a form feed or paragraph separator stands)."""
    lines: list[Line | None] = []
    start = 0
    for match in _LINE_END.finditer(text):
        lines.append(_line(text, start, match.start()))
        if match.group() in _BLOCK_END:
            lines.append(None)
        start = match.end()
    lines.append(_line(text, start, len(text)))
    return lines


def blocks(lines: Sequence[Line | None]) -> list[Block]:
    """The lines as blocks. A text whose lines are too long to be broken by hand has one paragraph a line."""
    whole = _line_is_paragraph([line for line in lines if line is not None])
    found: list[Block] = []
    held: list[Line] = []
    gap = 0
    for line in [*lines, None]:
        if line is not None:
            held.append(line)
        if held and (line is None or whole):
            found.append(Block(tuple(held), gap))
            held, gap = [], 0
        if line is None:
            gap += 1
    return found


def join_lines(lines: Sequence[Line], vocabulary: frozenset[str] = frozenset()) -> tuple[str, Sequence[int]]:
    """The lines of a paragraph as running text.

    They meet with a space, but for scripts without spaces, after a dash, and in a divided word: its hyphen stays
    (`well-known`) unless `vocabulary`, the words of the whole text, has it undivided.
    """
    if len(lines) == 1:
        return lines[0].text, lines[0].offsets
    text: list[str] = []
    offsets: array[int] = array("Q")
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        joint = _Joint.NOTHING if after is None else _joint(line, after, vocabulary)
        keep = len(line.text) - (joint is _Joint.DROP_HYPHEN)
        text.append(line.text[:keep])
        offsets.extend(line.offsets[:keep])
        if joint is _Joint.SPACE:
            text.append(" ")
            offsets.append(line.end)  # the line end itself
    return "".join(text), offsets


def words_of(text: str) -> frozenset[str]:
    """All words of a text, in lower case."""
    return frozenset(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower()))


def _joint(line: Line, following: Line, vocabulary: frozenset[str]) -> _Joint:
    before, after = line.text, following.text
    if line.divided or before.endswith("—") or (_UNSPACED.match(before[-1]) and _UNSPACED.match(after)):
        return _Joint.NOTHING
    head = re.search(r"([^\W\d_]+)[-\u2010]$", before)
    tail = re.match(r"[^\W\d_]+", after)
    if head is None or tail is None or not tail.group()[0].islower():
        return _Joint.SPACE
    whole, hyphened = (f"{head[1]}{mark}{tail.group()}".lower() for mark in ("", "-"))
    return _Joint.DROP_HYPHEN if whole in vocabulary and hyphened not in vocabulary else _Joint.NOTHING


def _line(text: str, start: int, end: int) -> Line | None:
    raw = text[start:end]
    cleaned, offsets = clean(raw, range(start, end))
    return Line(cleaned, offsets, end, raw.rstrip().endswith("\u00ad")) if cleaned else None


def _line_is_paragraph(lines: Sequence[Line]) -> bool:
    """Whether the text was never wrapped: many lines are longer than any hand-wrapped one, blank lines or not."""
    long = sum(len(line.text) > LONG_LINE_CHARS for line in lines)
    return len(lines) > 1 and long * 3 >= len(lines)
