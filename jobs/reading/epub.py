"""EPUB books: documents in spine order, chapters by the table of contents, else by headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from lxml import etree

from jobs.reading.chapters import CHAPTER_LEVEL, ChapterBuilder, TextSink, checked, left_out_warnings
from jobs.reading.document import Document, ParagraphKind
from jobs.reading.epub_package import Archive, Package
from jobs.reading.html import paragraph_of
from jobs.reading.markup import Extraction, TextBlock, note_targets
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions

TOC_DEPTH = 2
"""Parts and chapters; what the table of contents lists below them are sections inside a chapter."""


@dataclass
class _Book:
    """Puts the blocks of documents into chapters. `toc` is path → anchor (None: its beginning) → title."""

    toc: dict[str, dict[str | None, str]]
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    sink: TextSink = field(default_factory=TextSink)

    def document(self, path: str, blocks: Sequence[TextBlock]) -> None:
        places = self.toc.get(path, {})
        if None in places:
            self.builder.start(places[None])
        by_headings = not places and self._opens_with_heading(blocks)
        if not self.toc and not by_headings:
            self.builder.start()
        for block in blocks:
            titles = [places[anchor] for anchor in block.anchors if anchor in places]
            if titles:
                self.builder.start(": ".join(titles))
            self._block(block, by_headings=by_headings)

    def _block(self, block: TextBlock, *, by_headings: bool) -> None:
        paragraph = paragraph_of(block, self.sink)
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
    order = package.reading_order()
    trees: dict[str, etree._Element] = {}
    for path in order:
        trees[path], warnings = package.archive.xhtml(path)
        package.warnings += warnings
    book = _Book(_toc(package, set(order)))
    notes = _notes(package, trees)
    left_out: Counter[str] = Counter()
    for path, root in trees.items():
        extraction = Extraction(notes.get(path, frozenset()), left_out)
        book.document(path, list(extraction.blocks(root)))
    title = next(iter(package.fact("title")), PurePath(name).stem)
    cover, cover_type = package.cover()
    document = Document(
        title=title,
        author=", ".join(package.fact("creator")),
        language=next(iter(package.fact("language")), ""),
        chapters=book.builder.finish(title),
        text=book.sink.text,
        encoding="utf-8",
        warnings=(*package.warnings, *left_out_warnings(left_out)),
        cover=cover,
        cover_type=cover_type,
    )
    return checked(document, name)


def _toc(package: Package, spine: set[str]) -> dict[str, dict[str | None, str]]:
    """The table of contents by document; what leads out of the spine divides nothing."""
    toc: dict[str, dict[str | None, str]] = {}
    for entry in package.contents():
        if entry.depth <= TOC_DEPTH and entry.path in spine:
            toc.setdefault(entry.path, {}).setdefault(entry.anchor, entry.title)
    return toc


def _notes(package: Package, trees: dict[str, etree._Element]) -> dict[str, frozenset[str]]:
    """By document, the ids of note bodies that marks in any document declare."""
    found: dict[str, set[str]] = {}
    for path, root in trees.items():
        for href in note_targets(root):
            target, anchor = package.resolve(href, path)
            if anchor is not None:
                found.setdefault(target, set()).add(anchor)
    return {path: frozenset(anchors) for path, anchors in found.items()}
