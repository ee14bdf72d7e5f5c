"""Places text that a parser took out of a source back into the source, from left to right. Pure.

Knows no format but the character references of HTML (`&amp;`), which Markdown and HTML share. A parser that changes or
mends text costs exactness near that place, never order, bounds or time: every search is bounded.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

REFERENCE = re.compile(r"&(?:#[0-9]{1,8};?|#[xX][0-9a-fA-F]{1,7};?|[A-Za-z][A-Za-z0-9]{1,31};)")
"""A character reference. A name needs its semicolon: without, `&copy=1` in a plain address would be one."""
MAX_GAP_CHARS = 4096
"""How far apart two pieces of text may stand in the source: the length of a long link."""
_RESYNC = ((24, MAX_GAP_CHARS), (6, 256), (1, 16))
"""After a difference: so many characters must agree again, and how far away they are looked for."""


def referred(reference: str) -> str:
    """What a character reference stands for; itself when it is none."""
    return html.unescape(reference)


@dataclass(slots=True)
class Aligner:
    """Finds pieces of text one after the other within `source[start:end]`.

    `at` is where it has got to; a caller that knows better may move it forward. `escapes` are the ranges [start, end)
    of the character references it has met: the character they stand for has the offset of their start.
    """

    source: str
    start: int
    end: int
    escapes: list[tuple[int, int]] = field(default_factory=list)
    at: int = field(init=False)

    def __post_init__(self) -> None:
        self.at = self.start

    def place(self, text: str) -> Sequence[int]:
        """The offset of each character of the next piece; offsets never fall and never leave `source[start:end]`.

        A character that is not in the source gets the place where it must have been.
        """
        if self.source.startswith(text, self.at) and self.at + len(text) <= self.end:
            return self._taken(self.at, len(text))
        found = self.source.find(text, self.at, min(self.end, self.at + MAX_GAP_CHARS + len(text)))
        if found >= 0 and "&" not in self.source[self.at : found]:
            return self._taken(found, len(text))
        return self._by_character(text)

    def _taken(self, start: int, chars: int) -> range:
        self.at = start + chars
        return range(start, self.at)

    def _by_character(self, text: str) -> Sequence[int]:
        offsets: array[int] = array("Q")
        done = 0
        while done < len(text):
            length = self._reference(text, done, offsets)
            if length == 0:
                self._resync(text, done)
                offsets.append(max(self.start, min(self.at, self.end - 1)))
                length = 1
                if self.source.startswith(text[done], self.at):
                    self.at = min(self.end, self.at + 1)
            done += length
        return offsets

    def _reference(self, text: str, done: int, offsets: array[int]) -> int:
        """How many characters of the text a reference at this place stands for; 0 when there is none that fits."""
        match = REFERENCE.match(self.source, self.at, self.end)
        meant = "" if match is None else referred(match.group())
        if match is None or meant == match.group() or not text.startswith(meant, done):
            return 0
        self.escapes.append(match.span())
        offsets.extend([self.at] * len(meant))
        self.at = match.end()
        return len(meant)

    def _resync(self, text: str, done: int) -> None:
        """Go to where the text goes on, if that is near."""
        if self.at < self.end and self.source[self.at] == text[done]:
            return
        gap = REFERENCE.search(self.source, self.at, min(self.end, self.at + MAX_GAP_CHARS))
        if gap is not None and referred(gap.group()) != gap.group() and text.startswith(referred(gap.group()), done):
            self.at = gap.start()
            return
        for chars, reach in _RESYNC:
            piece = text[done : done + chars]
            found = self.source.find(piece, self.at, min(self.end, self.at + reach + len(piece)))
            if found >= 0:
                self.at = found
                return
