"""What tests of speaking rules look at: a sentence as it is spoken."""

from __future__ import annotations

from collections.abc import Iterable

from jobs.speaking.aligned import runs_of, without_double_spaces
from jobs.speaking.base import Replacement


def spoken_text(text: str, replacements: Iterable[Replacement]) -> str:
    """A sentence as it is spoken, with its replacements (in order)."""
    return "".join(run.now for run in without_double_spaces(runs_of(text, 0, replacements)))
