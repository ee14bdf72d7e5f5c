"""Tables of data, told from tables of layout, and the words between cells when a row is read as a sentence. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from jobs.reading.markup.page import Page

_SENTENCE_END = re.compile("[^\\W\\d_][)\\]]?[.!?…。！？]{1,3}[\"'’”»」]?$")
_MIN_LETTERS = 3
_MAX_CELL_CHARS = 600
"""A cell with more holds running text: the table sets columns of a page."""


@dataclass(slots=True)
class DataTable:
    """One table while it is read row by row. `headers` are the names of its columns, if its first row has them.

    `all_said`: each of them has a cell with text below it, so it is heard without its row.
    """

    headers: tuple[str, ...]
    all_said: bool = True
    row: int = -1
    column: int = -1

    @property
    def names_next(self) -> bool:
        """Whether the next row holds the names of the columns, which are said with each cell below them."""
        return self.row < 0 and bool(self.headers) and self.all_said

    def row_begins(self) -> None:
        """The next row."""
        self.row += 1
        self.column = -1

    def cell_begins(self, *, row_is_empty: bool) -> str:
        """What is said before the next cell: a comma after the one before, and the name of its column."""
        self.column += 1
        named = self.row > 0 and self.column < len(self.headers)
        name = f"{self.headers[self.column]}: " if named and self.headers[self.column] else ""
        return f"{'' if row_is_empty else ', '}{name}" or " "


def data_table(node: etree._Element, page: Page) -> DataTable | None:
    """The table an element is, if it holds data: more than one column, and column names or more than one row."""
    if (node.get("role") or "").lower() in {"presentation", "none"} or _holds_a_page(node):
        return None
    rows = [cells for row in node.iter("tr") if (cells := [cell for cell in row if cell.tag in {"td", "th"}])]
    columns = max(map(len, rows), default=0)
    cells = [cell for row in rows for cell in row]
    named = any(cell.tag == "th" for cell in cells)
    if columns < 2 or not (named or len(rows) > 1):
        return None
    if any(_chars(cell, page) > _MAX_CELL_CHARS for cell in cells) or (not named and _holds_prose(cells, page)):
        return None
    headers = _headers(rows, page)
    filled = {at for row in rows[1:] for at, cell in enumerate(row) if _chars(cell, page)}
    return DataTable(headers, all_said=filled.issuperset(range(len(headers))))


def _holds_a_page(node: etree._Element) -> bool:
    """Tables in tables and headings are layout."""
    nested = next(islice(node.iter("table"), 1, 2), None)
    return nested is not None or next(node.iter("h1", "h2", "h3"), None) is not None


def _holds_prose(cells: list[etree._Element], page: Page) -> bool:
    """Cells of several paragraphs, or of which half end as sentences do, are no data: they set text in columns."""
    if any(sum(1 for _ in islice(cell.iter("p", "blockquote"), 2)) > 1 for cell in cells):
        return True
    filled = [text for cell in cells if (text := page.text_of(cell))]
    return bool(filled) and 2 * sum(map(_is_sentence, filled)) >= len(filled)


def _is_sentence(text: str) -> bool:
    return _SENTENCE_END.search(text[-8:]) is not None and sum(map(str.isalpha, text)) >= _MIN_LETTERS


def _headers(rows: list[list[etree._Element]], page: Page) -> tuple[str, ...]:
    spans = any(cell.get("colspan", "1") != "1" or cell.get("rowspan", "1") != "1" for row in rows for cell in row)
    if spans or len(rows) < 2 or not all(cell.tag == "th" for cell in rows[0]):
        return ()
    return tuple(page.text_of(cell).rstrip(":") for cell in rows[0])


def _chars(cell: etree._Element, page: Page) -> int:
    return sum(page.chars_of(str(text)) for text in cell.itertext())
