"""The parts of a formula (MathML) that has no words of its own, as a listener can follow them. Pure.

Letters, numbers and signs are spoken one by one; only a power and a fraction are written so that they stay what they
are.
"""

from __future__ import annotations

from lxml import etree

LEAVES = frozenset({"mi", "mn", "mo", "ms", "mtext"})
"""Elements that hold the text of a formula."""
_BETWEEN = {"mfrac": " / ", "msup": "^"}
_MAX_DEPTH = 8


def part_of_formula(node: etree._Element) -> tuple[str, str]:
    """The height of a leaf (`sup` for the number of a power, else nothing), and what parts it from what is before."""
    above = node.getparent()
    if node.tag == "mn" and above is not None and above.tag == "msup" and _is_second(node):
        return "sup", ""
    at = node
    for _ in range(_MAX_DEPTH):
        above = at.getparent()
        if above is None or above.tag == "math":
            break
        if above.tag in _BETWEEN and _is_second(at):
            return "", _BETWEEN[str(above.tag)]
        if at.getprevious() is not None:
            break
        at = above
    return "", " "


def _is_second(node: etree._Element) -> bool:
    before = node.getprevious()
    return before is not None and before.getprevious() is None
