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

LETTERS_WINDOW = 8
LEAST_SAME_LETTERS = 0.6
"""The shortest repeat of a text, two short words, and which share of its letters must be the same."""


LAG_TIMES, LAG_MORE_S = 1.25, 0.4
"""How far a repeat of the text may lie from where it is heard: no voice says two sentences at quite one rate."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """`length_s` seconds of sound from `start_s` on come again `lag_s` later; the text explains `explained_s` of them.

    Ends are known to a quarter of a second: a window that lies for the most part in a stretch counts as in it.
    """

    start_s: float
    length_s: float
    lag_s: float
    explained_s: float


def find_repeat(
    bands: Bands,
    sounding: npt.NDArray[np.bool_],
    words: Sequence[str],
    *,
    least_likeness: float,
    least_lag_s: float = LEAST_LAG_S,
) -> Repeat | None:
    """The stretch that comes again beyond what the text explains by most; None if none of WINDOW_S is that much alike.

    `bands` [T, B] and `sounding` [T] as `jobs.checks.spectra` gives them. Two stretches may overlap: what is said four
    times in a row is like itself three times as long. What comes again sooner than `least_lag_s` is not looked at: a
    steady sound is like itself as long as it lasts. A repeat of the text, or nearly one (`in the nineteenth and in
    the eighteenth century`), explains sound that comes again about as much later as its words stand apart. It is found
    by the same search: letters in place of spectra, words without spaces in place of sound without pauses.
    """
    places = np.flatnonzero(sounding)
    if not len(places):
        return None
    stride = max(1, -(-len(places) // MOST_FRAMES))
    places = places[::stride]
    step_s = SPECTRUM_S * stride
    least_lag = round(max(LEAST_LAG_S, least_lag_s) / step_s)
    counts, starts = _longest(_unit(bands[places]), round(WINDOW_S / step_s), least_likeness, least_lag)
    if not counts.any():
        return None
    letters_s = len(places) * step_s / max(1, sum(map(len, words)))
    explained_s = _explained_s(words, letters_s, np.arange(len(counts), dtype=np.float64) * step_s)
    lag = int(np.argmax(np.where(counts > 0, counts * step_s - explained_s, -np.inf)))
    first, again = places[starts[lag]], places[starts[lag] + lag]
    return Repeat(
        start_s=float(first) * SPECTRUM_S,
        length_s=int(counts[lag]) * step_s,
        lag_s=float(again - first) * SPECTRUM_S,
        explained_s=float(explained_s[lag]),
    )


def _explained_s(words: Sequence[str], letter_s: float, lags_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[L] how long the text repeats itself about so much later; letters take `letter_s` each."""
    letters = np.array([ord(letter) for letter in "".join(words)[:MOST_FRAMES]], np.int64)
    same = (letters[:, None] == np.unique(letters)).astype(np.float32) * LEVELS
    counts, _ = _longest(same, LETTERS_WINDOW, LEAST_SAME_LETTERS, 1)
    explained_s = np.zeros(len(lags_s))
    for lag in np.flatnonzero(counts):
        near = np.abs(lags_s - lag * letter_s) <= (LAG_TIMES - 1) * lag * letter_s + LAG_MORE_S
        explained_s[near] = np.maximum(explained_s[near], counts[lag] * letter_s)
    return explained_s


def _longest(
    unit: npt.NDArray[np.float32], window: int, least: float, least_lag: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """[T] by lag: the longest stretch that comes again so much later (0: none of `window`), and where it starts."""
    if len(unit) < window + least_lag:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    alike = _diagonal_means(unit, window) >= least
    alike[:least_lag] = False
    padded = np.zeros((alike.shape[0], alike.shape[1] + 2), np.int8)
    padded[:, 1:-1] = alike
    flips = np.flatnonzero(np.diff(padded.ravel()))
    rows, columns = np.divmod(flips[::2], padded.shape[1])
    counts, starts = np.zeros(len(unit), np.int64), np.zeros(len(unit), np.int64)
    found = flips[1::2] - flips[::2] - 1 + window
    for run in np.argsort(found, kind="stable"):  # the longest of a lag comes last and stays
        counts[rows[run]], starts[rows[run]] = found[run], columns[run]
    return counts, starts


def _unit(bands: Bands) -> npt.NDArray[np.float32]:
    """[T, B] spectra without what they have in common, of length LEVELS, rounded to whole numbers."""
    own = bands - bands.mean(axis=0)
    own /= np.maximum(np.sqrt(np.square(own).sum(axis=1, keepdims=True)), 1e-9)
    return np.asarray(np.rint(own * LEVELS), np.float32)


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
    totals = np.zeros((count, count + 1), np.int32)
    np.cumsum(lagged, axis=1, out=totals[:, 1:])
    sums = totals[:, window:] - totals[:, :-window]
    return np.asarray(sums * np.float32(1 / (window * LEVELS * LEVELS)), np.float32)
