"""EPUB books: documents in spine order, chapters by the table of contents, else by headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath

from jobs.account import Why
from jobs.reading.chapters import CHAPTER_LEVEL, ChapterBuilder, checked
from jobs.reading.document import Document, ParagraphKind, Skip, SourceFile
from jobs.reading.markup.archive import Archive
from jobs.reading.markup.block import TextBlock
from jobs.reading.markup.extraction import Extraction
from jobs.reading.markup.html import paragraph_of, skip_of
from jobs.reading.markup.labels import Labels, words_of
from jobs.reading.markup.notes import find_notes
from jobs.reading.markup.package import Package, SpineDocument
from jobs.reading.markup.page import Page
from jobs.reading.markup.sections import is_contents, is_front, judge, without_licence
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions

TOC_DEPTH = 2
"""Parts and chapters; what the table of contents lists below them are sections inside a chapter."""
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_TEXT_WORDS = frozenset(
    {"titlepage", "chapter", "bodymatter", "dedication", "epigraph", "foreword", "preface", "introduction", "prologue"}
) | frozenset(
    {
        "epilogue",
        "afterword",
        "acknowledgments",
        "doc-chapter",
        "doc-dedication",
        "doc-epigraph",
        "doc-foreword",
        "doc-preface",
        "doc-introduction",
        "doc-prologue",
        "doc-epilogue",
        "doc-afterword",
        "doc-acknowledgments",
    }
)
"""What says that a document is spoken, whatever it looks like."""
_FIRST_ELEMENTS = 6
_MAX_FRONT_SHARE = 0.4
"""A document with more of the book is no copyright page: it is the text, with such a line in it.

Less than half: the one story of a thin book, beside a title and a licence, has more.
"""


@dataclass(slots=True)
class BookText:
    """The text of all documents one after the other: white space as one space, blocks and documents apart."""

    pieces: list[str] = field(default_factory=list)
    chars: int = 0
    _between: str = ""
    _inside: bool = False
    _spoken: bool = True

    def put(self, text: str, _places: Sequence[int], /, *, spoken: bool) -> tuple[str, Sequence[int]]:
        """Append text; white space at the beginning of a block or after other white space is none.

        After what is not spoken it stays: it may part two words that are.
        """
        flat = _BLANKS.sub(" ", text)
        blank = not self._inside or (self.pieces[-1].endswith(" ") and spoken == self._spoken)
        self._spoken = spoken
        if blank and flat.startswith(" "):
            flat = flat[1:]
        if not flat:
            return "", ()
        if not self._inside:
            self._append(self._between)
        self._between, self._inside = "", True
        self._append(flat)
        return flat, range(self.chars - len(flat), self.chars)

    def part(self) -> None:
        """A block ends."""
        if self._inside:
            self._between, self._inside = "\n", False

    def space(self) -> None:
        """White space inside a block, where there is none."""
        if self._inside and not self.pieces[-1].endswith(" "):
            self._append(" ")

    def gap(self, offset: int, /) -> int:
        """The white space before a character that was just put; where there is none, its own place."""
        return offset - 1 if len(self.pieces) > 1 and self.pieces[-2].endswith((" ", "\n")) else offset

    def document_begins(self) -> int:
        """Where the text of the next document begins; an empty line stands before it."""
        self._between, self._inside = "\n\n" if self.chars else "", False
        return self.chars + len(self._between)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def _append(self, text: str) -> None:
        self.pieces.append(text)
        self.chars += len(text)


@dataclass(slots=True)
class ReadDocument:
    """One document of the spine: its blocks, what its elements say it is, and what it is called."""

    path: str
    blocks: list[TextBlock]
    start: int
    words: frozenset[str]
    title: str
    notes: bool

    @property
    def chars(self) -> int:
        """Of all its blocks."""
        return sum(len(block.text) for block in self.blocks)


@dataclass(slots=True)
class Walked:
    """The documents of a spine, whose texts lie one after the other in a sink. `pages` are those with text, by path."""

    pages: dict[str, Page]
    reads: list[ReadDocument] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    line_starts: list[int] = field(default_factory=list)


@dataclass
class _Book:
    """Puts the blocks of documents into chapters. `toc` is path → anchor (None: its beginning) → title."""

    toc: dict[str, dict[str | None, str]]
    skip: frozenset[Why]
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    skipped: list[Skip] = field(default_factory=list)

    def leave_out(self, read: ReadDocument, why: Why) -> None:
        """Nothing of a document is spoken."""
        self.skipped += [skip_of(block, why) for block in read.blocks if not block.rule]
        read.blocks.clear()

    def document(self, read: ReadDocument) -> None:
        """Take one document."""
        places = self.toc.get(read.path, {})
        title = places.get(None, "") or read.title
        whys = judge(read.blocks, self.skip, title=title, emptied=read.notes)
        pairs = list(zip(read.blocks, whys, strict=True))
        spoken = [block for block, why in pairs if why is None]
        self.skipped += [skip_of(block, why) for block, why in pairs if why is not None and not block.rule]
        if not any(block.text.strip() for block in spoken):
            return
        if None in places:
            self.builder.start(places[None])
        by_headings = not places and self._opens_with_heading(spoken)
        if not self.toc and not by_headings:
            self.builder.start()
        for block in spoken:
            titles = [places[anchor] for anchor in block.anchors if anchor in places]
            if titles:
                self.builder.start(": ".join(titles))
            self._block(block, by_headings=by_headings)

    def _block(self, block: TextBlock, *, by_headings: bool) -> None:
        paragraph = paragraph_of(block)
        if paragraph is None:
            return
        if paragraph.kind is not ParagraphKind.HEADING or block.level is None:
            self.builder.add(paragraph)
        elif by_headings:
            self.builder.heading(paragraph, block.level)
        else:
            self.builder.subtitle(paragraph)

    def _opens_with_heading(self, blocks: Sequence[TextBlock]) -> bool:
        """Whether headings divide a document that no table of contents does: one that only goes on has none on top.

        Without any table of contents every chapter heading counts.
        """
        levels = [block.level for block in blocks if block.text.strip()]
        considered = levels[:1] if self.toc else levels
        return any(level is not None and level <= CHAPTER_LEVEL for level in considered)


def read_epub(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read an EPUB 2 or 3.

    Raises:
        BadSource: `bad_zip`, `bad_epub`, `zip_bomb`, `encrypted`, `bad_html`, `no_text`.
    """
    package = Package.of(Archive.of(data, name))
    sink = BookText()
    walked = walk(package, options, sink)
    reads, skipped = walked.reads, walked.skipped
    book = _Book(_toc(package, set(walked.pages)), options.skip, skipped=skipped)
    _drop_licence(reads, book)
    _drop_whole(reads, book)
    for read in reads:
        book.document(read)
    title = next(iter(package.fact("title")), PurePath(name).stem)
    cover, cover_type = package.cover()
    document = Document(
        title=title,
        author=", ".join(package.fact("creator")),
        language=next(iter(package.fact("language")), ""),
        chapters=book.builder.finish(title),
        text=sink.text,
        encoding=package.encoding,
        warnings=tuple(dict.fromkeys(package.warnings)),
        cover=cover,
        cover_type=cover_type,
        skipped=tuple(skipped),
        line_starts=tuple(walked.line_starts),
        files=tuple(SourceFile(min(read.start, sink.chars), read.path) for read in reads),
    )
    return checked(document, name)


