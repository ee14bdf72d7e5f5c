"""Plain text as blocks of lines, and the lines of a block joined into a paragraph. Pure.

Line ends are LF, CRLF, CR, VT, NEL and U+2028; a blank line, form feed or U+2029 ends a block.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from jobs.account import Why
from jobs.reading.cleaning import LINE_END, clean
from jobs.reading.document import Skip
from jobs.reading.text.divided import NO_WORDS, Words

# Widths from which a line was not broken by hand: the usual limits of plain text are 60 to 80 characters.
LONG_LINE_CHARS = 110
_TAB_CHARS = 8
_BLOCK_END = frozenset("\f\u2029")
# Chinese, Japanese kana and full-width marks: no space where their lines meet.
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HYPHENS = "-\u2010\u00ac"
_HEAD = re.compile(rf"([^\W\d_]{{1,40}})[{_HYPHENS}]$")
_TAIL = re.compile(r"[^\W\d_]{1,40}")
_INNER = re.compile(rf"(?<![^\W_])([^\W\d_]{{2,40}})[{_HYPHENS}] ([^\W\d_]{{2,40}})")
_BROKEN = re.compile("[-\u2010\u00ac\u00ad]\\s+")
_WORD_END = re.compile(r"[^\W\d_]+$")
_WINDOW_CHARS = 40
_SENTENCE_END = re.compile(r"[.!?…。！？:][\"'”’»)\]」』]*$")
_MIN_ENDED_SHARE = 0.8
_MIN_LONG_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its cleaned text with the source offset of each character, and where the raw line is.

    `indent` is the width of the white space before it. `divided`: it ends in a soft hyphen, so its last word goes on in
    the next line. `text` is empty where only the number of a page stood: the text goes on around it.
    """

    text: str
    offsets: Sequence[int]
    start: int
    end: int
    indent: int
    divided: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Running text with its offsets, and the hyphens that were dropped from divided words."""

    text: str
    offsets: Sequence[int]
    hyphens: tuple[Skip, ...] = ()


class _Joint(Enum):
    """What becomes of a line end."""

    SPACE = auto()
    NOTHING = auto()
    DROP_HYPHEN = auto()
    """Nothing, and the hyphen before it goes too."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between blank ones; `gap` is how many blank lines stand before it. `plain`: it is no heading."""

    lines: tuple[Line, ...]
    gap: int
    plain: bool = False

    @property
    def words(self) -> str:
        """Its lines with a space between."""
        return " ".join(line.text for line in self.lines)

    @property
    def start(self) -> int:
        """Where its first line begins."""
        return self.lines[0].start

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return self.lines[-1].end


def split_lines(text: str, cuts: Sequence[Skip] = ()) -> list[Line | None]:
    """The lines of a text, None for a blank one (or where a form feed or paragraph separator stands).

    `cuts`, in order and apart, are left out; a line goes on over a line end in one.
    """
    lines: list[Line | None] = []
    start = first = at = 0
    for match in LINE_END.finditer(text):
        while at < len(cuts) and cuts[at].end <= match.start():
            at += 1
        if at < len(cuts) and cuts[at].start <= match.start():
            continue
        lines.append(_line(text, start, match.start(), cuts[first:at]))
        if match.group() in _BLOCK_END:
            lines.append(None)
        start, first = match.end(), at
    lines.append(_line(text, start, len(text), cuts[first:]))
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


def join_lines(lines: Sequence[Line], words: Words = NO_WORDS) -> Joined:
    """The lines of a paragraph as running text.

    They meet with a space, but for scripts without spaces, after a dash, and in a divided word: its hyphen stays
    (`well-known`) unless `words`, those of the whole text, have it undivided or the list of its language does.
    """
    if len(lines) == 1:
        return _mended(lines[0].text, lines[0].offsets, words)
    text: list[str] = []
    offsets: array[int] = array("Q")
    hyphens: list[Skip] = []
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        joint = _Joint.NOTHING if after is None else _joint(line, after, words)
        keep = len(line.text) - (joint is _Joint.DROP_HYPHEN)
        text.append(line.text[:keep])
        offsets.extend(line.offsets[:keep])
        if after is not None and (line.divided or joint is _Joint.DROP_HYPHEN):
            hyphens.append(Skip(line.offsets[keep - 1] + 1, after.offsets[0], Why.LINE_HYPHEN))
        if joint is _Joint.SPACE:
            text.append(" ")
            offsets.append(line.end)  # the line end itself
    mended = _mended("".join(text), offsets, words)
    return Joined(mended.text, mended.offsets, (*hyphens, *mended.hyphens))


