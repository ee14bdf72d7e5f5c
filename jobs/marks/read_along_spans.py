"""Spans with ids around passages of an XHTML document, put into its text: every other character stays as it is. Pure.

A passage becomes one span wherever that is well-formed: an element that lies in it as a whole is inside the span. Where
one reaches over the passage's end (`<em>One. Two</em> more.`), or a block ends, there are several: its pieces.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from jobs.marks.read_along_tags import Tag, Tags

_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em"}
)
_INLINE |= {"font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "rtc", "ruby", "s"}
_INLINE |= {"samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
"""Elements that a span may hold, and stand in (HTML: phrasing content); all others bound it."""
_EMPTY_BLOCKS = frozenset({"hr", "p", "div", "li", "td", "th"})
"""Blocks that may come as one empty tag (`<p/>`)."""
_RUBY_PARTS = frozenset({"rb", "rp", "rt", "rtc"})
"""Allowed only as children of their `ruby`."""


class Passage(NamedTuple):
    """What is to be marked: ranges [start, end) of the document's text, in order; `name` is its id."""

    name: str
    ranges: tuple[tuple[int, int], ...]


class Marked(NamedTuple):
    """One span: its id, and how many characters of the passage are in it. `passage` counts the passages given."""

    passage: int
    id: str
    chars: int


@dataclass
class Spans:
    """Finds and writes the spans of one well-formed document. `passages` are in the order of their places."""

    text: str
    passages: Sequence[Passage]
    tags: Tags = field(init=False)
    marked: list[Marked] = field(default_factory=list)
    _pieces: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tags = Tags(self.text)
        ranges = sorted(span for passage in self.passages for span in passage.ranges)
        self._starts = [start for start, _ in ranges]
        self._ends = list(accumulate((end for _, end in ranges), max))
        for number, passage in enumerate(self.passages):
            self._mark(number, passage)

    def written(self) -> str:
        """The text of the document with its spans."""
        root = self.tags.root
        name = f"{root.prefix}:span" if root is not None and root.prefix else "span"
        parts: list[str] = []
        at = 0
        for start, end, mark in self._pieces:
            parts += (self.text[at:start], f'<{name} id="{mark}">', self.text[start:end], f"</{name}>")
            at = end
        return "".join((*parts, self.text[at:]))

    def _mark(self, number: int, passage: Passage) -> None:
        """The spans of one passage. What lies in a span already (two sentences in one picture) is marked by that."""
        floor = self._pieces[-1][1] if self._pieces else 0
        start = max(floor, self.tags.around(passage.ranges[0][0])[0])
        end = max(self.tags.around(last - 1)[1] for _, last in passage.ranges)
        pieces: list[tuple[int, int]] = []
        if start < end:
            pieces = [self._trimmed(*piece) for piece in self._cut(*self._widened(start, end, floor))]
        said = [(piece, *self._said(passage, *piece)) for piece in pieces if piece[0] < piece[1]]
        kept = [one for one in said if one[2]] or [one for one in said if one[1]][:1]
        for count, (piece, chars, _) in enumerate(kept):
            name = f"{passage.name}-{count + 1}" if count else passage.name
            self._pieces.append((*piece, name))
            self.marked.append(Marked(number, name, chars))
        if not kept and floor > passage.ranges[0][0]:
            self.marked.append(Marked(number, self._pieces[-1][2], sum(end - start for start, end in passage.ranges)))

    def _said(self, passage: Passage, start: int, end: int) -> tuple[int, bool]:
        """How many characters of a passage are in a piece, and whether a letter or digit is among them."""
        inside = [self.text[max(first, start) : min(last, end)] for first, last in passage.ranges if first < end]
        return sum(map(len, inside)), any(char.isalnum() for part in inside for char in part)

    def _free(self, start: int, end: int) -> bool:
        """Whether no passage has a character in [start, end)."""
        index = bisect_right(self._ends, start)
        return index == len(self._starts) or self._starts[index] >= end

    def _widened(self, start: int, end: int, floor: int) -> tuple[int, int]:
        """Take in inline elements of which nothing but the passage is said: the span goes around them."""
        while (above := self._inline_above(start)) is not None:
            opens, closes = above
            if opens.start < floor or not self._free(opens.end, start):
                break
            if closes.start > end and not self._free(end, closes.start):
                break
            start, end = opens.start, max(end, closes.end)
        while (above := self._inline_above(end)) is not None:
            opens, closes = above
            if opens.start < start or not self._free(end, closes.start):
                break
            end = closes.end
        return start, end

    def _inline_above(self, place: int) -> tuple[Tag, Tag] | None:
        """The tags of the element that a place is in, if it is an inline one."""
        found = self.tags.above(place)
        return found if found is not None and found[0].name in _INLINE else None

    def _cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The pieces of [start, end) that hold elements as a whole and no bounds of blocks."""
        begin, opened = start, list[Tag]()
        first, last = bisect_left(self.tags.starts, start), bisect_left(self.tags.starts, end)
        for tag in self.tags.tags[first:last]:
            if tag.whole and tag.name not in _EMPTY_BLOCKS:
                continue
            outside_ruby = tag.name in _RUBY_PARTS and all(one.name != "ruby" for one in opened)
            inline = tag.name in _INLINE and not outside_ruby
            if inline and not tag.closes:
                opened.append(tag)
            elif inline and opened:
                opened.pop()
            else:
                yield from _balanced(begin, tag.start, opened)
                begin, opened = tag.end, []
        yield from _balanced(begin, end, opened)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Without white space at its ends."""
        text = self.text[start:end]
        return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _balanced(begin: int, end: int, opened: Sequence[Tag]) -> Iterator[tuple[int, int]]:
    """[begin, end) parted at the tags of elements that do not end in it."""
    for tag in opened:
        yield begin, tag.start
        begin = tag.end
    yield begin, end
