"""Sections that nothing declares but their heading and their look: index, contents, references, front matter. Pure.

A heading alone is never enough ("Index" may be a chapter of a novel): what stands below must look the part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from jobs.account import Why
from jobs.reading.markup.block import TextBlock

_INDEX = re.compile(r"(?:general |subject |author )?index(?: of [\w ,]{3,40})?|register|sachregister|personenregister")
_CONTENTS = re.compile(
    r"(?:table of )?contents|list of (?:illustrations|figures|tables|maps|plates)|inhalt|inhaltsverzeichnis|sommaire|"
    r"table des mati[èe]res|[íi]ndice|inhoud"
)
_BIBLIOGRAPHY = re.compile(
    r"(?:selected |select |annotated )?bibliograph(?:y|ie)|references|works cited|literature cited|literatur|"
    r"literaturverzeichnis|bibliograf[íi]a|further reading and references"
)
_LICENCE_BEFORE = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_LICENCE_AFTER = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_MAX_BESIDE_CHARS = 300
"""Of a block with such a mark that are no part of the book; with more it is the book."""
_NOTES = re.compile(r"notes?|foot ?notes?|end ?notes?|(?:notes and )?references|anmerkungen|fu(?:ß|ss)noten|notas|note")
_CITES = re.compile(r"\b(?:1[4-9]|20)\d\d[a-z]?\b|\bdoi\b|https?:|\bISBN\b", re.IGNORECASE)
_FRONT = re.compile(
    r"all rights reserved|\bISBN(?:-1[03])?\b|©\s*(?:copyright )?\w|\bcopyright\s+(?:©|\(c\)|\d{4})|"
    r"alle rechte vorbehalten|tous droits réservés",
    re.IGNORECASE,
)
_TAIL_CHARS = 300
_MAX_HEADING_CHARS = 60
_MAX_FRONT_CHARS = 6000
_MIN_ENTRIES = 3
_MOST = 0.6
_LINKED = 0.75
_ENTRY = re.compile(r"\d[\d\s,;.\u2013nf-]{0,80}$|\bsee (?:also )?\S")
_PAGED = re.compile(r"[\s.…·](?:\d{1,4}|[ivxlc]{1,7})$")


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
        if "PROJECT GUTENBERG" not in block.text.upper():
            continue
        begins, ends = _LICENCE_BEFORE.search(block.text), _LICENCE_AFTER.search(block.text)
        if begins is not None and len(block.text) - begins.start() <= _MAX_BESIDE_CHARS:
            start = at + 1
        elif ends is not None and ends.start() <= _MAX_BESIDE_CHARS and at >= start:
            end = at
            break
    return range(start, end)


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
    why: Why | None = None
    if _INDEX.fullmatch(name) and len(texts) >= _MIN_ENTRIES and _most(texts, _is_entry):
        why = Why.INDEX
    elif _CONTENTS.fullmatch(name):
        listed = 0
        for at in inside:
            if not (_is_linked(blocks[at]) or _is_paged(blocks[at]) or blocks[at].rule):
                break
            listed += 1
        inside = inside[:listed]
        why = Why.CONTENTS if listed >= 2 else None
    elif _BIBLIOGRAPHY.fullmatch(name) and texts and _most(texts, _cites):
        why = Why.BIBLIOGRAPHY
    if why is None:
        return False
    for at in inside:
        found[at] = why
    return True


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


def _is_entry(block: TextBlock) -> bool:
    return _ENTRY.search(block.text.strip()[-_TAIL_CHARS:]) is not None or _is_linked(block)


def _cites(block: TextBlock) -> bool:
    return _CITES.search(block.text) is not None


def _most(blocks: Sequence[TextBlock], test: Callable[[TextBlock], bool]) -> bool:
    return sum(map(test, blocks)) >= _MOST * len(blocks)
