"""The tags of a well-formed XHTML document with their places in its text. Pure; what is ill-formed is not for it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

TAG = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE(?:[^>\[\"']|\"[^\"]*\"|'[^']*'|\[.*?\]\s*(?=>))*+>"
    r"|<(?P<closes>/)?(?P<name>[^\s/>\"'<=!?]+)(?:[^>\"'/<]|/(?!>)|\"[^\"<]*\"|'[^'<]*')*+(?P<empty>/)?>",
    re.DOTALL,
)
"""Whatever stands in angle brackets; of what is not a tag, `name` is None."""
_BOUNDS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
_WHOLE = frozenset({"svg", "math", "object", "video", "audio", "iframe", "canvas", "select", "textarea", "button"})
_WHOLE |= {"script", "style", "template", "noscript", "map"}
"""Elements that are marked as a whole or not at all: a span inside would not be allowed, or not be seen."""


def can_be_scanned(text: str) -> bool:
    """Whether `TAG` finds all of a document in one pass: what begins ends, and there is one document type at most.

    Of a document where this does not hold every beginning would be sought an end to, through all of it.
    """
    return text.count("<!DOCTYPE") < 2 and all(text.rfind(first) <= text.rfind(last) for first, last in _BOUNDS)


class Tag(NamedTuple):
    """A tag in [start, end) of the text, its name and prefix; `closes`: an end tag.

    `whole`: nothing is open after it: an empty element, a comment, a CDATA section, all of an `svg`.
    """

    start: int
    end: int
    name: str
    prefix: str
    closes: bool
    whole: bool


class Tags:
    """The tags of a document in order; `ends` leads from the index of a start tag to that of its end tag."""

    def __init__(self, text: str) -> None:
        self.tags: list[Tag] = []
        self.ends: dict[int, int] = {}
        self._inside: list[int] = []
        self._read(text)
        self.starts = [tag.start for tag in self.tags]

    @property
    def root(self) -> Tag | None:
        """The start tag of the document's element."""
        return next((tag for tag in self.tags if tag.name), None)

    def named(self, name: str, *, closes: bool) -> Tag | None:
        """The first start or end tag of a name."""
        return next((tag for tag in self.tags if tag.name == name and tag.closes is closes), None)

    def around(self, place: int) -> tuple[int, int]:
        """[start, end) of what can be marked at a character: itself, or the element in whose tag it is."""
        index = bisect_right(self.starts, place) - 1
        if index < 0 or place >= self.tags[index].end:
            return place, place + 1
        tag = self.tags[index]
        return tag.start, self.tags[self.ends[index]].end if index in self.ends else tag.end

    def above(self, place: int) -> tuple[Tag, Tag] | None:
        """The start and end tag of the innermost element around a place between two characters."""
        index = bisect_left(self.starts, place) - 1
        opened = self._inside[index] if index >= 0 else -1
        return None if opened < 0 else (self.tags[opened], self.tags[self.ends[opened]])

    def _read(self, text: str) -> None:
        opened: list[int] = []
        skipping = 0
        for match in TAG.finditer(text):
            prefix, _, name = (match["name"] or "").rpartition(":")
            closes, empty = match["closes"] is not None, match["name"] is None or match["empty"] is not None
            if skipping:
                skipping += 0 if empty else -1 if closes else 1
                if not skipping:
                    self.tags[-1] = self.tags[-1]._replace(end=match.end())
                continue
            whole = empty or name in _WHOLE
            if closes and opened:
                self.ends[opened.pop()] = len(self.tags)
            elif not whole:
                opened.append(len(self.tags))
            skipping = int(whole and not empty)
            self.tags.append(Tag(match.start(), match.end(), name, prefix, closes, whole))
            self._inside.append(opened[-1] if opened else -1)
