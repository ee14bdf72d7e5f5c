"""English number words: cardinals, ordinals, digits one by one, decimals, years. Pure; knows no sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

MOST_DIGITS = 15
"""Longer numbers are read digit by digit: nobody follows a quintillion."""
_DAY_FIRST = frozenset(
    (
        "GB",
        "UK",
        "AU",
        "NZ",
        "IE",
        "IN",
        "ZA",
        "SG",
        "HK",
        "MY",
        "KE",
        "NG",
        "GH",
        "JM",
        "TT",
        "PK",
        "LK",
        "BD",
        "MT",
        "ZW",
    )
)
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class Locale:
    """What differs between the Englishes. `british`: "and" after the hundreds, metre, the day before the month."""

    tag: str
    british: bool


@lru_cache(maxsize=64)
def locale_of(language: str) -> Locale:
    """The locale of a language tag; plain `en` is en-US."""
    parts = language.replace("_", "-").split("-")
    region = next((part for part in parts[1:] if len(part) == 2 and part.isalpha()), "US")
    return Locale(f"en-{region.upper()}", region.upper() in _DAY_FIRST)


@lru_cache(maxsize=1)
def _engine() -> inflect.engine:
    # Late, because the import takes longer than `tts-batch --help` may.
    import inflect

    return inflect.engine()


def cardinal(number: str, locale: Locale) -> str:
    """A whole number of ASCII digits: one by one with a leading zero or above `MOST_DIGITS`."""
    if (len(number) > 1 and number[0] == "0") or len(number) > MOST_DIGITS:
        return grouped_digits(number)
    if len(number) == 1:
        return _DIGITS[int(number)]
    return _cardinal(number, locale)


@lru_cache(maxsize=16384)
def _cardinal(number: str, locale: Locale) -> str:
    return str(_engine().number_to_words(number, andword="and" if locale.british else "", comma="")).replace("  ", " ")


def ordinal(number: str, locale: Locale) -> str:
    """`21` as "twenty-first"."""
    bare = number.lstrip("0") or "0"
    if len(bare) > MOST_DIGITS:
        return f"{grouped_digits(bare)}th"
    return _ordinal(bare, locale)


@lru_cache(maxsize=4096)
def _ordinal(number: str, locale: Locale) -> str:
    return str(_engine().ordinal(cardinal(number, locale)))


def plural(words: str) -> str:
    """The plural of number words: "nineteen nineties", "sixes"."""
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    return f"{words}es" if words.endswith("x") else f"{words}s"


def digits(number: str) -> str:
    """Digits one by one; other characters are passed over."""
    return " ".join(_DIGITS[int(digit)] for digit in number if digit in "0123456789")


def grouped_digits(number: str) -> str:
    """Digits one by one, with a comma after each three so that a voice can breathe (the last group may have four)."""
    count = len(number)
    if count <= 5:
        return digits(number)
    cuts = list(range(0, count, 3))
    if count % 3 == 1:
        cuts.pop()
    ends = [*cuts[1:], count]
    return ", ".join(digits(number[start:end]) for start, end in zip(cuts, ends, strict=True))


def decimal(whole: str, places: str, locale: Locale) -> str:
    """`3`, `14` as "three point one four"; without a whole part "point five"."""
    before = f"{cardinal(whole, locale)} " if whole else ""
    return f"{before}point {digits(places)}"


def two_digits(number: str, locale: Locale) -> str:
    """Minutes and ends of years: `05` as "oh five"."""
    return f"oh {digits(number[1])}" if number[0] == "0" else cardinal(number, locale)


def year(number: str, locale: Locale) -> str:
    """`1884` as "eighteen eighty-four", `2005` as "two thousand five"."""
    if len(number) != 4 or number[1:3] == "00" or (number[0] == "2" and number[1] == "0" and number[2] == "0"):
        return cardinal(number, locale)
    century = cardinal(number[:2], locale)
    return f"{century} hundred" if number.endswith("00") else f"{century} {two_digits(number[2:], locale)}"
