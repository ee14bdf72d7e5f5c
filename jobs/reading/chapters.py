"""Chapters out of a run of paragraphs: what starts one, what it is called, and text that has no source of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from jobs.reading.cleaning import clean, speakable
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind
from jobs.reading.headings import chapter_title, is_bare_number
from jobs.reading.problems import Code, bad_source

CHAPTER_LEVEL = 2
"""Headings of this level and above start a chapter; deeper ones are only spoken."""


@dataclass
class _Open:
    """A chapter while it is taking paragraphs. `headings` are (text, level) of those that name it."""

    title: str | None = None
    headings: list[tuple[str, int]] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)
    only_headings: bool = True


@dataclass
class ChapterBuilder:
    """Takes paragraphs in reading order. Headings that follow each other without text between become one chapter."""

    _chapters: list[_Open] = field(default_factory=lambda: [_Open()])

    def add(self, paragraph: Paragraph) -> None:
        """The next paragraph of the chapter."""
        chapter = self._chapters[-1]
        chapter.paragraphs.append(paragraph)
        chapter.only_headings = chapter.only_headings and paragraph.kind is ParagraphKind.HEADING

    def heading(self, paragraph: Paragraph, level: int) -> None:
        """A heading: starts a chapter when its level does, unless it goes on with the headings just before it."""
        if level <= CHAPTER_LEVEL:
            if not self._goes_on(paragraph.text, level):
                self.start()
            self._chapters[-1].headings.append((paragraph.text, level))
        self.add(paragraph)

    def subtitle(self, paragraph: Paragraph) -> None:
        """A heading that starts nothing; right after the heading of a chapter it is part of the chapter's name."""
        chapter = self._chapters[-1]
        if chapter.only_headings:
            level = chapter.headings[-1][1] if chapter.headings else 0
            chapter.headings.append((paragraph.text, level))
        self.add(paragraph)

    def start(self, title: str | None = None) -> None:
        """Begin a chapter; without a title its headings name it."""
        self._chapters.append(_Open(title))

    def finish(self, book_title: str) -> tuple[Chapter, ...]:
        """All chapters that have paragraphs; the book's title, spoken before the first one, does not name it."""
        return tuple(
            Chapter(_title(chapter, book_title), tuple(chapter.paragraphs))
            for chapter in self._chapters
            if chapter.paragraphs
        )

    def _goes_on(self, text: str, level: int) -> bool:
        chapter = self._chapters[-1]
        if not chapter.only_headings or not chapter.headings:
            return chapter.only_headings
        last_text, last_level = chapter.headings[-1]
        return level > last_level or (is_bare_number(last_text) and not is_bare_number(text))


def _title(chapter: _Open, book_title: str) -> str:
    headings = [text for text, _ in chapter.headings]
    others = [text for text in headings if text.casefold() != book_title.casefold()]
    return chapter_title(others or headings) if chapter.title is None else chapter.title


_BETWEEN = "\n\n"


@dataclass
class TextSink:
    """Collects text that was taken out of a source whose characters cannot be pointed at (HTML, JSON, subtitles).

    The collected `text` is the `Document.text`; paragraphs are two line breaks apart.
    """

    _pieces: list[str] = field(default_factory=list)
    _chars: int = 0

    def paragraph(self, kind: ParagraphKind, raw: str, *, lang: str | None = None) -> Paragraph | None:
        """A paragraph of cleaned `raw`; None when nothing is left of it. Symbols alone become a scene break."""
        text, _ = clean(raw)
        if not text:
            return None
        if not speakable(text):
            kind = ParagraphKind.SCENE_BREAK
        return Paragraph(kind, text, self.put(text), lang=lang)

    def put(self, text: str) -> range:
        """Append clean text; returns its place."""
        start = self._chars
        self._pieces.append(text)
        self._chars += len(text) + len(_BETWEEN)
        return range(start, start + len(text))

    @property
    def text(self) -> str:
        """Everything collected."""
        return _BETWEEN.join(self._pieces)


def left_out_warnings(left_out: Counter[str]) -> tuple[str, ...]:
    """What was not spoken, for people."""
    return tuple(f"{count} x {what} not spoken" for what, count in sorted(left_out.items()))


def checked(document: Document, name: str) -> Document:
    """The document, with chapters that hold nothing to speak taken out and a title for those that have none.

    Raises:
        BadSource: `no_text`, nothing in it can be spoken.
    """
    chapters = [chapter for chapter in document.chapters if any(map(_spoken, chapter.paragraphs))]
    if not chapters:
        left_out = f" ({'; '.join(document.warnings)})" if document.warnings else ""
        msg = f"{name} holds no text to speak{left_out}; give a source with words in it"
        raise bad_source(Code.NO_TEXT, msg)
    named = tuple(chapter if chapter.title else replace(chapter, title=document.title) for chapter in chapters)
    return replace(document, chapters=named)


def _spoken(paragraph: Paragraph) -> bool:
    return paragraph.kind is not ParagraphKind.SCENE_BREAK and speakable(paragraph.text)