def walk(package: Package, options: ReadingOptions, sink: BookText) -> Walked:
    """Put the text of all documents of the spine into `sink`. Raises as `read_epub`."""
    spine = package.spine()
    walked = Walked(package.pages(spine))
    links = find_notes(walked.pages, package.resolve)
    for one in spine:
        if one.path in walked.pages:
            labels = Labels(walked.pages[one.path], options.skip, links)
            extraction = Extraction(labels, sink, walked.skipped, own_link=_own_link, line_starts=walked.line_starts)
            if one.why in options.skip or one.why not in Why.choosable():
                extraction.outer = one.why
            walked.reads.append(_read(one, extraction, sink))
    return walked


def _read(document: SpineDocument, extraction: Extraction, sink: BookText) -> ReadDocument:
    """Walk one document; its text goes to the end of the book's."""
    start = sink.document_begins()
    page = extraction.labels.page
    body = next(page.root.iter("body"), page.root)
    first = islice(body.iter(), _FIRST_ELEMENTS)
    words = frozenset(word for node in first for word in words_of(node))
    title = next(page.root.iter("title"), None)
    before = len(extraction.skipped)
    blocks = list(extraction.blocks(body))
    notes = any(skip.why is Why.NOTES for skip in extraction.skipped[before:])
    return ReadDocument(document.path, blocks, start, words, "" if title is None else page.text_of(title), notes)


def _drop_licence(reads: Sequence[ReadDocument], book: _Book) -> None:
    """What a transcription puts before and after the book, which may begin and end inside of documents."""
    if Why.LICENCE not in book.skip:
        return
    inside = without_licence([block for read in reads for block in read.blocks])
    before = 0
    for read in reads:
        last = before + len(read.blocks)
        first_kept, last_kept = max(0, inside.start - before), max(0, inside.stop - before)
        gone = (*read.blocks[:first_kept], *read.blocks[max(first_kept, last_kept) :])
        book.skipped += [skip_of(block, Why.LICENCE) for block in gone if not block.rule]
        read.blocks[:] = read.blocks[first_kept:last_kept]
        before = last


def _drop_whole(reads: Sequence[ReadDocument], book: _Book) -> None:
    """Copyright pages and pages of contents that nothing declares are not spoken."""
    total = sum(read.chars for read in reads)
    for read in reads:
        if read.words & _TEXT_WORDS or read.chars > _MAX_FRONT_SHARE * total:
            continue
        found = ((Why.FRONT, is_front(read.blocks)), (Why.CONTENTS, is_contents(read.blocks)))
        why = next((why for why, holds in found if holds and why in book.skip), None)
        if why is not None:
            book.leave_out(read, why)


def _own_link(href: str) -> bool:
    """Whether a link leads to a place of the book, not to the world."""
    return not href.startswith("//") and re.match(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:", href) is None and href != "-:"


def _toc(package: Package, spine: set[str]) -> dict[str, dict[str | None, str]]:
    """The table of contents by document; what leads out of the spine divides nothing."""
    toc: dict[str, dict[str | None, str]] = {}
    for entry in package.contents():
        if entry.depth <= TOC_DEPTH and entry.path in spine:
            toc.setdefault(entry.path, {}).setdefault(entry.anchor, entry.title)
    return toc
