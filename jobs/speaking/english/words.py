"""English number words: cardinals, ordinals, digits one by one, decimals, years. Pure; knows no sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from jobs.speaking.letters import DIGITS, digits_named

MOST_DIGITS = 15
"""Longer numbers are read digit by digit: nobody follows a quintillion."""
_DAY_FIRST = frozenset(
    {
        *("GB", "UK", "AU", "NZ", "IE", "IN", "ZA", "SG", "HK", "MY"),
        *("KE", "NG", "GH", "JM", "TT", "PK", "LK", "BD", "MT", "ZW"),
    }
)
_SMALL = (
    *DIGITS,
    *("ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ("", "thousand", "million", "billion", "trillion")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


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


def cardinal(number: str, locale: Locale) -> str:
    """A whole number of ASCII digits: one by one with a leading zero or above `MOST_DIGITS`."""
    if (len(number) > 1 and number[0] == "0") or len(number) > MOST_DIGITS:
        return grouped_digits(number)
    if len(number) == 1:
        return DIGITS[int(number)]
    return _cardinal(number, locale)


@lru_cache(maxsize=16384)
def _cardinal(number: str, locale: Locale) -> str:
    """Groups of three digits with their names, the last one joined by "and" where it has no hundreds (British)."""
    groups = [int(number[max(0, end - 3) : end]) for end in range(len(number), 0, -3)]
    said = [
        f"{_below_thousand(group, locale)} {name}".rstrip()
        for group, name in reversed(list(zip(groups, _GROUPS, strict=False)))
        if group
    ]
    if locale.british and len(said) > 1 and 0 < groups[0] < 100:
        said.insert(-1, "and")
    return " ".join(said) or _SMALL[0]


def _below_thousand(number: int, locale: Locale) -> str:
    hundreds, rest = divmod(number, 100)
    said = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest:
        said += ["and"] if hundreds and locale.british else []
        said.append(_below_hundred(rest))
    return " ".join(said)


def _below_hundred(number: int) -> str:
    if number < len(_SMALL):
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")


def ordinal(number: str, locale: Locale) -> str:
    """`21` as "twenty-first"."""
    bare = number.lstrip("0") or "0"
    if len(bare) > MOST_DIGITS:
        return f"{grouped_digits(bare)}th"
    return _ordinal(bare, locale)


@lru_cache(maxsize=4096)
def _ordinal(number: str, locale: Locale) -> str:
    """The cardinal with its last word made ordinal."""
    words = cardinal(number, locale)
    last = re.split("[ -]", words)[-1]
    changed = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return words.removesuffix(last) + changed


def plural(words: str) -> str:
    """The plural of number words: "nineteen nineties", "sixes"."""
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    return f"{words}es" if words.endswith("x") else f"{words}s"


def grouped_digits(number: str) -> str:
    """Digits one by one, with a comma after each three so that a voice can breathe (the last group may have four)."""
    count = len(number)
    if count <= 5:
        return digits_named(number)
    cuts = list(range(0, count, 3))
    if count % 3 == 1:
        cuts.pop()
    ends = [*cuts[1:], count]
    return ", ".join(digits_named(number[start:end]) for start, end in zip(cuts, ends, strict=True))


def decimal(whole: str, places: str, locale: Locale) -> str:
    """`3`, `14` as "three point one four"; without a whole part "point five"."""
    before = f"{cardinal(whole, locale)} " if whole else ""
    return f"{before}point {digits_named(places)}"


def two_digits(number: str, locale: Locale) -> str:
    """Minutes and ends of years: `05` as "oh five"."""
    return f"oh {digits_named(number[1])}" if number[0] == "0" else cardinal(number, locale)


def year(number: str, locale: Locale) -> str:
    """`1884` as "eighteen eighty-four", `2005` as "two thousand five"."""
    if len(number) != 4 or number[1:3] == "00" or (number[0] == "2" and number[1] == "0" and number[2] == "0"):
        return cardinal(number, locale)
    century = cardinal(number[:2], locale)
    return f"{century} hundred" if number.endswith("00") else f"{century} {two_digits(number[2:], locale)}"
