"""The back matter of plain text: which blocks are an index or a bibliography, by heading and entries. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from jobs.reading.headings import capitals, keyword_heading
from jobs.reading.text.lines import Block
from jobs.reading.text.names import BOOKS_NAMES, INDEX_NAMES, named_line

_INDEX_HEADING = named_line(INDEX_NAMES)
_BOOKS_HEADING = named_line(BOOKS_NAMES)
_PAGES = r"(?:\d{1,4}(?:[-–]\d{1,4})?[nf]{0,2}(?:, ?|; ?| and )?){0,20}\d{1,4}(?:[-–]\d{1,4})?[nf]{0,2}"
_PAGED = re.compile(rf"(?P<mark>[,;:]|[ .…·]{{3}})?\s(?P<pages>{_PAGES})(?P<stop>\.?)$")
_SEE = re.compile(r"(?:^|[,.;(—] ?)[Ss]ee (?:also |under )?[^\W\d_]")
_PLAIN = re.compile(r"\b(?:he|she|him|my|me|said|asked|was|were|had|have|they|you)\b|\bI\b(?!\.)")
"""What sentences have and entries hardly ever."""
_FIRST_YEAR = 1500
"""A number from here on, without a comma before it, is a year and no page."""
_MAX_ENTRY_CHARS = 120
_MAX_BARE_ENTRY_CHARS = 40
"""Longest entry whose pages no comma sets off: a name, not a sentence that ends in a number."""
_TAIL_CHARS = 80
_BOOK = re.compile(
    r"(?:\[\d{1,3}\]\s?|\d{1,3}\.\s)?(?:"
    # Smith, J. / Smith, John. / van der Berg, A. B., / Smith, J. and Doe, A.
    r"(?:(?:van|von|de|du|la|le|di|der|den|Van|Von|De|Du|La|Le|Di|Mc|Mac)\s){0,2}[A-ZÀ-Þ][\w'’-]{1,30}(?:\s[A-ZÀ-Þ][\w'’-]{1,30})?"
    r",\s(?:[A-ZÀ-Þ]\.|[A-ZÀ-Þ][\w'’-]{0,20}(?:\s[A-ZÀ-Þ][\w'’.-]{0,20}){0,2}\s?[.,;:(&])"
    # Smith J. / Smith JR, Doe A.
    r"|[A-ZÀ-Þ][\w'’-]{1,30}\s[A-ZÀ-Þ]{1,3}[.,]\s[A-ZÀ-Þ]"
    # J. Smith, / J. R. R. Smith and
    r"|(?:[A-ZÀ-Þ]\.[ -]?){1,3}[A-ZÀ-Þ][\w'’-]{1,30}(?:,|\.|\s\(|\sand\s|\s&\s)"
    # World Health Organization (2004)
    r"|(?:[A-ZÀ-Þ][\w'’&-]{0,30}\s(?:of\s|for\s|the\s|and\s){0,2}){1,6}\((?:1[4-9]|20)\d\d[a-z]?\)[.,:]"
    r"|——|---|___|https?://\S{4,300}$)"
)
_DATED = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)|\bn\.\s?d\.|\bdoi\b|https?://")
_MAX_BOOK_CHARS = 1000
_MIN_INDEX_ENTRIES = 3
_MIN_BOOKS = 2
"""Their shape is strict: two are no chance."""
_ENTRY_SHARE = 0.6
"""Of the lines of a block: the others are the ends of entries that are wrapped."""
_ORDER_SHARE = 0.7
"""Of the entries that stand in the order of the alphabet: those below another entry have an order of their own."""
_MAX_LETTER_HEADING_CHARS = 3
_IsEntry = Callable[[str], bool]


def index_blocks(found: Sequence[Block]) -> set[int]:
    """An index: a heading in the second half of a text, and short entries that end in pages, in alphabetical order."""
    section = _section(found, _INDEX_HEADING, _is_paged, whole=False)
    lines = [line.text for index in sorted(section) for line in found[index].lines if _is_paged(line.text)]
    return section if len(lines) >= _MIN_INDEX_ENTRIES and _in_order(lines) else set()


def books_blocks(found: Sequence[Block]) -> set[int]:
    """A bibliography: a heading in the second half of a text, and entries that begin with who wrote and have years."""
    section = _section(found, _BOOKS_HEADING, _is_book, whole=True)
    entries = sum(_entries(found[index], _is_book, whole=True) or 0 for index in section)
    return section if entries >= _MIN_BOOKS else set()


def _section(found: Sequence[Block], heading: re.Pattern[str], is_entry: _IsEntry, *, whole: bool) -> set[int]:
    """The last heading that has entries below it, with them (`whole`: each block is one, or each of its lines)."""
    for head in range(len(found) - 1, -1, -1):
        if found[head].end < found[-1].end / 2:
            break
        if not heading.match(found[head].lines[0].text):
            continue
        own = Block(found[head].lines[1:], 0)
        if own.lines and not _entries(own, is_entry, whole=whole):
            continue
        end = head + 1
        while end < len(found) and _entries(found[end], is_entry, whole=whole) is not None:
            end += 1
        if own.lines or end > head + 1:
            return set(range(head, end))
    return set()


def _entries(block: Block, is_entry: _IsEntry, *, whole: bool) -> int | None:
    """How many entries a block has; None when it is no part of the list. A letter alone begins those under it."""
    first = block.lines[0].text
    if len(block.lines) == 1 and len(first) <= _MAX_LETTER_HEADING_CHARS and first[:1].isupper():
        return 0
    if keyword_heading(first) is not None or (len(block.lines) == 1 and capitals(first)):
        return None
    count = sum(is_entry(line.text) for line in block.lines)
    if whole and is_entry(block.words):
        return max(count, 1)
    return count if count and count >= _ENTRY_SHARE * len(block.lines) else None


def _is_paged(line: str) -> bool:
    """Whether a line is the entry of an index: pages after a comma, or after a name; or where else to look."""
    if len(line) > _MAX_ENTRY_CHARS or _PLAIN.search(line):
        return False
    match = _PAGED.search(line[-_TAIL_CHARS:])
    if match is None:
        return _SEE.search(line) is not None
    if match["mark"]:
        return True
    last = int(re.findall(r"\d+", match["pages"])[-1])
    return not match["stop"] and len(line) <= _MAX_BARE_ENTRY_CHARS and last < _FIRST_YEAR


def _in_order(lines: Sequence[str]) -> bool:
    keys = [re.sub(r"[\W\d_]+", "", line.casefold())[:1] for line in lines]
    rising = sum(before <= after for before, after in itertools.pairwise(keys))
    return len(set(lines)) == len(lines) and rising >= _ORDER_SHARE * (len(keys) - 1)


def _is_book(entry: str) -> bool:
    if len(entry) > _MAX_BOOK_CHARS or _PLAIN.search(entry) or _BOOK.match(entry) is None:
        return False
    return _DATED.search(entry) is not None
