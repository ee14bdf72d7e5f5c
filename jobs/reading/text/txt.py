"""Plain text: paragraphs at blank lines, wrapped lines joined, chapters at headings, the rest left out with a label.

The stages, each in a file of its own: signs (`signs`), lines, page numbers (`page_numbers`), licence (`gutenberg`),
contents lists (`contents`), copyright page, notes, index (`matter`); then headings, tables and paragraphs (`shapes`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from jobs.account import Why
from jobs.reading.chapters import CHAPTER_LEVEL, ChapterBuilder, checked
from jobs.reading.cleaning import speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Document, Paragraph, ParagraphKind, Skip
from jobs.reading.headings import (
    MAX_BARE_HEADING_CHARS,
    MAX_HEADING_CHARS,
    capitals,
    heading_number,
    keyword_heading,
    title_line,
)
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.text.blocks_apart import apart_at_chapters
from jobs.reading.text.contents import without_contents
from jobs.reading.text.divided import Words
from jobs.reading.text.gutenberg import LANGUAGES, Frame, unframe, without_credits
from jobs.reading.text.lines import Block, Line, blocks, ends_sentence, join_lines, split_lines, words_of
from jobs.reading.text.matter import without_matter
from jobs.reading.text.page_numbers import without_pages
from jobs.reading.text.shapes import groups_of, is_rule
from jobs.reading.text.signs import marks_of
from jobs.reading.text.tables import Table, row_text, tables_of

_ATX = re.compile(r"(?P<marks>#{1,6})\s+(?P<title>\S.*)$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\*{3,})$")
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
    """Puts blocks into chapters; `skipped` takes what it leaves out on the way."""

    text: str
    blocks: Sequence[Block]
    words: Words
    skip: frozenset[Why]
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    skipped: list[Skip] = field(default_factory=list)
    number: int = 0
    by_capitals: bool = False

    def read(self) -> None:
        self.by_capitals = not any(keyword_heading(block.lines[0].text) for block in self.blocks)
        untitled = False
        for index, block in enumerate(self.blocks):
            head = None if block.plain else self._head(index, after_untitled=untitled)
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
        if is_rule(first) or first.startswith("***") or not speakable(block.words):
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
        if first == "I" and self.blocks[index + 1].words[:1].islower():
            number = None  # a word that stands alone, not a numeral
        if number is not None and self._next_number(number[0], block):
            lines = len(block.lines)
            return _Head(2, _parts(lines, titled=number[1]), titled=number[1] or lines > 1, number=number[0])
        if len(block.lines) == 1 and after_untitled and title_line(first):
            return _Head(3, (1,), titled=True)
        return self._capitals(block)

    def _next_number(self, number: int, block: Block) -> bool:
        """Numbers are headings in a row: the first is 1, each further one follows (a new part may begin at 1 again)."""
        second = "" if len(block.lines) == 1 else block.lines[1].text
        second_fits = not second or (title_line(second) and heading_number(second) is None)
        return second_fits and number in {1, self.number + 1}

    def _capitals(self, block: Block) -> _Head | None:
        if len(block.lines) > 1 or not capitals(block.words) or not title_line(block.words):
            return None
        chapter = self.by_capitals and block.gap >= _CHAPTER_GAP
        return _Head(2 if chapter else 3, (1,), titled=True)

    def _heading(self, block: Block, head: _Head) -> None:
        at = 0
        for lines in head.parts:
            text, offsets = self._joined(block.lines[at : at + lines])
            atx = _ATX.match(text)
            if atx is not None:
                title = atx["title"].rstrip("#").rstrip()
                begin = atx.start("title")
                text, offsets = title, offsets[begin : begin + len(title)]
            if text and (at > 0 or head.level > CHAPTER_LEVEL):
                self.builder.subtitle(Paragraph(ParagraphKind.HEADING, text, offsets))
            elif text:
                self.builder.heading(Paragraph(ParagraphKind.HEADING, text, offsets), head.level)
            at += lines
        rest = block.lines[at:]
        if rest and not _UNDERLINE.match(rest[0].text):
            self._body(rest)

    def _body(self, lines: Sequence[Line]) -> None:
        at = 0
        for table in tables_of(lines, self.text):
            self._paragraphs(lines[at : table.first])
            self._table(lines, table)
            at = table.end
        self._paragraphs(lines[at:])

    def _table(self, lines: Sequence[Line], table: Table) -> None:
        if table.sure and Why.TABLES in self.skip:
            self.skipped.append(Skip(lines[table.first].start, lines[table.end - 1].end, Why.TABLES))
            return
        for cells in table.rows:
            text, offsets = row_text(self.text, cells)
            if speakable(text):
                self.builder.add(Paragraph(ParagraphKind.BODY, text, offsets))

    def _paragraphs(self, lines: Sequence[Line]) -> None:
        for group in groups_of(lines):
            text, offsets = self._joined(group.lines)
            pause = group.rule or not speakable(text)
            kind = ParagraphKind.SCENE_BREAK if pause else ParagraphKind.BODY
            if text:
                self.builder.add(Paragraph(kind, text, offsets))

    def _joined(self, lines: Sequence[Line]) -> tuple[str, Sequence[int]]:
        joined = join_lines(lines, self.words)
        self.skipped += joined.hyphens
        return joined.text, joined.offsets


def read_txt(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read plain text.

    Raises:
        BadSource: `no_text`, or `bad_encoding`: the bytes do not fit their byte order mark or what was asked for.
    """
    decoded = decode(data, name, asked=options.encoding)
    text, skip = decoded.text, options.skip
    marks = marks_of(text, skip)
    lines = split_lines(text, marks.cuts)
    pages: list[Skip] = []
    if Why.PAGE_NUMBERS in skip:
        lines, pages = without_pages(lines)
    frame = unframe(lines, skip)
    found, skipped = apart_at_chapters(blocks(frame.lines)), frame.skips
    if Why.LICENCE in skip:
        found, credit = without_credits(found, marked=frame.marked)
        skipped += credit
    found, contents = without_contents(found, skip)
    found, matter = without_matter(found, skip, marks.labels)
    passages = _joined_passages([*skipped, *contents, *matter], text)
    title, author, language = _facts(frame, name)
    reader = _Reader(text, found, Words(words_of(text), language), skip)
    reader.read()
    document = Document(
        title=title,
        author=author,
        language=language,
        chapters=reader.builder.finish(title),
        text=text,
        encoding=decoded.encoding,
        warnings=decoded.warnings + _warnings(text),
        skipped=(*passages, *pages, *(cut for cut in marks.cuts if cut.why is not Why.MARKUP), *reader.skipped),
    )
    return checked(document, name)


