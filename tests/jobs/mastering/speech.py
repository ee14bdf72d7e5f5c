"""Audio that has the levels of speech: syllables, pauses and single loud points; no voice is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jobs.mastering.settle import Run


def speech_like(seconds: float, rate_hz: int, *, seed: int = 0, level: float = 0.1) -> np.ndarray:
    """[S] int16: noise of falling spectrum in syllables, a pause every three seconds, a loud point now and then."""
    samples = round(seconds * rate_hz)
    noise = np.random.default_rng(seed)
    white = noise.normal(size=samples)
    slope = np.fft.irfft(
        np.fft.rfft(white) / np.maximum(np.arange(samples // 2 + 1) / samples * rate_hz / 400, 1), samples
    )
    at_s = np.arange(samples) / rate_hz
    syllables = np.clip(np.sin(2 * np.pi * 4 * at_s), 0, 1) * (at_s % 3 < 2.4)
    wave = level * slope / np.sqrt(np.mean(slope**2)) * syllables
    for place in noise.integers(0, max(1, samples - 64), samples // rate_hz):
        wave[place : place + 64] *= 3.0
    return np.clip(np.rint(32767 * wave), -32768, 32767).astype(np.int16)


def cut(audio: np.ndarray, sizes: Sequence[int]) -> Iterator[np.ndarray]:
    """The audio in blocks of these sizes, over and over."""
    start, number = 0, 0
    while start < audio.size:
        size = sizes[number % len(sizes)]
        yield audio[start : start + size]
        start, number = start + size, number + 1


def run_of(audio: np.ndarray, rate_hz: int, sizes: Sequence[int] = (65_536,)) -> Run:
    return Run(lambda: cut(audio, sizes), audio.size, rate_hz)
