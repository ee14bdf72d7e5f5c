"""Rows of a Markdown table as sentences, when tables are read. Pure."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jobs.reading.cleaning import clean
from jobs.reading.markdown.inline import Run

_CELL = re.compile(r"(?:[^|\\]|\\.)+")


@dataclass
class Table:
    """A table that is read: the names of its columns, and the cells (clean) of the row that is open.

    `at` is how far its line, number `line`, was read; `bars` has the place of the bar before each cell, None where
    there is none.
    """

    names: list[str] = field(default_factory=list)
    cells: list[Run] = field(default_factory=list)
    bars: list[int | None] = field(default_factory=list)
    in_head: bool = True
    at: int = 0
    line: int = 0

    def places(self, content: str, line: str, start: int) -> tuple[Sequence[int], list[tuple[int, int]]]:
        """The place of each character of the next cell in a line that begins at `start`; where `|` is written `\\|`."""
        offsets: array[int] = array("Q")
        escapes: list[tuple[int, int]] = []
        at = max(line.find(content.split("|")[0], self.at), self.at)
        bar = line.rfind("|", self.at, at)
        self.bars.append(start + bar if bar >= 0 else None)
        for char in content:
            escaped = char == "|" and line.startswith("\\|", at)
            offsets.append(start + at)
            if escaped:
                escapes.append((start + at, start + at + 2))
            at += 1 + escaped
        self.at = at
        return offsets, escapes

    def cell(self, runs: Iterable[Run]) -> None:
        """What is heard of the next cell."""
        run = next(iter(runs), Run("", ()))
        self.cells.append(Run(*clean(run.text, run.offsets)))

    def rest(self, line: str, start: int) -> None:
        """What a row has beyond the cells of its table, which the parser leaves out: cells without a name."""
        for match in _CELL.finditer(line, self.at):
            bar = line.rfind("|", 0, match.start())
            if match.group().strip():
                self.bars.append(start + bar if bar >= 0 else None)
                kept = [place for place in range(*match.span()) if line[place] != "`"]
                offsets = array("Q", (start + place for place in kept))
                self.cells.append(Run(*clean("".join(line[place] for place in kept), offsets)))

    def row(self) -> Run:
        """The row that ends: `Day: Mon, Rain: 3 mm`. What is put in stands for the bar before the cell.

        The first cell of a row without a bar at its start has no name: every place is that of one thing.
        """
        text: list[str] = []
        offsets: array[int] = array("Q")
        for index, (cell, bar) in enumerate(zip(self.cells, self.bars, strict=True)):
            name = "" if self.in_head or index >= len(self.names) else self.names[index]
            if cell.text:
                before = "" if bar is None else (", " if text else "") + (f"{name}: " if name else "")
                text += (before, cell.text)
                offsets.extend([bar or 0] * len(before))
                offsets.extend(cell.offsets)
        if self.in_head:
            self.names = [cell.text.rstrip(":") for cell in self.cells]
        self.cells, self.bars, self.at = [], [], 0
        return Run("".join(text), offsets)
