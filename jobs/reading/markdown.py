"""Markdown (CommonMark with tables): text without its marks, chapters at headings of level 1 and 2.

Left out: images, note marks, and with a warning tables, code listings and note texts. Inline code is read as words, the
numbers of ordered lists are read, of a link its text.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from jobs.reading.chapters import ChapterBuilder, checked, left_out_warnings
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Document, Paragraph, ParagraphKind
from jobs.reading.html import parse_html
from jobs.reading.markup import Extraction
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions

_FRONT = re.compile(r"---[ \t]*\n(?P<facts>.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FACT = re.compile(r"(?P<key>title|author|lang|language):[ \t]*(?P<value>\S.*)$", re.MULTILINE)
_NOTE = re.compile(r"^\[\^[^\]\n]+\]:.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_REMOVED = "\u2060"
"""Put in place of what is not text, so that offsets stay; cleaning takes it out."""
_MAX_GAP_CHARS = 4096
"""How far apart two pieces of text in a block may stand in the source: the length of a long link."""
_BREAKS = {"softbreak": "\n", "hardbreak": "\n"}


@dataclass
class _Spot:
    """Looks for pieces of text in the source, from left to right within one block: `at` is where it has got to."""

    source: str
    at: int
    end: int

    def place(self, text: str) -> Sequence[int]:
        """The offset of each character of the next piece. Entities are found by their first character, or not.

        A character that is not in the source (it was written `&amp;`) gets the place where it must have been.
        """
        limit = min(self.end, self.at + _MAX_GAP_CHARS + len(text))
        found = self.source.find(text, self.at, limit)
        if found >= 0:
            self.at = found + len(text)
            return range(found, self.at)
        offsets: array[int] = array("Q")
        for char in text:
            near = self.source.find(char, self.at, min(self.end, self.at + 64))
            offsets.append(near if near >= 0 else min(self.at, self.end - 1))
            self.at = max(self.at, near + 1)
        return offsets


@dataclass
class _Reader:
    source: str
    line_starts: Sequence[int]
    builder: ChapterBuilder = field(default_factory=ChapterBuilder)
    left_out: Counter[str] = field(default_factory=Counter)
    top_titles: list[str] = field(default_factory=list)
    prefix: str = ""
    lines: tuple[int, int] = (0, 0)
    heading: int | None = None

    def read(self, tokens: Sequence[Token]) -> None:
        table_depth = 0
        for token in tokens:
            if token.map is not None:
                self.lines = (token.map[0], token.map[1])
            table_depth += {"table_open": 1, "table_close": -1}.get(token.type, 0)
            if token.type == "table_open":
                self.left_out["table"] += 1
            elif table_depth == 0:
                self._token(token)

    def _token(self, token: Token) -> None:
        if token.type == "heading_open":
            self.heading = int(token.tag[1])
        elif token.type == "heading_close":
            self.heading = None
        elif token.type == "list_item_open":
            self.prefix = f"{token.info}{token.markup} " if token.info else ""
        elif token.type in {"fence", "code_block"}:
            self.left_out["code listing"] += 1
        elif token.type == "hr":
            self.builder.add(Paragraph(ParagraphKind.SCENE_BREAK, "", ()))
        elif token.type == "html_block":
            self._html(token.content)
        elif token.type == "inline":
            self._inline(token.children or [])

    def _inline(self, children: Sequence[Token]) -> None:
        spot = self._spot()
        text: list[str] = []
        offsets: array[int] = array("Q")
        pieces = [self.prefix, *(_said(child) for child in children)]
        self.prefix = ""
        for piece in pieces:
            if piece:
                offsets.extend(spot.place(piece))
                text.append(piece)
        self._paragraph("".join(text), offsets)

    def _html(self, content: str) -> None:
        """An HTML block is read as HTML: comments and scripts vanish, text stays."""
        if not re.sub(r"<!--.*?-->|<[^>]*>", "", content, flags=re.DOTALL).strip():
            return
        spot = self._spot()
        for block in Extraction(left_out=self.left_out).blocks(parse_html(content, "an HTML block")):
            if block.text:
                self._paragraph(block.text, spot.place(block.text))

    def _paragraph(self, raw: str, raw_offsets: Sequence[int]) -> None:
        text, offsets = clean(raw, raw_offsets)
        if not text:
            return
        if not speakable(text):
            self.builder.add(Paragraph(ParagraphKind.SCENE_BREAK, text, offsets))
        elif self.heading is not None:
            if self.heading == 1:
                self.top_titles.append(text)
            self.builder.heading(Paragraph(ParagraphKind.HEADING, text, offsets), self.heading)
        else:
            self.builder.add(Paragraph(ParagraphKind.BODY, text, offsets))

    def _spot(self) -> _Spot:
        first, last = self.lines
        return _Spot(self.source, self.line_starts[first], self.line_starts[min(last, len(self.line_starts) - 1)])


def read_markdown(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read Markdown.

    Raises:
        BadSource: `no_text`, or the bytes do not fit their byte order mark.
    """
    decoded = decode(data, name)
    source = re.sub("\r\n?|[\f\v\x85\u2028\u2029]", "\n", decoded.text)
    facts, body = _front_matter(source)
    body = _NOTE.sub(_blanked, body)
    notes = len(_NOTE.findall(source))
    body = _NOTE_MARK.sub(lambda match: _REMOVED * len(match.group()), body).replace("\x00", " ")
    reader = _Reader(source, _line_starts(body))
    reader.read(MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(body))
    if notes:
        reader.left_out["note"] += notes
    only_title = reader.top_titles[0] if len(reader.top_titles) == 1 else PurePath(name).stem
    title = facts.get("title", only_title)
    document = Document(
        title=title,
        author=facts.get("author", ""),
        language=facts.get("language", facts.get("lang", "")),
        chapters=reader.builder.finish(title),
        text=source,
        encoding=decoded.encoding,
        warnings=decoded.warnings + left_out_warnings(reader.left_out),
    )
    return checked(document, name)


def _front_matter(source: str) -> tuple[dict[str, str], str]:
    """Facts from `---` lines at the very top, and the source with those lines blank."""
    match = _FRONT.match(source)
    if match is None:
        return {}, source
    facts = {fact["key"]: fact["value"].strip().strip("\"'") for fact in _FACT.finditer(match["facts"])}
    return facts, _blanked(match) + source[match.end() :]


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _line_starts(text: str) -> Sequence[int]:
    starts = array("Q", [0])
    starts.extend(match.end() for match in re.finditer("\n", text))
    starts.append(len(text))
    return starts


def _said(token: Token) -> str:
    """What is heard of an inline token."""
    if token.type in {"text", "code_inline"}:
        return token.content
    if token.type == "html_inline" and re.match(r"<br\b", token.content, re.IGNORECASE):
        return "\n"
    return _BREAKS.get(token.type, "")
