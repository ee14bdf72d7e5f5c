"""Blocks of text out of the tree of a page: what a listener hears, in order, and what is left out, each with its place.

Knows blocks, line breaks, rows of tables and what `Labels` says of elements; knows no files and no chapters. Never
recursive: the depth of a hostile tree costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lxml import etree

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.markup import raised
from jobs.reading.markup.block import OpenBlock, TextBlock
from jobs.reading.markup.formulas import LEAVES, part_of_formula
from jobs.reading.markup.labels import Labels, declared_language, is_drop_cap
from jobs.reading.markup.table import DataTable, data_table
from jobs.reading.markup.tags import BLOCKS

_INLINE_ASIDES = frozenset({Why.NOTES, Why.NOTE_MARKS, Why.PAGE_NUMBERS, Why.HIDDEN})
"""What may stand inside a paragraph without dividing it."""
_RUNNING = frozenset({"p", "span", "a", "b", "i", "em", "strong", "small", "sup", "sub", "q", "cite", "u", "font"})
_RUNNING |= {"label", "code"}
_LASTING_ANCHORS = _INLINE_ASIDES | {Why.RUBY, Why.ILLUSTRATIONS, Why.IMAGES, Why.TABLES, Why.SYMBOL}
"""Where what is left out ends before the text it stands in: its anchors mark that text too."""


class Sink(Protocol):
    """Where the text of a document is."""

    def put(self, text: str, places: Sequence[int], /, *, spoken: bool) -> tuple[str, Sequence[int]]:
        """The text as it stands in the document, and the offset of each character there."""

    def part(self) -> None:
        """A block ends here."""

    def space(self) -> None:
        """Something is put in before the next text: there must be a sign in whose place it can stand."""

    def gap(self, offset: int, /) -> int:
        """The place of what is put in before the character at `offset`: of a sign before it, if there is one."""


class InPlace:
    """The document is the page itself: its text stands where it is."""

    def put(self, text: str, places: Sequence[int], /, *, spoken: bool) -> tuple[str, Sequence[int]]:
        """As it is."""
        del spoken  # nothing is put beside it
        return text, places

    def part(self) -> None:
        """Nothing stands between."""

    def space(self) -> None:
        """There is a tag."""

    def gap(self, offset: int, /) -> int:
        """The end of the tag or the quote before it."""
        return max(0, offset - 1)


@dataclass(slots=True)
class _Frame:
    """An element that is open: why what is in it is not spoken, whether it bounds a paragraph, what holds inside.

    `height` is its element if its digits are written raised (`sup`) or lowered (`sub`).
    """

    why: Why | None
    bounds: bool
    level: int | None
    lang: str | None
    linked: bool
    height: str = ""


@dataclass
class Extraction:
    """Walks one tree. `skipped` gets what is left out; `own_link` tells links to places of the book itself.

    `mains` are elements that hold the text of a site's page, if known: they are spoken whatever they stand in.
    `line_starts` gets the place of what is spoken first after a line break (`<br>`).
    """

    labels: Labels
    sink: Sink = field(default_factory=InPlace)
    skipped: list[Skip] = field(default_factory=list)
    own_link: Callable[[str], bool] = field(default=lambda href: href.startswith("#"))
    mains: frozenset[etree._Element] = frozenset()
    outer: Why | None = None
    line_starts: list[int] = field(default_factory=list)
    _open: OpenBlock = field(default_factory=OpenBlock)
    _anchors: list[str] = field(default_factory=list)
    _frames: list[_Frame] = field(default_factory=list)
    _tables: list[tuple[etree._Element, DataTable]] = field(default_factory=list)
    _joins: bool = False
    _line_begins: bool = False

    def blocks(self, root: etree._Element) -> Iterator[TextBlock]:
        """The text blocks below `root`, in document order."""
        self._frames = [_Frame(self.outer, bounds=True, level=None, lang=None, linked=False)]
        self._joins = False
        for event, node in etree.iterwalk(root, events=("start", "end")):
            if event == "start":
                yield from self._enter(node)
                self._say(node.text)
            else:
                yield from self._leave(node)
                if node is not root:
                    self._say(node.tail)
        yield from self._flush()

    def _enter(self, node: etree._Element) -> Iterator[TextBlock]:
        tag, above = str(node.tag), self._frames[-1]
        why = None if node in self.mains else above.why or self.labels.of(node)
        if why is None and tag == "table":
            why = self._table(node)
        elif why is None and tag == "tr" and self._tables and self._tables[-1][1].names_next:
            why = Why.TABLES  # the names of the columns are said in each row
        height = above.height
        if tag in {"sup", "sub"} and why is None:
            why, height = self._raised(node, tag)
        elif tag in LEAVES and why is None:
            height, between = part_of_formula(node)
            self._open.insert = self._open.insert or between
        begins = why is not None and above.why is None
        aside = begins and why in _INLINE_ASIDES and _parent_tag(node) in _RUNNING
        block = tag in BLOCKS or (tag in _RUNNING and node.get("block") is not None)
        bounds = block and not aside and (begins or above.why is None or not self._within_aside())
        if bounds:
            yield from self._bound(node, tag)
        said = bool(node.keys())
        if said:
            self._note_anchor(node, tag, why)
        level = int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else above.level
        lang = (declared_language(node) if said else None) or above.lang
        linked = above.linked or (tag == "a" and self.own_link(node.get("href") or "-:"))
        self._frames.append(_Frame(why, bounds, level, lang, linked, height))
        if aside and block:
            self._open.parted = True
        if why is None or begins or tag == "img":
            yield from self._single(node, tag, why)

    def _single(self, node: etree._Element, tag: str, why: Why | None) -> Iterator[TextBlock]:
        """What stands for itself: a rule, a line break, an image, a formula."""
        if tag == "hr":
            yield from self._flush()
            if why is None:
                yield TextBlock("", rule=True, anchors=self._taken_anchors())
        elif tag == "br":
            if self._open.broken and not self._tables:
                yield from self._flush()
            self._open.broken = self._line_begins = True
        elif tag == "img":
            self._image(node, why)
        elif tag == "math" and node.get("alttext"):
            self._put(node.get("alttext"), self._frames[-2].why)

    def _image(self, node: etree._Element, why: Why | None) -> None:
        """The text that stands for an image; the picture of a first letter is that letter."""
        if why is None and is_drop_cap(node, self.labels.page):
            self._put(node.get("alt"), None)
        elif why is None and Why.IMAGES not in self.labels.skip:
            self._open.insert = self._open.insert or " "
            self._put(node.get("alt"), None)
            self._open.insert = " "
        else:
            self._put(node.get("alt"), why or Why.IMAGES)

    def _raised(self, node: etree._Element, tag: str) -> tuple[Why | None, str]:
        """What a raised or lowered number is: that of a note after a sentence or clause, or one to be written so."""
        power, before = raised.power_of(node, self.labels.page), self._open.last
        marks = Why.NOTE_MARKS in self.labels.skip
        if marks and tag == "sup" and raised.is_letter_of_note(node, self.labels.page, before):
            return Why.NOTE_MARKS, ""
        if tag == "sub" or not power:
            return None, tag if power.isdecimal() and before[-1:].isdecimal() else ""
        if raised.is_degree(node, self.labels.page, power, before):
            return None, "degree"
        between = raised.put_between(node, self.labels.page, power, before)
        if between is not None:
            self._open.insert = self._open.insert or between
            return None, ""
        if marks and raised.is_number_of_note(power, before):
            return Why.NOTE_MARKS, ""
        return None, tag if raised.can_stand_on(power, before) else ""

    def _leave(self, node: etree._Element) -> Iterator[TextBlock]:
        if self._frames[-1].bounds:
            yield from self._bound(None, str(node.tag))
        self._open.parted = self._open.parted or node.tag == "math"  # a formula is no part of a word
        self._frames.pop()
        if self._tables and self._tables[-1][0] is node:
            self._tables.pop()

    def _bound(self, node: etree._Element | None, tag: str) -> Iterator[TextBlock]:
        """A block begins (`node`) or ends: in a row of a table its cells go on as one paragraph."""
        if not self._tables or tag in {"tr", "caption", "table"} or self._frames[-1].why is not None:
            yield from self._flush()
            if self._tables and tag == "tr" and node is not None:
                self._tables[-1][1].row_begins()
        elif node is not None and tag in {"td", "th"}:
            self._open.insert = self._tables[-1][1].cell_begins(row_is_empty=self._open.blank)
        else:
            self._open.insert = self._open.insert or " "
            self.sink.part()

    def _table(self, node: etree._Element) -> Why | None:
        """Why a table is not spoken; a data table that is gets read row by row."""
        table = data_table(node, self.labels.page)
        if table is None:
            return None
        if Why.TABLES in self.labels.skip:
            return Why.TABLES
        self._tables.append((node, table))
        return None

    def _within_aside(self) -> bool:
        """Whether what is left out here stands inside a paragraph, which its own blocks do not divide."""
        first = next((frame for frame in self._frames[1:] if frame.why is not None), None)
        return first is not None and not first.bounds

    def _note_anchor(self, node: etree._Element, tag: str, why: Why | None) -> None:
        anchor = node.get("id") or (node.get("name") if tag == "a" else None)
        if anchor is not None and (why is None or why in _LASTING_ANCHORS):
            self._anchors.append(anchor)

    def _say(self, marks: str | None) -> None:
        if marks:
            self._put(marks, self._frames[-1].why)

    def _put(self, marks: str | None, why: Why | None) -> None:
        if why is Why.MARKUP:
            return
        for run in self.labels.page.runs_of(marks):
            if why is None and (self._open.insert or self._open.parted):
                self.sink.space()
            text, offsets = self.sink.put(run.text, run.places, spoken=why is None)
            if not text:
                continue
            if why is None:
                if self._line_begins and not text.isspace():
                    self.line_starts.append(offsets[len(text) - len(text.lstrip())])
                    self._line_begins = False
                text = raised.at_height(text, self._frames[-1].height)
                self._open.add(text, offsets, linked=self._frames[-1].linked, gap=self.sink.gap(offsets[0]))
                self._joins = self._joins and text.isspace()
            else:
                self._leave_out(text, offsets, why)

    def _leave_out(self, text: str, offsets: Sequence[int], why: Why) -> None:
        """White space around what stands inside a paragraph parts the words beside it all the same."""
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        if why in _INLINE_ASIDES and first:
            self._open.add(text[:first], offsets[:first], linked=False, gap=offsets[0])
        if first < last:
            self._skip(offsets[first], offsets[last - 1] + 1, why)
            if why in _INLINE_ASIDES and last < len(text):
                self._open.add(text[last:], offsets[last:], linked=False, gap=offsets[last])

    def _skip(self, start: int, end: int, why: Why) -> None:
        """What is left out; neighbours in a block without a spoken word between them are one."""
        last = self.skipped[-1] if self._joins and self.skipped else None
        if last is not None and last.why is why and last.start <= start:
            self.skipped[-1] = Skip(last.start, max(end, last.end), why)
        else:
            self.skipped.append(Skip(start, end, why))
        self._joins = True

    def _flush(self) -> Iterator[TextBlock]:
        block, self._open = self._open, OpenBlock()
        if self.labels.site and self.skipped and self.skipped[-1].why is not Why.TABLES:
            self._joins = False  # between two blocks of a page are its tags
        self.sink.part()
        if not block.blank:
            frame = self._frames[-1]
            anchors = self._taken_anchors()
            yield TextBlock(
                "".join(block.text),
                block.joined(),
                frame.level,
                frame.lang,
                anchors=anchors,
                linked_chars=block.linked_chars,
            )

    def _taken_anchors(self) -> tuple[str, ...]:
        anchors = tuple(self._anchors)
        self._anchors.clear()
        return anchors


def _parent_tag(node: etree._Element) -> str:
    above = node.getparent()
    return "" if above is None else str(above.tag)
