"""Signs inside plain text that are not spoken: emphasis, quote signs, note marks, page marks, bracketed asides. Pure.

`_word_`, `*word*`, `> quoted`, `glue.[1]`, `[Pg 12]`, `[Illustration: a gate]`, `[Footnote 1: Made from bones.]`.
Works on characters, before lines are joined; knows no paragraphs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.account import Why
from jobs.reading.document import Skip

_MAX_ASIDE_CHARS = 30_000
_MAX_BLANK_LINES = {Why.ILLUSTRATIONS: 1, Why.NOTES: 3, Why.LICENCE: 20}
"""Inside an aside: a caption has a line or two of its own, a note some paragraphs, a transcriber's remarks a page."""
_BLOCK_END = re.compile(r"[ \t]{0,80}(?:$|[\f\u2029]|(?:\r\n|\n|\r(?!\n))[ \t]{0,80}(?:[\r\n]|\[|$))")
_BRACKET = re.compile(r"[\[\]]|\n[ \t\r]*\n|\r[ \t]*\r")
_ASIDE = re.compile(
    r"\[(?:(?P<illustrations>illustrations?|illus\.?|frontispiece)(?=[\]:.,;(\s])"
    r"|(?P<picture>(?:image|figure|photo(?:graph)?|picture|map|plate|drawing)(?:\s(?:\d{1,3}|[ivx]{1,5}))?:)"
    r"|(?P<notes>(?:foot|end)notes?(?:\s(?:[\w*†‡§#]{1,6}))?[:.])"
    r"|(?P<licence>transcriber['’]?s?['’]?\s{1,3}notes?\b|TN:))",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(?<![\w/_])_(?=[^\s_])[^_]{1,2000}(?<=[^\s_])_(?![\w/_])"
    r"|(?<![\w*/])(?P<stars>\*{1,3})(?=[^\s*])[^*\n]{1,500}(?<=[^\s*])(?P=stars)(?![\w*/])"
    r"|(?<![\w=/])=(?=[^\W\d_])[^=\n]{1,300}(?<=[\w.,;:!?’”])=(?![\w=/])"
    r"|(?<![\w~/])~(?=[^\W\d_])[^~\n]{1,300}(?<=[\w.,;:!?’”])~(?![\w~/])"
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n|\r[ \t]*\r|[\f\u2029]")
_QUOTE = re.compile(r"(?:^|(?<=[\n\r]))[ \t]{0,3}(?:>[ \t]?){1,12}(?=[^\d\s<]|[ \t]*[\n\r])")
# What a PDF puts where a word was divided; the word goes on right after it or in the next line.
_ODD_HYPHEN = re.compile("(?<=[^\\W\\d_])[\ufffe\uffff\x02](?:[ \t]{0,8}(?:\r\n|[\n\r])[ \t]{0,8})?(?=[^\\W\\d_])")
_PAGE = re.compile(r"\[(?:pg|page|p)\.?\s?(?:\d{1,4}|[ivxlc]{1,8})\.?\]", re.IGNORECASE)
_PAGE_BEFORE = re.compile(r"\b(?:see|on|to|and|from|of|cf\.?|at|in)\s$", re.IGNORECASE)
_BRACED = re.compile(r"(?<![\w\\${^_=(%])\{(\d{1,4})\}(?![{(=.:\[]\w)")
_MIN_BRACED_GAP_CHARS = 40
_FIRST_PLACES = 2
_NOTE = re.compile(
    r"(?<=[^\s\[({])(?P<space> ?)\[(?:(?:note|nb|n\.)\s?)?"
    r"(?P<label>\d{1,4}|[A-Za-z]|[*†‡§]{1,3})(?:\s?[,;–-]\s?\d{1,3}){0,8}\](?![\[(]\w{0,20}[^\d\w\]]|\.\w|\s?=[^=])"
)
_BODY = re.compile(
    r"(?:^|[\n\r])[ \t]{0,8}\[(?:(?:foot|end)note\s)?([\w*†‡§]{1,4})(?:\]:?[ \t]{0,8}\S|:)", re.IGNORECASE
)
_AFTER = ".,;:!?…”\"'’»—)*"
_SENTENCE_AFTER = '.!?…”"’»'
_IDENTIFIER = re.compile(r"[\w.$]{1,40}$")
_MIN_WORD_CHARS = 2
_MAX_PLAIN_NOTE = 999
_SUPERSCRIPT = re.compile("[¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}(?![⁰¹²³⁴-⁹⁺⁻⁼ⁿ\u207a-\u207fʰ-ʸ\\w])")
_SUPERSCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_PLAIN_WORD = re.compile(r"(?<![\w^*/])[^\W\d_]{3,40}\)?$")
# Units and functions that have powers.
_POWERED = "sin cos tan cot sec log exp det mol yard yards inch inches feet foot mile miles acre"
_POWERS = frozenset(_POWERED.split())


@dataclass(frozen=True, slots=True)
class Marks:
    """What to leave out, in order and without overlap, and the labels of notes that the text refers to."""

    cuts: tuple[Skip, ...]
    labels: frozenset[str]


def marks_of(text: str, skip: frozenset[Why]) -> Marks:
    """The signs of a text; those whose reason can be chosen only when it is in `skip`."""
    notes = list(_notes(text))
    found = [Skip(start, end, Why.NOTE_MARKS) for start, end, _ in notes]
    found += _asides(text)
    found += _pages(text)
    chosen = [one for one in found if one.why in skip]
    chosen += _emphasis(text)
    chosen += (Skip(*match.span(), Why.MARKUP) for match in _QUOTE.finditer(text))
    chosen += (Skip(*match.span(), Why.LINE_HYPHEN) for match in _ODD_HYPHEN.finditer(text))
    chosen.sort(key=lambda one: (one.start, -one.end))
    cuts: list[Skip] = []
    for one in chosen:
        if not cuts or one.start >= cuts[-1].end:
            cuts.append(one)
    return Marks(tuple(cuts), frozenset(label for _, _, label in notes))


def _asides(text: str) -> Iterator[Skip]:
    """Bracketed asides; one may run over a few blocks, and one that is never closed is text."""
    opened: list[tuple[int, int]] = []
    blank_lines = 0
    for match in _BRACKET.finditer(text):
        if match.group() == "[":
            opened.append((match.start(), blank_lines))
        elif match.group() != "]":
            blank_lines += 1
        elif opened:
            start, before = opened.pop()
            why = _aside(text, start) if match.end() - start <= _MAX_ASIDE_CHARS else None
            inside = blank_lines - before
            # What an unclosed bracket swallows is story: the one that closes over a blank line ends its block.
            if why is not None and (
                not inside or (inside <= _MAX_BLANK_LINES[why] and _BLOCK_END.match(text, match.end()))
            ):
                yield Skip(start, match.end(), why)


def _aside(text: str, start: int) -> Why | None:
    """What the bracket at `start` says that it is; None when it is text."""
    kind = _ASIDE.match(text, start)
    if kind is None or (kind["picture"] is not None and not _begins_line(text, start)):
        return None
    return Why.NOTES if kind["notes"] else Why.LICENCE if kind["licence"] else Why.ILLUSTRATIONS


def _begins_line(text: str, start: int) -> bool:
    before = text[max(0, start - 8) : start].rstrip(" \t")
    return not before or before[-1] in "\n\r\f"


def _emphasis(text: str) -> Iterator[Skip]:
    for match in _EMPHASIS.finditer(text):
        marks = len(match["stars"] or "_")
        inner = match.group()[marks:-marks]
        if any(char.isalnum() for char in inner) and not _BLANK_LINE.search(inner):
            yield Skip(match.start(), match.start() + marks, Why.MARKUP)
            yield Skip(match.end() - marks, match.end(), Why.MARKUP)


def _pages(text: str) -> Iterator[Skip]:
    for match in _PAGE.finditer(text):
        if not _PAGE_BEFORE.search(text[max(0, match.start() - 6) : match.start()]):
            yield Skip(*match.span(), Why.PAGE_NUMBERS)
    braced = list(_BRACED.finditer(text))
    numbers = [int(match[1]) for match in braced]
    rising = all(before < after for before, after in itertools.pairwise(numbers))
    apart = all(b.start() - a.end() >= _MIN_BRACED_GAP_CHARS for a, b in itertools.pairwise(braced))
    attached = all(_attached(text, match) for match in braced)
    # Else they are places to be filled in: "Dear {1}, … and {2}".
    if rising and apart and 0 not in numbers and (attached or numbers[0] > _FIRST_PLACES):
        yield from (Skip(*match.span(), Why.PAGE_NUMBERS) for match in braced)


def _attached(text: str, match: re.Match[str]) -> bool:
    """Whether a number in braces touches a word or stands at the start of a line, as marks of pages do."""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return before.isalnum() or after.isalnum() or before in {"", "\n", "\r"}


def _notes(text: str) -> Iterator[tuple[int, int, str]]:
    """Note marks: (start, end, label)."""
    bodies = {match[1].lower() for match in _BODY.finditer(text)}
    last_end = -1
    for match in _NOTE.finditer(text):
        if match.start() == last_end or _is_note(text, match, bodies):
            last_end = match.end()
            yield match.start(), match.end(), match["label"].lower()
    raised = [match for match in _SUPERSCRIPT.finditer(text) if _raised_after(text, match.start())]
    first = any(match.group() == "¹" for match in raised)
    for match in raised:
        if first or text[match.start() - 1] in _SENTENCE_AFTER:
            yield match.start(), match.end(), match.group().translate(_SUPERSCRIPT_DIGITS)


def _is_note(text: str, match: re.Match[str], bodies: set[str]) -> bool:
    """Whether a bracketed label refers to a note: `[2004]` is a year, `list[0]` an element, `in [3]` a citation."""
    label, before = match["label"].lower(), text[match.start() - 1]
    if match["space"]:
        return before in _SENTENCE_AFTER and label in bodies
    if label.isdecimal() and label not in bodies and not 0 < int(label) <= _MAX_PLAIN_NOTE:
        return False
    if label.isalpha() and label not in bodies:
        return False
    if not before.isalnum():
        return before in _AFTER
    word = _IDENTIFIER.search(text[max(0, match.start() - 40) : match.start()])
    return word is not None and len(word.group()) >= _MIN_WORD_CHARS and not re.search(r"[_$]|\w\.\w", word.group())


def _raised_after(text: str, start: int) -> bool:
    """Whether raised digits can be a note there: after a mark or a word, not a unit, an ordinal or a formula."""
    before = text[max(0, start - 42) : start]
    if before[-1:] in _AFTER.replace(")", "").replace("*", "") and before[-2:-1] not in ("", " "):
        return not (before[-2:-1].isdecimal() and before[-1] in ".,")  # 1.² is no end of a sentence
    word = _PLAIN_WORD.search(before)
    return word is not None and word.group().rstrip(")").lower() not in _POWERS and not word.group().isupper()
