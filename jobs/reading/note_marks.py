"""Note marks that stand in the text as plain brackets (`early.[15]`) or raised by a tag (`early.<sup>15</sup>`). Pure.

For sources whose format does not mark them. Only right after the mark of a sentence or clause: `args[1]` and `[2004]`
are text. Other raised digits are written raised: `10<sup>2</sup>` is not 102. Plain text has a reader of its own that
knows more (`jobs.reading.text.signs`).
"""

from __future__ import annotations

import re
from array import array
from dataclasses import replace

from jobs.account import Why
from jobs.reading.document import Document, Paragraph, ParagraphKind, Skip

_MARK = re.compile(r"(?<=[.,;:!?…\"”’)\]])\[(?:\d{1,3}|[a-z*†‡§])\](?=[\s.,;:!?\"”’)\[]|$)")
_DIGITS = re.compile(r"\d{1,12}(?!\d)")
_CLAUSE_END = re.compile(r"(?:[^\d\s][.,;:!?…]|[”’»])[\"'”’»)]?$")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MAX_DIGITS = 4
_TAG, _END_TAG = "<sup>", "</sup>"


def without_note_marks(document: Document) -> Document:
    """The document without them, each with its label; only in running text."""
    skipped: list[Skip] = []
    raised = _TAG in document.text
    chapters = tuple(
        replace(
            chapter,
            paragraphs=tuple(_without(one, document.text if raised else "", skipped) for one in chapter.paragraphs),
        )
        for chapter in document.chapters
    )
    return (
        replace(document, chapters=chapters, skipped=(*document.skipped, *skipped)) if skipped or raised else document
    )


def _without(paragraph: Paragraph, source: str, skipped: list[Skip]) -> Paragraph:
    """One paragraph without them; `source` is the text of its document if it has raised text."""
    if paragraph.kind is not ParagraphKind.BODY or ("[" not in paragraph.text and not source):
        return paragraph
    spans = [match.span() for match in _MARK.finditer(paragraph.text)]
    if source:
        paragraph, raised = _raised(paragraph, source)
        spans = sorted([*spans, *raised])
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


def _raised(paragraph: Paragraph, source: str) -> tuple[Paragraph, list[tuple[int, int]]]:
    """The paragraph with the digits of powers written raised, and where its raised numbers of notes are."""
    text = paragraph.text
    spans: list[tuple[int, int]] = []
    pieces: list[str] = []
    at = 0
    for match in _DIGITS.finditer(text):
        start = end = match.end()
        last = paragraph.offsets[end - 1] + 1
        while start > match.start() and paragraph.offsets[start - 1] == last - (end - start) - 1:
            start -= 1  # those that stand together in the source: `10<sup>2</sup>`
        first = paragraph.offsets[start]
        tagged = source[max(0, first - len(_TAG)) : first] == _TAG and source.startswith(_END_TAG, last)
        if not tagged or end - start > _MAX_DIGITS:
            continue
        if end - start < _MAX_DIGITS and _CLAUSE_END.search(text[max(0, start - 4) : start]):
            spans.append((start, end))
        elif text[start - 1 : start].isalnum():
            pieces += [text[at:start], text[start:end].translate(_RAISED)]
            at = end
    return (replace(paragraph, text="".join([*pieces, text[at:]])) if pieces else paragraph), spans
