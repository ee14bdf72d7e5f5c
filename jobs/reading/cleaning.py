"""Clean text: what a voice may be given, each character with its offset in the source. Pure.

Removed: soft hyphens, zero-width and direction marks, variation selectors, tags, private signs, code points that are no
characters. Turned into one space: white space of every kind, control characters, surrogates, U+FFFC and U+FFFD. Nothing
else is changed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from jobs.account import Why

LINE_END = re.compile("\r\n?|[\n\v\f\x85\u2028\u2029]")
"""One end of a line, of any kind: CR, LF or both, VT, FF, NEL, and Unicode's line and paragraph separators."""
# What shows nothing by itself, without the joiners U+200C and U+200D, which carry meaning in Persian, Indic scripts and
# emoji, and U+FE0F, which tells an emoji from a sign. Non-characters stand where a word was divided: it stays whole.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff"
    "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ue000-\uf8ff\U000f0000-\U0010ffff\ufdd0-\ufdef\ufffe\uffff"
) + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xF0000, 0x10000))
# White space, C0 and C1 controls, signs for what is missing, surrogates without partner.
_BLANK = r"\s\x00-\x1f\x7f-\x9f\ufffc\ufffd\ud800-\udfff"
_JOINERS = "\u200c\u200d"
# A space by itself, as between most words, is no match.
_UNCLEAN = re.compile(rf"(?! [^{_INVISIBLE}{_BLANK}{_JOINERS}])[{_INVISIBLE}{_BLANK}{_JOINERS}]+")
_BLANK_CHAR = re.compile(rf"[{_BLANK}]")
_JOINER = re.compile(f"[{_JOINERS}]")
_JOINING_SCRIPTS = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1780-\u18af\u2190-\u2bff\ufe0f\ufb50-\ufdcf\ufe70-\ufefc\U0001f000-\U0001faff]"
)


def clean(text: str, offsets: Sequence[int] | None = None) -> tuple[str, Sequence[int]]:
    """The clean text and the source offset of each of its characters; no blank at either end, none twice.

    `offsets` are those of `text` in the source (default: `text` is the source).
    """
    origin: Sequence[int] = range(len(text)) if offsets is None else offsets
    if _UNCLEAN.search(text) is None:
        return _stripped(text, origin)
    if isinstance(origin, range):
        origin = array("Q", origin)  # its slices are copied at once, those of a range one by one
    pieces: list[str] = []
    kept: array[int] = array("Q")
    position = 0
    for match in _UNCLEAN.finditer(text):
        start, end = match.span()
        instead, at = _instead_of(match.group(), start, text)
        pieces += (text[position:start], instead)
        kept.extend(origin[position:start])
        if instead:
            kept.append(origin[at])
        position = end
    pieces.append(text[position:])
    kept.extend(origin[position:])
    return _stripped("".join(pieces), kept)


def kind_of_character(char: str) -> Why:
    """What a character is that `clean` takes out (white space, invisible, control); of all others: markup."""
    if char.isspace():
        return Why.WHITE_SPACE
    if _BLANK_CHAR.match(char):
        return Why.CONTROL
    return Why.INVISIBLE if _UNCLEAN.match(char) else Why.MARKUP


def speakable(text: str) -> bool:
    """Whether a text has a letter or digit of any script: what has none is a pause or nothing, never speech."""
    return any(char.isalnum() for char in text)


def _instead_of(run: str, start: int, text: str) -> tuple[str, int]:
    """What stands for a run of unclean characters (a space, a joiner that matters, or nothing), and where it was."""
    blank = _BLANK_CHAR.search(run)
    if blank is not None:
        return " ", start + blank.start()
    joiner = _JOINER.search(run)
    if joiner is not None and _JOINING_SCRIPTS.match(text[start - 1 : start]):
        return joiner.group(), start + joiner.start()
    return "", start


def _stripped(text: str, offsets: Sequence[int]) -> tuple[str, Sequence[int]]:
    end = len(text.rstrip(" "))
    start = end - len(text[:end].lstrip(" "))
    return text[start:end], offsets[start:end]
