"""Makes the account of a source: every character is spoken, replaced or skipped, and exactly one of the three. Pure.

account = account_of(document, said, skips)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jobs.account import ACCOUNT_SAMPLE_CHARS, Account, Passage, Why
from jobs.narration import Narration
from jobs.reading.document import Document, Skip
from jobs.speaking.aligned import Run

_OPEN = 0
_SPOKEN = 1
_REPLACED = 2
_FIRST_LABEL = 3
"""Codes from here on are skips: an index into the table of reasons."""
_UNLABELLED = (Why.WHITE_SPACE, Why.INVISIBLE, Why.CONTROL, Why.MARKUP)
"""What characters are that nobody named, the weightiest last: a run of several is called after that."""
_INVISIBLE = (
    (0x00AD, 0x00AD), (0x061C, 0x061C), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE0FFF),
)  # fmt: skip
_CONTROL = (
    (0x00, 0x08),
    (0x0E, 0x1B),
    (0x7F, 0x84),
    (0x86, 0x9F),
    (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF),
    (0xFFFD, 0xFFFF),
)
_WHITE = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """A paragraph that is spoken; `silent` are ranges of `narration.spoken` that are in no segment after all."""

    narration: Narration
    silent: tuple[tuple[int, int], ...] = ()


@dataclass
class _Ledger:
    """One code for each character of the source. Whoever claims a character first keeps it."""

    text: str
    points: NDArray[np.uint32]
    escapes: dict[int, int]
    codes: NDArray[np.int32]
    reasons: list[Why] = field(default_factory=list)
    replaced: list[Passage] = field(default_factory=list)

    def label(self, why: Why) -> int:
        """A code for one skipped passage: passages that touch stay apart."""
        self.reasons.append(why)
        return _FIRST_LABEL + len(self.reasons) - 1

    def paragraph(self, said: Said) -> Iterator[tuple[Run, NDArray[np.int64]]]:
        """Claim what is spoken and what is dropped of a paragraph; yields its replacements for later."""
        paragraph = said.narration.paragraph
        offsets = np.asarray(paragraph.offsets, dtype=np.int64)
        changed = np.flatnonzero(_points(paragraph.text) != self.points[offsets])
        if self.escapes:
            escaped = [index for index, place in enumerate(offsets.tolist()) if place in self.escapes]
            changed = np.union1d(changed, np.array(escaped, np.int64))
        for run in said.narration.aligned.runs:
            places = offsets[run.start : run.end]
            if run.why is None:
                self.codes[places] = _SPOKEN
                first, last = np.searchsorted(changed, (run.start, run.end))
                for place in np.unique(offsets[changed[first:last]]).tolist():
                    # Words that a reader put in (the name of a column) share the place of the character after them.
                    begin, end = run.start + np.searchsorted(places, (place, place + 1))
                    self._changed(paragraph.text[begin:end], place)
            elif run.now:
                yield run, places
            else:
                self.codes[places] = self.label(run.why)
        for start, end in said.silent:
            first, last = said.narration.aligned.place(start, end)
            places = offsets[first:last]
            self.codes[places[self.codes[places] == _SPOKEN]] = self.label(Why.PUNCTUATION)

    def skip(self, skip: Skip) -> None:
        """Claim what is still open of a passage that a reader left out."""
        window = self.codes[skip.start : skip.end]
        window[window == _OPEN] = self.label(skip.why)

    def replace(self, run: Run, places: NDArray[np.int64]) -> None:
        """Claim what a replacement stands for and what is between its characters; a passage left out inside parts it."""
        start, last = int(places[0]), int(places[-1])
        window = self.codes[start : self.escapes.get(last, last + 1)]
        free = np.flatnonzero(window == _OPEN)
        now = run.now
        for part in np.split(free, np.flatnonzero(np.diff(free) > 1) + 1):
            begin, end = start + int(part[0]), start + int(part[-1]) + 1
            self.codes[begin:end] = _REPLACED
            self._passage(begin, end, now, run.why or Why.SYMBOL)
            now = ""

    def account(self) -> Account:
        """The account, when everything was claimed that anybody claims."""
        self._unlabelled()
        edges = np.flatnonzero(np.diff(self.codes)) + 1
        starts = [0, *edges.tolist()] if self.codes.size else []
        ends = [*edges.tolist(), self.codes.size]
        skipped = [
            Passage(
                start=start,
                end=end,
                was=self.text[start : min(end, start + ACCOUNT_SAMPLE_CHARS)],
                why=self.reasons[code - _FIRST_LABEL],
            )
            for start, end, code in zip(starts, ends, self.codes[starts].tolist(), strict=False)
            if code >= _FIRST_LABEL
        ]
        return Account(
            chars=len(self.text),
            spoken_chars=int(np.count_nonzero(self.codes == _SPOKEN)),
            replaced=tuple(sorted(self.replaced, key=lambda passage: passage.start)),
            skipped=tuple(skipped),
        )

    def _changed(self, char: str, place: int) -> None:
        """A character that the source writes otherwise: white space may, a control code is left out for a space."""
        end = self.escapes.get(place, place + 1)
        kind = _UNLABELLED[int(_kinds(self.points[place : place + 1])[0])]
        if end == place + 1 and kind is Why.WHITE_SPACE:
            return
        if end == place + 1 and char == " " and kind is not Why.MARKUP:
            self.codes[place] = self.label(kind)
            return
        self.codes[place:end] = _REPLACED
        self._passage(place, end, char, Why.ESCAPE)

    def _passage(self, start: int, end: int, now: str, why: Why) -> None:
        was = self.text[start : min(end, start + ACCOUNT_SAMPLE_CHARS)]
        self.replaced.append(Passage(start=start, end=end, was=was, why=why, now=now))

    def _unlabelled(self) -> None:
        """Name what nobody claimed: each run of it by the weightiest kind of character in it."""
        open_places = np.flatnonzero(self.codes == _OPEN)
        if not open_places.size:
            return
        kinds = _kinds(self.points[open_places])
        firsts = np.concatenate(([0], np.flatnonzero(np.diff(open_places) > 1) + 1))
        heaviest = np.maximum.reduceat(kinds, firsts)
        base = _FIRST_LABEL + len(self.reasons)
        self.reasons += [_UNLABELLED[kind] for kind in heaviest.tolist()]
        lengths = np.diff(np.concatenate((firsts, [open_places.size])))
        self.codes[open_places] = np.repeat(np.arange(base, base + firsts.size, dtype=np.int32), lengths)


def account_of(document: Document, said: Sequence[Said], skips: Iterable[Skip] = ()) -> Account:
    """The account of a document of which `said` is spoken. `skips`: passages left out beside `document.skipped`."""
    text = document.text
    ledger = _Ledger(text, _points(text), dict(document.escapes), np.zeros(len(text), np.int32))
    replaced = [entry for one in said for entry in ledger.paragraph(one)]
    for skip in (*document.skipped, *skips):
        ledger.skip(skip)
    for run, places in replaced:
        ledger.replace(run, places)
    return ledger.account()


def _points(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _kinds(points: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The index in `_UNLABELLED` of each code point."""
    kinds = np.full(points.size, _UNLABELLED.index(Why.MARKUP), np.int32)
    for why, ranges in ((Why.CONTROL, _CONTROL), (Why.INVISIBLE, _INVISIBLE), (Why.WHITE_SPACE, _WHITE)):
        for first, last in ranges:
            kinds[(points >= first) & (points <= last)] = _UNLABELLED.index(why)
    return kinds
