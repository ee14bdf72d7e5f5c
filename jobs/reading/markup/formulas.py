"""The parts of a formula (MathML) that has no words of its own, as a listener can follow them. Pure.

Letters, numbers and signs are spoken one by one; only a power and a fraction are written so that they stay what they
are.
"""

from __future__ import annotations

from lxml import etree

LEAVES = frozenset({"mi", "mn", "mo", "ms", "mtext"})
"""Elements that hold the text of a formula."""
_MAX_DEPTH = 8


def part_of_formula(node: etree._Element) -> tuple[str, str]:
    """The height of a leaf (`sup` for the number of a power, else nothing), and what parts it from what is before."""
    above = node.getparent()
    if node.tag == "mn" and above is not None and above.tag == "msup" and above.index(node) == 1:
        return "sup", ""
    at = node
    for _ in range(_MAX_DEPTH):
        above = at.getparent()
        if above is None or above.tag == "math":
            break
        place = above.index(at)
        if place == 1 and above.tag == "mfrac":
            return "", " / "
        if place == 1 and above.tag == "msup":
            return "", "^"
        if place:
            break
        at = above
    return "", " "
