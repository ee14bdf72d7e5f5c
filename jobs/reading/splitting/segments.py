"""A paragraph in segments: sentences, cut where they are too long, joined where they are short. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs.plan import Break
from jobs.reading.cleaning import speakable
from jobs.reading.splitting.cutter import Piece, cut, visible_chars

_TINY_WORDS = 3
_TINY_CHARS = 12
"""Fewer words in fewer characters than these make many models babble."""


def segment_pieces(text: str, spans: Sequence[tuple[int, int]], *, max_chars: int, pack_chars: int) -> list[Piece]:
    """The segments of a paragraph of clean text, whose sentences are `spans`: both follow each other and cover it.

    Each has at most `max_chars` visible characters. Neighbours are joined up to `pack_chars`; a tiny one that stands
    alone after that joins a neighbour up to `max_chars`. With `pack_chars` 0 every sentence stays one.
    """
    pieces = [piece for start, end in spans for piece in cut(text, Piece(start, end, Break.SENTENCE), max_chars)]
    pieces = _joined(text, pieces, lambda one, two: not _both_speak(text, one, two), max_chars)
    if pack_chars == 0:
        return pieces
    pieces = _joined(text, pieces, lambda _one, _two: True, min(pack_chars, max_chars))
    return _joined(text, pieces, lambda one, two: _tiny(text, one) or _tiny(text, two), max_chars)


def _joined(text: str, pieces: list[Piece], wanted: Callable[[Piece, Piece], bool], max_chars: int) -> list[Piece]:
    """Neighbours put together, from the left, where it is wanted and fits."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and wanted(last, piece) and visible_chars(text, last.start, piece.end) <= max_chars:
            joined[-1] = Piece(last.start, piece.end, piece.after)
        else:
            joined.append(piece)
    return joined


def _both_speak(text: str, one: Piece, two: Piece) -> bool:
    return speakable(text[one.start : one.end]) and speakable(text[two.start : two.end])


def _tiny(text: str, piece: Piece) -> bool:
    words = text[piece.start : piece.end].split()
    return len(words) < _TINY_WORDS and sum(map(len, words)) < _TINY_CHARS
