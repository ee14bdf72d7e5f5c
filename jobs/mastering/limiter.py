"""Gain, and a limiter that looks ahead so that no true peak is above a ceiling. Streaming, numpy.

At every sample: the highest point of the curve around it (oversampled by a windowed sinc, in the way of ITU-R BS.1770-4
annex 2), the gain that would bring that point to the ceiling, the least such gain within the look-ahead, and a mean of
those under a Hann window. All are of windows that hold the sample itself, so the gain is never above what it needs:

    gain[n] = Σ hann[k] · m[n-k],   m[i] = min(needed[i … i+L]),   k = 0 … L

Every output sample depends on a fixed number of samples around it, and work is done on blocks that begin at multiples
of `BLOCK_SAMPLES`: however the audio comes in, the same samples go out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from jobs.takes import Pcm

Samples: TypeAlias = npt.NDArray[np.float64]
"""[n] samples; full scale is 32768, as in int16."""

BLOCK_SAMPLES = 8192
LOOK_AHEAD_S = 0.02
"""Long enough that a gain that moves within it is not heard as distortion of a low voice (a period of 80 Hz: 12 ms)."""
MIN_OVERSAMPLED_HZ = 176_400
"""Four times 44.1 kHz; lower rates are oversampled further, to see their peaks as a meter at 192 kHz does."""
_HALF_TAPS = 12
_FULL_SCALE = 32768.0


@dataclass(frozen=True, slots=True)
class Setting:
    """What is done to every sample: `gain_db`, then a limit of `ceiling_dbtp` on true peaks."""

    gain_db: float
    ceiling_dbtp: float


def limited(blocks: Iterable[Pcm], setting: Setting, sample_rate_hz: int) -> Iterator[Samples]:
    """Blocks with gain and limit, of `BLOCK_SAMPLES` each but the last; as many samples as came in."""
    look_ahead = max(1, round(LOOK_AHEAD_S * sample_rate_hz))
    context = look_ahead + _HALF_TAPS + 1
    factor = float(10.0 ** (setting.gain_db / 20.0))
    ceiling = float(10.0 ** (setting.ceiling_dbtp / 20.0)) * _FULL_SCALE
    for window in _windows(blocks, context):
        yield _limit(window * factor, ceiling, look_ahead, sample_rate_hz)


def true_peak(samples: Samples, sample_rate_hz: int) -> Samples:
    """The highest point of the curve from one sample before to one after each: [n] → [n - 26], without the edges."""
    phases = _phases(-(-MIN_OVERSAMPLED_HZ // sample_rate_hz))
    inner = samples[_HALF_TAPS:-_HALF_TAPS]
    after = np.abs(inner)  # the highest of [i, i + 1)
    for taps in phases:
        curve = np.convolve(samples, taps, "valid")[1:]
        np.maximum(after, np.abs(curve), out=after)
    return np.maximum(after[1:-1], after[:-2])


def _limit(window: Samples, ceiling: float, look_ahead: int, sample_rate_hz: int) -> Samples:
    edge = look_ahead + _HALF_TAPS + 1
    inside = window[edge:-edge]
    if np.abs(window).max() * _overshoot_bound(-(-MIN_OVERSAMPLED_HZ // sample_rate_hz)) <= ceiling:
        return inside
    peaks = true_peak(window, sample_rate_hz)
    if peaks.max() <= ceiling:
        return inside
    needed = ceiling / np.maximum(peaks, ceiling)
    least = _sliding_min(needed, look_ahead + 1)
    gain = np.convolve(least, _hann(look_ahead + 1), "valid")
    return inside * np.minimum(gain, 1.0)


def _windows(blocks: Iterable[Pcm], context: int) -> Iterator[Samples]:
    """Every block of `BLOCK_SAMPLES` with `context` samples before and after it; outside the audio is silence."""
    held = np.zeros(context)
    parts: list[Samples] = [held]
    ready = context
    for block in blocks:
        parts.append(block.astype(np.float64))
        ready += block.size
        if ready >= 2 * context + BLOCK_SAMPLES:
            held = np.concatenate(parts)
            while held.size >= 2 * context + BLOCK_SAMPLES:
                yield held[: 2 * context + BLOCK_SAMPLES]
                held = held[BLOCK_SAMPLES:]
            parts, ready = [held], held.size
    held = np.concatenate([*parts, np.zeros(context)])
    while held.size > 2 * context:
        yield held[: 2 * context + BLOCK_SAMPLES]
        held = held[BLOCK_SAMPLES:]


@lru_cache(maxsize=4)
def _phases(factor: int) -> tuple[Samples, ...]:
    """Filters for the points between two samples: sinc under a Hann window, [2 * 12], each summing to one."""
    found = []
    for phase in range(1, factor):
        distance = np.arange(_HALF_TAPS, -_HALF_TAPS, -1) - phase / factor
        taps = np.sinc(distance) * (0.5 + 0.5 * np.cos(np.pi * distance / (_HALF_TAPS + 1)))
        found.append(taps / taps.sum())
    return tuple(found)


@lru_cache(maxsize=4)
def _overshoot_bound(factor: int) -> float:
    """No point between samples is farther from zero than this many times the farthest sample."""
    return max(float(np.abs(taps).sum()) for taps in _phases(factor))


@lru_cache(maxsize=8)
def _hann(width: int) -> Samples:
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * (np.arange(width) + 1) / (width + 1))
    return np.asarray(window / window.sum(), dtype=np.float64)


def _sliding_min(values: Samples, width: int) -> Samples:
    """The least of every `width` values in a row: [n] → [n - width + 1]. Widths are doubled until they are enough."""
    least, done = values, 1
    while 2 * done <= width:
        least = np.minimum(least[:-done], least[done:])
        done *= 2
    rest = width - done
    return np.minimum(least[:-rest], least[rest:]) if rest else least
