"""Which lines of a plan the lines of an edited text come from: kept, moved, changed, split or joined. Pure.

roots = roots_of(old, lines, guess=True)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile

# Where words stand without spaces between them each letter counts as a word.
_LETTERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_LETTERS}]|[^\W_{_LETTERS}]+")
_MOST_PAIRS = 4_000_000
"""Words of old lines times words of new ones in one place that are compared at most; above, the place decides."""
_ENOUGH = 3
"""Lines belong together when they share a third of the shorter one: fewer words are in any two sentences."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line to be spoken: its number in the edited text, whether a blank line or a heading stood before it."""

    number: int
    spoken: str
    chapter: int
    blank: bool


@dataclass(frozen=True, slots=True)
class Roots:
    """The old lines that a new one is made of, in order; `main` is the one it has most of."""

    main: int
    olds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Move:
    """Old lines in whose place new ones stand; `kind` as difflib has it."""

    kind: str
    old: range
    new: range


def roots_of(old: Sequence[str], lines: Sequence[Line], *, guess: bool) -> list[Roots | None]:
    """For each new line what it comes from: the same text, else what it stands in the place of, else None (put in).

    `guess`: an old line may become several, and one that shares no words with the new ones becomes what is in its
    place. Without it each old line becomes one line at most, and one that cannot be told becomes none.
    """
    new = [line.spoken for line in lines]
    moves = _moves(old, new)
    roots: list[Roots | None] = [None] * len(new)
    for move in moves:
        if move.kind == "equal":
            for origin, index in zip(move.old, move.new, strict=True):
                roots[index] = Roots(origin, (origin,))
    used = {root.main for root in roots if root is not None}
    left: defaultdict[str, list[int]] = defaultdict(list)
    for origin in sorted(set(range(len(old))) - used, reverse=True):
        left[old[origin]].append(origin)
    for index, spoken in enumerate(new):  # a line that was moved
        if roots[index] is None and left[spoken]:
            origin = left[spoken].pop()
            used.add(origin)
            roots[index] = Roots(origin, (origin,))
    for move in moves:
        olds = [origin for origin in move.old if origin not in used]
        news = [index for index in move.new if roots[index] is None]
        if olds and news:
            block = _Block([old[origin] for origin in olds], [lines[index] for index in news])
            for index, found in zip(news, block.roots() if guess else block.single(), strict=True):
                if found is not None:
                    roots[index] = Roots(olds[found.main], tuple(olds[part] for part in found.olds))
    return roots


def beside(lines: Sequence[Line], roots: Sequence[Roots | None]) -> list[tuple[int, ...]]:
    """For each new line the old ones beside it: one in its own paragraph, else those of both sides, else none."""
    before = _towards(roots, [line.blank for line in lines])
    after = _towards(roots[::-1], [True, *(line.blank for line in lines[:0:-1])])[::-1]
    sides: list[tuple[int, ...]] = []
    for (left, joined_left), (right, joined_right) in zip(before, after, strict=True):
        if left is None or right is None:
            only = left if right is None else right
            sides.append((only,) if only is not None and (joined_left or joined_right) else ())
        elif joined_left or joined_right:
            sides.append((left,) if joined_left else (right,))
        else:
            sides.append((left, right))
    return sides


def _towards(roots: Sequence[Roots | None], parted: Sequence[bool]) -> list[tuple[int | None, bool]]:
    """For each line the last old one before it and whether both are in one paragraph; `parted`: not with the last."""
    sides: list[tuple[int | None, bool]] = []
    at: int | None = None
    joined = False
    for root, apart in zip(roots, parted, strict=True):
        joined = joined and not apart
        sides.append((at, joined))
        if root is not None:
            at, joined = root.main, True
    return sides


