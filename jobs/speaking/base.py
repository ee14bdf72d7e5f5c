"""What a speaking rule is: a function from one sentence to replacements. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from jobs.account import Why


class Addresses(StrEnum):
    """How URLs are spoken."""

    HOST = "host"
    """`https://www.example.com/a?b` as "example dot com"."""
    SPELL = "spell"
    """All of it, sign by sign where it is no word."""
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text[start:end]` of a sentence (not empty) is spoken as `now`; with `now` empty it is not spoken."""

    start: int
    end: int
    now: str
    why: Why


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may know beside the sentence. `language` is a tag (`en`, `en-GB`); `vocabulary` all words of the
    document that stand in it in lower case; `notices` takes what a person should be told once (see `Speaker.warnings`).
    """

    language: str
    heading: bool = False
    addresses: Addresses = Addresses.HOST
    vocabulary: frozenset[str] = frozenset()
    notices: dict[str, int] = field(default_factory=dict)

    def notice(self, text: str) -> None:
        """Note something to tell; the same text is counted."""
        self.notices[text] = self.notices.get(text, 0) + 1


Rule = Callable[[str, Context], Iterable[Replacement]]
"""Replacements of one sentence, in order and without overlap. Takes time linear in its length."""


def without_overlap(found: Iterable[Replacement]) -> Iterator[Replacement]:
    """In order; of those that overlap the first, and of two from one place the longer."""
    end = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if one.start >= end:
            yield one
            end = one.end
