"""Blocks of text of a page, finished and while they take text. Pure."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

_NO_SPACE_BEFORE = re.compile(r"[\s.,;:!?%)\]}\u2019\u201d\u2026»\u2013\u2014-]")
_NO_SPACE_AFTER = (
    " ",
    "\n",
    "\t",
    "\r",
    "\xa0",
    "(",
    "[",
    "{",
    "\u2018",
    "\u201c",
    "«",
    "-",
    "\xad",
    "\u2013",
    "\u2014",
)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text between block boundaries (raw: white space is as in the source) and the place of each character.

    `level` is that of a heading, 1 to 6. `anchors` are the ids met since the block before. `rule` is a horizontal rule;
    then there is no text. `linked_chars` are those inside links to places of the book itself.
    """

    text: str
    offsets: Sequence[int] = ()
    level: int | None = None
    lang: str | None = None
    rule: bool = False
    anchors: tuple[str, ...] = ()
    linked_chars: int = 0


@dataclass(slots=True)
class OpenBlock:
    """A block while it takes text. `insert` goes before its next visible character, in the place of what is there.

    `broken`: the last that was in it is a line break. `parted`: something that is not spoken divides its lines here.
    """

    text: list[str] = field(default_factory=list)
    offsets: list[Sequence[int]] = field(default_factory=list)
    linked_chars: int = 0
    broken: bool = False
    insert: str = ""
    parted: bool = False

    def add(self, text: str, offsets: Sequence[int], *, linked: bool, gap: int) -> None:
        """The next text; `gap` is where what goes before it is."""
        if self.parted and text:
            if not self.insert and _NO_SPACE_BEFORE.match(text) is None and not self.last.endswith(_NO_SPACE_AFTER):
                self.insert = " "
            self.parted = False
        visible = len(text) - len(text.lstrip())
        if visible == len(text):
            self.broken = self.broken and bool(self.text)
            if self.insert:
                return
        else:
            self.broken = False
            if self.insert and (self.text or self.insert.strip()):
                self._trim()
                at = [offsets[visible - 1] if visible else gap] * len(self.insert)
                text = self.insert + text[visible:]
                offsets = array("Q", [*at, *offsets[visible:]])
            self.insert = ""
        self.linked_chars += len(text.strip()) if linked else 0
        self.text.append(text)
        self.offsets.append(offsets)

    def _trim(self) -> None:
        """Take white space off the end: something is put in that brings its own."""
        while self.text:
            kept = len(self.text[-1].rstrip())
            self.text[-1], self.offsets[-1] = self.text[-1][:kept], self.offsets[-1][:kept]
            if kept:
                return
            self.text.pop()
            self.offsets.pop()

    @property
    def last(self) -> str:
        """The last piece of text in it."""
        return self.text[-1] if self.text else ""

    @property
    def blank(self) -> bool:
        """Whether there is nothing to see in it."""
        return not any(piece.strip() for piece in self.text)

    def joined(self) -> Sequence[int]:
        """The offsets of all its text."""
        if len(self.offsets) == 1:
            return self.offsets[0]
        offsets: array[int] = array("Q")
        for piece in self.offsets:
            offsets.extend(piece)
        return offsets