def _moves(old: Sequence[str], new: Sequence[str]) -> list[_Move]:
    """How the new lines come from the old ones, in order. What is the same at both ends needs no comparing."""
    head = _same(zip(old, new, strict=False))
    tail = _same(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    old_end, new_end = len(old) - tail, len(new) - tail
    found = SequenceMatcher(None, old[head:old_end], new[head:new_end]).get_opcodes()
    return [
        _Move("equal", range(head), range(head)),
        *(
            _Move(kind, range(head + start, head + end), range(head + first, head + last))
            for kind, start, end, first, last in found
        ),
        _Move("equal", range(old_end, len(old)), range(new_end, len(new))),
    ]


def _same(pairs: Iterator[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True, slots=True)
class _Block:
    """Old lines and the new ones that stand in their place; none of the new is the same as an old one."""

    old: list[str]
    lines: list[Line]

    def single(self) -> list[Roots | None]:
        """Each old line becomes one new line at most: the one in its place, or in doubt the first that shares words."""
        if len(self.old) == len(self.lines):
            return [Roots(place, (place,)) for place in range(len(self.old))]
        roots: list[Roots | None] = []
        used: set[int] = set()
        for root in self._by_words():
            roots.append(None if root is None or root.main in used else root)
            used.update(() if root is None else [root.main])
        return roots

    def roots(self) -> list[Roots | None]:
        """Every new line comes from an old one: by its words, else by its place."""
        roots = self._by_words()
        free = set(range(len(self.old))) - {part for root in roots if root is not None for part in root.olds}
        for unknown, group in groupby(range(len(self.lines)), key=[root is None for root in roots].__getitem__):
            if unknown:
                self._fill(roots, list(group), free)
        return roots

    def _fill(self, roots: list[Roots | None], gap: list[int], free: set[int]) -> None:
        """Neighbouring new lines that share no words with an old one: what they stand in the place of, else beside."""
        before = roots[gap[0] - 1] if gap[0] else None
        after = roots[gap[-1] + 1] if gap[-1] + 1 < len(roots) else None
        first = before.olds[-1] + 1 if before else 0
        last = after.olds[0] if after else len(self.old)
        olds = [place for place in range(first, last) if place in free]
        if olds:
            for index, root in zip(gap, _spread(olds, len(gap)), strict=True):
                roots[index] = root
            return
        apart = False
        for index in gap:
            apart = apart or self.lines[index].blank
            beside = (after or before) if apart else (before or after)
            if beside is not None:
                place = beside.olds[0 if beside is after else -1]
                roots[index] = Roots(place, (place,))

    def _by_words(self) -> list[Roots | None]:
        """For each new line the old ones that it shares enough words with."""
        old, new = ([_words(text) for text in texts] for texts in (self.old, [line.spoken for line in self.lines]))
        shared = _shared(old, new)
        sizes = [sum(map(len, words)) for words in old]
        olds: defaultdict[int, list[int]] = defaultdict(list)
        for (index, place), chars in sorted(shared.items()):
            if chars * _ENOUGH >= min(sizes[place], sum(map(len, new[index]))):
                olds[index].append(place)
        return [
            Roots(max(olds[index], key=lambda place: (shared[index, place], -place)), tuple(olds[index]))
            if index in olds
            else None
            for index in range(len(new))
        ]


def _spread(olds: list[int], count: int) -> Iterator[Roots]:
    """Old lines dealt out to `count` new ones in order: each gets some, or several share one."""
    for index in range(count):
        first = index * len(olds) // count
        last = max(first + 1, (index + 1) * len(olds) // count)
        yield Roots(olds[first], tuple(olds[first:last]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _shared(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> Counter[tuple[int, int]]:
    """How many characters of words a new line has in common, in order, with an old one: by (new, old)."""
    shared: Counter[tuple[int, int]] = Counter()
    old_words = [(place, word) for place, words in enumerate(old) for word in words]
    new_words = [(index, word) for index, words in enumerate(new) for word in words]
    if len(old_words) * len(new_words) > _MOST_PAIRS:
        return shared
    matcher = SequenceMatcher(None, [word for _, word in old_words], [word for _, word in new_words])
    for match in matcher.get_matching_blocks():
        for step in range(match.size):
            place, word = old_words[match.a + step]
            shared[new_words[match.b + step][0], place] += len(word)
    return shared
