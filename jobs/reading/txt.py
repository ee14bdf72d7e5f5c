"""Plain text: paragraphs at blank lines, hard-wrapped lines joined, chapters at headings.

The account of every character comes with a later layer; here whole blocks are left out only with a warning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from jobs.reading.chapters import CHAPTER_LEVEL, ChapterBuilder, checked, left_out_warnings
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Document, Paragraph, ParagraphKind
from jobs.reading.gutenberg import LANGUAGES, Frame, unframe, without_asides, without_contents, without_marks
from jobs.reading.headings import (
    MAX_HEADING_CHARS,
    capitals,
    heading_number,
    keyword_heading,
    title_line,
)
from jobs.reading.lines import Block, Line, blocks, join_lines, split_lines, words_of
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions

_ATX = re.compile(r"(?P<marks>#{1,6})\s+(?P<title>.*?)\s*#*$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\*{3,})$")
MAX_BARE_HEADING_CHARS = 40
"""A heading with text right below, without a blank line, is shorter than a wrapped line."""
_CHAPTER_GAP = 2
"""Blank lines that set a title in capitals off as a chapter in a text without other headings."""


@dataclass(frozen=True, slots=True)
class _Head:
    """A block found to be a heading: `parts` is how many of its lines each heading paragraph has, from the first.

    Lines after those belong to the text already. `titled` says that it has words beside its number.
    """

    level: int
    parts: tuple[int, ...]
    titled: bool
    number: int | None = None


@dataclass
class _Reader:
    blocks: Sequence[Block]
    marked: bool
    vocabulary: frozenset[str]
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    number: int = 0
    by_capitals: bool = False

    def read(self) -> None:
        self.by_capitals = not any(keyword_heading(block.lines[0].text) for block in self.blocks)
        untitled = False
        for index, block in enumerate(self.blocks):
            head = self._head(index, after_untitled=untitled)
            if head is None:
                untitled = False
                self._body(block.lines)
                continue
            self.number = self.number if head.number is None else head.number
            untitled = not head.titled
            self._heading(block, head)

    def _head(self, index: int, *, after_untitled: bool) -> _Head | None:
        """What kind of heading a block is; a title may follow a heading that was only a number."""
        block = self.blocks[index]
        first = block.lines[0].text
        if not speakable(block.words):
            return None
        marked_up = _marked_up(block)
        if marked_up is not None:
            return marked_up
        keyword = keyword_heading(first)
        if keyword is not None and (lines := _heading_lines(block)):
            return _Head(keyword.level, _parts(lines, titled=keyword.titled), titled=keyword.titled or lines > 1)
        if len(block.lines) > 2 or index + 1 == len(self.blocks):
            return None
        number = heading_number(first)
        if number is not None and self._next_number(number[0], block):
            lines = len(block.lines)
            return _Head(2, _parts(lines, titled=number[1]), titled=number[1] or lines > 1, number=number[0])
        if len(block.lines) == 1 and after_untitled and title_line(first):
            return _Head(3, (1,), titled=True)
        return self._capitals(block)

    def _next_number(self, number: int, block: Block) -> bool:
        """Numbers are headings in a row: the first is 1, each further one follows (a new part may begin at 1 again)."""
        second_fits = len(block.lines) == 1 or title_line(block.lines[1].text)
        return second_fits and number in {1, self.number + 1}

    def _capitals(self, block: Block) -> _Head | None:
        if len(block.lines) > 1 or not capitals(block.words) or not title_line(block.words):
            return None
        chapter = self.by_capitals and block.gap >= _CHAPTER_GAP
        return _Head(2 if chapter else 3, (1,), titled=True)

    def _heading(self, block: Block, head: _Head) -> None:
        at = 0
        for lines in head.parts:
            text, offsets = join_lines(block.lines[at : at + lines], self.vocabulary)
            atx = _ATX.match(text)
            if atx is not None:
                text, offsets = atx["title"], offsets[slice(*atx.span("title"))]
            paragraph = self._paragraph(ParagraphKind.HEADING, text, offsets)
            if paragraph is not None and (at > 0 or head.level > CHAPTER_LEVEL):
                self.builder.subtitle(paragraph)
            elif paragraph is not None:
                self.builder.heading(paragraph, head.level)
            at += lines
        rest = block.lines[at:]
        if rest and not _UNDERLINE.match(rest[0].text):
            self._body(rest)

    def _body(self, lines: Sequence[Line]) -> None:
        text, offsets = join_lines(lines, self.vocabulary)
        kind = ParagraphKind.BODY if speakable(text) else ParagraphKind.SCENE_BREAK
        paragraph = self._paragraph(kind, text, offsets)
        if paragraph is not None:
            self.builder.add(paragraph)

    def _paragraph(self, kind: ParagraphKind, text: str, offsets: Sequence[int]) -> Paragraph | None:
        if self.marked:
            text, offsets = clean(*without_marks(text, offsets))
        return Paragraph(kind, text, offsets) if text else None


def read_txt(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read plain text.

    Raises:
        BadSource: `no_text`, or the bytes do not fit their byte order mark.
    """
    decoded = decode(data, name)
    frame = unframe(split_lines(decoded.text))
    found, asides = without_asides(blocks(frame.lines)) if frame.marked else (blocks(frame.lines), Counter())
    found, contents_lines = without_contents(found)
    reader = _Reader(found, frame.marked, words_of(decoded.text))
    reader.read()
    title, author, language = _facts(frame, name)
    document = Document(
        title=title,
        author=author,
        language=language,
        chapters=reader.builder.finish(title),
        text=decoded.text,
        encoding=decoded.encoding,
        warnings=decoded.warnings + tuple(_warnings(frame, asides, contents_lines, decoded.text)),
    )
    return checked(document, name)


