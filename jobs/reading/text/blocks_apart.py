"""Blocks of plain text without blank lines around their headings, as PDF text has them, parted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobs.reading.headings import MAX_BARE_HEADING_CHARS, chapter_line
from jobs.reading.text.lines import Block, ends_sentence

_OPENING = "\"'“‘«("


def apart_at_chapters(found: Sequence[Block]) -> list[Block]:
    """The blocks, a new one at each line inside one that is the heading of a chapter with its number.

    Prose may mention chapters at a line start: what is before the line must have ended, what is below it must begin.
    """
    return [part for block in found for part in _parts(block)]


def _parts(block: Block) -> Iterator[Block]:
    lines = block.lines
    edges = [index for index in range(1, len(lines) - 1) if _is_heading(block, index)]
    if not edges:
        yield block
        return
    for start, end in zip([0, *edges], [*edges, len(lines)], strict=True):
        yield Block(lines[start:end], block.gap if start == 0 else 1, block.plain)


def _is_heading(block: Block, index: int) -> bool:
    before, line, after = (block.lines[place].text for place in (index - 1, index, index + 1))
    if len(line) > MAX_BARE_HEADING_CHARS or not chapter_line(line) or not ends_sentence(before):
        return False
    return after[0].isupper() or after[0] in _OPENING