def _joined_passages(skips: Sequence[Skip], text: str) -> list[Skip]:
    """Skips of lines as passages: what has one reason and only white space between is one."""
    passages: list[Skip] = []
    for one in sorted(skips, key=lambda skip: skip.start):
        last = passages[-1] if passages else None
        if last is not None and last.why is one.why and not text[last.end : one.start].strip():
            passages[-1] = Skip(last.start, one.end, one.why)
        else:
            passages.append(one)
    return passages


def _facts(frame: Frame, name: str) -> tuple[str, str, str]:
    language = frame.facts.get("language", "").strip()
    return (
        frame.facts.get("title", PurePath(name).stem),
        frame.facts.get("author", ""),
        LANGUAGES.get(language.lower(), language if re.fullmatch(r"[a-z]{2,3}(-\w+)*", language) else ""),
    )


def _warnings(text: str) -> tuple[str, ...]:
    if re.match(r"\s*(<!doctype html|<html|<\?xml)", text[:1000], re.IGNORECASE):
        return ("this looks like HTML but is read as plain text: its marks are spoken; name it .html",)
    return ()


def _marked_up(block: Block) -> _Head | None:
    """A heading that is marked as one: `# Title`, or a line with a rule under it."""
    first = block.lines[0].text
    atx = _ATX.match(first) if len(first) <= MAX_HEADING_CHARS else None
    if atx is not None and len(block.lines) == 1 and speakable(atx["title"]):
        return _Head(min(len(atx["marks"]), 3), (1,), titled=True)
    if len(block.lines) == 2 and _UNDERLINE.match(block.lines[1].text) and len(first) <= MAX_HEADING_CHARS:
        sign = block.lines[1].text[0]
        if sign == "=" or not ends_sentence(first):
            return _Head(1 if sign == "=" else 2, (1,), titled=True)
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
