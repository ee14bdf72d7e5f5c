"""Clean text: what a voice may be given, each character with its offset in the source. Pure.

Removed: soft hyphens, zero-width and direction marks. Turned into one space: white space of every kind, control
characters, U+FFFD and code points that are no characters. Nothing else is changed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

# General category Cf without the joiners U+200C and U+200D, which carry meaning in Persian, Indic scripts and emoji.
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe0e\ufeff\ufff9-\ufffb"
# White space, C0 and C1 controls, the replacement character, surrogates without partner and non-characters.
_BLANK = r"\s\x00-\x1f\x7f-\x9f\ufffd\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff"
_JOINERS = "\u200c\u200d"
_UNCLEAN = re.compile(rf"[{_INVISIBLE}{_BLANK}{_JOINERS}]+")
_BLANK_CHAR = re.compile(rf"[{_BLANK}]")
_JOINING_SCRIPTS = re.compile(r"[\u0600-\u0dff\u1000-\u109f\u1780-\u17ff\u2190-\u2bff\U0001f000-\U0001faff]")


def clean(text: str, offsets: Sequence[int] | None = None) -> tuple[str, Sequence[int]]:
    """The clean text and the source offset of each of its characters; no blank at either end, none twice.

    `offsets` are those of `text` in the source (default: `text` is the source).
    """
    origin = range(len(text)) if offsets is None else offsets
    pieces: list[str] = []
    kept: array[int] = array("Q")
    position = 0
    for match in _UNCLEAN.finditer(text):
        if match.group() != " ":
            instead, at = _instead_of(match, text)
            pieces += (text[position : match.start()], instead)
            kept.extend(origin[position : match.start()])
            kept.extend(origin[at : at + len(instead)])
            position = match.end()
    if position == 0:
        return _stripped(text, origin)
    pieces.append(text[position:])
    kept.extend(origin[position:])
    return _stripped("".join(pieces), kept)


def speakable(text: str) -> bool:
    """Whether a text has a letter or digit of any script: what has none is a pause or nothing, never speech."""
    return any(char.isalnum() for char in text)


def _instead_of(match: re.Match[str], text: str) -> tuple[str, int]:
    """What stands for a run of unclean characters (a space, a joiner that matters, or nothing), and where it was."""
    blank = _BLANK_CHAR.search(match.group())
    if blank is not None:
        return " ", match.start() + blank.start()
    before = text[match.start() - 1 : match.start()]
    if match.group() in _JOINERS and _JOINING_SCRIPTS.match(before):
        return match.group(), match.start()
    return "", match.start()


def _stripped(text: str, offsets: Sequence[int]) -> tuple[str, Sequence[int]]:
    end = len(text.rstrip(" "))
    start = end - len(text[:end].lstrip(" "))
    return text[start:end], offsets[start:end]
