"""Chapter headings in plain words: numbers, key words, title lines, and what a chapter is to be called. Pure.

`Chapter I.`, `CHAPTER TWO: The Well`, `PROLOGUE`, `IV`, `3. The Gate`. A bare number is a heading only in a row of
numbers, which the caller keeps (`heading_number`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_HEADING_CHARS = 80
MAX_BARE_HEADING_CHARS = 40
"""A heading with text right below, without a blank line, is shorter than a wrapped line."""
MAX_TITLE_CHARS = 60
MAX_HAN_CHARS = 30

_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C{1,3}X{0,3})(?:IX|IV|V?I{0,3})"
_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|first|second|third|fourth|fifth|"
    "sixth|seventh|eighth|ninth|tenth|last"
)
_WORD_NUMBER = rf"(?i:(?:the\s+)?(?:{_WORDS})(?:[\s-](?:{_WORDS}))*)"
_NUMBER = rf"(?:\d{{1,4}}|{_ROMAN}|{_ROMAN.lower()}|{_WORD_NUMBER})"
# After the number: nothing, or a mark and a title, or a title that begins like one.
_REST = r"(?:\s*[.:—–-]+\s*(?P<title>\S.*)?|\s+(?P<bare>[A-ZÀ-ÞА-Я\"“'‘«].*))?"
_PART = re.compile(rf"(?i:part|book|volume|teil|buch|partie|livre|parte|libro)\s+{_NUMBER}{_REST}$")
_CHAPTER = re.compile(
    rf"(?i:chapter|chap\.|kapitel|chapitre|cap[ií]tulo|capitolo|hoofdstuk|section|scene|act|letter|canto)\s+{_NUMBER}{_REST}$"
)
_NAMED = re.compile(
    r"(?i:(?:the\s+)?(?:prologue|epilogue|preface|foreword|introduction|afterword|postscript|interlude|appendix|"
    r"dedication|acknowledge?ments|prolog|epilog|vorwort|nachwort|pr[óo]logo|ep[íi]logo|[ée]pilogue))"
    r"(?:\s+(?:\d+|[A-Z]))?\s*(?:[.:—–-]\s*\S.*)?\.?$"
)
_BEGINNINGS = (
    "par boo vol tei buc liv lib cha kap cap hoo sec sce act let can pro epi pre for int aft pos app ded ack vor nac "
    "pró epí épi the"
)
_OPENINGS = frozenset(_BEGINNINGS.split())
"""How the key words begin: most lines begin otherwise, and a look at three letters is cheaper than four patterns."""
_HAN = re.compile(r"第[〇零一二三四五六七八九十百千两\d]+[章回节節卷部話话]")
_NUMBERED = re.compile(rf"(?P<number>\d{{1,3}}|{_ROMAN})(?:[.:)]?|[.:]\s+(?P<title>\S.*)|\s*[—–-]\s+(?P<dashed>\S.*))$")
_BARE = re.compile(rf"(?:\d{{1,4}}|{_ROMAN})[.:)]?$")
_YEAR = re.compile(r"1[0-9]\d\d$|20\d\d$")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_SMALL = re.compile(
    r"(?:an?|and|as|at|but|by|de[rs]?|die|du|for|from|in|into|la|les?|nor|off?|on|or|out|over|the|to|und|up|with)$"
)
"""Words that a title may have without a capital."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line. `level` 1 is a part, 2 a chapter; `titled` that it has words beside its number."""

    level: int
    titled: bool


def keyword_heading(line: str) -> Heading | None:
    """The heading a line is by its key word, or None."""
    if len(line) > MAX_HEADING_CHARS or (line[:3].lower() not in _OPENINGS and line[:1] != "第"):
        return None
    for level, pattern in ((1, _PART), (2, _CHAPTER)):
        match = pattern.match(line)
        if match is not None and (match["bare"] is None or title_line(match["bare"])):
            return Heading(level, titled=bool(match["bare"] or match["title"]))
    if (_NAMED.match(line) and line[0].isupper()) or (len(line) <= MAX_HAN_CHARS and _HAN.match(line)):
        return Heading(2, titled=True)
    return None


def chapter_line(line: str) -> bool:
    """Whether a line is the heading of a chapter or part with its number, or with a title beside it."""
    if len(line) > MAX_HEADING_CHARS:
        return False
    match = _CHAPTER.match(line) or _PART.match(line)
    return match is not None and (match["bare"] is None or title_line(match["bare"]))


def heading_number(line: str) -> tuple[int, bool] | None:
    """(number, has it a title) of a line such as `IV`, `12.` or `I: Loomings`; None if it is no such line."""
    match = _NUMBERED.match(line) if len(line) <= MAX_TITLE_CHARS else None
    if match is None:
        return None
    title = match["title"] or match["dashed"]
    named = title is None or title_line(title) or _YEAR.match(title) is not None
    return (_value(match["number"]), title is not None) if named else None


def title_line(line: str) -> bool:
    """Whether a line looks like a title: short, no final stop, every word of weight with a capital."""
    if not line or len(line) > MAX_TITLE_CHARS or line.endswith((".", ",", ";", ":")):
        return False
    words = re.findall(r"[^\W\d_][\w'’]*", line)
    heavy = [word for word in words if not _SMALL.match(word.lower())]
    return bool(heavy) and words[0][0].isupper() and all(word[0].isupper() for word in heavy)


def capitals(line: str) -> bool:
    """Whether a line has at least two words, all in capitals."""
    return line.isupper() and len(line.split()) > 1


def chapter_title(headings: list[str]) -> str:
    """What a chapter with these headings is called: bare numbers give way to words, shouting to a title."""
    worded = [heading for heading in headings if not _BARE.match(heading)] or headings[:1]
    return ": ".join(_quiet(heading.rstrip(".:") or heading) for heading in worded)


def is_bare_number(heading: str) -> bool:
    """Whether a heading is only a number."""
    return _BARE.match(heading) is not None


def _quiet(title: str) -> str:
    """A title in capitals as a title: `THE GATE` is `The Gate`; Roman numbers stay."""
    if not capitals(title) and not (title.isupper() and len(title) > 4):
        return title
    words = re.split(r"(\s+)", title)
    starts = {0, *(index + 2 for index, word in enumerate(words) if word.endswith((".", ":", "—")))}
    return "".join(_quiet_word(word, first=index in starts) for index, word in enumerate(words))


def _quiet_word(word: str, *, first: bool) -> str:
    if re.match(rf"{_ROMAN}[.:,]?$", word):
        return word
    lower = word.lower()
    return lower if _SMALL.match(lower) and not first else lower[:1].upper() + lower[1:]


def _value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    values = [_ROMAN_VALUES[digit] for digit in number]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
