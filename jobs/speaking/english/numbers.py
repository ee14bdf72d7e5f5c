"""English numbers as they stand: cardinals, decimals, fractions, ordinals, ranges, digits inside words.

The last rules take every digit that is left: none of an English sentence reaches a voice as a sign, and none is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.numerals import (
    DASH,
    FRACTION,
    MOST_BARE_DIGITS,
    NUMBER,
    SIGN,
    START,
    VULGAR,
    number_words,
    on_numbers,
    plain,
    replaced,
)
from jobs.speaking.english.words import Locale, cardinal, grouped_digits, locale_of, ordinal, plural
from jobs.speaking.letters import digits_named

_END = r"(?![0-9A-Za-z])"
_RANGE = re.compile(
    rf"{START}(?![0-9]{{1,3}}-[0-9]{{1,3}}/[0-9])({SIGN}?{NUMBER})({DASH})([-−]?{NUMBER}){_END}(?!-[0-9])"
)
_ORDINALS = re.compile(
    rf"{START}([0-9]{{1,3}}(?:,[0-9]{{3}}){{1,4}}|[0-9]{{1,15}})(?:st|nd|rd|th|ST|ND|RD|TH)(s?)"
    r"(?:( ?[-–] ?)([0-9]{1,15})(?:st|nd|rd|th))?\b"
)
_FRACTION_SUFFIX = re.compile(rf"{START}({FRACTION})(?:ths?|rds?|nds?|sts?)\b")
_OUT_OF = re.compile(r"(?<![0-9A-Za-z./])([0-9]{1,2})/(5|10|100)(?=[- ](?:stars?|points?|rating|score)\b)")
_PLURAL = re.compile(rf"{START}([0-9]{{1,3}}(?:,[0-9]{{3}}){{0,4}}|[0-9]{{1,9}})'?s\b")
_NUMBER = re.compile(rf"{START}({SIGN}?)({NUMBER})")
_BEFORE_CHRIST = re.compile(r" ?(?:BC|B\.C|BCE)\b")
_LINES = re.compile(r"(?<![0-9A-Za-z])(720|1080|1440|2160|4320)(?=[pi]\b)")
_IN_WORD = re.compile(r"(?<=[A-Za-z])([0-9]{1,9})\.([0-9]{1,9})(?![0-9A-Za-z]|\.[0-9])")
_PAGES = re.compile(
    r"\b(?:pp?\.?|pages?|lines?|verses?|vv?\.|ll?\.|chapters?|ch\.|nos?\.|numbers?|§§?) ?$", re.IGNORECASE
)
_OLD_ORDINALS = re.compile(
    rf"{START}([2-9][23])d\b|{START}([23])d(?= (?:Regiment|Reg\.|Lieutenant|Lieut\.|Lt\.|Corps|Division|Brigade|Cavalry"
    r"|Infantry|Battalion|Dragoons|edition|ed\.|inst\.|ult\.)|, (?:\d{4}|inst\.|ult\.))"
)
"""`the 22d`, as it was written; `3d` alone has three dimensions."""
_MANY = re.compile(r"s(?!\w)")
_RUN = re.compile(r"[0-9]+")
_DIGIT = re.compile(r"[0-9]")
_ORDINARY = re.compile(r"[^\x00-\x7f]")
_WINDOW_CHARS = 12


@on_numbers
def ordinals(text: str, locale: Locale) -> Iterator[Replacement]:
    """`21st`, `18th–19th`, `1/16th`."""
    for match in _FRACTION_SUFFIX.finditer(text):
        yield replaced(text, match.span(), number_words(match[1], locale), Why.FRACTION)
    for match in _OLD_ORDINALS.finditer(text):
        yield replaced(text, match.span(), ordinal(match[1] or match[2], locale), Why.ORDINAL)
    for match in _ORDINALS.finditer(text):
        words = ordinal(match[1].replace(",", ""), locale) + match[2]
        if match[4]:
            words += f" to {ordinal(match[4], locale)}"
        yield replaced(text, match.span(), words, Why.ORDINAL)


@on_numbers
def ranges(text: str, locale: Locale) -> Iterator[Replacement]:
    """`10–20`, `3-2`, `1.5 – 2.5`."""
    for match in _RANGE.finditer(text):
        first, _, last = match.groups()
        between = " to " if _is_range(text, match) else " "
        yield replaced(
            text, match.span(), f"{number_words(first, locale)}{between}{number_words(last, locale)}", Why.RANGE
        )


def _is_range(text: str, match: re.Match[str]) -> bool:
    """`747-400` and `12-05` are codes; a dash, a page or rising numbers make a range."""
    first, dash, last = match.groups()
    if dash != "-" or not (first.isdigit() and last.isdigit()):
        return True
    if _PAGES.search(text[max(0, match.start() - _WINDOW_CHARS) : match.start()]):
        return True
    if _BEFORE_CHRIST.match(text, match.end()):
        return True
    if len(last) > 1 and last[0] == "0":
        return False
    return len(first) < 3 or (len(first), first) <= (len(last), last)


@on_numbers
def plain_numbers(text: str, locale: Locale) -> Iterator[Replacement]:
    """`1,200`, `-5`, `3.14`, `½`, `2 1/2`; `10k` and `18-year-old` with their letters apart."""
    for match in _LINES.finditer(text):
        height = match[1]
        words = f"{cardinal(height[:-2], locale)} {cardinal(height[-2:], locale)}"
        yield replaced(text, match.span(), words, Why.NUMBER)
    for match in _OUT_OF.finditer(text):
        words = f"{cardinal(match[1], locale)} out of {cardinal(match[2], locale)}"
        yield replaced(text, match.span(), words, Why.FRACTION)
    for match in _PLURAL.finditer(text):
        yield replaced(text, match.span(), plural(cardinal(match[1].replace(",", ""), locale)), Why.NUMBER)
    for match in _NUMBER.finditer(text):
        sign, number = match.groups()
        fraction = "/" in number or number[-1] in VULGAR
        code = len(number) > 3 and number.isdigit() and text[match.end() : match.end() + 1].isalpha()
        if sign == "-" and text[match.end() : match.end() + 1] == "-":
            sign = ""
        words = grouped_digits(number) if code else number_words(sign + number, locale)
        start = match.start() if sign else match.start(2)
        yield replaced(text, (start, match.end()), words, Why.FRACTION if fraction else Why.NUMBER)
    for match in _IN_WORD.finditer(text):
        words = f"{_in_word(match[1], locale)} point {digits_named(match[2])}"
        yield replaced(text, match.span(), words, Why.NUMBER)


def left(text: str, context: Context) -> Iterator[Replacement]:
    """Every run of digits, and numbers with a code point of their own (`⑫`)."""
    locale = locale_of(context.language)
    if not text.isascii():
        yield from _signs(text, locale)
        text = plain(text)
    for match in _RUN.finditer(text):
        beside = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
        in_word = any(char.isalpha() for char in beside) or len(match.group()) > MOST_BARE_DIGITS
        words = _in_word(match.group(), locale) if in_word else cardinal(match.group(), locale)
        many = beside[:1].isalpha() and _MANY.match(text, match.end()) is not None  # MP3s
        one = replaced(text, (match.start(), match.end() + many), plural(words) if many else words, Why.NUMBER)
        listed = match.start() > 1 and text[match.start() - 1] in ",;" and text[match.start() - 2].isdigit()
        yield Replacement(one.start, one.end, f" {one.now}", one.why) if listed else one


@on_numbers
def each_digit(text: str, _: Locale) -> Iterator[Replacement]:
    """What is left of a run that another rule has claimed in part."""
    for match in _DIGIT.finditer(text):
        yield replaced(text, match.span(), digits_named(match.group()), Why.NUMBER)


def _in_word(run: str, locale: Locale) -> str:
    return cardinal(run, locale) if len(run) <= 3 else grouped_digits(run)


def _signs(text: str, locale: Locale) -> Iterator[Replacement]:
    for match in _ORDINARY.finditer(text):
        char = match.group()
        if unicodedata.category(char) != "No" or unicodedata.digit(char, None) is not None or char in VULGAR:
            continue
        value = unicodedata.numeric(char, None)
        if value is not None and value.is_integer():
            yield replaced(text, match.span(), cardinal(str(int(value)), locale), Why.NUMBER)


RULES: tuple[Rule, ...] = (ordinals, ranges, plain_numbers, left, each_digit)
