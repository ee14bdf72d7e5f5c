"""The nesting of the tags of a page, kept within what its parser takes. Pure.

The parser mends nesting, with two faults: it gives up a page below some depth (256 elements, of which an old page that
ends no `<i>` has more), and it drops an end tag that ends nothing, so that the words around it are glued together. Here
tags below a depth are left out and an end tag of a block always parts; no text is touched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from jobs.reading.markup.tags import BLOCKS, BOUNDARY

_CROWDED = 120
"""Depth from which a block ends the formatting that is open around it; no page that ends its tags gets there."""
_MAX_CONTAINERS = 160
"""Depth of blocks that hold blocks: below it there is room for the paragraphs and headings in them."""
_MAX_DEPTH = 220
"""Depth of all; the parser takes 256, and adds some elements of its own."""
_LEAVES = frozenset({"p", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})
_RANKS = {"div": 1, "td": 2, "th": 2, "tr": 3, "thead": 4, "tbody": 4, "tfoot": 4, "table": 5}
"""An end tag goes past no open element of a higher rank, as in the parser."""
_CELLS = frozenset({"td", "th"})
_ENDED_BY = {
    "li": frozenset({"li"}),
    "option": frozenset({"option"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(("td", "th"), _CELLS),
    "tr": _CELLS | {"tr"},
    **dict.fromkeys(("thead", "tbody", "tfoot"), _CELLS | {"tr", "thead", "tbody", "tfoot"}),
}
_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class Nesting:
    """The elements that are open. `left_out` counts, by name, those whose tags the parser does not get.

    `ignored` are the names whose end tag ends nothing while `names` stays as it is.
    """

    names: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    ignored: set[str] = field(default_factory=set)

    def opened(self, name: str, tag: str) -> str:
        """What the parser gets for a start tag; `tag` is what stands in it."""
        block = name in BLOCKS
        crowded = len(self.names) >= _CROWDED
        ends = self._relieved() if block and crowded else ""
        ended = _ENDED_BY.get(name, _NONE)
        while self.names and (self.names[-1] in ended or (block and self.names[-1] == "p")):
            closed = self._pop()
            ends += f"</{closed}>" if crowded else ""  # the parser may not know that it ends here
        holds_blocks = block and name not in _LEAVES
        if len(self.names) >= (_MAX_CONTAINERS if holds_blocks else _MAX_DEPTH):
            self.left_out[name] += 1
            return ends + (BOUNDARY if block else "")
        self.left_out.pop(name, None)
        self.names.append(name)
        self.counts[name] += 1
        self.ignored.clear()
        return f"{ends}<{tag}>"

    def closed(self, name: str) -> str:
        """What the parser gets for an end tag."""
        boundary = BOUNDARY if name in BLOCKS else ""
        if self.left_out[name]:
            self.left_out[name] -= 1
            return boundary
        if not self._ends(name):
            return f"</{name}>{boundary}"
        while self._pop() != name:
            pass
        self.left_out.clear()
        return f"</{name}>"

    def _ends(self, name: str) -> bool:
        """Whether an end tag ends something."""
        if not self.counts[name] or name in self.ignored:
            return False
        rank = _RANKS.get(name, 0)
        for open_name in reversed(self.names):
            if open_name == name:
                return True
            if _RANKS.get(open_name, 0) > rank:
                break
        self.ignored.add(name)
        return False

    def _relieved(self) -> str:
        """End the paragraph and the formatting that are innermost."""
        ends: list[str] = []
        while self.names and (self.names[-1] == "p" or self.names[-1] not in BLOCKS):
            ends.append(f"</{self._pop()}>")
        return "".join(ends)

    def _pop(self) -> str:
        name = self.names.pop()
        self.counts[name] -= 1
        self.ignored.clear()
        return name
