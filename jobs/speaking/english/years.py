"""English years by what stands around them: after year words, in ranges, decades, eras. Dates are in `dates.py`.

A bare number of four digits is a year only where something says so; otherwise it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.dates import MONTH, PLURAL_NOUN
from jobs.speaking.english.numerals import numeric_text, on_numbers, replaced
from jobs.speaking.english.words import Locale, cardinal, locale_of, plural, two_digits, year

_NOT_AFTER = r"(?<![0-9A-Za-z_$£€¥₹#])(?<![0-9][.,:/])"
_NOT_BEFORE = r"(?![0-9A-Za-z_%°]|[.,:][0-9])"
_FOUR = r"(?:1[0-9]{3}|20[0-9]{2})"
_YEARS = re.compile(
    rf"{_NOT_AFTER}(?<![-–−+±]){_FOUR}{_NOT_BEFORE}(?:(?:,? and |,? or |,? to | through |"
    rf", ){_FOUR}{_NOT_BEFORE}){{0,8}}"
)
_ONE = re.compile(_FOUR)
_RANGE = re.compile(rf"{_NOT_AFTER}(?<![-−+±])({_FOUR})( ?[–-] ?|—|/)([0-9]{{4}}|[0-9]{{2}}){_NOT_BEFORE}(?![-/–])")
_DECADE = re.compile(rf"{_NOT_AFTER}({_FOUR[:-1]}))'?s\b")
_SHORT_DECADE = re.compile(r"(?<![0-9A-Za-z_'.,:/])(?:'|‘)?([1-9]0)'?s\b(?! ?[-/])")
_SHORT_YEAR = re.compile(
    r"((?:\b(?:of|in|since|by|from|to|until|before|after|summer|winter|spring|fall|autumn|class|mid|early|late|and|"
    rf"{MONTH}),? ?))['‘]([0-9]{{2}})(?![0-9A-Za-z'])",
    re.IGNORECASE,
)
_TYPED_SHORT_YEAR = re.compile(r"(?<![0-9A-Za-z])’([0-9]{2})(?![0-9A-Za-z’'])")
_BARE_SHORT_YEAR = re.compile(r"(?<![^\s(])['‘]([0-9]{2})(?= [A-Za-z]|[.,;)](?:\s|$)|$)(?!.{0,200}['’](?:\W|$))")
_ERA_AFTER = re.compile(rf"{_NOT_AFTER}([0-9]{{4}})(?= ?(?:A\.?D\b|B\.?C\b|C\.?E\b|BCE\b|B\.C\.E\b))")
_ERA_BEFORE = re.compile(rf"\b(?:AD|A\.D\.|CE|FY) ?({_FOUR}){_NOT_BEFORE}")
_SURE_WORD = re.compile(
    r"(?:^|[^A-Za-z])(?:since|until|till|during|the years?|circa|anno|copyright|©|"
    rf"(?:on|in|of|since|by|until|from|before|after|during|late|early) (?:{MONTH}),?) $",
    re.IGNORECASE,
)
_IN = re.compile(r"\b(?:in|by) $", re.IGNORECASE)
_SUBJECT = re.compile(
    rf" {PLURAL_NOUN} (?:were|are|had|have|did|could|would|will|began|came|went|took|made|became|still|"
    r"also|rose|fell|"
    r"[a-z]{2,16}ed)\b"
)
_IT_WAS = re.compile(r"\b(?:[Ii]t(?: was| is| became|['’]s)|[Yy]ear (?:was|is)) $")
_AMOUNT_WORD = re.compile(
    r"\b(?:(?:crowd|total|population|sum|number|army|force|height|depth|weight|length|speed|average|"
    r"maximum|minimum|range|"
    r"distance|cost|price|staff|circulation|capacity|score|audience|fleet|membership) of"
    r"|(?:increased?|increases|rose|risen|fell|fallen|grew|grown|reduced|decreased|cut|dropped|multiplied|"
    r"divided|times) by) $",
    re.IGNORECASE,
)
_YEAR_WORD = re.compile(
    r"(?:^|[^A-Za-z])(?:in|since|by|until|till|from|before|after|during|years?|of|early|late|circa|ca?\.|al\.,?|"
    r"mid|middle|"
    r"(?:back|prior|dates?|dated|close|forward) to|between|around|about|pre|post|spring|summer|autumn|"
    r"fall|winter|christmas|easter|lord|anno|born|died|dated|[bd]\.|est\.|"
    r"established|founded|published|copyright|©|\(c\)|fiscal|Q[1-4]|H[12]|vintage|back in|"
    rf"{MONTH}|{MONTH},)(?: |-|, )$",
    re.IGNORECASE,
)
_DETERMINED = re.compile(r"\b(?:the|his|her|its|their|our|my|your|that|this|a|an|'s)\s$", re.IGNORECASE)
_AFTER_DETERMINED = re.compile(
    rf"(?: (?!{PLURAL_NOUN}|(?:and|or|of|in|on|at|to|were|are|who|that|which)\b)[A-Za-z]{{2}})"
)
_YEAR_VERB = re.compile(r" (?:was|saw|had|brought|marked|began|ended|opened|proved|turned|came|went)\b")
_SENTENCE_BEGIN = re.compile(r"(?:^|[.!?;:] )[\"“'‘(\[]?$")
_IN_BRACKETS = re.compile(r"[(\[](?:[A-Za-z][^()\[\]]{0,80}[, ])?$")
_PLACE_COMMA = re.compile(r"\b[A-Z][A-Za-z.]{1,24}, $")
_END = re.compile(r"[.,;:!?)\]\"”'’—]|$| [–—]")
_COUNTED = re.compile(rf"(?: [a-z]{{2,20}}(?:ed|ing|er|al|ic|ous|ful|y))? {PLURAL_NOUN}")
_PAGES = re.compile(
    r"\b(?:pp?\.?|pages?|lines?|nos?\.?|numbers?|rooms?|flights?|items?|§|verses?|vv?\.|ll?\.|plates?|"
    r"phone|tel\.?|call) ?$",
    re.IGNORECASE,
)
_WINDOW_CHARS = 100
_WORD_WINDOW_CHARS = 32


@on_numbers
def ranges(text: str, locale: Locale) -> Iterator[Replacement]:
    """`1914-18`, `1869–1948`, `1999/2000`: both ends as years."""
    for match in _RANGE.finditer(text):
        first, last = match[1], match[3]
        if _PAGES.search(_before(text, match.start())) or _COUNTED.match(text, match.end()):
            continue
        if len(last) == 4:
            if int(first) < 1000 or not int(first) < int(last) <= 2199:
                continue
            end = year(last, locale)
        elif int(last) > int(first[2:]) or (last == "00" and first.endswith("99")):
            end = cardinal(str(int(first) + 1), locale) if last == "00" else two_digits(last, locale)
        else:
            continue
        yield replaced(text, match.span(), f"{year(first, locale)} to {end}", Why.RANGE)


@on_numbers
def decades(text: str, locale: Locale) -> Iterator[Replacement]:
    """`1990s`, `'90s`, `the 80's`, `summer of '69`."""
    for match in _DECADE.finditer(text):
        yield replaced(text, match.span(), _decade(match, locale), Why.YEAR)
    for match in _SHORT_DECADE.finditer(text):
        if not SECONDS.search(_before(text, match.start())):
            yield replaced(text, match.span(), plural(cardinal(match[1], locale)), Why.YEAR)
    for match in _TYPED_SHORT_YEAR.finditer(text):
        # After an opening single quote the sign closes it: it is no apostrophe.
        window = _before(text, match.start())
        if window.rfind("‘") <= window.rfind("’"):
            yield replaced(text, match.span(), two_digits(match[1], locale), Why.YEAR)
    for match in _BARE_SHORT_YEAR.finditer(text):
        yield replaced(text, match.span(), two_digits(match[1], locale), Why.YEAR)
    for match in _SHORT_YEAR.finditer(text):
        yield replaced(text, (match.start(2) - 1, match.end(2)), two_digits(match[2], locale), Why.YEAR)


SECONDS = re.compile(
    r"\b(?:an?|took|takes?|taking|for|within|every|lasts?|lasted|waits?|waited|only|about|after|=) $", re.IGNORECASE
)


@on_numbers
def eras(text: str, locale: Locale) -> Iterator[Replacement]:
    """`1066 AD`, `AD 1066`, `1200 BC`."""
    for pattern in (_ERA_AFTER, _ERA_BEFORE):
        for match in pattern.finditer(text):
            yield replaced(text, match.span(1), year(match[1], locale), Why.YEAR)


def by_context(text: str, context: Context) -> Iterator[Replacement]:
    """`in 1884`, `(1905)`, `the 1905 revolution`, `1884 was …`; each year of a row."""
    plain_text = numeric_text(text)
    if plain_text is None:
        return
    text = plain_text
    locale = locale_of(context.language)
    for match in _YEARS.finditer(text):
        start, end = match.span()
        if _COUNTED.match(text, end) and len(match.group()) > 4 and text[end - 6 : end - 4] == ", ":
            # `In 2020, 1200 people`: the last one counts.
            end -= 6
        if _is_year(text, (start, end), heading=context.heading):
            for one in _ONE.finditer(text, start, end):
                yield replaced(text, one.span(), year(one.group(), locale), Why.YEAR)


def _is_year(text: str, span: tuple[int, int], *, heading: bool) -> bool:
    before, end = text[max(0, span[0] - _WORD_WINDOW_CHARS) : span[0]], span[1]
    if heading and not any(char.isalnum() for char in text[: span[0]] + text[end:]):
        return True
    if _SURE_WORD.search(before):
        return True
    if _COUNTED.match(text, end):
        return _IN.search(before) is not None and _SUBJECT.match(text, end) is not None
    if _YEAR_WORD.search(before):
        return _AMOUNT_WORD.search(before) is None
    if _DETERMINED.search(before):
        return _AFTER_DETERMINED.match(text, end) is not None
    if _IT_WAS.search(before):
        return _END.match(text, end) is not None
    if _SENTENCE_BEGIN.search(before) and before[-1:] not in ("(", "["):
        return _YEAR_VERB.match(text, end) is not None
    if _IN_BRACKETS.search(_before(text, span[0])) and re.compile(r"[a-f]?[)\],;:]").match(text, end):
        return not _PAGES.search(before.rstrip())
    return _PLACE_COMMA.search(before) is not None and _END.match(text, end) is not None


def _decade(match: re.Match[str], locale: Locale) -> str:
    words = year(match[1], locale)
    if match[1].endswith("0") or "'" not in match.group():
        return plural(words)
    return f"{words}'s"


def _before(text: str, start: int) -> str:
    return text[max(0, start - _WINDOW_CHARS) : start]


DECADES: tuple[Rule, ...] = (decades,)
"""Before units, for `1990s` is no time in seconds."""
RULES: tuple[Rule, ...] = (ranges, eras, by_context)
