"""English dates: day and month by name, ISO dates, numeric dates by locale. Years alone are in `years.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.numerals import numeric_text, on_numbers, replaced, without_final_stop
from jobs.speaking.english.words import Locale, cardinal, locale_of, ordinal, two_digits, year
from jobs.speaking.letters import digits_named, word_set

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_SHORT = sorted(word_set("Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec"))
MONTH = rf"(?:{'|'.join(MONTHS)}|{'|'.join(f'{name.upper()}' for name in MONTHS)}|(?:{'|'.join(_SHORT)})\b\.?)"
PLURAL_NOUN = (
    r"(?:(?:people|men|women|children|sheep|fish|cattle|police|feet|teeth|mice|geese|copies)\b"
    r"|(?!(?:was|is|has|his|its|this|as|us|does|perhaps|always|sometimes|besides|across|towards|"
    r"afterwards|less|unless|"
    r"thus|plus|hers|ours|theirs|nevertheless|nonetheless|whereas|yes|alas|upwards|onwards)\b)"
    r"[a-z]{2,24}s\b)"
)
"""A plural noun that may be counted: what stands before it is no year and no day."""
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_SUFFIX = r"(?:(?:st|nd|rd|th|(?<=[23])d)\b)?"
_YEAR = r"(?:1[0-9]{3}|20[0-9]{2})(?![0-9]|[.,:/][0-9])"
_TO = r"(?: ?[-–] ?| to | and | or )"
_DAY_MONTH = re.compile(
    rf"(?:\b([Tt]he) )?(?<![0-9A-Za-z.,:/$£€#-])({_DAY}){_SUFFIX}(?:({_TO})({_DAY}){_SUFFIX})?"
    rf"(?: of (?:the )?| ?-? ?)({MONTH})(?![A-Za-z])(?:(,? |-)({_YEAR}))?"
)
_MONTH_DAY = re.compile(
    rf"(?<![A-Za-z])({MONTH}) ?(the )?({_DAY}){_SUFFIX}(?![0-9A-Za-z%°]|[.:/][0-9]|,[0-9]{{3}})"
    rf"(?:({_TO})({_DAY}){_SUFFIX}(?![0-9A-Za-z%°]|[.:/,][0-9]))?(?:(,? )({_YEAR}))?"
)
_ISO = re.compile(
    r"(?<![0-9A-Za-z./-])([12][0-9]{3})([-/])([01]?[0-9])\2([0-3]?[0-9])(?![0-9-])"
    r"(?:T([0-2][0-9]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?(?:(Z)\b|"
    r"([+-])([01][0-9]):?([0-5][0-9]))?)?"
)
_NUMERIC = re.compile(
    r"(?<![0-9A-Za-z./-])([0-3]?[0-9])([-./])([0-3]?[0-9])\2((?:1[0-9]|20)?[0-9]{2})(?![0-9A-Za-z/-]|\.[0-9])"
)
_WITHOUT_YEAR = re.compile(
    r"\b([Oo]n|[Ss]ince|[Uu]ntil|[Bb]y) ([0-3]?[0-9])/([0-3]?[0-9])"
    r"(?=[.,;:!?]?$|[,;!?] |\. [A-Z]"
    r"| (?:at|we|he|she|it|they|I|you|the|and|in|with|when|as|because|from|there|[A-Z][a-z]{1,20})\b)"
)
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16})
"""Of common fractions: `it grew by 3/4`."""
_WEAK_BEFORE = re.compile(
    r"(?:\b(?:on|since|until|till|by|before|after|from|through|dated|of) (?:the )?)$", re.IGNORECASE
)
_COUNTED = re.compile(rf"(?: [a-z]{{2,20}})? {PLURAL_NOUN}")
_WINDOW_CHARS = 24


@on_numbers
def named(text: str, locale: Locale) -> Iterator[Replacement]:
    """`12 March 1884`, `March 12th, 1884`, `12-14 Sept.`."""
    for match in _DAY_MONTH.finditer(text):
        _, day, to, last, month, _, written_year = match.groups()
        days = f"{_ordinal(day, locale)}{_joint(to)}{_ordinal(last, locale)}" if last else _ordinal(day, locale)
        words = f"the {days} of {_month(month)}{_year(written_year, locale)}"
        words = words if match[1] != "The" else f"T{words[1:]}"
        yield _until_stop(text, match.span(), words)
    for match in _MONTH_DAY.finditer(text):
        month, the, day, to, last, _, written_year = match.groups()
        if _counts(text, match, month):
            continue
        days = f"{_ordinal(day, locale)}{_joint(to)}{_ordinal(last, locale)}" if last else _ordinal(day, locale)
        comma = "," if written_year else ""
        yield _until_stop(text, match.span(), f"{_month(month)} {the or ''}{days}{comma}{_year(written_year, locale)}")


@on_numbers
def month_and_year(text: str, locale: Locale) -> Iterator[Replacement]:
    """`Sept. 1884`, `March, 1884`: the month is written out, the year read as one."""
    for match in _MONTH_YEAR.finditer(text):
        if not re.compile(f" {PLURAL_NOUN}").match(text, match.end()):
            yield replaced(text, match.span(), f"{_month(match[1])}{match[2]}{year(match[3], locale)}", Why.DATE)


_MONTH_YEAR = re.compile(rf"(?<![A-Za-z])({MONTH})(,? )({_YEAR})(?![A-Za-z%°]|-[A-Za-z])")


@on_numbers
def iso(text: str, locale: Locale) -> Iterator[Replacement]:
    """`2024-05-06`, with a time or without."""
    for match in _ISO.finditer(text):
        month, day = int(match[3]), int(match[4])
        if 1 <= month <= 12 and 1 <= day <= 31:
            words = f"{_date(month, day, locale)}{_comma(locale)}{year(match[1], locale)}{_iso_time(match, locale)}"
            yield replaced(text, match.span(), words, Why.DATE)


def by_locale(text: str, context: Context) -> Iterator[Replacement]:
    """`3/4/2021`: month or day first by the locale; what can be read both ways is told."""
    plain_text = numeric_text(text)
    if plain_text is None:
        return
    text = plain_text
    locale = locale_of(context.language)
    for match in _NUMERIC.finditer(text):
        first, sign, second, written_year = int(match[1]), match[2], int(match[3]), match[4]
        if sign != "/" and len(written_year) == 2:
            continue
        day_first = locale.british or sign == "."
        if first > 12 or second > 12:
            day_first = first > 12
        day, month = (first, second) if day_first else (second, first)
        if not (1 <= month <= 12 and 1 <= day <= 31):
            continue
        if first <= 12 and second <= 12 and first != second:
            _tell(match.group(), (month, day), day_first=day_first, context=context)
        in_words = two_digits(written_year, locale) if len(written_year) == 2 else year(written_year, locale)
        yield replaced(text, match.span(), f"{_date(month, day, locale)}{_comma(locale)}{in_words}", Why.DATE)


def without_year(text: str, context: Context) -> Iterator[Replacement]:
    """`On 3/14 we met`: a date only after a word of time and where nothing is measured; else a fraction."""
    if "/" not in text or numeric_text(text) is None:
        return
    locale = locale_of(context.language)
    for match in _WITHOUT_YEAR.finditer(text):
        first, second = int(match[2]), int(match[3])
        day_first = first > 12 or (second <= 12 and locale.british)
        day, month = (first, second) if day_first else (second, first)
        measured = (match[1].lower() == "by" and second in _DENOMINATORS) or (first, second) == (9, 11)
        if measured or not (1 <= month <= 12 and 1 <= day <= 31):
            continue
        if first <= 12 and second <= 12 and first != second:
            _tell(f"{match[2]}/{match[3]}", (month, day), day_first=day_first, context=context)
        yield replaced(text, (match.start(2), match.end(3)), _date(month, day, locale), Why.DATE)


def _tell(written: str, month_day: tuple[int, int], *, day_first: bool, context: Context) -> None:
    month, day = month_day
    tag = locale_of(context.language).tag
    if "." in written:
        context.notice(f"{written} is read as {day} {MONTHS[month - 1]} (day first, as dates with points are written)")
    elif day_first:
        context.notice(f"{written} is read as {day} {MONTHS[month - 1]} ({tag}); pass --lang en-US for month first")
    else:
        context.notice(f"{written} is read as {MONTHS[month - 1]} {day} ({tag}); pass --lang en-GB for day first")


def _counts(text: str, match: re.Match[str], month: str) -> bool:
    """`In March 12 men died`, `at 5 May 3 left`: no day of the month."""
    if match[2] or match[5] or match[7]:
        return False
    before = text[max(0, match.start() - _WINDOW_CHARS) : match.start()]
    if month == "May" and re.search(r"(?:^|[.?!] )$", before) and re.match(r" [a-z]", text[match.end() :]):
        return True
    return _COUNTED.match(text, match.end()) is not None and _WEAK_BEFORE.search(before) is None


def _until_stop(text: str, span: tuple[int, int], words: str) -> Replacement:
    start, end = span
    return replaced(text, (start, without_final_stop(text, end)), words, Why.DATE)


def _month(written: str) -> str:
    key = written[:3].title()
    return next(name for name in MONTHS if name.startswith(key))


def _ordinal(day: str, locale: Locale) -> str:
    return ordinal(day, locale)


def _joint(to: str) -> str:
    return f" {word} " if (word := to.strip()) in ("to", "and", "or") else " to "


def _year(written: str | None, locale: Locale) -> str:
    return f" {year(written, locale)}" if written else ""


def _comma(locale: Locale) -> str:
    return " " if locale.british else ", "


def _date(month: int, day: int, locale: Locale) -> str:
    name, number = MONTHS[month - 1], ordinal(str(day), locale)
    return f"the {number} of {name}" if locale.british else f"{name} {number}"


def _iso_time(match: re.Match[str], locale: Locale) -> str:
    hour, minute, second, fraction, utc, sign, offset_hours, offset_minutes = match.groups()[4:]
    if hour is None:
        return ""
    words = f", {cardinal(str(int(hour)), locale)} {'hundred' if minute == '00' else two_digits(minute, locale)}"
    if second and (second != "00" or fraction):
        words += f" {two_digits(second, locale)}"
    if fraction:
        words += f" point {digits_named(fraction)}"
    if utc:
        return f"{words} U T C"
    if sign:
        words += f" {'plus' if sign == '+' else 'minus'} {cardinal(str(int(offset_hours)), locale)}"
        words += "" if offset_minutes == "00" else f" {cardinal(offset_minutes, locale)}"
    return words


RULES: tuple[Rule, ...] = (iso, named, by_locale, without_year, month_and_year)
