"""The lines of a block of plain text as paragraphs: turns of a script, items of a list, indented first lines. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.reading.text.lines import Line, ends_sentence

_RULE = re.compile(
    r"(?:([*~#=_+•·.◆◇○●★☆-])(?:\s?\1){2,}|[-–—]{3,}|[*~#=+•·—–-]{3,}|(?:[*•·⁂❦❧☙✻✦§◆◇○●★☆#]\s?){1,9}"
    r"|o[O0]o|[oO0](?:\s[oO0]){2}"
    r"|[-–—~=*.][-–—~=*.\s]{0,5}[oO0]\s?[oO0]\s?[oO0][-–—~=*.\s]{0,6})$"
)
_TURN = re.compile(
    r"(?P<name>[^\W\d_][\w'’.-]{0,29}(?: (?:[^\W_]|\d)[\w'’.-]{0,29}){0,3}(?: ?\([^()\n]{1,60}\))?):(?:\s(?=\S)|$)"
)
_STAMP = re.compile(
    r"[\[(]?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? ?)?(?:at )?\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,3})?)?"
    r"(?: ?[AaPp]\.?[Mm]\.?)?(?:\]|\)| [-–—] | (?=[^\W\d_][\w .'’-]{0,40}:)| ?(?=<))"
)
"""The time before a message or an utterance: `[12:01] Ann: hi`, `12/03/2021, 14:05 - Ann: hi`, `[00:01:15] Well …`."""
_ASKED = re.compile(r"[QA]\.\s+(?=\S)")
_DASHED_SPEECH = re.compile(r"[—―–]\s?(?=[^\W_]|[\"“¿¡«…])")
_MIN_TURNS = 2
_BULLET = re.compile(r"(?P<mark>[-*•+◦▪‣·–])\s(?=\S)")
_DROPPED_BULLETS = "*•+◦▪‣·"
_NUMBERED = re.compile(r"\(?(?:(?P<number>\d{1,3})|(?P<letter>[a-zA-Z])|(?P<roman>[ivx]{1,5}))[.)]\s(?=\S)")
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_MIN_ITEMS = 2
_MIN_INDENTED_LINES = 3
_MAX_INDENTED_SHARE = 0.7
"""Of lines that are set in: with more, it is the others that hang out, as in verse or a list."""
_MIN_ENDED_SHARE = 0.7
_WIDE_BLANK_INDENT = 2


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that are one paragraph; `rule`: a line of signs that parts scenes."""

    lines: tuple[Line, ...]
    rule: bool = False


def groups_of(lines: Sequence[Line]) -> list[Group]:
    """The paragraphs among lines that no blank line parts."""
    groups: list[Group] = []
    held: list[Line] = []
    for line in [*lines, None]:
        rule = line is not None and is_rule(line.text)
        if held and (line is None or rule):
            groups += (Group(tuple(part)) for part in _parts(held))
            held = []
        if line is not None and rule:
            groups.append(Group((line,), rule=True))
        elif line is not None:
            held.append(line)
    return groups


def is_rule(line: str) -> bool:
    """Whether a line has only signs that part scenes: `* * *`, `---`, `⁂`, `o O o`."""
    return len(line) <= MAX_RULE_CHARS and _RULE.match(line) is not None


MAX_RULE_CHARS = 120


def turns(lines: Sequence[Line]) -> list[int] | None:
    """Indexes of the lines that begin a turn (`ANNA: Did it land?`); None when there are fewer than two in a row."""
    found = [index for index, line in enumerate(lines) if _is_turn(line.text)]
    if len(found) < _MIN_TURNS:
        return None
    shouted = all(_label(lines[index].text).isupper() for index in found)
    return found if found[0] == 0 or shouted else None


def _label(line: str) -> str:
    return line[:1] if _ASKED.match(line) else line.partition(":")[0].partition("(")[0]


def _is_turn(line: str) -> bool:
    match = _TURN.match(line)
    if match is None:
        return _ASKED.match(line) is not None
    words = match["name"].split("(")[0].split()
    return all(word[0].isupper() or word[0].isdecimal() or word in {"of", "the", "de", "von", "van"} for word in words)


