"""What a take says twice: stretches of sound that come again, and how long the text itself repeats.

The spectra of a take are compared with each other; a stretch that is said again is a diagonal of likeness. Silence is
left out of the comparison, so the pauses of the two need not be of one length. numpy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jobs.checks.spectra import SPECTRUM_S, Bands

WINDOW_S = 0.8
"""The shortest stretch that is looked for: three short words; single words come again in every text."""
LEAST_LAG_S = 0.3
"""A sound is like itself a moment later; no phrase comes again sooner than this."""
MOST_FRAMES = 1_500
"""Longer takes (30 s of sound) are compared in coarser steps: the work grows with the square."""
LEVELS = 127
"""Likeness is computed with whole numbers of this size, so that no library's order of adding can change a bit."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """`length_s` seconds of sound from `start_s` on come again `lag_s` later; `likeness` in [-1, 1] is their mean."""

    start_s: float
    length_s: float
    lag_s: float
    likeness: float


def find_repeat(bands: Bands, sounding: npt.NDArray[np.bool_], *, least_likeness: float) -> Stretch | None:
    """The longest stretch that comes again, or None if there is none of WINDOW_S and of that likeness.

    `bands` [T, B] and `sounding` [T] as `jobs.checks.spectra` gives them. Two stretches may overlap: what is said four
    times in a row is like itself three times as long.
    """
    places = np.flatnonzero(sounding)
    stride = max(1, -(-len(places) // MOST_FRAMES))
    places = places[::stride]
    step_s = SPECTRUM_S * stride
    window, least_lag = round(WINDOW_S / step_s), round(LEAST_LAG_S / step_s)
    if len(places) < window + least_lag:
        return None
    means = _diagonal_means(_unit(bands[places]), window)[least_lag:]
    alike = means >= least_likeness
    if not alike.any():
        return None
    lag, start, count = _longest_run(alike)
    likeness = float(means[lag, start : start + count].mean())
    first, again = places[start], places[start + lag + least_lag]
    length_s = (count - 1 + window) * step_s
    return Stretch(float(first) * SPECTRUM_S, length_s, float(again - first) * SPECTRUM_S, likeness)


def repeated_words(words: Sequence[str]) -> Sequence[str]:
    """The words of the longest (in letters) stretch of a text that comes again in it; the two may overlap."""
    best: Sequence[str] = ()
    lengths = [0] * (len(words) + 1)
    for later in range(len(words) - 1, 0, -1):
        # lengths[i]: how many words from i on are those from i + later on
        lengths = [0] * (len(words) + 1)
        for index in range(len(words) - later - 1, -1, -1):
            lengths[index] = lengths[index + 1] + 1 if words[index] == words[index + later] else 0
        index = max(range(len(words) - later), key=lengths.__getitem__)
        found = words[index : index + lengths[index]]
        if sum(map(len, found)) > sum(map(len, best)):
            best = found
    return best


def _unit(bands: Bands) -> npt.NDArray[np.float32]:
    """[T, B] spectra without what they have in common, of length LEVELS, rounded to whole numbers."""
    own = bands - bands.mean(axis=0)
    own /= np.maximum(np.sqrt(np.square(own).sum(axis=1, keepdims=True)), 1e-9)
    return np.rint(own * LEVELS).astype(np.float32)


def _diagonal_means(unit: npt.NDArray[np.float32], window: int) -> npt.NDArray[np.float32]:
    """[T, T - window + 1] mean likeness of the frames from t on with those a lag later; row: lag, column: t.

    Whole numbers below 2**24 are exact in float32, so the product is the same in any order; their running totals are
    kept in int32. Where the later stretch would end after the take, the mean counts the missing part as 0.
    """
    count = len(unit)
    table = np.zeros((count, 2 * count), np.int32)
    table[:, :count] = unit @ unit.T
    step = table.strides
    lagged = np.lib.stride_tricks.as_strided(table, (count, count), (step[1], step[0] + step[1]))  # [lag, t]
    totals = np.zeros((count, count + 1), np.int64)
    np.cumsum(lagged, axis=1, out=totals[:, 1:])
    sums = totals[:, window:] - totals[:, :-window]
    return (sums / (window * LEVELS * LEVELS)).astype(np.float32)


def _longest_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    """Row, first column and length of the longest run of True in a row."""
    padded = np.zeros((flags.shape[0], flags.shape[1] + 2), np.int8)
    padded[:, 1:-1] = flags
    flips = np.flatnonzero(np.diff(padded.ravel()))
    starts, ends = flips[::2], flips[1::2]
    best = int(np.argmax(ends - starts))
    row, column = divmod(int(starts[best]), padded.shape[1])
    return row, column, int(ends[best] - starts[best])
