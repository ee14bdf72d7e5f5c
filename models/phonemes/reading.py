"""What is read of a text: its IPA, and which part of it each word of the text became. Pure.

Words are told apart by counting: the clean-up of a text and the readers move marks and spaces, but every letter and
digit stays, in order. So a part of the IPA that stands for the 5th to 8th letter belongs to the word these are in. One
that stands for letters of two words leaves it open where the words part: then no word has a place, rather than a wrong
one.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

SUPRASEGMENTALS = frozenset("ˈˌːˑ͜͡")
"""Stress, length and tie bars: they colour a sound, they are none."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some IPA (with blanks and pause marks, or empty) and how many letters of the text it stands for, in order."""

    ipa: str
    letters: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """The IPA of a segment. `words`: range [start, end) of characters of `ipa` for each whitespace-separated word.

    A word that makes no sound (a dash alone) has an empty range. No words at all: where they part is not certain.
    """

    ipa: str
    words: tuple[tuple[int, int], ...] = ()


@dataclass
class Spelling:
    """Parts put one after the other. `owners`: for each character of `ipa` the letters [start, end) it stands for."""

    ipa: str = ""
    owners: list[tuple[int, int]] = field(default_factory=list)
    letters: int = 0

    def add(self, parts: Sequence[Part]) -> None:
        """Go on with these parts."""
        for part in parts:
            self.ipa += part.ipa
            self.owners += [(self.letters, self.letters + part.letters)] * len(part.ipa)
            self.letters += part.letters

    def append(self, sentence: Spelling) -> None:
        """Go on with a sentence, after a space."""
        if self.ipa:
            self.add([Part(" ")])
        self.ipa += sentence.ipa
        self.owners += [(first + self.letters, last + self.letters) for first, last in sentence.owners]
        self.letters += sentence.letters

    def without_double_blanks(self) -> None:
        """One space for each run of blanks, none at the ends."""
        kept = [
            place
            for place, sign in enumerate(self.ipa)
            if not sign.isspace() or (place and not self.ipa[place - 1].isspace())
        ]
        if kept and self.ipa[kept[-1]].isspace():
            kept.pop()
        self.owners = [self.owners[place] for place in kept]
        self.ipa = "".join(" " if self.ipa[place].isspace() else self.ipa[place] for place in kept)

    def become(self, ipa: str) -> None:
        """Take another end: what differs from here on stands for no letters."""
        same = next((place for place, pair in enumerate(zip(self.ipa, ipa, strict=False)) if len(set(pair)) > 1), None)
        same = min(len(self.ipa), len(ipa)) if same is None else same
        self.owners = [*self.owners[:same], *[(self.letters, self.letters)] * (len(ipa) - same)]
        self.ipa = ipa

    def reading(self, letters_of_words: Sequence[int], *, spoken: Sequence[bool]) -> Reading:
        """The words of a text by how many letters each has; `spoken` is False of those that may make no sound."""
        ends = list(accumulate(letters_of_words))
        if not ends or ends[-1] != self.letters:
            return Reading(self.ipa)
        places: list[list[int]] = [[] for _ in ends]
        for place, (first, last) in enumerate(self.owners):
            if first == last or not is_sound(self.ipa[place]):
                continue
            word = bisect_right(ends, first)
            if bisect_left(ends, last) != word:
                return Reading(self.ipa)
            places[word].append(place)
        if any(must and not found for must, found in zip(spoken, places, strict=True)):
            return Reading(self.ipa)
        words: list[tuple[int, int]] = []
        for found in places:
            at = words[-1][1] if words else 0
            words.append((found[0], found[-1] + 1) if found else (at, at))
        return Reading(self.ipa, tuple(words))


def is_sound(sign: str) -> bool:
    """Whether a sign of IPA is heard or belongs to one that is: no blank and no mark of a pause."""
    return unicodedata.category(sign)[0] in "LMN" or sign in SUPRASEGMENTALS
