"""Words of a text as a lexicon compares them: accents belong to their letters, however either is written. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_ATOM = re.compile(r"\w+|[^\w\s]")
_MAYBE_ACCENT = re.compile(r"[^\w\s\x00-\x7f]")
_SELECTORS = frozenset((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
"""They choose the look of the sign before them, which may be no letter."""
_JAMO = range(0x1160, 0x1200)
_MOST_SIGNS = 32
"""Of one letter with its accents; setting them in order takes quadratic time."""


def composed(text: str) -> tuple[str, list[int], list[int]]:
    """A text with its letters and their accents as one sign where there is one (NFC), and where each sign came from."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < min(len(text), at + _MOST_SIGNS) and _goes_on(text[end]):
            end += 1
        letter = text[at:end]
        whole = unicodedata.normalize("NFC", letter)
        same = whole == letter
        pieces.append(whole)
        starts += range(at, end) if same else [at] * len(whole)
        ends += range(at + 1, end + 1) if same else [end] * len(whole)
        at = end
    return "".join(pieces), starts, ends


def atoms(text: str) -> Iterator[tuple[int, str]]:
    """Words and single signs, each with its place. A word holds the accents of its letters."""
    shape = text
    if not text.isascii():
        shape = _MAYBE_ACCENT.sub(lambda match: "_" if _is_accent(match.group()) else match.group(), text)
    for match in _ATOM.finditer(shape):
        yield match.start(), text[match.start() : match.end()]


def lowered(text: str) -> str:
    """In lower case, character by character, so that places stay."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def wordlike(char: str) -> bool:
    """Whether a word goes on with a sign (that may be empty)."""
    return char.isalnum() or char == "_" or _is_accent(char)


def _goes_on(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or ord(char) in _JAMO


def _is_accent(char: str) -> bool:
    """Whether a sign belongs to the letter before it, as accents do and vowels of Indian scripts."""
    return bool(char) and unicodedata.category(char)[0] == "M" and ord(char) not in _SELECTORS
