"""What tells that a link with a number or sign is a mark, and the block it points at its note, with no link back. Pure.

A link alone tells little, so both ends must look the part: the mark is raised, in brackets or a sign, within text; the
block comes after it, is small, holds no heading, and is named as a note or begins with the same number or sign.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from lxml import etree

from jobs.reading.markup.page import Page

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAME = re.compile(r"_?(?:(?:foot|end|rear)-?notes?|notes?|fn|ftn|edn)[-_:.]?\d{0,5}")
_NOTES = re.compile(r"(?:foot ?|end ?)?notes|notes and references|anmerkungen|fu(?:ß|ss)noten|notas")
_BRACKETED = re.compile(r"\[.{1,6}\]|\(.{1,6}\)|[*†‡§¶‖]{1,3}")
_EDGES = "[]() .:\u00a0"
_MAX_BEFORE = 40
_MAX_CHARS = 6000
_MAX_UNNAMED_CHARS = 2000
"""With more it is a chapter that has a number."""


def looks_raised(node: etree._Element, text: str) -> bool:
    """Whether the text of a link is set as that of a mark."""
    above = node.getparent()
    raised = (above is not None and above.tag == "sup") or (len(node) == 1 and node[0].tag == "sup")
    return raised or _BRACKETED.fullmatch(text) is not None


def stands_on_text(node: etree._Element, block: etree._Element, page: Page) -> bool:
    """Whether a link follows a word or a sign of its block with no white space between."""
    at = node
    for _ in range(_MAX_BEFORE):
        above, before = at.getparent(), at.getprevious()
        if at is block or above is None:
            return False
        pieces = [above.text] if before is None else [*map(str, before.itertext()), before.tail]
        text = "".join(run.text for piece in pieces for run in page.runs_of(piece))
        if text:
            return not text[-1].isspace()
        at = above if before is None else before
    return False


def small_text(body: etree._Element, page: Page) -> str:
    """The text of a block that may be a note; nothing of one that holds a heading or is large."""
    if next(body.iter(*_HEADINGS), None) is not None:
        return ""
    pieces: list[str] = []
    chars = 0
    for marks in body.itertext():
        pieces += [run.text for run in page.runs_of(str(marks))]
        chars += len(pieces[-1]) if pieces else 0
        if chars > _MAX_CHARS:
            return ""
    return " ".join("".join(pieces).split())


def is_note_of(mark: str, body: etree._Element, target: etree._Element, text: str) -> bool:
    """Whether a block with this `small_text` looks like the note of a mark."""
    number = mark.strip(_EDGES)
    if not number or not text:
        return False
    if any(_is_named(node) for node in (body, target, body.getparent()) if node is not None):
        return True
    begun = text.lstrip("[(")
    after = begun.removeprefix(number)
    begins = begun.startswith(number) and not after[:1].isalnum()
    return begins and len(text) <= _MAX_UNNAMED_CHARS and any(map(str.isalpha, after))


def goes_on(
    body: etree._Element, targets: Container[etree._Element], page: Page, known: dict[etree._Element, bool]
) -> Iterator[etree._Element]:
    """The blocks after a note that belong to it, up to the next target: only where all that stands there is notes.

    `known` keeps which blocks stand below a heading of notes: to look for it from each note would cost the page.
    """
    container = body.getparent()
    if (container is None or not _is_named(container)) and not _is_below_heading(body, page, known):
        return
    after = body.getnext()
    while after is not None and after.tag not in (*_HEADINGS, "hr", "section"):
        if any(node in targets or node.tag in _HEADINGS for node in after.iter(etree.Element)):
            return
        yield after
        after = after.getnext()


def _is_below_heading(body: etree._Element, page: Page, known: dict[etree._Element, bool]) -> bool:
    passed: list[etree._Element] = []
    at: etree._Element | None = body
    while at is not None and at not in known and at.tag not in _HEADINGS:
        passed.append(at)
        at = at.getprevious()
    if at is None:
        found = False
    else:
        found = known[at] if at in known else _NOTES.fullmatch(page.text_of(at).strip(" .:").casefold()) is not None
    known.update(dict.fromkeys(passed, found))
    return found


def _is_named(node: etree._Element) -> bool:
    names = f"{node.get('class') or ''} {node.get('id') or ''} {node.get('name') or ''}".lower().split()
    return node.tag not in {"body", "html"} and any(_NAME.fullmatch(name) for name in names)
