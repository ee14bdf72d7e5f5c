"""Cuts a sentence that is too long: at sentence marks inside it, clause marks, spaces, and at last anywhere. Pure.

Linear in the length of the text: every step looks at no more than one piece.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from jobs.plan import Break

_CLOSERS = "”’»›\"')\\]}」』）】》〉"
_RANKS = (
    (re.compile(rf"[.!?…][{_CLOSERS}]*\s+|[。！？｡][{_CLOSERS}]*\s*"), Break.SENTENCE),
    (re.compile(rf"[,;:،؛][{_CLOSERS}]*\s+|[，、；：][{_CLOSERS}]*\s*|\s[-–—]\s+|—[{_CLOSERS}]*\s*"), Break.CLAUSE),
    (re.compile(r"\s+"), Break.NONE),
)
_SHORTEST = 0.4
"""A mark nearer to the start than this share of the limit is passed over: it would leave a scrap."""
_LAST_CUT = 0.6
"""Where the last cut of a sentence is looked for at most, as a share of what is left: two halves, not a scrap."""
_MAX_CLUSTER_CHARS = 16
_ZERO_WIDTH_JOINER = "\u200d"
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]` of a paragraph; `after` is what stands at its end."""

    start: int
    end: int
    after: Break


def visible_chars(text: str, start: int, end: int) -> int:
    """How long a piece is without the white space at its ends."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return end - start


def cut(text: str, piece: Piece, max_chars: int) -> list[Piece]:
    """The piece in pieces of at most `max_chars` visible characters; they follow each other and cover it."""
    pieces: list[Piece] = []
    start = piece.start
    while visible_chars(text, start, piece.end) > max_chars:
        end, after = _place(text, start, piece.end, max_chars)
        pieces.append(Piece(start, end, after))
        start = end
    return [*pieces, Piece(start, piece.end, piece.after)]


def _place(text: str, start: int, end: int, max_chars: int) -> tuple[int, Break]:
    """Where to cut next: the best mark that leaves at most `max_chars`, the last one of its rank."""
    left = end - start
    upper = max_chars
    if left <= 2 * max_chars:
        upper = min(max_chars, max(left - max_chars, round(left * _LAST_CUT)))
    for pattern, after in _RANKS:
        lower = 1 if after is Break.NONE else round(max_chars * _SHORTEST)
        ends = (match.end() for match in pattern.finditer(text, start, start + upper + 1))
        fitting = [place for place in ends if lower <= _without_space(text, start, place) <= upper]
        if fitting:
            return fitting[-1], after
    return _between_clusters(text, start, start + max(1, upper)), Break.NONE


def _without_space(text: str, start: int, end: int) -> int:
    """Length up to `end` without the white space before it (clean text has no two in a row)."""
    return end - start - text[end - 1].isspace()


def _between_clusters(text: str, start: int, end: int) -> int:
    """`end`, or a little before it: never between a letter and its accents, or within a joined emoji."""
    for place in range(end, max(start, end - _MAX_CLUSTER_CHARS), -1):
        after = text[place]
        joined = unicodedata.combining(after) or after == _ZERO_WIDTH_JOINER or ord(after) in _VARIATION_SELECTORS
        if not joined and text[place - 1] != _ZERO_WIDTH_JOINER:
            return place
    return end
