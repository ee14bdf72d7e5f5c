"""Raised numbers: what `<sup>` means when it is no note mark that a link declares. Pure.

`10<sup>2</sup>` is `10²`: without the sign of its height it would be another number. Words stay letters (`1st`).
"""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree

from jobs.reading.markup.page import Page

_RAISED = str.maketrans("0123456789+-\u2212\u2013n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻ⁿ")
_AT_HEIGHT = {"sup": _RAISED, "sub": str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), "degree": str.maketrans("0oO", "°°°")}
_POWER = re.compile(
    r"[+\-\u2212\u2013]?[0-9]{1,4}[+\-\u2212\u2013]?|[0-9]{0,3}n|[+\-\u2212\u2013]|[oO]|"
    r"[0-9]{1,3}(?:\s?[,\u2013/-]\s?[0-9]{1,3}){1,3}"
)
_LIST = re.compile(r"[0-9]{1,3}(?:\s?[,\u2013-]\s?[0-9]{1,3}){1,3}")
_RAISABLE = re.compile(r"[0-9+\-\u2212\u2013n]{1,6}")
_BASE = re.compile(r"[^\W_]|[)\]}]")
_VARIABLE = re.compile(r"(?:^|[\W_])[^\W_]$|[0-9)]$")
_CLAUSE_END = re.compile(r"(?:^|[^\d])[.,;:!?\u2026][\"'\u2019\u201d»]?$|[\u2019\u201d»]$")
_PRICE = re.compile(r"[$€£]\s?\d{1,6}$")
_SCALE = re.compile(r"\s?[CF]\b")
_STROKES = frozenset({"/", "\u2044", "\u2215"})
_WORD = re.compile(r"(?:^|[\W_])([^\W\d_]{2,30}[^\W\d_])$")
_ENDED_WORD = re.compile(r"(?:^|[\W_])[^\W\d_]{2,30}[.,;:!?][\"'\u2019\u201d]?$")
_SHORTENED = frozenset({"prof", "sin", "cos", "tan", "log", "exp", "max", "min", "lim", "det", "dim"})
"""Words that a raised letter belongs to: `Prof<sup>a</sup>`, `sin<sup>a</sup>`."""
_LETTERS = frozenset("abc")
"""Others end words that were shortened in writing: `Capt<sup>n</sup>`, `receiv<sup>d</sup>`."""
_MAX_CHARS = 12


def power_of(node: etree._Element, page: Page) -> str:
    """The text of an element if it can be a power, a charge or a note's number; else nothing. A link is a mark."""
    inside = list(islice(node.iter(), 4))
    if len(inside) > 3 or any(one.tag == "a" for one in inside):
        return ""
    text = page.text_of(node)
    return text if len(text) <= _MAX_CHARS and _POWER.fullmatch(text) else ""


def at_height(text: str, element: str) -> str:
    """The same characters as those that stand higher (`sup`) or lower (`sub`), one for one."""
    return text.translate(_AT_HEIGHT[element]) if element else text


def is_degree(node: etree._Element, page: Page, power: str, before: str) -> bool:
    """Whether a raised nought or letter o is written for the sign of degrees: `20<sup>o</sup>C`."""
    following = next(page.runs_of(node.tail), None)
    scale = following is not None and _SCALE.match(following.text) is not None
    return power in {"0", "o", "O"} and before[-1:].isdecimal() and scale


def can_stand_on(power: str, before: str) -> bool:
    """Whether a power follows what it can be one of, given the text before it; `n` only on a number or variable."""
    if not before or not _BASE.match(before[-1]) or not _RAISABLE.fullmatch(power):
        return False
    return "n" not in power or _VARIABLE.search(before[-2:]) is not None


def is_number_of_note(power: str, before: str) -> bool:
    """Whether a raised number marks a note that no link leads to: it follows the end of a sentence or clause."""
    if _LIST.fullmatch(power):
        return before[-1:].isalpha() or _CLAUSE_END.search(before[-3:]) is not None
    return power.isdecimal() and len(power) <= 3 and _CLAUSE_END.search(before[-3:]) is not None


def is_letter_of_note(node: etree._Element, page: Page, before: str) -> bool:
    """Whether an element holds the raised letter that marks a note, behind a whole word or the end of a clause."""
    if len(node) > 1 or page.text_of(node) not in _LETTERS:
        return False
    following = next(page.runs_of(node.tail), None)
    if following is not None and following.text[:1].isalnum():
        return False
    if _ENDED_WORD.search(before[-36:]) is not None:
        return before.split()[-1].strip("\"'\u2018\u2019\u201c\u201d")[:1].islower()  # `Sr.<sup>a</sup>` is one word
    word = _WORD.search(before[-32:])
    return word is not None and word[1][-1].islower() and word[1].casefold() not in _SHORTENED


def put_between(node: etree._Element, page: Page, power: str, before: str) -> str | None:
    """What parts a raised number that is no power from what is before it, in writing; None where it may be one.

    `1<sup>1</sup>/<sub>2</sub>` is a fraction set by hand, `$3<sup>99</sup>` a price.
    """
    stroke = "".join(run.text for run in page.runs_of(node.tail)).strip()
    after = node.getnext()
    if stroke in _STROKES and after is not None and after.tag in {"sub", "small"}:
        return " " if before[-1:].isdecimal() else ""
    if power[0].isdecimal() and not _RAISABLE.fullmatch(power):
        on_number = before[-1:].isdecimal()
        if on_number or ("/" in power and _BASE.match(before[-1:])):
            return "^"  # `2<sup>1/2</sup>`, which has no raised characters
    price = len(power) == 2 and power.isdecimal() and _PRICE.search(before[-12:]) is not None
    return "." if price else None
