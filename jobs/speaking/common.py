"""Rules for every language: addresses, runs of punctuation, emoji, forms of plain characters."""

from __future__ import annotations

from jobs.speaking.base import Rule

FIRST: tuple[Rule, ...] = ()
"""Before the rules of a language: addresses."""
LAST: tuple[Rule, ...] = ()
"""After them: punctuation, emoji, symbols that nothing is said for."""
