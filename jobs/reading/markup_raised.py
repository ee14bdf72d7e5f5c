"""Raised numbers: what `<sup>` means when it is no note mark that a link declares. Pure.

`10<sup>2</sup>` is `10²`: without the sign of its height it would be another number. Words stay letters (`1st`).
"""

from __future__ import annotations

import re

from lxml import etree

from jobs.reading.markup_page import Page

_RAISED = str.maketrans("0123456789+-\u2212\u2013n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻ⁿ")
_POWER = re.compile(r"[+\-\u2212\u2013]?[0-9]{1,4}[+\-\u2212\u2013]?|[0-9]{0,3}n|[+\-\u2212\u2013]")
_BASE = re.compile(r"[^\W_]|[)\]}.,;:!?\u2019\u201d\"'»]")
_VARIABLE = re.compile(r"(?:^|[\W_])[^\W_]$|[0-9)]$")
_MAX_CHARS = 6


def power_of(node: etree._Element, page: Page) -> str:
    """The text of an element if it can be a power, a charge or a note's number; else nothing."""
    if sum(1 for _ in zip(node.iter(), range(4), strict=False)) > 3:
        return ""
    text = page.text_of(node)
    return text if len(text) <= _MAX_CHARS and _POWER.fullmatch(text) else ""


def raised(text: str) -> str:
    """The same characters, raised, one for one."""
    return text.translate(_RAISED)


def can_stand_on(power: str, before: str) -> bool:
    """Whether a power follows what it can be one of, given the text before it; `n` only on a number or variable."""
    if not before or not _BASE.match(before[-1]):
        return False
    return "n" not in power or _VARIABLE.search(before[-2:]) is not None


def is_numerator(node: etree._Element, page: Page) -> bool:
    """Whether a raised number is the upper part of a fraction that is set by hand: a stroke and a lowered one follow."""
    stroke = "".join(run.text for run in page.runs_of(node.tail)).strip()
    after = node.getnext()
    return stroke in {"/", "\u2044", "\u2215"} and after is not None and after.tag in {"sub", "small"}
