"""English times of day and what else is written with a colon: chapter and verse, ratios, durations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Replacement, Rule
from jobs.speaking.english.numerals import on_numbers, replaced, without_final_stop
from jobs.speaking.english.words import Locale, cardinal, ordinal, two_digits
from jobs.speaking.letters import word_set

_HALF = r"(?: ?(?:([AaPp])\.? ?[Mm]\b\.?)(?![A-Za-z0-9]))"
_CLOCK = r"(?:[01]?[0-9]|2[0-4])"
_TWELVE = r"(?:0?[1-9]|1[0-2])"
_BEFORE = r"(?<![0-9A-Za-z_$£€])(?<![0-9][.,:/])"
_AFTER = r"(?![0-9A-Za-z%°]|[:.,][0-9])"
_TO = r"(?: ?[-–] ?| to | and | or )"
_WITH_HALF = re.compile(
    rf"{_BEFORE}(?:({_TWELVE})(?:[:.]([0-5][0-9]))?{_HALF}?({_TO}))?({_TWELVE})(?:[:.]([0-5][0-9]))?{_HALF}"
)
_COLON = re.compile(rf"{_BEFORE}({_CLOCK}):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]{{1,6}}))?)?(h\b)?{_AFTER}")
_CLOCK_RANGE = re.compile(rf"{_BEFORE}({_CLOCK}):([0-5][0-9]) ?[-–] ?({_CLOCK}):([0-5][0-9]){_AFTER}")
_HOURS = re.compile(rf"{_BEFORE}([01][0-9]|2[0-3])([0-5][0-9]) ?(?:hours|hrs?|h)\b(?! of\b)")
_RATIO = re.compile(
    rf"{_BEFORE}([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?)(?: : |:)([0-9]{{1,3}}(?:,[0-9]{{3}}){{1,4}}|"
    r"[0-9]{1,9}(?:\.[0-9]{1,9})?)"
    rf"(?:(?: : |:)([0-9]{{1,9}}))?(?![0-9A-Za-z]|[:.,][0-9])"
)
_RATIO_WORD = re.compile(
    r"\b(?:ratio|odds|scale|mix|mixture|dilution|proportions?|diluted|mixed)(?: of| at| in| is|:)? $", re.I
)
_BOOKS = word_set("""
Gen Genesis Exod Exodus Lev Leviticus Num Numbers Deut Deuteronomy Josh Joshua Judg Judges Ruth Sam Samuel Kgs
Kings Chr Chron Chronicles Ezra Neh Nehemiah Esth Esther Job Ps Pss Psalm Psalms Prov Proverbs Eccl Eccles
Ecclesiastes Isa Isaiah Jer Jeremiah Lam Lamentations Ezek Ezekiel Dan Daniel Hos Hosea Joel Amos Obad Obadiah
Jonah Mic Micah Nah Nahum Hab Habakkuk Zeph Zephaniah Hag Haggai Zech Zechariah Mal Malachi Matt Matthew Mark
Luke John Acts Rom Romans Cor Corinthians Gal Galatians Eph Ephesians Phil Philippians Col Colossians Thess
Thessalonians Tim Timothy Titus Philem Philemon Heb Hebrews Jas James Pet Peter Jude Rev Revelation Revelations
Tob Tobit Jdt Judith Wis Wisdom Sir Sirach Bar Baruch Macc Maccabees Songs Canticles Quran Koran Surah Sura
verse verses
""")
_VERSE = re.compile(
    rf"\b(?:([123])(?= ))?( ?(?:{'|'.join(sorted(_BOOKS))})\b\.? ?)([0-9]{{1,3}})(?: : |:)([0-9]{{1,3}})"
    r"(?:([-–,] ?)([0-9]{1,3})(?::([0-9]{1,3}))?)?(?![0-9]|[:.][0-9])"
)


@on_numbers
def verses(text: str, locale: Locale) -> Iterator[Replacement]:
    """`John 3:16`, `Gen. 1:1-5`."""
    if ":" not in text:
        return
    for match in _VERSE.finditer(text):
        chapter, verse, joint, last, last_verse = match.groups()[2:]
        words = f"{cardinal(chapter, locale)} {cardinal(verse, locale)}"
        if last:
            words += f"{',' if ',' in joint else ' to'} {cardinal(last, locale)}"
            words += f" {cardinal(last_verse, locale)}" if last_verse else ""
        if match[1]:
            yield replaced(text, match.span(1), ordinal(match[1], locale), Why.ORDINAL)
        yield replaced(text, (match.end(2), match.end()), words, Why.NUMBER)


@on_numbers
def halves(text: str, locale: Locale) -> Iterator[Replacement]:
    """`9:05 a.m.`, `5pm`, `9–11 a.m.`, `9.30 pm`."""
    for match in _WITH_HALF.finditer(text):
        hour, minute, half, to, last_hour, last_minute, last_half = match.groups()
        words = f"{_hour(last_hour, last_minute, locale)} {last_half.lower()} m"
        start = match.start()
        if hour is not None and to.strip() in ("-", "–"):
            words = f"{_hour(hour, minute, locale)}{f' {half.lower()} m' if half else ''} to {words}"
        elif hour is not None:
            first = f"{_hour(hour, minute, locale)}{f' {half.lower()} m' if half else ''}"
            words = f"{first}{to}{words}"
        yield replaced(text, (start, without_final_stop(text, match.end())), words, Why.TIME)


@on_numbers
def clocks(text: str, locale: Locale) -> Iterator[Replacement]:
    """`14:30`, `9:05–10:30`, `10:15:30`, `0900 hours`."""
    for match in _HOURS.finditer(text):
        hour = two_digits(match[1], locale) if match[1] != "00" else "zero zero"
        minute = "hundred" if match[2] == "00" else two_digits(match[2], locale)
        yield replaced(text, match.span(), f"{hour} {minute} hours", Why.TIME)
    if ":" not in text:
        return
    for match in _CLOCK_RANGE.finditer(text):
        words = f"{_hour(match[1], match[2], locale)} to {_hour(match[3], match[4], locale)}"
        yield replaced(text, match.span(), words, Why.TIME)
    for match in _COLON.finditer(text):
        if not _RATIO_WORD.search(text[max(0, match.start() - 40) : match.start()]):
            yield replaced(text, match.span(), _clock(match, text, locale), Why.TIME)


@on_numbers
def ratios(text: str, locale: Locale) -> Iterator[Replacement]:
    """`3:1`, `1:50,000`: what has the colon and is no time."""
    if ":" not in text:
        return
    for match in _RATIO.finditer(text):
        parts = [_amount(part, locale) for part in match.groups() if part]
        joint = " " if match[1] == match[2] == "50" else " to "
        yield replaced(text, match.span(), joint.join(parts), Why.NUMBER)


def _amount(number: str, locale: Locale) -> str:
    whole, _, places = number.replace(",", "").partition(".")
    words = cardinal(whole, locale)
    return f"{words} point {' '.join(cardinal(digit, locale) for digit in places)}" if places else words


def _hour(hour: str, minute: str | None, locale: Locale) -> str:
    words = cardinal(str(int(hour)), locale)
    return words if minute in (None, "00") else f"{words} {two_digits(str(minute), locale)}"


def _clock(match: re.Match[str], text: str, locale: Locale) -> str:
    hour, minute, second, fraction = int(match[1]), match[2], match[3], match[4]
    words = cardinal(str(hour), locale)
    if second:
        words += f" {two_digits(minute, locale)} {two_digits(second, locale)}"
        return f"{words} point {' '.join(cardinal(digit, locale) for digit in fraction)}" if fraction else words
    if minute != "00":
        return f"{words} {two_digits(minute, locale)}"
    if hour == 0 or hour > 12:
        return f"{words} hundred" if hour else "midnight"
    if hour == 12 or re.compile(
        r" (?:noon|midnight|o'?clock|in the|sharp|hours?|"
        r"minutes?)\b"
    ).match(text, match.end()):
        return words
    return f"{words} o'clock"


RULES: tuple[Rule, ...] = (verses, halves, clocks, ratios)
