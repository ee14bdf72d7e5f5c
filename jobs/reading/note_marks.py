"""Note marks that stand in the text as plain brackets (`early.[15]`), in sources whose format does not mark them. Pure.

Only right after the mark of a sentence or clause: `args[1]` and `[2004]` are text. Plain text has a reader of its own
that knows more (`jobs.reading.text.signs`).
"""

from __future__ import annotations

import re
from array import array
from dataclasses import replace

from jobs.account import Why
from jobs.reading.document import Document, Paragraph, ParagraphKind, Skip

_MARK = re.compile(r"(?<=[.,;:!?…\"”’)\]])\[(?:\d{1,3}|[a-z*†‡§])\](?=[\s.,;:!?\"”’)\[]|$)")


def without_note_marks(document: Document) -> Document:
    """The document without them, each with its label; only in running text."""
    skipped: list[Skip] = []
    chapters = tuple(
        replace(chapter, paragraphs=tuple(_without(paragraph, skipped) for paragraph in chapter.paragraphs))
        for chapter in document.chapters
    )
    return replace(document, chapters=chapters, skipped=(*document.skipped, *skipped)) if skipped else document


def _without(paragraph: Paragraph, skipped: list[Skip]) -> Paragraph:
    if paragraph.kind is not ParagraphKind.BODY or "[" not in paragraph.text:
        return paragraph
    spans = [match.span() for match in _MARK.finditer(paragraph.text)]
    if not spans:
        return paragraph
    pieces: list[str] = []
    offsets: array[int] = array("Q")
    at = 0
    for start, end in [*spans, (len(paragraph.text), len(paragraph.text))]:
        pieces.append(paragraph.text[at:start])
        offsets.extend(paragraph.offsets[at:start])
        if end > start:
            skipped.append(Skip(*paragraph.place(start, end), Why.NOTE_MARKS))
        at = end
    return replace(paragraph, text="".join(pieces), offsets=offsets)
