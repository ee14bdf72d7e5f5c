"""Lays what was heard beside what should be said, so that the fewest things differ. Pure; needs rapidfuzz.

Beside the moves of an edit distance (same, other, missing, added) a word may be like another one (names and rare words
are misheard, which is no fault of a take), or stand for some words that sound as it does ("everyone", "every one").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import Indel

from jobs.checks.words import WILD

NEAR = 0.5
"""Words at least so alike (0: not at all, 1: the same) may be one misheard: ferry and fairy, Vasquez and Vescas."""
NEAR_JOINED = 0.7
"""The same where one word stands for several: a word that is missing must not hide in the one beside it."""
ALONE = 0.8
"""A word so like another one is that one."""
MOST_JOINED = 4
"""Words that one word may stand for: D.S.O. is three."""
_JOIN_COST = 0.05
"""Of each boundary between words that only one side has: where all else is equal, word stands beside word."""
_SPELLINGS = (
    (re.compile(r"ph"), "f"),
    (re.compile(r"ck|q|c(?![eiyh])|ch(?=[rl])"), "k"),
    (re.compile(r"c(?=[eiy])|z"), "s"),
    (re.compile(r"gh|(?<=[aeiou])h|^h(?=[^aeiouy])|(?<=w)h"), ""),
    (re.compile(r"^kn"), "n"),
    (re.compile(r"^wr"), "r"),
    (re.compile(r"[aeiouy]+"), "a"),
    (re.compile(r"(.)\1+"), r"\1"),
)
"""A rough sound of English spelling: what a small recogniser mixes up falls together."""


class Move(StrEnum):
    """How a stretch of the text and one of the transcript belong together."""

    SAME = "same"
    NEAR = "near"
    OTHER = "other"
    MISSING = "missing"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Step:
    """`said` words of the text beside `heard` words of the transcript, and what their difference costs."""

    move: Move
    said: int
    heard: int
    cost: float


def aligned(said: Sequence[str], heard: Sequence[str], *, sounds: bool) -> list[Step]:
    """The cheapest way from the words of a text to those of a transcript, in order.

    `sounds`: words may be near to each other and be written as one or several; for characters they may not.
    """
    costs = [[0.0] * (len(heard) + 1) for _ in range(len(said) + 1)]
    ways: list[list[Step | None]] = [[None] * (len(heard) + 1) for _ in range(len(said) + 1)]
    for i in range(len(said) + 1):
        for j in range(len(heard) + 1):
            if i or j:
                steps = _steps(said[max(0, i - MOST_JOINED) : i], heard[max(0, j - MOST_JOINED) : j], sounds=sounds)
                best = min(steps, key=lambda step: costs[i - step.said][j - step.heard] + step.cost)
                costs[i][j] = costs[i - best.said][j - best.heard] + best.cost
                ways[i][j] = best
    return _walked(ways)


def _walked(ways: Sequence[Sequence[Step | None]]) -> list[Step]:
    i, j = len(ways) - 1, len(ways[0]) - 1
    steps: list[Step] = []
    while (step := ways[i][j]) is not None:
        steps.append(step)
        i, j = i - step.said, j - step.heard
    return steps[::-1]


def _steps(said: Sequence[str], heard: Sequence[str], *, sounds: bool) -> list[Step]:
    """All last steps that end with these words (as many of them as one may stand for).

    Of equal ones the first is taken, so that what is said twice is added at the end.
    """
    steps = [Step(Move.ADDED, 0, 1, 1.0)] if heard else []
    if said and heard:
        steps.append(_beside(said[-1], heard[-1], sounds=sounds))
        if said[-1] == WILD or heard[-1] == WILD:
            steps += [Step(Move.SAME, 1, n, n * _JOIN_COST) for n in _joins(heard) if said[-1] == WILD]
            steps += [Step(Move.SAME, n, 1, n * _JOIN_COST) for n in _joins(said) if heard[-1] == WILD]
        elif sounds:
            steps += _joined(said, heard)
    steps += [Step(Move.MISSING, 1, 0, 1.0)] if said else []
    return steps


def _joins(words: Sequence[str]) -> range:
    return range(2, min(MOST_JOINED, len(words)) + 1)


def _joined(said: Sequence[str], heard: Sequence[str]) -> list[Step]:
    """One word of one side beside several of the other.

    Not if it is one of them: then that one was heard, and the rest is missing or added.
    """
    pairs = [(n, 1, said[-n:], heard[-1]) for n in _joins(said)]
    pairs += [(1, n, heard[-n:], said[-1]) for n in _joins(heard)]
    steps = []
    for of_text, of_transcript, several, one in pairs:
        whole = "".join(several)
        if WILD in whole or WILD in one or not _lengths_fit(whole, one):
            continue
        alike = likeness(whole, one)
        if alike == 1 or (alike >= NEAR_JOINED and max(likeness(word, one) for word in several) < min(alike, ALONE)):
            cost = (of_text + of_transcript - 2) * _JOIN_COST
            move = Move.SAME if alike == 1 else Move.NEAR
            steps.append(Step(move, of_text, of_transcript, cost + (1 - alike) * len(several)))
    return steps


def _lengths_fit(one: str, other: str) -> bool:
    """Whether two words can be alike at all: `likeness` is at most that of their lengths."""
    return min(len(one), len(other)) >= 0.5 * max(len(one), len(other))


def _beside(one: str, other: str, *, sounds: bool) -> Step:
    if one == other or WILD in {one, other}:
        return Step(Move.SAME, 1, 1, 0.0)
    alike = likeness(one, other) if sounds else 0.0
    return Step(Move.NEAR, 1, 1, 1 - alike) if alike >= NEAR else Step(Move.OTHER, 1, 1, 1.0)


@lru_cache(maxsize=65536)
def likeness(one: str, other: str) -> float:
    """How alike two words are, by their letters or by what these sound like: 1 is the same word."""
    if one == other:
        return 1.0
    letters = Indel.normalized_similarity(one, other)
    sounds = 0.95 * Indel.normalized_similarity(_sound(one), _sound(other))
    return float(max(letters, sounds))


@lru_cache(maxsize=65536)
def _sound(word: str) -> str:
    for pattern, sound in _SPELLINGS:
        word = pattern.sub(sound, word)
    return word
