"""A user's own words: a table of words or patterns and what is spoken for them (`--lexicon words.tsv`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jobs.speaking.base import Context, Replacement


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The entries of a lexicon file."""

    def rule(self, text: str, context: Context) -> Iterator[Replacement]:
        """Its words in a sentence."""
        yield from ()
