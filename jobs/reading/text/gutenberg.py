"""What surrounds the text of a transcribed book: header, licence, credits, notes of the transcriber, front lines. Pure.

The marks are those of Project Gutenberg's plain texts (`*** START OF THE PROJECT GUTENBERG EBOOK … ***`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.headings import capitals, keyword_heading
from jobs.reading.text.lines import Block, Line, ends_sentence

START_MARK = re.compile(
    r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG|\*\s?END\s?\*?\s?THE SMALL PRINT", re.IGNORECASE
)
END_MARK = re.compile(
    r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg(?:'s|’s)?\b", re.IGNORECASE
)
_FACT = re.compile(r"(?P<key>Title|Author|Language):\s*(?P<value>\S.*)$")
_MAX_FRONT_LINES = 60
_MAX_MARK_LINES = 4
_CREDIT = re.compile(
    r"(?:e-?text )?(?:produced|prepared|transcribed|scanned|digiti[sz]ed|proofed) by\s|this (?:e-?text|e-?book) was ",
    re.IGNORECASE,
)
_CREDIT_BLOCKS = 6
_NOTE = re.compile(r"\W{0,4}transcriber['’]?s?['’]? notes?(?P<colon>\W{0,4}(?::|$))", re.IGNORECASE)
_MAX_NOTE_BLOCKS = 25
_NOTE_GAP = 3
"""Blank lines that end the notes of a transcriber when no heading does."""
_EDGE_SHARE = 0.15
_EDGE_CHARS = 3000
"""Notes of a transcriber that have no brackets stand in this part of a text (the larger of the two), at either end.

A share, for long books have long title pages; and a screen or two of text, so that a short tale has an edge at all.
"""
LANGUAGES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "dutch": "nl",
    "portuguese": "pt",
    "finnish": "fi",
    "latin": "la",
    "chinese": "zh",
    "japanese": "ja",
}
"""Names of languages as Gutenberg headers write them."""


@dataclass
class Frame:
    """The lines of the book itself, whether it stood between marks, what its header says, what was taken off."""

    lines: list[Line | None] = field(default_factory=list)
    marked: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)


def unframe(lines: Sequence[Line | None], skip: frozenset[Why]) -> Frame:
    """Take off Gutenberg headers and licences (when `skip` has them), or plain `Title:` lines at the very top.

    A file may hold several books: what stands between an end mark and the next start mark is licence and header.
    """
    starts = [index for index, line in enumerate(lines) if line and START_MARK.match(line.text)]
    ends = [index for index, line in enumerate(lines) if line and END_MARK.match(line.text)]
    if not starts and not ends:
        return _front(lines)
    if ends and (not starts or ends[0] < starts[0]):
        frame, at = _front(lines[: ends[0]]), ends[0]  # a first book without a mark where it starts
        frame.marked = True
    else:
        frame, at = Frame(marked=True, facts=dict(_facts(lines[: starts[0]]))), 0
    for start in starts:
        if start < at:
            continue  # a second start mark inside one book
        body = _mark_end(lines, start)
        after = bisect_left(ends, body)
        end = ends[after] if after < len(ends) else len(lines)
        _take(frame, lines[at:body], skip)
        frame.lines += [None, *lines[body:end], None]
        at = end
    _take(frame, lines[at:], skip)
    return frame


def without_credits(found: Sequence[Block], *, marked: bool) -> tuple[list[Block], list[Skip]]:
    """The blocks without who transcribed a book and what the transcriber notes of it, where those have no brackets."""
    gone: set[int] = set()
    if marked:
        gone = {index for index, block in enumerate(found[:_CREDIT_BLOCKS]) if _CREDIT.match(block.lines[0].text)}
    size = found[-1].end if found else 0
    edge = max(_EDGE_CHARS, int(_EDGE_SHARE * size))
    for index, block in enumerate(found):
        match = _NOTE.match(block.lines[0].text)
        if match is None or edge < block.start < size - edge:
            continue
        more = match.end() < len(block.lines[0].text) or len(block.lines) > 1
        gone |= set(range(index, index + 1 if more else _notes_end(found, index, to_end=block.start > size / 2)))
    kept = [block for index, block in enumerate(found) if index not in gone]
    return kept, [Skip(found[index].start, found[index].end, Why.LICENCE) for index in sorted(gone)]


def _notes_end(found: Sequence[Block], index: int, *, to_end: bool) -> int:
    """One past the last block of the notes that a heading of their own announces."""
    last = min(len(found), index + _MAX_NOTE_BLOCKS)
    for end in range(index + 1, last):
        first = found[end].lines[0].text
        heading = len(found[end].lines) == 1 and (keyword_heading(first) is not None or capitals(first))
        if heading or (end > index + 1 and found[end].gap >= _NOTE_GAP):
            return end
    return last if to_end else min(last, index + 2)


def _mark_end(lines: Sequence[Line | None], start: int) -> int:
    """One past the last line of a start mark, which may be wrapped."""
    for index in range(start, min(start + _MAX_MARK_LINES, len(lines))):
        line = lines[index]
        if line is None:
            break
        if line.text.endswith("***"):
            return index + 1
    return start + 1


def _take(frame: Frame, lines: Sequence[Line | None], skip: frozenset[Why]) -> None:
    """Lines outside of a book: facts are never spoken, the rest is when the user wants the licence."""
    header = len(frame.skips) == 0 and not frame.lines
    for index, line in enumerate(lines):
        fact = line is not None and header and index < _MAX_FRONT_LINES and _FACT.match(line.text) is not None
        if line is not None and (fact or Why.LICENCE in skip):
            frame.skips.append(Skip(line.start, line.end, Why.METADATA if fact else Why.LICENCE))
            header = header or fact
        else:
            frame.lines.append(line)


def _front(lines: Sequence[Line | None]) -> Frame:
    """Facts are the first lines of all, without other lines between; a `Title:` further down is text."""
    frame = Frame()
    for index, line in enumerate(lines):
        if line is None:
            continue
        match = _FACT.match(line.text)
        if match is None and not _are_facts(frame.facts):
            break
        if match is None:
            frame.lines = list(lines[index:])
            return frame
        frame.facts.setdefault(match["key"].lower(), match["value"])
        frame.skips.append(Skip(line.start, line.end, Why.METADATA))
    return Frame(list(lines))


def _are_facts(facts: dict[str, str]) -> bool:
    """Whether these head a text; one alone may be its first sentence: "Language: the last thing we lost." """
    if len(facts) > 1 or not facts:
        return bool(facts)
    (key, value), *_ = facts.items()
    return key != "language" and not ends_sentence(value)


def _facts(lines: Sequence[Line | None]) -> Iterator[tuple[str, str]]:
    """The facts of a header; a value goes on in indented lines below it."""
    held: list[str] = []
    for line in [*lines[:_MAX_FRONT_LINES], None]:
        match = _FACT.match(line.text) if line else None
        if match is None and line is not None and held and line.indent > 0 and ":" not in line.text:
            held[1] += f" {line.text}"
            continue
        if held:
            yield held[0], held[1]
        held = [match["key"].lower(), match["value"]] if match else []
