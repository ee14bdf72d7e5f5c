"""How numbers are written in English text: the pieces of patterns, and their words. Pure; knows no unit or context.

Rules look at `plain(text)`, which has the length of the text: digits of every kind are ASCII there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.words import Locale, cardinal, decimal, grouped_digits, locale_of, ordinal
from jobs.speaking.letters import digits_named

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
_INSTEAD = {
    **dict.fromkeys("\u00a0\u2007\u2008\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("‐‑", "-"),
    "º": "°",
    "⁄": "/",
    "∕": "/",
    "’": "'",
    "ʼ": "'",
    "＇": "'",
    "﹣": "-",
    "－": "-",
    "·": ".",
    "٫": ".",
    "٬": ",",
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}
_ORDINARY = re.compile(r"[^\x00-\x7f]")
_NUMERIC = re.compile(rf"[0-9{VULGAR}]")

# A number may not begin inside a word or another number, and not after its point, colon or power of ten.
START = r"(?<![A-Za-z0-9_])(?<![0-9][.,/:'])(?<![0-9][eE][-−+])"
# A sign stands at the beginning of something, never between two words or after a number.
SIGN = r"(?:(?<![^\s(\[{\"“‘'=<>/:|,])(?<![0-9] )[-−–+±~≈≤≥])"
_GROUPED = r"[0-9]{1,3}(?:,[0-9]{3}){1,12}(?![0-9]|,[0-9])"
_INDIAN = r"[0-9]{1,2}(?:,[0-9]{2}){1,5},[0-9]{3}(?![0-9]|,[0-9])"
_SPACED = r"(?![1-9]00(?: [1-9]00){1,9}(?![0-9]))[1-9][0-9]{0,2}(?: [0-9]{3}){1,4}(?![0-9]|[ ,/-][0-9])"
_EUROPEAN = r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,4},[0-9]{1,2}(?![0-9])"
_DOTTED = r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2}(?![0-9]|[.,][0-9])"
_COMMA_DECIMAL = r"[0-9]{1,9},0[0-9]{0,1}(?![0-9]|,[0-9])"
WHOLE = rf"(?:{_INDIAN}|{_GROUPED}|{_SPACED}|[0-9]+)"
PLAIN = rf"(?:{_EUROPEAN}|{_DOTTED}|{_COMMA_DECIMAL}|{WHOLE}(?:\.[0-9]+(?!\.?[0-9]))?|\.[0-9]+(?!\.?[0-9]))"
FRACTION = r"[0-9]{1,3}/[0-9]{1,3}(?![0-9]|[/.][0-9])"
NUMBER = rf"(?:[0-9]+[ -]?[{VULGAR}]|[{VULGAR}]|[0-9]+[ -](?=[1-9]){FRACTION}|(?=[1-9]){FRACTION}|{PLAIN})"
DASH = r"(?: ?[–‒] ?| - |-)"
"""Between the ends of a range."""
MOST_BARE_DIGITS = 9
"""A longer whole number without separators is an identifier: digit by digit."""
_WITH_DECIMAL_COMMA = re.compile(rf"{_EUROPEAN}|{_COMMA_DECIMAL}")
_WITH_DOTS = re.compile(_DOTTED)
_MIXED = re.compile(rf"(?:([0-9]+)[ -]?)?([{VULGAR}])|(?:([0-9]+)[ -])?([0-9]+)/([0-9]+)")
_SIGNS = {"-": "minus ", "−": "minus ", "–": "minus ", "+": "plus ", "±": "plus or minus ", "~": "about "}
_SIGNS |= {"≈": "about ", "≤": "at most ", "≥": "at least "}
_PARTS = {"2": ("half", "halves"), "4": ("quarter", "quarters")}


@lru_cache(maxsize=64)
def numeric_text(text: str) -> str | None:
    """The plain text, or None where it has nothing to read as a number: the one check before all rules, done once."""
    text = plain(text)
    return text if _NUMERIC.search(text) else None


def on_numbers(rule: Callable[[str, Locale], Iterable[Replacement]]) -> Rule:
    """A rule of numbers: it gets the plain text of a sentence that has one, and the locale."""

    @wraps(rule)
    def checked(text: str, context: Context) -> Iterable[Replacement]:
        plain_text = numeric_text(text)
        return () if plain_text is None else rule(plain_text, locale_of(context.language))

    return checked


def plain(text: str) -> str:
    """The text with digits, spaces, hyphens and apostrophes of one kind each, and the same length."""
    if text.isascii():
        return text
    return _ORDINARY.sub(lambda match: _plain_char(match.group()), text)


@lru_cache(maxsize=4096)
def _plain_char(char: str) -> str:
    if char in _INSTEAD:
        return _INSTEAD[char]
    if char in SUPERSCRIPTS or char in VULGAR:
        return char
    value = unicodedata.digit(char, None)
    return char if value is None else str(value)


def replaced(text: str, span: tuple[int, int], now: str, why: Why) -> Replacement:
    """A replacement of `text[span]` that glues to no letter or digit beside it."""
    start, end = span
    before = " " if start > 0 and text[start - 1].isalnum() else ""
    after = " " if text[end : end + 1].isalnum() else ""
    return Replacement(start, end, f"{before}{now}{after}", why)


def without_final_stop(text: str, end: int) -> int:
    """The end of what is replaced, before its full stop where that ends the sentence too."""
    if text[end - 1] == "." and not any(char.isalnum() for char in text[end:]):
        return end - 1
    return end


def value_of(number: str) -> tuple[str, str]:
    """Digits of the whole part and of the places of a written number without sign and fraction."""
    if number.isdigit():
        return number, ""
    if _WITH_DECIMAL_COMMA.fullmatch(number):
        whole, _, places = number.replace(".", "").partition(",")
        return whole, places
    if _WITH_DOTS.fullmatch(number):
        return number.replace(".", ""), ""
    whole, _, places = number.partition(".")
    return whole.replace(",", "").replace(" ", ""), places


def number_words(number: str, locale: Locale) -> str:
    """The words of a written number, with its sign if it has one."""
    sign = ""
    if number[:1] in _SIGNS:
        sign, number = _SIGNS[number[0]], number[1:]
    mixed = None if number.isdigit() else _MIXED.fullmatch(number)
    if mixed is not None:
        return sign + _mixed_words(mixed, locale)
    whole, places = value_of(number)
    if len(whole) > MOST_BARE_DIGITS and number.startswith(whole):
        whole_words = grouped_digits(whole)
        return f"{sign}{whole_words} point {digits_named(places)}" if places else sign + whole_words
    return sign + (decimal(whole, places, locale) if places else cardinal(whole, locale))


def is_single(number: str) -> bool:
    """Whether what is counted stands in the singular: `1`, `½`, `3/4`, but not `0`, `1.0` or `1½`."""
    number = number.lstrip("-−–+±~≈≤≥")
    return number == "1" or number in VULGAR or (number.find("/") > 0 and " " not in number and "-" not in number)


def fraction_words(above: str, below: str, locale: Locale) -> str:
    """`3`, `4` as "three quarters"; what is no plain fraction with "over" or "slash"."""
    if (above, below) in (("24", "7"), ("9", "11"), ("50", "50"), ("20", "20")):
        return f"{cardinal(above, locale)} {cardinal(below, locale)}"
    top = cardinal(above, locale)
    if above[0] == "0" or below[0] == "0" or below == "1":
        return f"{top} slash {cardinal(below, locale)}"
    if int(above) < int(below) and (int(below) <= 20 or below in ("32", "64", "100")):
        one, many = _PARTS.get(below) or (ordinal(below, locale), f"{ordinal(below, locale)}s")
        one, many = one.removeprefix("one "), many.removeprefix("one ")
        return f"{top} {one if above == '1' else many}"
    return f"{top} over {cardinal(below, locale)}"


def _mixed_words(mixed: re.Match[str], locale: Locale) -> str:
    whole, char, beside, above, below = mixed.groups()
    whole = whole or beside
    if char:
        above, _, below = unicodedata.normalize("NFKC", char).partition("⁄")
    part = fraction_words(above, below, locale)
    if whole is None:
        return part
    if above == "1" and part.startswith("one "):
        part = f"an {part[4:]}" if below in ("8", "11", "18") else f"a {part[4:]}"
    return f"{cardinal(whole, locale)} and {part}"
