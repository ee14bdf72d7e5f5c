"""Sections that nothing declares but their heading and their look: index, contents, references, front matter. Pure.

A heading alone is never enough ("Index" may be a chapter of a novel): what stands below must look the part, and in an
index or a bibliography what does not is spoken (see `entries`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jobs.account import Why
from jobs.reading.markup.block import TextBlock
from jobs.reading.markup.entries import in_bibliography, in_index
from jobs.reading.text.gutenberg import END_MARK, START_MARK

_INDEX = re.compile(r"(?:general |subject |author )?index(?: of [\w ,]{3,40})?|register|sachregister|personenregister")
_CONTENTS = re.compile(
    r"(?:table of )?contents|list of (?:illustrations|figures|tables|maps|plates)|inhalt|inhaltsverzeichnis|sommaire|"
    r"table des mati[èe]res|[íi]ndice|inhoud"
)
_BIBLIOGRAPHY = re.compile(
    r"(?:selected |select |annotated )?bibliograph(?:y|ie)|references|works cited|literature cited|literatur|"
    r"literaturverzeichnis|bibliograf[íi]a|further reading and references"
)
_MAX_BESIDE_CHARS = 300
"""Of a block with such a mark that are no part of the book; with more it is the book."""
_NOTES = re.compile(r"notes?|foot ?notes?|end ?notes?|(?:notes and )?references|anmerkungen|fu(?:ß|ss)noten|notas|note")
_FRONT = re.compile(
    r"(?:^|[.\n])\s{0,4}(?:all rights reserved|alle rechte vorbehalten|tous droits réservés)|©\s*(?:copyright )?\w|"
    r"\bISBN(?:-1[03])?:?\s{0,4}\d|\bcopyright\s+(?:©|\(c\))|(?:^|\n)\s{0,4}(?:\w{1,20} )?copyright,?\s+\d{4}",
    re.IGNORECASE,
)
_TAIL_CHARS = 300
_MAX_HEADING_CHARS = 60
_MAX_FRONT_CHARS = 6000
"""Of a copyright page with all its credits; a document with more is a text that has such a line."""
_MIN_ENTRIES = 3
"""Two lines that look alike may be chance; three are a list."""
_LINKED = 0.75
"""Of the letters of a line of contents are inside its link: a number or a dash may stand beside it."""
_PAGED = re.compile(
    r"[\s.…·](?:\d{1,3}|(?=[ivxl])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3}))$|[.…·,\t]\s?\d{4}$|[ \xa0]{2}\d{4}$"
)
"""A page at the end of a line of contents; a number of four digits alone is a year: "He came in 1884"."""


def judge(
    blocks: Sequence[TextBlock], skip: frozenset[Why], *, title: str = "", emptied: bool = False
) -> list[Why | None]:
    """Why each block is not spoken, None where it is.

    `title` is what the document is called if it has no heading; `emptied` that notes are left out of it already.
    """
    found: list[Why | None] = [None] * len(blocks)
    if title and not any(block.level for block in blocks):
        _mark(blocks, range(len(blocks)), title, found)
    for index, block in enumerate(blocks):
        if block.level is not None and found[index] is None and len(block.text) <= _MAX_HEADING_CHARS * 4:
            inside = range(index + 1, _section_end(blocks, index))
            if _mark(blocks, inside, block.text, found):
                found[index] = found[inside.start]
            elif emptied and _NOTES.fullmatch(_plain(block.text)) and not _any_text(blocks, inside):
                found[index] = Why.NOTES
    _mark_linked(blocks, found)
    return [why if why in skip else None for why in found]


def without_licence(blocks: Sequence[TextBlock]) -> range:
    """The indexes of the blocks of the text itself: what stands before and after the marks of a transcription goes."""
    start, end = 0, len(blocks)
    for at, block in enumerate(blocks):
        begins, ends = START_MARK.search(block.text), _end_mark(block.text)
        if begins is not None and len(block.text) - begins.start() <= _MAX_BESIDE_CHARS:
            start = at + 1
        elif ends is not None and ends.start() <= _MAX_BESIDE_CHARS and at >= start:
            end = at
            break
    return range(start, end)


def _end_mark(text: str) -> re.Match[str] | None:
    """Where a transcription ends; a mark without stars begins its paragraph: "the end of Project Gutenberg" is text."""
    found = END_MARK.finditer(text)
    return next((mark for mark in found if mark.group().startswith("*") or not text[: mark.start()].strip()), None)


def is_front(blocks: Sequence[TextBlock]) -> bool:
    """Whether a document of a book is its copyright page: short, and it says so."""
    if sum(len(block.text) for block in blocks) > _MAX_FRONT_CHARS:
        return False
    return any(_FRONT.search(block.text) for block in blocks)


def is_contents(blocks: Sequence[TextBlock]) -> bool:
    """Whether a document is nothing but links to places of its book."""
    bodies = [block for block in blocks if block.level is None and not block.rule]
    linked = sum(_is_linked(block) for block in bodies)
    return linked >= _MIN_ENTRIES and linked >= _LINKED * len(bodies)


def _section_end(blocks: Sequence[TextBlock], index: int) -> int:
    """Where the section of a heading ends: at the next that is no deeper; single letters head parts of an index."""
    level = blocks[index].level or 0
    after = index + 1
    while after < len(blocks):
        other = blocks[after]
        if other.level is not None and other.level <= level and len(other.text.strip()) > 1:
            break
        after += 1
    return after


def _mark(blocks: Sequence[TextBlock], inside: range, heading: str, found: list[Why | None]) -> bool:
    """Label the blocks of a section by its heading and their look; whether it was one."""
    name = _plain(heading)
    texts = [block for block in (blocks[at] for at in inside) if block.text.strip() and block.level is None]
    if _INDEX.fullmatch(name):
        return _mark_entries(blocks, inside, in_index(texts), Why.INDEX, found)
    if _BIBLIOGRAPHY.fullmatch(name):
        return _mark_entries(blocks, inside, in_bibliography(texts), Why.BIBLIOGRAPHY, found)
    if not _CONTENTS.fullmatch(name):
        return False
    listed = 0
    for at in inside:
        if not (_is_linked(blocks[at]) or _is_paged(blocks[at]) or blocks[at].rule):
            break
        listed += 1
    if listed < 2:
        return False
    for at in inside[:listed]:
        found[at] = Why.CONTENTS
    return True


def _mark_entries(
    blocks: Sequence[TextBlock], inside: range, entries: Sequence[bool], why: Why, found: list[Why | None]
) -> bool:
    """Label the entries of a section and the letters above them; with no other text it is one as a whole."""
    flags = iter(entries)
    whole = bool(entries) and all(entries)
    for at in inside:
        text = blocks[at].text.strip()
        letter = len(text) == 1 and any(entries)
        if whole or letter or (bool(text) and blocks[at].level is None and next(flags, False)):
            found[at] = why
    return whole


def _plain(heading: str) -> str:
    return " ".join(heading.split()).strip(" .:").casefold()


def _any_text(blocks: Sequence[TextBlock], inside: range) -> bool:
    return any(blocks[at].text.strip() for at in inside)


def _mark_linked(blocks: Sequence[TextBlock], found: list[Why | None]) -> None:
    """Rows of paragraphs that are nothing but links into the book are contents, headed or not."""
    start = 0
    for at in range(len(blocks) + 1):
        if at < len(blocks) and blocks[at].level is None and _is_linked(blocks[at]):
            continue
        if at - start >= _MIN_ENTRIES:
            for index in range(start, at):
                found[index] = found[index] or Why.CONTENTS
        start = at + 1


def _is_linked(block: TextBlock) -> bool:
    visible = sum(map(str.isalnum, block.text))
    return visible > 0 and block.linked_chars >= _LINKED * visible


def _is_paged(block: TextBlock) -> bool:
    text = block.text.strip()
    return block.level is None and len(text) <= _TAIL_CHARS and _PAGED.search(text) is not None
