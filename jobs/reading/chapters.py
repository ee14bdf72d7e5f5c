"""Chapters out of a run of paragraphs: what starts one and what it is called."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from jobs.reading.cleaning import speakable
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
    if chapter.title is None:
        return chapter_title(others or headings)
    worded = [text for text in others if not is_bare_number(text)]
    if not is_bare_number(chapter.title) or not worded:
        return chapter.title
    name = chapter_title(worded)  # a table of contents that has only the number
    return name if name.startswith(chapter.title) else f"{chapter.title.rstrip('.:)')}: {name}"


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
