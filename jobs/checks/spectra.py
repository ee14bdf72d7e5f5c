"""What is measured in a take's short-time spectra: band levels, and how long a sound stays as it is (a hum).

Frames of 20 ms, bands that grow with frequency as hearing does. numpy only; knows no text and no limit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jobs.checks.measures import FRAME_S, Samples, runs

SPECTRUM_S = 0.02
"""One spectrum every 20 ms, of 40 ms of sound: a sound of speech lasts two of them and more."""
NUM_BANDS = 32
LOWEST_HZ, HIGHEST_HZ = 100.0, 7_000.0
BREAK_HZ = 700.0
"""Hearing's scale (O'Shaughnessy's mel): bands are even below about this frequency and even in octaves above it."""
RANGE_DB = 50.0
"""Bands further than this below the loudest one of the take are not heard beside it, and count as that level."""
STEADY_LAG_FRAMES = 5
STEADY_DB = 2.5
"""A spectrum that moves by less than this (root mean square over the bands) in 100 ms stands still."""

Bands = npt.NDArray[np.float64]
"""[T, NUM_BANDS] dB by frame of 20 ms and band."""


def band_levels_db(samples: Samples, rate_hz: int) -> Bands:
    """Band levels of each 20 ms, relative to the loudest band of the take and not below -RANGE_DB.

    Sums of bins by running totals and not by a matrix product: no library's order of adding can change a bit.
    """
    hop = round(rate_hz * SPECTRUM_S)
    window = 2 * hop
    count = max(1, len(samples) // hop)
    padded = np.pad(samples, (hop // 2, window + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, window)[: count * hop : hop]
    spectrum = np.fft.rfft(frames * np.hanning(window).astype(np.float32), axis=1)
    edges = _edges(window, rate_hz)
    heard = spectrum[:, : edges[-1]]
    power = np.square(heard.real) + np.square(heard.imag)
    totals = np.add.reduceat(power, edges[:-1], axis=1, dtype=np.float64) / np.diff(edges)
    levels: Bands = 10 * np.log10(np.maximum(totals, 1e-12))
    return np.asarray(np.maximum(levels - levels.max(), -RANGE_DB))


def sounding_frames(sound: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """[count] which spectra lie where the take sounds; `sound` is by frame of 10 ms."""
    half = round(SPECTRUM_S / FRAME_S)
    padded = np.pad(sound, (0, max(0, count * half - len(sound))))[: count * half]
    return np.asarray(padded.reshape(count, half).any(axis=1), np.bool_)


def longest_steady_s(bands: Bands, sounding: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Seconds and start (s) of the longest stretch of sound whose spectrum stands still."""
    if len(bands) <= STEADY_LAG_FRAMES:
        return 0.0, 0.0
    moves = np.sqrt(np.square(bands[STEADY_LAG_FRAMES:] - bands[:-STEADY_LAG_FRAMES]).mean(axis=1))
    still = (moves < STEADY_DB) & sounding[STEADY_LAG_FRAMES:] & sounding[:-STEADY_LAG_FRAMES]
    found = runs(still)
    if not len(found):
        return 0.0, 0.0
    start, end = found[np.argmax(found[:, 1] - found[:, 0])]
    return float(end - start + STEADY_LAG_FRAMES) * SPECTRUM_S, float(start) * SPECTRUM_S


def _edges(size: int, rate_hz: int) -> npt.NDArray[np.int64]:
    """[NUM_BANDS + 1] first bin of each band and the end of the last; every band has at least one bin."""
    highest = min(HIGHEST_HZ, rate_hz / 2)
    marks = np.linspace(np.log1p(LOWEST_HZ / BREAK_HZ), np.log1p(highest / BREAK_HZ), NUM_BANDS + 1)
    bins = np.rint(np.expm1(marks) * BREAK_HZ * size / rate_hz).astype(np.int64)
    apart = np.maximum.accumulate(bins - np.arange(NUM_BANDS + 1)) + np.arange(NUM_BANDS + 1)
    return np.minimum(apart, size // 2 - NUM_BANDS + np.arange(NUM_BANDS + 1))
