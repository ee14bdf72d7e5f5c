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
from jobs.reading.cleaning import kind_of_character
from jobs.reading.document import Document, Skip
from jobs.speaking.aligned import Run

_OPEN = 0
_SPOKEN = 1
_REPLACED = 2
_FIRST_LABEL = 3
"""Codes from here on are skips: an index into the table of reasons."""
_UNLABELLED = (Why.WHITE_SPACE, Why.INVISIBLE, Why.CONTROL, Why.MARKUP)
"""What characters are that nobody named, the weightiest last: a run of several is called after that."""


@dataclass(frozen=True, slots=True)
class Said:
    """A paragraph that is spoken; `silent` are ranges of `narration.spoken` that are in no segment after all."""

    narration: Narration
    silent: tuple[tuple[int, int], ...] = ()


@dataclass
class _Change:
    """Characters [start, end) that are spoken otherwise; `words` by their place in what is spoken."""

    start: int
    end: int
    why: Why
    words: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass
class _Ledger:
    """One code for each character of the source. Whoever claims a character first keeps it."""

    text: str
    points: NDArray[np.uint32]
    escapes: dict[int, int]
    codes: NDArray[np.int32]
    reasons: list[Why] = field(default_factory=list)
    changes: dict[int, _Change] = field(default_factory=dict)

    def label(self, why: Why) -> int:
        """A code for one skipped passage: passages that touch stay apart."""
        self.reasons.append(why)
        return _FIRST_LABEL + len(self.reasons) - 1

    def paragraph(self, said: Said, number: int) -> Iterator[tuple[Run, NDArray[np.int64]]]:
        """Claim what is spoken and what is dropped of a paragraph; yields its replacements for later."""
        paragraph = said.narration.paragraph
        offsets = np.asarray(paragraph.offsets, dtype=np.int64)
        changed = self._changed_places(paragraph.text, offsets)
        silent = [said.narration.aligned.place(start, end) for start, end in said.silent]
        for run in said.narration.aligned.runs:
            places = offsets[run.start : run.end]
            if run.why is None:
                self.codes[places] = _SPOKEN
                first, last = np.searchsorted(changed, (run.start, run.end))
                for index in changed[first:last].tolist():
                    self._written_otherwise(paragraph.text[index], int(offsets[index]), (number, index))
            elif run.now and not any(first <= run.start and run.end <= last for first, last in silent):
                yield run, places
            else:
                self._leave_out(places, Why.PUNCTUATION if run.now else run.why)
        for first, last in silent:
            places = offsets[first:last]
            self.codes[places[self.codes[places] == _SPOKEN]] = self.label(Why.PUNCTUATION)

    def _leave_out(self, places: NDArray[np.int64], why: Why) -> None:
        code = self.label(why)
        self.codes[places] = code
        if self.escapes:
            for place in places.tolist():
                self.codes[place : self.escapes.get(place, place + 1)] = code

    def skip(self, skip: Skip) -> None:
        """Claim what is still open of a passage that a reader left out."""
        window = self.codes[skip.start : skip.end]
        window[window == _OPEN] = self.label(skip.why)

    def replace(self, run: Run, places: NDArray[np.int64], number: int) -> None:
        """Claim what a replacement stands for and what is between its characters; a passage left out parts it."""
        start, last = int(places[0]), int(places[-1])
        window = self.codes[start : self.escapes.get(last, last + 1)]
        now = run.now
        why = run.why or Why.SYMBOL
        if not window.any():  # all of it is open, as nearly always
            self._change(start, start + window.size, why, (number, run.start, now))
            return
        free = np.flatnonzero(window == _OPEN)
        if not free.size:  # words that a reader put in stand at the same place
            self._change(start, start + 1, why, (number, run.start, now))
            return
        for part in np.split(free, np.flatnonzero(np.diff(free) > 1) + 1):
            self._change(start + int(part[0]), start + int(part[-1]) + 1, why, (number, run.start, now))
            now = ""

    def account(self) -> Account:
        """The account, when everything was claimed that anybody claims."""
        for change in self.changes.values():  # also where words were put in beside a character that is dropped
            self.codes[change.start : change.end] = _REPLACED
        self._unlabelled()
        edges = np.flatnonzero(np.diff(self.codes)) + 1
        bounds = [0, *edges.tolist(), self.codes.size]
        skipped = [
            Passage(start=start, end=end, was=self._was(start, end), why=self.reasons[code - _FIRST_LABEL])
            for start, end, code in zip(bounds, bounds[1:], self.codes[bounds[:-1]].tolist(), strict=False)
            if code >= _FIRST_LABEL
        ]
        replaced = [
            Passage(
                start=change.start,
                end=change.end,
                was=self._was(change.start, change.end),
                why=change.why,
                now="".join(words for *_, words in sorted(change.words)),
            )
            for _, change in sorted(self.changes.items())
        ]
        spoken_chars = int(np.count_nonzero(self.codes == _SPOKEN))
        return Account(
            chars=len(self.text), spoken_chars=spoken_chars, replaced=tuple(replaced), skipped=tuple(skipped)
        )

    def _changed_places(self, text: str, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Characters of a paragraph that the source writes otherwise: as others, with several signs, or not at all."""
        changed = _points(text) != self.points[offsets]
        if self.escapes:
            changed |= np.fromiter((place in self.escapes for place in offsets.tolist()), bool, offsets.size)
        put_in = offsets[1:] == offsets[:-1]
        changed[1:] |= put_in
        changed[:-1] |= put_in
        return np.flatnonzero(changed)

    def _written_otherwise(self, char: str, place: int, order: tuple[int, int]) -> None:
        """White space may be written as other white space; a control code that was read as a space is left out."""
        end = self.escapes.get(place, place + 1)
        kind = kind_of_character(self.text[place])
        if char == " " and self.text[place] == "<":  # a tag that parts words
            self.codes[place:end] = self.label(Why.MARKUP)
            return
        if end == place + 1 and char == " " and place not in self.changes and kind is not Why.MARKUP:
            if kind is not Why.WHITE_SPACE:
                self.codes[place] = self.label(kind)
            return
        self._change(place, end, Why.ESCAPE, (*order, char))

    def _change(self, start: int, end: int, why: Why, words: tuple[int, int, str]) -> None:
        self.codes[start:end] = _REPLACED
        self.changes.setdefault(start, _Change(start, end, why)).words.append(words)

    def _was(self, start: int, end: int) -> str:
        return self.text[start : min(end, start + ACCOUNT_SAMPLE_CHARS)]

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
    replaced = [(*entry, number) for number, one in enumerate(said) for entry in ledger.paragraph(one, number)]
    for skip in (*document.skipped, *skips):
        ledger.skip(skip)
    for run, places, number in replaced:
        ledger.replace(run, places, number)
    return ledger.account()


def _points(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _kinds(points: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The index in `_UNLABELLED` of each code point."""
    distinct, places = np.unique(points, return_inverse=True)
    kinds = [_UNLABELLED.index(kind_of_character(chr(point))) for point in distinct.tolist()]
    return np.array(kinds, np.int32)[places]