def words_of(text: str) -> frozenset[str]:
    """All words of a text, in lower case; halves on the two sides of a hyphen and white space are none."""
    pieces: list[str] = []
    start = 0
    for match in _BROKEN.finditer(text):
        head = _WORD_END.search(text[max(start, match.start() - _WINDOW_CHARS) : match.start()])
        tail = _TAIL.match(text[match.end() : match.end() + _WINDOW_CHARS])
        if head is not None and tail is not None:
            pieces += (text[start : match.start() - len(head.group())], " ")
            start = match.end() + len(tail.group())
    pieces.append(text[start:])
    return frozenset(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", "".join(pieces).lower()))


def ends_sentence(text: str) -> bool:
    """Whether a line ends as a sentence does."""
    return _SENTENCE_END.search(text[-8:]) is not None


def _mended(text: str, offsets: Sequence[int], words: Words) -> Joined:
    """Without the hyphens of words that an earlier reader left divided (`nega- tive`), when the text has them whole."""
    kept: list[str] = []
    places: array[int] = array("Q")
    hyphens: list[Skip] = []
    at = 0
    for match in _INNER.finditer(text):
        head, tail = match[1].lower(), match[2].lower()
        if not match[2][0].islower() or not words.one_word_apart(head, tail):
            continue
        kept.append(text[at : match.end(1)])
        places.extend(offsets[at : match.end(1)])
        at = match.start(2)
        hyphens.append(Skip(offsets[match.end(1)], offsets[at], Why.LINE_HYPHEN))
    if not hyphens:
        return Joined(text, offsets)
    places.extend(offsets[at:])
    return Joined("".join([*kept, text[at:]]), places, tuple(hyphens))


def _joint(line: Line, following: Line, words: Words) -> _Joint:
    before, after = line.text, following.text
    if line.divided or before.endswith("—") or (_UNSPACED.match(before[-1]) and _UNSPACED.match(after)):
        return _Joint.NOTHING
    head = _HEAD.search(before[-_WINDOW_CHARS:])
    tail = _TAIL.match(after)
    if head is None or tail is None:
        return _Joint.SPACE
    if not tail.group()[0].islower():  # `Anglo-Saxon`
        return _Joint.NOTHING if head[1][0].isupper() else _Joint.SPACE
    divided = before.endswith("\u00ac") or words.one_word(head[1].lower(), tail.group().lower())
    return _Joint.DROP_HYPHEN if divided else _Joint.NOTHING


def _line(text: str, start: int, end: int, cuts: Sequence[Skip]) -> Line | None:
    raw, origin = text[start:end], range(start, end)
    if not cuts:
        cleaned, offsets = clean(raw, origin)
    else:
        cleaned, offsets = clean(*_without(text, start, end, cuts))
    if not cleaned:
        numbered = bool(cuts) and all(cut.why is Why.PAGE_NUMBERS for cut in cuts)
        return Line("", range(0), start, end, 0, divided=False) if numbered else None
    blank = raw[: offsets[0] - start]
    indent = len(blank) + (_TAB_CHARS - 1) * blank.count("\t") + blank.count("\u3000")
    return Line(cleaned, offsets, start, end, indent, raw.rstrip().endswith("\u00ad"))


def _without(text: str, start: int, end: int, cuts: Sequence[Skip]) -> tuple[str, Sequence[int]]:
    pieces: list[str] = []
    offsets: array[int] = array("Q")
    for cut in [*cuts, Skip(end, end, Why.MARKUP)]:
        pieces.append(text[start : cut.start])
        offsets.extend(range(start, cut.start))
        start = cut.end
    return "".join(pieces), offsets


def _line_is_paragraph(lines: Sequence[Line]) -> bool:
    """Whether the text was never wrapped: many lines are longer than any hand-wrapped one, blank lines or not.

    With short dialogue between, fewer are; then lines end as sentences do, which wrapped ones do by chance only.
    """
    long = sum(len(line.text) > LONG_LINE_CHARS for line in lines)
    if len(lines) < 2 or long == 0:
        return False
    ended = sum(ends_sentence(line.text) for line in lines)
    mostly_ended = long >= _MIN_LONG_SHARE * len(lines) and ended >= _MIN_ENDED_SHARE * len(lines)
    return long * 3 >= len(lines) or mostly_ended
