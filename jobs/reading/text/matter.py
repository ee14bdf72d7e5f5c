"""Front and back matter of plain text: copyright page, notes at the end, index, bibliography. Pure.

Works on blocks; each kind needs evidence in its own lines, for story text that is left out is the worst mistake.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.headings import capitals, keyword_heading
from jobs.reading.text.lines import Block, ends_sentence

_CLAIM = re.compile(
    r"(?:^|(?<=[.,;] ))(?:(?:text |first )?(?:copyright|©|\(c\))\s?(?:©|\(c\)|:)?,?\s{0,2}"
    r"(?:\d{4}|by\s[^.;]{0,80}\d{4})|copyright,? by\s(?:the\s)?(?-i:[A-Z])|©"
    r"|all rights(?: are)? reserved"
    r"(?=\W{0,3}$|[.,;:!—–-]|\s(?:under|including|worldwide|throughout|©|\(c\)))"
    r"|(?:e-?)?isbn(?:[- ]1[03])?(?: \(\w{1,12}\))?[\s:]{0,3}[\dxX-]{9,}"
    r"|no part of this (?:book|publication|work) may be)",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"(?:(?:first |re)?(?:published|printed|printing|edition)\b|(?:first|second|third|\d{1,2}(?:st|nd|rd|th)) "
    r"(?:e-?book |paperback |hardcover )?(?:edition|printing)|cover (?:design|art|image)|library of congress|"
    r"this is a work of fiction|names, characters|a catalogue record|typeset|printed and bound|www\.|https?://|"
    r"edited by)",
    re.IGNORECASE,
)
_SPEECH = re.compile('["“”«»]')
_FRONT_BLOCKS = 30
_MAX_FRONT_BODY_CHARS = 400
_MAX_FRONT_LINE_CHARS = 40
"""Longest line that is an address or a name; a longer one may be wrapped."""
_NOTES_HEADING = re.compile(r"[_*=]?(?P<kind>foot ?notes?|end ?notes?|notes?)[.:_*=]{0,2}$", re.IGNORECASE)
_NOTE = re.compile(
    r"(?:\[(?:(?:foot)?note )?(?P<bracket>[\w*†‡§]{1,4})\]|(?P<number>\d{1,4})[.):]|\((?P<round>\d{1,4})\)"
    r"|(?P<raised>[¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}))\s{0,4}(?=\S)",
    re.IGNORECASE,
)
_INDEX_HEADING = re.compile(r"[_*=]?(?:general )?index(?: of \w{1,20})?[.:_*=]{0,2}$", re.IGNORECASE)
_INDEX_ENTRY = re.compile(
    r"[,;:.]?\s(?:\d{1,4}(?:[-–]\d{1,4})?(?:, ?|; ?| and )?)*\d{1,4}(?:[-–]\d{1,4})?[nf]{0,2}\.?$"
)
_SEE = re.compile(r"(?:^|[,.;(] ?)see (?:also )?", re.IGNORECASE)
_BOOKS_HEADING = re.compile(
    r"[_*=]?(?:(?:select(?:ed)? )?bibliography|references|works cited|literature cited|further reading|"
    r"literaturverzeichnis|bibliographie|bibliograf[íi]a)[.:_*=]{0,2}$",
    re.IGNORECASE,
)
_BOOK = re.compile(
    r"[(,;:]\s?(?:1[4-9]|20)\d\d(?!\d)|^[^\W\d_][\w'’-]{1,30}, [^\W\d_][\w'’-]{0,20}[.,].*(?:1[4-9]|20)\d\d(?!\d)"
    r"|^\[\d{1,3}\]|^(?:——|---|___)|\bdoi\b|https?://"
)
_MIN_ENTRIES = 3
_ENTRY_SHARE = 0.6
_MAX_LETTER_HEADING_CHARS = 3
_MAX_UNNUMBERED = 6
_Test = Callable[[str], bool]


def without_matter(
    found: Sequence[Block], skip: frozenset[Why], labels: frozenset[str]
) -> tuple[list[Block], list[Skip]]:
    """The blocks without what is front or back matter and in `skip`; `labels` are the notes that the text refers to.

    What is kept is plain text: no chapters begin in it, and each entry of an index or bibliography is a block.
    """
    matter = _front(found)
    _add(matter, Why.INDEX, _index(found))
    _add(matter, Why.BIBLIOGRAPHY, _books(found))
    _add(matter, Why.NOTES, _notes(found, labels))
    kept: list[Block] = []
    skips: list[Skip] = []
    for index, block in enumerate(found):
        why = matter.get((index, None))
        gone = {n for n, _ in enumerate(block.lines) if (why or matter.get((index, n))) in skip}
        skips += (Skip(block.lines[n].start, block.lines[n].end, why or Why.FRONT) for n in sorted(gone))
        rest = tuple(line for n, line in enumerate(block.lines) if n not in gone)
        if rest and why in {Why.INDEX, Why.BIBLIOGRAPHY}:
            kept += (Block((line,), block.gap, plain=True) for line in rest)
        elif rest:
            kept.append(Block(rest, block.gap, block.plain) if gone else block)
    return kept, skips


_Matter = dict[tuple[int, int | None], Why]
"""(block, line or None for all of it): what it is."""


def _add(matter: _Matter, why: Why, indexes: Iterable[int]) -> None:
    for index in indexes:
        matter.setdefault((index, None), why)


def _front(found: Sequence[Block]) -> _Matter:
    """The copyright page: blocks that claim rights and, beside them, who published; before any running text."""
    claims: list[int] = []
    matter: _Matter = {}
    for index, block in enumerate(found[:_FRONT_BLOCKS]):
        words = block.words
        if not _SPEECH.search(words) and (_CLAIM.search(words[:2000]) or _claims_below_title(block)):
            claims.append(index)
            matter |= {(index, number): Why.FRONT for number in _front_lines(block)}
        elif len(words) > _MAX_FRONT_BODY_CHARS and not _IMPRINT.match(words):
            break
    for claim_at in claims:
        for step in (1, -1):
            index = claim_at + step
            while 0 <= index < len(found) and _IMPRINT.match(found[index].words):
                matter[index, None] = Why.FRONT
                index += step
    return matter


def _claims_below_title(block: Block) -> bool:
    """Whether a claim stands on a line of its own below a short one, as under a title."""
    lines = [line.text for line in block.lines[:_FRONT_BLOCKS]]
    return any(
        len(above) <= _MAX_FRONT_LINE_CHARS and not ends_sentence(above) and _CLAIM.match(below)
        for above, below in itertools.pairwise(lines)
    )


def _front_lines(block: Block) -> list[int]:
    """The lines of a copyright page from the first claim on, up to a line that is running text."""
    taken: list[int] = []
    for number, line in enumerate(block.lines):
        before = block.lines[number - 1].text if number else ""
        if taken and not _CLAIM.search(line.text) and not _IMPRINT.match(line.text):
            wrapped = len(before) > _MAX_FRONT_LINE_CHARS
            if not wrapped and (len(line.text) > _MAX_FRONT_LINE_CHARS or ends_sentence(line.text)):
                break
        if taken or _CLAIM.search(line.text):
            taken.append(number)
    return taken or list(range(len(block.lines)))


def _notes(found: Sequence[Block], labels: frozenset[str]) -> set[int]:
    """Notes: below a heading for them, or anywhere when the text before refers to them."""
    notes: set[int] = set()
    written = {match["bracket"] for block in found if (match := _NOTE.match(block.lines[0].text)) and match["bracket"]}
    unwritten = labels - written
    at = 0
    while at < len(found):
        heading = _NOTES_HEADING.match(found[at].lines[0].text)
        if heading is not None:
            end = _notes_end(found, at, unwritten, sure=heading["kind"].lower() not in {"note", "notes"})
            notes |= set(range(at, end))
            at = max(end, at + 1)
            continue
        match = _NOTE.match(found[at].lines[0].text)
        if match is not None and match["number"] is None and match["round"] is None and _label(match) in labels:
            notes.add(at)
        at += 1
    return notes


def _notes_end(found: Sequence[Block], at: int, unwritten: frozenset[str], *, sure: bool) -> int:
    """One past the last note below the heading at `at`; `at` itself when nothing there is a note.

    `1.` may be an item of a list: below a plain `Notes` it counts when the text refers to notes that are `unwritten`.
    """
    end = at
    for index in range(at, len(found)):
        lines = found[index].lines[index == at :]
        if index > at and (_is_heading(found[index]) or index - end > _MAX_UNNUMBERED):
            break
        match = _NOTE.match(lines[0].text) if lines else None
        if match is not None and (sure or match["number"] is None or match["number"] in unwritten):
            end = index + 1
        elif index > at + 1 and end == at:
            break
    return end


def _label(match: re.Match[str]) -> str:
    raised = (match["raised"] or "").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    return (match["bracket"] or raised).lower()


def _is_heading(block: Block) -> bool:
    first = block.lines[0].text
    return keyword_heading(first) is not None or (len(block.lines) == 1 and capitals(first))


def _index(found: Sequence[Block]) -> set[int]:
    """An index: a heading in the second half of a text, and entries that end in numbers of pages."""
    return _section(found, _INDEX_HEADING, lambda line: bool(_INDEX_ENTRY.search(line[-60:]) or _SEE.search(line)))


def _books(found: Sequence[Block]) -> set[int]:
    """A bibliography: a heading in the second half of a text, and entries with years."""
    return _section(found, _BOOKS_HEADING, lambda entry: _BOOK.search(entry) is not None, whole=True)


def _section(found: Sequence[Block], heading: re.Pattern[str], is_entry: _Test, *, whole: bool = False) -> set[int]:
    """A heading and the blocks below it that are entries (`whole`: each block is one, or each of its lines)."""
    for head in range(len(found) - 1, -1, -1):
        if found[head].end < found[-1].end / 2:
            break
        if not heading.match(found[head].lines[0].text):
            continue
        end, entries = head + 1, sum(is_entry(line.text) for line in found[head].lines[1:])
        while end < len(found):
            count = _entries(found[end], is_entry, whole=whole)
            if count is None:
                break
            entries += count
            end += 1
        if entries >= (1 if whole else _MIN_ENTRIES):
            return set(range(head, end))
    return set()


def _entries(block: Block, is_entry: _Test, *, whole: bool) -> int | None:
    """How many entries a block has; None when it is no part of the list. A letter alone begins those under it."""
    if len(block.words) <= _MAX_LETTER_HEADING_CHARS and block.words[:1].isupper():
        return 0
    if _is_heading(block):
        return None
    count = sum(is_entry(line.text) for line in block.lines)
    if whole and is_entry(block.words):
        return max(count, 1)
    return count if count >= _ENTRY_SHARE * len(block.lines) else None
