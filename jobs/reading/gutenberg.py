"""What surrounds and interrupts the text of a transcribed book: licence, contents list, notes, front lines. Pure.

The marks are those of Project Gutenberg's plain texts (`*** START OF THE PROJECT GUTENBERG EBOOK … ***`).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.reading.lines import Block, Line

_START = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_END = re.compile(
    r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the )?Project Gutenberg(?:'s|’s)?\b", re.IGNORECASE
)
_FACT = re.compile(r"(?P<key>Title|Author|Language):\s*(?P<value>\S.*)$")
_ASIDE = re.compile(r"\[(?P<what>Illustration|Footnote|Transcriber['’]?s?['’]? note)s?\b", re.IGNORECASE)
_MAX_ASIDE_BLOCKS = 20
_CONTENTS = re.compile(r"(?:table of )?contents\.?$", re.IGNORECASE)
_ENTRY = re.compile(
    r"(?:(?i:chapter|book|part)\s+)?(?:(?:\d{1,3}|[IVXLC]{1,8})[.:)]?\s+)?(?P<title>\S.*?)(?:[\s.…]+(?:\d{1,4}|[ivxlc]{1,8}))?$"
)
_NOTE_MARK = re.compile(r"(?<=\S)\[(?:\d{1,4}|[A-Z]|\*)\]")
_EMPHASIS = re.compile(r"(?<![\w])_(?=\S)(?P<words>[^_]{1,2000}?)(?<=\S)_(?!\w)")
_MAX_FRONT_LINES = 40
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


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines of the book itself, whether it stood between marks, and what the lines before it say of it."""

    lines: Sequence[Line | None]
    marked: bool
    facts: dict[str, str]


def unframe(lines: Sequence[Line | None]) -> Frame:
    """Take off a Gutenberg header and licence, or plain `Title:` and `Author:` lines at the very top."""
    start = next((index for index, line in enumerate(lines) if line and _START.match(line.text)), None)
    if start is None:
        return _front(lines)
    end = next((i for i in range(start + 1, len(lines)) if (line := lines[i]) and _END.match(line.text)), len(lines))
    facts = dict(_facts(lines[:start]))
    return Frame(lines[start + 1 : end], marked=True, facts=facts)


def without_asides(found: Sequence[Block]) -> tuple[list[Block], Counter[str]]:
    """The blocks without bracketed illustrations, footnotes and notes of the transcriber; how many of each there were.

    One may run over several blocks; a bracket that never closes is text.
    """
    kept: list[Block] = []
    left_out: Counter[str] = Counter()
    index = 0
    while index < len(found):
        match = _ASIDE.match(found[index].words)
        end = None if match is None else _closing(found, index)
        if match is None or end is None:
            kept.append(found[index])
            index += 1
        else:
            left_out[match["what"].lower()] += 1
            index = end
    return kept, left_out


def without_contents(found: Sequence[Block]) -> tuple[list[Block], int]:
    """The blocks without a contents list, and how many lines were taken out.

    After a block `CONTENTS`, blocks go as long as most of their lines come again further down (as headings do) and
    were not in the list before: so the first real heading stays.
    """
    head = next((index for index, block in enumerate(found) if _CONTENTS.match(block.lines[0].text)), None)
    if head is None:
        return list(found), 0
    last_seen = {key: index for index, block in enumerate(found) for key in _block_keys(block)}
    listed: set[str] = set()
    end = head
    while end < len(found) and _is_list(found[end], end, last_seen, listed):
        listed |= _block_keys(found[end])
        end += 1
    if not any(len(block.lines) > 1 for block in found[head:end]) and end < head + 2:
        return list(found), 0  # nothing like a list follows: it was a word of the text
    return [*found[:head], *found[end:]], sum(len(block.lines) for block in found[head:end])


def without_marks(text: str, offsets: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The text without note marks (`[1]`) and without the underscores of `_emphasis_`; words stay."""
    gone = {index for match in _NOTE_MARK.finditer(text) for index in range(*match.span())}
    gone |= {index for match in _EMPHASIS.finditer(text) for index in (match.start(), match.end() - 1)}
    if not gone:
        return text, offsets
    kept = [index for index in range(len(text)) if index not in gone]
    return "".join(text[index] for index in kept), array("Q", (offsets[index] for index in kept))


def _closing(found: Sequence[Block], start: int) -> int | None:
    """One past the block at whose end the bracket is closed that opens block `start`; None if there is none."""
    depth = 0
    for index in range(start, min(start + _MAX_ASIDE_BLOCKS, len(found))):
        words = found[index].words
        depth += words.count("[") - words.count("]")
        if depth <= 0:
            return index + 1 if words.endswith("]") else None
    return None


def _front(lines: Sequence[Line | None]) -> Frame:
    """Facts are the first lines of all, without other lines between; a `Title:` further down is text."""
    facts: dict[str, str] = {}
    for index, line in enumerate(lines):
        if line is None:
            continue
        match = _FACT.match(line.text)
        if match is None:
            return Frame(lines[index:], marked=False, facts=facts)
        facts.setdefault(match["key"].lower(), match["value"])
    return Frame(lines, marked=False, facts={})


def _facts(lines: Sequence[Line | None]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for line in lines[:_MAX_FRONT_LINES]:
        match = _FACT.match(line.text) if line else None
        if match and match["key"] not in seen:
            seen.add(match["key"])
            yield match["key"].lower(), match["value"]


def _is_list(block: Block, index: int, last_seen: dict[str, int], listed: set[str]) -> bool:
    """Whether a block is the word `CONTENTS` or goes on with the list: a line that was listed is a real heading."""
    lines = [line.text for line in block.lines if not _CONTENTS.match(line.text)]
    again = [line for line in lines if any(last_seen[key] > index for key in _keys(line))]
    if len(lines) == 1 and listed & _keys(lines[0]):
        return False
    return len(again) * 2 > len(lines) or not lines


def _block_keys(block: Block) -> set[str]:
    return {key for line in block.lines for key in _keys(line.text)}


def _keys(line: str) -> set[str]:
    match = _ENTRY.match(line)
    return {_key(line), _key(match["title"]) if match else ""} - {""}


def _key(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
