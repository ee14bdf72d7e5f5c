"""Documents for tests of what is done to a document after it was read: paragraphs of a source, two line ends apart."""

from jobs.reading.cleaning import clean
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind


def document_of(*chapters: str, kind: ParagraphKind = ParagraphKind.BODY) -> Document:
    """A document whose source is the chapters one after the other. A paragraph that begins with `# ` is a heading."""
    text = "\n\n\n".join(chapters)
    made, at = [], 0
    for chapter in chapters:
        paragraphs = []
        for piece in chapter.split("\n\n"):
            heading = piece.startswith("# ")
            start = at + 2 * heading
            words, offsets = clean(text[start : at + len(piece)], range(start, at + len(piece)))
            at += len(piece) + 2
            if words:
                paragraphs.append(Paragraph(ParagraphKind.HEADING if heading else kind, words, offsets))
        made.append(Chapter(paragraphs[0].text if paragraphs else "", tuple(paragraphs)))
        at += 1
    return Document("Tale", "", "", tuple(made), text, "utf-8")


def paragraphs_of(document: Document) -> list[Paragraph]:
    """All paragraphs, in order."""
    return [paragraph for chapter in document.chapters for paragraph in chapter.paragraphs]


def places_of(document: Document) -> list[int]:
    """The place of every character of every paragraph, in order."""
    return [place for paragraph in paragraphs_of(document) for place in paragraph.offsets]


def check_nothing_lost(before: Document, after: Document) -> None:
    """Every character of `before` is in a paragraph of `after` or in one of its skips, not in both; places rise."""
    places = places_of(after)
    assert places == sorted(set(places))
    for paragraph in paragraphs_of(after):
        assert len(paragraph.text) == len(paragraph.offsets)
        assert paragraph.text == paragraph.text.strip() != ""
    skipped = {place for skip in after.skipped for place in range(skip.start, skip.end)}
    assert skipped.isdisjoint(places)
    assert sum(skip.end - skip.start for skip in after.skipped) == len(skipped)
    lost = set(places_of(before)) - skipped - set(places)
    assert all(before.text[place].isspace() for place in lost)
    assert set(places) <= set(places_of(before))