def _parts(lines: Sequence[Line]) -> list[Sequence[Line]]:
    if len(lines) == 1:
        return [lines]
    starts = _stamped(lines) or turns(lines) or _items(lines) or _speeches(lines) or _indented(lines)
    if starts is None:
        return [lines]
    begun = set(starts)
    edges = sorted({0, *begun})
    parts = [lines[start:end] for start, end in zip(edges, [*edges[1:], len(lines)], strict=True)]
    return [_without_bullet(part) if edge in begun else part for edge, part in zip(edges, parts, strict=True)]


def _stamped(lines: Sequence[Line]) -> list[int] | None:
    """Indexes of the lines that begin with a time, as in a chat: the first does, and another."""
    found = [index for index, line in enumerate(lines) if _STAMP.match(line.text)]
    return found if len(found) >= _MIN_TURNS and found[0] == 0 else None


def _speeches(lines: Sequence[Line]) -> list[int] | None:
    """Indexes of the lines that begin with the dash of direct speech, what is before each having ended."""
    found = [index for index, line in enumerate(lines) if _DASHED_SPEECH.match(line.text)]
    begun = [index for index in found if index == 0 or ends_sentence(lines[index - 1].text)]
    return begun if len(begun) >= _MIN_TURNS and len(begun) == len(found) else None


def _items(lines: Sequence[Line]) -> list[int] | None:
    """Indexes of the lines that begin an item of a list: signs alike, or numbers that count up."""
    marks = [(index, match["mark"]) for index, line in enumerate(lines) if (match := _BULLET.match(line.text))]
    alike = [index for index, mark in marks if mark == marks[0][1]]
    if len(alike) >= _MIN_ITEMS:
        return [index for index, _ in marks]
    numbers = [(index, order) for index, line in enumerate(lines) if (order := _orders(line.text))]
    counted: list[int] = []
    for (before, orders), (index, following) in itertools.pairwise(numbers):
        if following & {order + 1 for order in orders}:
            counted += [before, index]
    return sorted(set(counted)) or None


def _orders(line: str) -> set[int]:
    """What number an item may have: `i.` is the ninth letter or the first number."""
    match = _NUMBERED.match(line)
    if match is None:
        return set()
    orders = {int(match["number"])} if match["number"] else set()
    sign = (match["letter"] or match["roman"] or "").lower()
    if len(sign) == 1:
        orders.add(ord(sign) - ord("a") + 1)
    if sign in _ROMANS:
        orders.add(100 + _ROMANS.index(sign))
    return orders


def _indented(lines: Sequence[Line]) -> list[int] | None:
    """Indexes of the lines that are set in as the first of a paragraph: some are, and what is before them has ended."""
    if all(line.indent == _WIDE_BLANK_INDENT * 2 and line.end - line.start > len(line.text) for line in lines) and all(
        _is_wide(line) for line in lines
    ):
        return list(range(len(lines)))
    margin = min(line.indent for line in lines)
    if margin > 0 and all(line.indent == margin and ends_sentence(line.text) for line in lines):
        return list(range(len(lines)))  # a paragraph a line, each set in
    starts = [index for index, line in enumerate(lines) if line.indent > margin]
    inner = [index for index in starts if index > 0]
    if len(lines) < _MIN_INDENTED_LINES or not inner or len(starts) > _MAX_INDENTED_SHARE * len(lines):
        return None
    ended = sum(ends_sentence(lines[index - 1].text) for index in inner)
    return starts if ended >= _MIN_ENDED_SHARE * len(inner) else None


def _is_wide(line: Line) -> bool:
    """Whether text is Chinese or Japanese, set in by two wide blanks as a paragraph is."""
    return "\u3000" <= line.text[0] <= "\u9fff" or line.text[0] in "“「『《"


def _without_bullet(lines: Sequence[Line]) -> Sequence[Line]:
    """An item without the sign before it; numbers, and dashes (they may be speech), stay."""
    match = _BULLET.match(lines[0].text)
    if match is None or match["mark"] not in _DROPPED_BULLETS:
        return lines
    first = lines[0]
    return [replace(first, text=first.text[match.end() :], offsets=first.offsets[match.end() :]), *lines[1:]]
