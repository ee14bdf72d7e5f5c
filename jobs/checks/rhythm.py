"""Whether the pauses of a take stand where its text asks for them: cheap evidence that the words are those of the text.

A voice that rests at punctuation says parts of the lengths of the text's phrases. Parts and phrases are aligned, at the
least misfit: parts against phrases by the logarithm of their lengths, pauses that nothing asks for, and pauses that
were left out. Voices differ: the misfit means something against the other takes of the same voice (`jobs.checks.rate`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

SPREAD = 0.2
"""Standard deviation of the logarithm of a part's length around what its share of the text says."""
SPREAD_S = 0.12
"""And of short parts in seconds: the ends of phrases are drawn out."""
PAUSE_MISFIT = 5.0
"""A pause where the text asks for none, or none where it does, weighs as two and a quarter standard deviations."""
MOST_PHRASES = 40
"""Beyond this nothing is compared: the work grows with the third power."""


def misfit(phrases: Sequence[float], parts_s: Sequence[float]) -> float:
    """Sum of squared deviations of the best alignment; 0 for a phrase said in one part, whatever its length.

    `phrases`: units of each phrase (`jobs.checks.units`). `parts_s`: seconds of sound between pauses.
    """
    spoken_s, units = sum(parts_s), sum(phrases)
    if not spoken_s or not units or len(phrases) > MOST_PHRASES or len(parts_s) > 2 * MOST_PHRASES:
        return 0.0
    wanted_s = [spoken_s * phrase / units for phrase in phrases]
    best = [[math.inf] * (len(parts_s) + 1) for _ in range(len(phrases) + 1)]
    best[0][0] = 0.0
    for i in range(1, len(phrases) + 1):
        for j in range(1, len(parts_s) + 1):
            best[i][j] = min(
                best[i - taken][j - given]
                + _deviation(sum(wanted_s[i - taken : i]), sum(parts_s[j - given : j]))
                + PAUSE_MISFIT * (taken + given - 2)
                for taken, given in _steps(i, j)
            )
    return best[-1][-1]


def _steps(phrases: int, parts: int) -> list[tuple[int, int]]:
    """Phrases and parts that the last group of an alignment may hold: several of the one against one of the other."""
    joined = [(taken, 1) for taken in range(1, phrases + 1)]
    split = [(1, given) for given in range(2, parts + 1)]
    return joined + split


def _deviation(wanted_s: float, said_s: float) -> float:
    spread = math.hypot(SPREAD, SPREAD_S / max(wanted_s, SPREAD_S))
    return (math.log(max(said_s, 0.01) / max(wanted_s, 0.01)) / spread) ** 2
