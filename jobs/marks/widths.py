"""How wide text is on a screen, where it may be broken, and what is taken out of it. Pure.

Width in columns, as Unicode's East Asian Width has it: wide and fullwidth signs take two, marks that combine take none.
"""

from __future__ import annotations

import re
import unicodedata

MAX_COLUMNS = 42
"""Columns of one line, the usual measure of subtitles: 42 Latin letters, 21 signs of Chinese or Japanese."""
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Marks that open or close a direction: in a line that is broken they would turn what follows."""
_CLAUSE_END = re.compile(r"[,;:.!?…—–،؛؟。，、；：！？।][\"'”’»›)\]」』）】]*$")
_NOT_FIRST = frozenset("ー々〜～・ゝヽぁぃぅぇぉっゃゅょァィゥェォッャュョ！？：；％")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def clean_text(text: str) -> str:
    """One line of text: no control characters, no marks of direction that reach further, single spaces."""
    shown = "".join(" " if unicodedata.category(sign) in {"Cc", "Zl", "Zp"} else sign for sign in text)
    return " ".join(shown.translate(_DIRECTIONS).split())


def width_of(text: str) -> int:
    """Columns of a text."""
    return sum(_columns(sign) for sign in text)


def ends_clause(token: str) -> bool:
    """Whether a token ends a sentence or a clause."""
    return _CLAUSE_END.search(token) is not None


def pieces_of(word: str) -> list[str]:
    """A word without spaces in pieces that stay whole: signs of scripts without spaces by themselves, marks with them.

    What is wider than a line is cut where it must be.
    """
    pieces: list[str] = []
    for sign in word:
        if pieces and not _may_part(pieces[-1], sign):
            pieces[-1] += sign
        else:
            pieces.append(sign)
    return pieces


def _columns(sign: str) -> int:
    if unicodedata.category(sign) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1


def _may_part(before: str, sign: str) -> bool:
    last = before[-1]
    if _columns(sign) == 0 or sign in _JOINERS or last in _JOINERS or unicodedata.category(sign) == "Sk":
        return False
    if width_of(before) + _columns(sign) > MAX_COLUMNS:
        return True
    if _columns(last) < 2 and _columns(sign) < 2:
        return False
    closes = unicodedata.category(sign) in {"Pe", "Pf", "Po", "Pd"} or sign in _NOT_FIRST
    opens = unicodedata.category(last) in {"Ps", "Pi"}
    return not (closes or opens)
