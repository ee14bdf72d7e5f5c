"""Sounds for tests of the checks: words as noise of different colours: no two are alike and none is hummed."""

from __future__ import annotations

import numpy as np

RATE_HZ = 22_050


def word(index: int, seconds: float = 0.3, level: float = 0.1) -> np.ndarray:
    """A word of its own: the spectrum wanders, as in speech; the same for the same index."""
    chance = np.random.default_rng(index)
    parts = []
    for _ in range(max(1, round(seconds / 0.1))):
        noise = np.fft.rfft(chance.normal(size=round(0.1 * RATE_HZ)))
        hertz = np.fft.rfftfreq(round(0.1 * RATE_HZ), 1 / RATE_HZ)
        centre, width = chance.uniform(200, 4_000), chance.uniform(150, 800)
        noise *= np.exp(-(((hertz - centre) / width) ** 2))
        part = np.fft.irfft(noise)
        parts.append(part * level / np.sqrt(np.square(part).mean()))
    faded = [part * np.minimum(1, np.arange(len(part)) / (0.02 * RATE_HZ)) for part in parts]
    return np.concatenate(
        [part * np.minimum(1, np.arange(len(part))[::-1] / (0.02 * RATE_HZ)) for part in faded]
    ).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 1e-5, round(seconds * RATE_HZ)).astype(np.float32)


def said(*words: int, gap_s: float = 0.04, edge_s: float = 0.1, seconds: float = 0.3) -> np.ndarray:
    """Words after one another; a negative one is a pause of that many tenths of a second."""
    parts = [silence(edge_s)]
    for one in words:
        parts += [silence(-one / 10)] if one < 0 else [word(one, seconds), silence(gap_s)]
    return np.concatenate([*parts, silence(edge_s)])
