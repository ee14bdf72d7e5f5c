"""English numbers that are no quantities: of telephones and machines, versions, chains such as an ISBN."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Replacement, Rule
from jobs.speaking.english.numerals import on_numbers, replaced
from jobs.speaking.english.words import Locale, cardinal
from jobs.speaking.letters import digits_named

_BEFORE = r"(?<![0-9A-Za-z_$£€¥₹])(?<![0-9][.,:/-])"
_AFTER = r"(?![0-9A-Za-z]|[-./:][0-9])"
_GAP = r"[ .-]"
_PHONES = (
    re.compile(rf"(?<![0-9A-Za-z])\+[1-9](?:{_GAP}?\(?[0-9]\)?){{7,14}}{_AFTER}"),
    re.compile(rf"{_BEFORE}00[1-9][0-9]{{0,2}}(?:[ -][0-9]{{2,4}}){{2,5}}{_AFTER}"),
    re.compile(
        rf"{_BEFORE}(?:1[-. ])?(?:\([2-9][0-9]{{2}}\) ?|"
        rf"[2-9][0-9]{{2}}[-. ])[0-9]{{3}}[-. ][0-9]{{4}}{_AFTER}"
    ),
    re.compile(rf"{_BEFORE}\(?0[0-9]{{2,4}}\)?[ -][0-9]{{3,4}}[ -]?[0-9]{{3,4}}{_AFTER}"),
    re.compile(rf"{_BEFORE}[0-9]{{4}}(?:[ -][0-9]{{4}}){{2,4}}{_AFTER}"),
)
_LOCAL = re.compile(rf"{_BEFORE}([2-9][0-9]{{2}})-([0-9]{{4}}){_AFTER}")
_AFTER_PHONE_WORD = re.compile(
    r"\b(?:[Tt]el|[Pp]hone|[Tt]elephone|[Cc]all|[Dd]ial|[Ff]ax|[Mm]obile)[.:]* ([2-9][0-9]{2} [0-9]{4})(?![0-9A-Za-z])"
)
_PAGE = re.compile(r"\b(?:pp?\.?|pages?|lines?|verses?|vv?\.|ll?\.|from|between|of) ?$", re.IGNORECASE)
_NO_PHONE = re.compile(r" (?:[a-z]{2,20}s|people|men|women|AD|BC|CE|BCE|A\.D|B\.C|m|km|kg|g|ft|in|mm)\b|%| ?°")
_DOTTED = re.compile(r"(?<![0-9A-Za-z])(?<![0-9][.,])([Vv]\.? ?)?([0-9]{1,9}(?:\.[0-9]{1,9}){2,12})(?![0-9]|\.[0-9])")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2}")
"""`1.000.000`, as much of Europe writes a million."""
_PORT = re.compile(r":([0-9]{1,5})(?![0-9])|/([0-9]{1,2})(?![0-9])")
_VERSION = re.compile(r"(?<![0-9A-Za-z])[Vv](?:er)?\.? ?([0-9]{1,9}(?:\.[0-9]{1,9})?)(?![0-9]|\.[0-9])")
_VERSION_BEFORE = re.compile(r"\b(?:version|versions|ver\.) $", re.IGNORECASE)
_NUMBER_SIGN = re.compile(r"(?<![0-9A-Za-z&#])# ?([0-9]{1,15})(?![0-9A-Za-z]|[.,][0-9])")
_CHAIN = re.compile(
    r"(?<![0-9A-Za-z.,/$£€])(?<![0-9]-)[0-9]{1,15}(?:[-–][0-9]{1,15}){2,12}(-X\b)?(?![0-9A-Za-z/]|"
    r"[.,:][0-9])"
)


_HEX_GROUPS = re.compile(
    r"(?<![0-9A-Za-z:.-])(?:[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{1,4}(?:::?[0-9A-Fa-f]{1,4}){2,8})"
    r"(?![0-9A-Za-z:-])"
)
_HEX = re.compile(
    r"(?<![0-9A-Za-z_-])(?:(?:0[xX])?[0-9a-f]{8,128}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})(?![0-9A-Za-z_-])"
)
_SERIAL = re.compile(r"\bISSN:? ?([0-9]{4})-([0-9]{3}[0-9X])(?![0-9A-Za-z])")
_EMERGENCY = re.compile(
    r"\b(?:CALL|DIAL|[Cc]all(?:ed|ing|s)?|[Dd]ial(?:l?ed|l?ing|s)?|[Rr]ang|[Rr]ing|[Pp]hon(?:ed|e|ing)|[Cc]alls? to) "
    r"(911|999|112|000|111|101|311|411|988)"
    r"(?![0-9A-Za-z.,]?[0-9A-Za-z]| [a-z]{2,20}s\b)"
    r"|(?<![0-9A-Za-z.,$£€])(911|999)(?= (?:calls?|callers?|operators?|dispatchers?)\b)"
)
_JETS = re.compile(r"\b(?:Boeing (7)([0-9]7)|Airbus A(3)([0-9]{2}))(?![0-9A-Za-z]|[.,][0-9])")


@on_numbers
def hexadecimal(text: str, _: Locale) -> Iterator[Replacement]:
    """`00:1A:2B:3C:4D:5E`, `2001:db8::1`, a hash: sign by sign."""
    for pattern in (_HEX_GROUPS, _HEX):
        for match in pattern.finditer(text):
            written = match.group()
            letters = sum(char.isalpha() for char in written)
            if letters and len(written) - letters > 1 and (letters > 1 or pattern is _HEX_GROUPS):
                yield replaced(text, match.span(), _by_sign(written), Why.NUMBER)


def _by_sign(written: str) -> str:
    """Digits and letters one by one, with a pause after each group, or each four where there are none."""
    groups = [group for group in re.split("[:-]+", written) if group]
    if len(groups) == 1:
        groups = [written[start : start + 4] for start in range(0, len(written), 4)]
    return ", ".join(" ".join(digits_named(char) or char.upper() for char in group) for group in groups)


@on_numbers
def named(text: str, locale: Locale) -> Iterator[Replacement]:
    """Numbers with a name beside them: an ISSN, `call 911`, `Boeing 747`."""
    for match in _SERIAL.finditer(text):
        last = f"{digits_named(match[2])} X" if match[2].endswith("X") else digits_named(match[2])
        yield replaced(text, (match.start(1), match.end()), f"{digits_named(match[1])}, {last}", Why.NUMBER)
    for match in _EMERGENCY.finditer(text):
        group = 1 if match[1] else 2
        yield replaced(text, match.span(group), digits_named(match[group]), Why.NUMBER)
    for match in _JETS.finditer(text):
        first, last = (match[1], match[2]) if match[1] else (match[3], match[4])
        tail = cardinal(last, locale) if last[0] != "0" else f"oh {digits_named(last[1])}"
        start = match.start(1) if match[1] else match.start(3)
        yield replaced(text, (start, match.end()), f"{cardinal(first, locale)} {tail}", Why.NUMBER)


@on_numbers
def phones(text: str, _: Locale) -> Iterator[Replacement]:
    """`+44 20 7946 0958`, `(555) 010-9999`, `555-1234`, digit by digit."""
    for pattern in _PHONES:
        for match in pattern.finditer(text):
            yield _by_group(text, match)
    for match in _AFTER_PHONE_WORD.finditer(text):
        yield replaced(text, match.span(1), ", ".join(digits_named(group) for group in match[1].split(" ")), Why.NUMBER)
    for match in _LOCAL.finditer(text):
        window = text[max(0, match.start() - 12) : match.start()]
        counts = match[2].endswith("00") or _NO_PHONE.match(text, match.end()) or _PAGE.search(window)
        if match[1] == "555" or not counts:
            yield _by_group(text, match)


@on_numbers
def dotted(text: str, locale: Locale) -> Iterator[Replacement]:
    """`192.168.0.1` with "dot" and digit by digit; other dotted numbers, `2.0.1` or `v2.0.1`, with "point"."""
    for match in _DOTTED.finditer(text):
        version, number = match.groups()
        if version is None and _THOUSANDS.fullmatch(number):
            continue
        parts = number.split(".")
        end = match.end()
        if version is None and len(parts) == 4 and all(len(part) <= 3 and int(part) <= 255 for part in parts):
            words = " dot ".join(digits_named(part) for part in parts)
            if port := _PORT.match(text, end):
                words += f" port {digits_named(port[1])}" if port[1] else f" slash {cardinal(port[2], locale)}"
                end = port.end()
            yield replaced(text, (match.start(), end), words, Why.NUMBER)
            continue
        words = " point ".join(cardinal(part, locale) for part in parts)
        named = version and not _VERSION_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
        yield replaced(text, (match.start(), end), f"{'version ' if named else ''}{words}", Why.NUMBER)
    for match in _VERSION.finditer(text):
        number = " point ".join(cardinal(part, locale) for part in match[1].split("."))
        if "." in match[1] and "ver" not in match.group().lower():
            named = not _VERSION_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
            yield replaced(text, match.span(), f"{'version ' if named else ''}{number}", Why.NUMBER)


@on_numbers
def numbered(text: str, locale: Locale) -> Iterator[Replacement]:
    """`#5` as "number five"."""
    if "#" not in text:
        return
    for match in _NUMBER_SIGN.finditer(text):
        yield replaced(text, match.span(), f"number {cardinal(match[1], locale)}", Why.NUMBER)


@on_numbers
def chains(text: str, locale: Locale) -> Iterator[Replacement]:
    """`978-3-16-148410-0` digit by digit, `4-4-2` number by number, with a comma between."""
    for match in _CHAIN.finditer(text):
        groups = re.findall(r"[0-9]+", match.group())
        words = ", ".join(_group(group, groups, locale) for group in groups)
        yield replaced(text, match.span(), f"{words}, X" if match[1] else words, Why.NUMBER)


def _group(group: str, groups: list[str], locale: Locale) -> str:
    counted = all(len(one) <= 2 and (one[0] != "0" or one == "0") for one in groups)
    return cardinal(group, locale) if counted else digits_named(group)


def _by_group(text: str, match: re.Match[str]) -> Replacement:
    groups = re.findall(r"[0-9]+", match.group())
    plus = "plus " if match.group().startswith("+") else ""
    return replaced(text, match.span(), plus + ", ".join(digits_named(group) for group in groups), Why.NUMBER)


RULES: tuple[Rule, ...] = (hexadecimal, named, phones, dotted, numbered, chains)
