"""English: signs of arithmetic beside numbers: `2 + 2 = 4`, `3 × 4`, `3x4`, `2x`, `10²`, `10^6`, `1.5e-3`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.numerals import (
    NUMBER,
    START,
    SUPERSCRIPTS,
    number_words,
    numeric_text,
    on_numbers,
    plain,
    replaced,
)
from jobs.speaking.english.words import Locale, cardinal, locale_of
from jobs.speaking.letters import digits_named, word_set

_SIDE = r"[0-9²³½¼¾)%]"
_SPACED = re.compile(rf"(?<={_SIDE} )([+=×÷*−])(?= [-−(]?[A-Za-z0-9.½¼¾])|(?<=[A-Za-z] )([+=×÷*−])(?= [-−(]?[0-9])")
_GLUED = re.compile(rf"(?<={_SIDE})([+=×÷*−])(?=[-−(]?[0-9.½¼¾])")
_MINUS_BEFORE_EQUALS = re.compile(r"(?<=[0-9)] )-(?= [0-9.,]{1,20}(?: [-+×*/] [0-9.,]{1,20}){0,5} ?=)")
_DIVIDED = re.compile(r"(?<=[0-9)] )/(?= [0-9.,]{1,20} ?=)")
_TRAILING_PLUS = re.compile(r"(?<=[0-9])\+(?![0-9A-Za-z+])")
_SAID = {"+": "plus", "=": "equals", "×": "times", "÷": "divided by", "*": "times", "−": "minus"}
_BY = re.compile(rf"{START}(?!0x)({NUMBER})( ?)[xX]( ?)({NUMBER})(?:\2[xX]\2({NUMBER}))?(?![0-9A-Za-z])")
_TIMES = re.compile(rf"{START}({NUMBER})(?:x|X|×)(?![0-9A-Za-z])")
_CARET = re.compile(r"(?<=[0-9A-Za-z)])\^ ?(?:\{?([-−+]?)([0-9]{1,9})\}?)(?![0-9.])")
_POWER = re.compile(rf"[{SUPERSCRIPTS}ⁿ]{{1,12}}")
_SCIENTIFIC = re.compile(r"(?<![0-9A-Za-z_.,])([0-9]{1,15}(?:\.[0-9]{1,15})?)[eE]([-−+]?)([0-9]{1,3})(?![0-9A-Za-z.])")
_AFTER_A_MARK = frozenset(".,;:!?…”’\"'»")
_WORD_BEFORE = re.compile(r"[^\W\d_]{3,24}$")
_LONGEST_WORD_CHARS = 24
_RAISED = word_set("sin cos tan cot sec sinh cosh tanh log exp chi kWh")
_ARITHMETIC = "=+×÷*/<>≤≥≈≠∝√−"
_OPENS = re.compile(r"[(\w]")
_ORDINARY = dict(zip(f"{SUPERSCRIPTS}ⁿ", "0123456789-+n", strict=True))


@on_numbers
def operators(text: str, _: Locale) -> Iterator[Replacement]:
    """The signs between numbers; the numbers themselves are read by their own rules."""
    for pattern in (_SPACED, _GLUED):
        for match in pattern.finditer(text):
            yield _glueless(text, match, _SAID[match.group()])
    for pattern, words in ((_MINUS_BEFORE_EQUALS, "minus"), (_DIVIDED, "divided by")):
        for match in pattern.finditer(text):
            yield Replacement(match.start(), match.end(), words, Why.SYMBOL)
    for match in _TRAILING_PLUS.finditer(text):
        yield Replacement(match.start(), match.end(), " plus", Why.SYMBOL)


@on_numbers
def products(text: str, locale: Locale) -> Iterator[Replacement]:
    """`3x4` with "by", `2x` with "times"."""
    for match in _BY.finditer(text):
        words = " by ".join(number_words(part, locale) for part in (match[1], match[4], match[5]) if part)
        yield replaced(text, match.span(), words, Why.NUMBER)
    for match in _TIMES.finditer(text):
        yield replaced(text, match.span(), f"{number_words(match[1], locale)} times", Why.NUMBER)


def powers(text: str, context: Context) -> Iterator[Replacement]:
    """`10²`, `x³`, `10^6`, `1.5e-3`."""
    if text.isascii() and "^" not in text and numeric_text(text) is None:
        return
    text = plain(text)
    locale = locale_of(context.language)
    for match in _POWER.finditer(text):
        written = "".join(_ORDINARY[char] for char in match.group())
        if _is_note(text, match):
            yield Replacement(match.start(), match.end(), "", Why.NOTE_MARKS)
        else:
            yield _glueless(text, match, _superscript(text, match.start(), written, locale))
    for match in _CARET.finditer(text):
        yield _glueless(text, match, f"to the power of {_signed(match[1], match[2], locale)}")
    for match in _SCIENTIFIC.finditer(text):
        words = f"{number_words(match[1], locale)} times ten to the power of {_signed(match[2], match[3], locale)}"
        yield replaced(text, match.span(), words, Why.NUMBER)


def _is_note(text: str, match: re.Match[str]) -> bool:
    """Whether raised digits mark a note: after a mark, or a word that is no function and has no arithmetic beside."""
    if match.group().isdigit() and text[max(0, match.start() - 1) : match.start()] in _AFTER_A_MARK:
        return True
    word = _WORD_BEFORE.search(text, max(0, match.start() - _LONGEST_WORD_CHARS), match.start())
    if word is None or not match.group().isdigit() or word.group() in _RAISED:
        return False
    around = text[max(0, word.start() - 2) : word.start()] + text[match.end() : match.end() + 2]
    return not any(sign in _ARITHMETIC for sign in around) and not _OPENS.match(text, match.end())


def _superscript(text: str, start: int, written: str, locale: Locale) -> str:
    """A power after a number, a name or a bracket; anything else that is raised is said as it stands."""
    if written[-1] in "+-":  # a charge: Ca²⁺
        return f"{digits_named(written)} {_SAID.get(written[-1], 'minus')}".strip()
    number = written.lstrip("-+")
    sign = written[0] if written[0] in "-+" else ""
    before = text[max(0, start - 1) : start]
    if before.isalnum() or before == ")":
        if written in ("2", "3"):
            return "squared" if written == "2" else "cubed"
        return f"to the power of {_signed(sign, number, locale)}"
    return _signed(sign, number, locale) or "plus"


def _signed(sign: str, number: str, locale: Locale) -> str:
    if "n" in number:
        signs = {"+": "plus", "-": "minus"}
        return " ".join(signs.get(char) or ("n" if char == "n" else digits_named(char)) for char in sign + number)
    if not number.isdigit():
        return {"-": "minus", "+": "plus"}.get(sign, digits_named(number))
    return f"{ {'-': 'minus ', '−': 'minus '}.get(sign, '') }{cardinal(number, locale)}"


def _glueless(text: str, match: re.Match[str], words: str) -> Replacement:
    """Spaces beside what is no space; a number before brings its own where the sign counts as a letter."""
    start, end = match.span()
    before, after = text[start - 1 : start], text[end : end + 1]
    left = "" if before in ("", " ") or (before in "0123456789" and text[start].isalnum()) else " "
    right = "" if after == "" or not (after.isalnum() or after in "-−(") else " "
    return Replacement(start, end, f"{left}{words}{right}", Why.NUMBER if text[start].isalnum() else Why.SYMBOL)


RULES: tuple[Rule, ...] = (powers, products, operators)