def _facts(frame: Frame, name: str) -> tuple[str, str, str]:
    language = frame.facts.get("language", "").strip()
    return (
        frame.facts.get("title", PurePath(name).stem),
        frame.facts.get("author", ""),
        LANGUAGES.get(language.lower(), language if re.fullmatch(r"[a-z]{2,3}(-\w+)*", language) else ""),
    )


def _warnings(frame: Frame, asides: Counter[str], contents_lines: int, text: str) -> list[str]:
    warnings = list(left_out_warnings(asides))
    if frame.marked:
        warnings.append("Project Gutenberg header and licence not spoken")
    if contents_lines:
        warnings.append(f"contents list not spoken ({contents_lines} lines)")
    if re.match(r"\s*(<!doctype html|<html|<\?xml)", text[:1000], re.IGNORECASE):
        warnings.append("this looks like HTML but is read as plain text: its marks are spoken; name it .html")
    return warnings


def _marked_up(block: Block) -> _Head | None:
    """A heading that is marked as one: `# Title`, or a line with a rule under it."""
    first = block.lines[0].text
    atx = _ATX.match(first)
    if atx is not None and len(block.lines) == 1 and speakable(atx["title"]) and len(first) <= MAX_HEADING_CHARS:
        return _Head(min(len(atx["marks"]), 3), (1,), titled=True)
    if len(block.lines) == 2 and _UNDERLINE.match(block.lines[1].text) and len(first) <= MAX_HEADING_CHARS:
        return _Head(1 if block.lines[1].text[0] == "=" else 2, (1,), titled=True)
    return None


def _parts(lines: int, *, titled: bool) -> tuple[int, ...]:
    """A number stands apart from the title below it; a title may take several lines."""
    return (lines,) if titled or lines == 1 else (1, lines - 1)


def _heading_lines(block: Block) -> int:
    """How many lines of a block with a key word are heading: all when they are titles, else the first; 0: none.

    A long first line with prose below is a wrapped sentence that begins with a key word.
    """
    first, *others = block.lines
    if len(others) <= 2 and all(title_line(line.text.rstrip(".")) for line in others):
        return len(block.lines)
    return 1 if len(first.text) <= MAX_BARE_HEADING_CHARS else 0
