"""Markdown (CommonMark with tables and notes): text without its marks, chapters at headings of level 1 and 2.

The numbers of ordered lists are read, of a link its text, of inline code its words. Tables, listings, images and notes
are read when they are kept. HTML inside is read as HTML.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from jobs.account import Why
from jobs.errors import BadSource
from jobs.reading.chapters import ChapterBuilder, checked
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Document, Paragraph, ParagraphKind, Skip
from jobs.reading.markdown.inline import InlineWalk, Run
from jobs.reading.markdown.lines import Lines, lines_of
from jobs.reading.markdown.listings import is_closed, reads_as_text
from jobs.reading.markdown.rules import MAX_NESTING, markdown_parser
from jobs.reading.markdown.table import Table
from jobs.reading.markup.extraction import Extraction
from jobs.reading.markup.html import read_page
from jobs.reading.markup.labels import Labels, Links
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code

_ATTRIBUTES = re.compile(r"[ \t]*\{[#.:][^{}\n]{0,200}\}[ \t]*$")
"""`{#anchor .class}` after a heading."""
_ADMONITION = re.compile(
    r"\{(?:note|warning|tip|hint|important|caution|danger|attention|admonition|seealso|error|epigraph|pull-quote)\}"
)
"""What a fence of MyST is called when it holds text, not code."""
_TOO_DEEP_SIGNS = re.compile(r"[>\s*+-]*")
_HTML_TAG = re.compile(r"<[^<>]*>")
_CONTAINERS = frozenset({"blockquote_open", "list_item_open"})


@dataclass
class _Reader:
    """Goes through the tokens of the parser. `base`: the line of the source in which they count from 0."""

    lines: Lines
    skip: frozenset[Why]
    parser: MarkdownIt = field(default_factory=markdown_parser)
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    skipped: list[Skip] = field(default_factory=list)
    escapes: list[tuple[int, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    top_titles: list[str] = field(default_factory=list)
    base: int = 0
    numbers: list[Run] = field(default_factory=list)
    heading: int | None = None
    table: Table | None = None
    silent_until: str = ""
    first_in: str = ""

    def read(self, text: str, base: int = 0) -> None:
        """Parse a text whose first line is the line `base` of the source, and read it."""
        outer, self.base = self.base, base
        before: Token | None = None
        for token in self.parser.parse(text):
            if self.silent_until:
                self.silent_until = "" if token.type == self.silent_until else self.silent_until
            else:
                self._token(token, before)
            before = token
        self.base = outer

    def _token(self, token: Token, before: Token | None) -> None:
        kind, first, last = token.type, *self._place(token)
        if kind == "inline":
            self._inline(token, first)
        elif kind in {"fence", "code_block"}:
            self._code(token, first, last)
        elif kind == "html_block":
            self._html(token.content, first)
        elif kind == "hr":
            self.builder.add(Paragraph(ParagraphKind.SCENE_BREAK, "", ()))
            self.skipped.append(Skip(*self.lines.span(first, last), Why.SCENE_BREAK))
        elif kind in {"table_open", "note_open"}:
            self._choosable(kind, first, last)
        elif kind in _CONTAINERS:
            self._container(token, first)
        elif kind in {"blockquote_close", "list_item_close"}:
            if self.numbers:  # nothing else of the item is heard: "1984." may have been meant
                self._paragraph(self._numbered(Run("", ())))
            if before is not None and before.type in _CONTAINERS and before.level >= MAX_NESTING - 1:
                self._too_deep(*self._place(before))
        elif kind == "heading_open":
            self.heading = int(token.tag[1])
        elif kind == "heading_close":
            self.heading = None
        elif self.table is not None:
            self._table(kind, self.table)

    def _place(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return first + self.base, last + self.base

    def _choosable(self, kind: str, first: int, last: int) -> None:
        """A table or the text of a note begins."""
        why = Why.TABLES if kind == "table_open" else Why.NOTES
        if why in self.skip:
            self.skipped.append(Skip(*self.lines.span(first, last), why))
            self.silent_until = kind.replace("open", "close")
        elif why is Why.TABLES:
            self.table = Table()

    def _container(self, token: Token, first: int) -> None:
        self.first_in = token.type
        if not token.info:
            return
        number = f"{token.info}{token.markup}"
        line, start = self.lines.line(first), self.lines.starts[first]
        done = self.numbers[-1].offsets[-1] - start if self.numbers and self.numbers[-1].offsets[0] >= start else 0
        found = line.find(number, done)
        if found >= 0:
            self.numbers.append(Run(f"{number} ", range(start + found, start + found + len(number) + 1)))

    def _inline(self, token: Token, first: int) -> None:
        if self.table is not None:
            self._cell(token, first, self.table)
            return
        offsets = self.lines.offsets(token.content, first)
        for run in self._walk(token, offsets, signs=bool(self.first_in)):
            self._paragraph(self._numbered(run))
        self.first_in = ""

    def _numbered(self, run: Run) -> Run:
        """What is said first in an item, after the number of it and of items that begin with it."""
        parts, self.numbers = [*self.numbers, run], []
        offsets: array[int] = array("Q")
        for part in parts:
            offsets.extend(part.offsets)
        return Run("".join(part.text for part in parts), offsets)

    def _walk(self, token: Token, offsets: Sequence[int], *, signs: bool = False) -> list[Run]:
        walk = InlineWalk(token.content, offsets, self.skip, signs)
        runs = walk.read(token.children or [])
        self.skipped += walk.skipped
        self.escapes += walk.escapes
        for name, place in walk.unclosed:
            line = bisect_right(self.lines.starts, place)
            self.warnings.append(f"<{name}> in line {line} is never closed: the rest of its paragraph is not spoken")
        return runs

    def _cell(self, token: Token, first: int, table: Table) -> None:
        table.line = first
        offsets, escapes = table.places(token.content, self.lines.line(first), self.lines.starts[first])
        self.escapes += escapes
        table.cell(self._walk(token, offsets))

    def _table(self, kind: str, table: Table) -> None:
        if kind == "tr_close":
            if table.cells and not table.in_head:
                table.rest(self.lines.line(table.line), self.lines.starts[table.line])
            self._paragraph(table.row())
        elif kind == "thead_close":
            table.in_head = False
        elif kind == "table_close":
            self.table = None

    def _code(self, token: Token, first: int, last: int) -> None:
        begins = first + (token.type == "fence")
        if _ADMONITION.match(token.info):
            self.read(token.content, begins)
        elif Why.CODE in self.skip and token.type == "code_block" and reads_as_text(token.content):
            self.read("\n".join(line.strip() for line in token.content.split("\n")), begins)
        elif Why.CODE in self.skip:
            if (
                token.type == "fence"
                and token.content.strip()
                and not is_closed(self.lines.line(last - 1), token.markup)
            ):
                self.warnings.append(f"the listing in line {first + 1} is never closed: all of it is not spoken")
            self.skipped.append(Skip(*self.lines.span(first, last), Why.CODE))
        else:
            if token.info.strip():
                self.skipped.append(Skip(*self.lines.span(first, begins), Why.MARKUP))
            for number, line in enumerate(token.content.split("\n"), begins):
                self._paragraph(Run(line, self.lines.offsets(line, number)))

    def _too_deep(self, first: int, last: int) -> None:
        """Quotes and lists in each other beyond what is parsed: their text, line by line."""
        for number in range(first, last):
            line = self.lines.line(number)
            signs = _TOO_DEEP_SIGNS.match(line)
            text = line[signs.end() :] if signs else line
            self._paragraph(Run(text, self.lines.offsets(text, number)))

    def _html(self, content: str, first: int) -> None:
        """An HTML block, read as a page is."""
        offsets = self.lines.offsets(content, first)
        rest, comments = _without_comments(content)
        if comments and not content.endswith("-->", 0, comments[-1][1]):
            line = first + content.count("\n", 0, comments[-1][0])
            to_end = first + content.count("\n") >= len(self.lines.starts) - 2
            rest_of = "all after it" if to_end else "the rest of its block"
            self.warnings.append(f"the comment in line {line + 1} is never closed: {rest_of} is not spoken")
        why = Why.HIDDEN if Why.HIDDEN in self.skip else Why.MARKUP
        self.skipped += [Skip(offsets[start], offsets[end - 1] + 1, why) for start, end in comments]
        if not _HTML_TAG.sub("", rest).strip() and not re.search(r"<(?:hr|img)\b", rest, re.IGNORECASE):
            return
        try:
            page = read_page(rest, f"the HTML at line {first + 1}")
        except BadSource as error:
            if error.problems[0].code == Code.NO_TEXT:
                return
            raise
        extraction = Extraction(Labels(page, self.skip, Links()))
        for block in extraction.blocks(page.root):
            if block.rule:
                self.builder.add(Paragraph(ParagraphKind.SCENE_BREAK, "", ()))
                continue
            self.heading = block.level
            self._paragraph(Run(block.text, array("Q", (offsets[place] for place in block.offsets))), lang=block.lang)
        self.heading = None
        self.skipped += [Skip(offsets[one.start], offsets[one.end - 1] + 1, one.why) for one in extraction.skipped]
        self.escapes += [(offsets[start], offsets[end - 1] + 1) for start, end in page.escapes]

    def _paragraph(self, run: Run, lang: str | None = None) -> None:
        raw = run.text
        if self.heading is not None and (attributes := _ATTRIBUTES.search(raw)) is not None:
            raw = raw[: attributes.start()]
        text, offsets = clean(raw, run.offsets[: len(raw)])
        if not text:
            return
        if not speakable(text):
            self.builder.add(Paragraph(ParagraphKind.SCENE_BREAK, text, offsets))
        elif self.heading is not None:
            if self.heading == 1:
                self.top_titles.append(text)
            self.builder.heading(Paragraph(ParagraphKind.HEADING, text, offsets, lang=lang), self.heading)
        else:
            self.builder.add(Paragraph(ParagraphKind.BODY, text, offsets, lang=lang))


def read_markdown(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read Markdown.

    Raises:
        BadSource: `no_text`, `bad_html` (of a block of it), `bad_encoding`.
    """
    decoded = decode(data, name, asked=options.encoding)
    lines, facts, front_lines = lines_of(decoded.text)
    reader = _Reader(lines, options.skip)
    if front_lines:
        reader.skipped.append(Skip(*lines.span(0, front_lines), Why.METADATA))
    reader.read(lines.text)
    only_title = reader.top_titles[0] if len(reader.top_titles) == 1 else PurePath(name).stem
    title = facts.get("title", only_title)
    document = Document(
        title=title,
        author=facts.get("author", ""),
        language=facts.get("language", facts.get("lang", "")),
        chapters=reader.builder.finish(title),
        text=decoded.text,
        encoding=decoded.encoding,
        warnings=(*decoded.warnings, *reader.warnings),
        skipped=tuple(reader.skipped),
        escapes=tuple(reader.escapes),
    )
    return checked(document, name)


def _without_comments(content: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with its comments blank, and where they are."""
    pieces: list[str] = []
    found: list[tuple[int, int]] = []
    at = 0
    while (start := content.find("<!--", at)) >= 0:
        closed = content.find("-->", start + 4)
        end = len(content) if closed < 0 else closed + 3
        pieces += (content[at:start], " " * (end - start))
        found.append((start, len(content[:end].rstrip())))
        at = end
    return "".join((*pieces, content[at:])), found
