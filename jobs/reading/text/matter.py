"""Front and back matter of plain text: copyright page, notes at the end, index, bibliography. Pure.

Works on blocks; each kind needs evidence in its own lines, for story text that is left out is the worst mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.headings import capitals, keyword_heading
from jobs.reading.text.back import books_blocks, index_blocks
from jobs.reading.text.front import front_lines
from jobs.reading.text.lines import Block
from jobs.reading.text.names import NOTES_NAMES, SURE_NOTES_NAMES, named_line
from jobs.reading.text.shapes import is_rule

_NOTES_HEADING = named_line(NOTES_NAMES)
_SURE_NOTES_HEADING = named_line(SURE_NOTES_NAMES)
_NOTE = re.compile(
    r"(?:\[(?:(?:foot)?note )?(?P<bracket>[\w*†‡§]{1,4})\]|(?P<number>\d{1,4})[.):]|\((?P<round>\d{1,4})\)"
    r"|(?P<raised>[¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}))\s{0,4}(?=\S)",
    re.IGNORECASE,
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MAX_UNNUMBERED = 2
"""Blocks with which one note goes on before the next: more than two further paragraphs are a text of their own."""


def without_matter(
    found: Sequence[Block], skip: frozenset[Why], labels: frozenset[str]
) -> tuple[list[Block], list[Skip]]:
    """The blocks without what is front or back matter and in `skip`; `labels` are the notes that the text refers to.

    What is kept is plain text: no chapters begin in it, and each entry of an index or bibliography is a block.
    """
    matter: _Matter = dict.fromkeys(front_lines(found), Why.FRONT)
    _add(matter, Why.INDEX, index_blocks(found))
    _add(matter, Why.BIBLIOGRAPHY, books_blocks(found))
    _add(matter, Why.NOTES, _notes(found, labels))
    kept: list[Block] = []
    skips: list[Skip] = []
    touched = {index for index, _ in matter}
    for index, block in enumerate(found):
        if index not in touched:
            kept.append(block)
            continue
        why = matter.get((index, None))
        gone = {n for n, _ in enumerate(block.lines) if (why or matter.get((index, n))) in skip}
        skips += (Skip(block.lines[n].start, block.lines[n].end, why or Why.FRONT) for n in sorted(gone))
        rest = tuple(line for n, line in enumerate(block.lines) if n not in gone)
        if rest and why in {Why.INDEX, Why.BIBLIOGRAPHY}:
            kept += (Block((line,), block.gap, plain=True) for line in rest)
        elif rest:
            kept.append(Block(rest, block.gap, block.plain) if gone else block)
    return kept, skips


_Matter = dict[tuple[int, int | None], Why]
"""(block, line or None for all of it): what it is."""


def _add(matter: _Matter, why: Why, indexes: Iterable[int]) -> None:
    for index in indexes:
        matter.setdefault((index, None), why)


def _notes(found: Sequence[Block], labels: frozenset[str]) -> set[int]:
    """Notes: below a heading for them, or anywhere when the text before refers to them."""
    notes: set[int] = set()
    written = {match["bracket"] for block in found if (match := _NOTE.match(block.lines[0].text)) and match["bracket"]}
    unwritten = labels - written
    at = 0
    while at < len(found):
        first = found[at].lines[0].text
        if _NOTES_HEADING.match(first):
            end = _notes_end(found, at, unwritten, sure=_SURE_NOTES_HEADING.match(first) is not None)
            notes |= set(range(at, end))
            at = max(end, at + 1)
            continue
        match = _NOTE.match(first)
        if match is not None and match["number"] is None and match["round"] is None and _label(match) in labels:
            notes.add(at)
        at += 1
    return notes


@dataclass
class _Row:
    """Notes that follow each other: all numbered in one way, and upwards."""

    form: str | None = None
    last: int = 0

    def takes(self, match: re.Match[str], *, next_only: bool) -> bool:
        """Whether a note goes on with the row; `next_only` when other text stands between."""
        label = _label(match)
        form = f"{match.lastgroup} {label.isdecimal()}"
        if self.form is not None and form != self.form:
            return False
        if label.isdecimal():
            number = int(label)
            if self.form is not None and not self.last < number <= (self.last + 1 if next_only else number):
                return False
            self.last = number
        self.form = form
        return True


def _notes_end(found: Sequence[Block], at: int, unwritten: frozenset[str], *, sure: bool) -> int:
    """One past the last note below the heading at `at`; `at` itself when nothing there is a note.

    `1.` may be an item of a list: below a plain `Notes` it counts when the text refers to notes that are `unwritten`.
    """
    end = at
    row = _Row()
    for index in range(at, len(found)):
        block = found[index]
        lines = block.lines[index == at :]
        if index > at and (_is_heading(block) or index - end > _MAX_UNNUMBERED):
            break
        if end > at and is_rule(block.lines[0].text):
            break
        match = _NOTE.match(lines[0].text) if lines else None
        counts = match is not None and (sure or match["number"] is None or match["number"] in unwritten)
        if match is not None and counts and row.takes(match, next_only=index > end > at):
            end = index + 1
            for line in lines[1:]:
                inner = _NOTE.match(line.text)
                if inner is not None:
                    row.takes(inner, next_only=True)
        elif end == at < index and not is_rule(block.lines[0].text):
            break
    return end


def _label(match: re.Match[str]) -> str:
    label = match["bracket"] or match["number"] or match["round"] or (match["raised"] or "").translate(_RAISED)
    return label.lower()


def _is_heading(block: Block) -> bool:
    first = block.lines[0].text
    return keyword_heading(first) is not None or (len(block.lines) == 1 and capitals(first))
