"""Room tone: a bed of very quiet noise under a chapter, so that no pause is digital zero.

Checkers of audiobooks (ACX) take pure zero for a fault. The noise at a position is a function of that position alone
(Philox: a counter and no state), so it is the same in any block size and every run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RMS_DB = -70.0
"""10 dB under the noise floor that ACX allows, and 50 under speech."""
FADE_SAMPLES = 1024
"""One AAC frame. The tone comes in over the first frame and is gone before the last one, which stays silent: there the
packets of two chapters meet (`jobs.assembly.packets`)."""
_KEY = 0x524F4F4D544F4E45
_WORDS = 4
"""Random numbers of 64 bits that Philox makes of one count."""
_TAPS = 0.9 ** np.arange(40)
"""A one-pole low-pass, cut off where it has fallen by 36 dB: from 2 % of the sample rate on it falls by 6 dB an octave,
as the noise of rooms does."""
_FULL_SCALE = 32768.0


def room_tone(start: int, count: int, total: int) -> npt.NDArray[np.float64]:
    """[count] samples (full scale 32768) from sample `start` of a chapter of `total` samples.

    Zero where the chapter has no room for it (fewer than three frames).
    """
    if total < 3 * FADE_SAMPLES:
        return np.zeros(count)
    white = _white(start, count + _TAPS.size - 1)
    tone = np.zeros(count)
    for number, tap in enumerate(_TAPS):  # by elements, always in this order: the same in any block size
        tone += tap * white[number : number + count]
    position = np.arange(start, start + count)
    fade = np.minimum(position, total - FADE_SAMPLES - 1 - position) / FADE_SAMPLES
    return np.asarray(tone * np.clip(fade, 0.0, 1.0) * _SCALE)


def _white(start: int, count: int) -> npt.NDArray[np.float64]:
    """White noise with a triangular distribution in (-1, 1): the sum of two evenly distributed numbers."""
    first = start // _WORDS
    last = -(-(start + count) // _WORDS)
    words = np.random.Philox(key=_KEY, counter=first).random_raw((last - first) * _WORDS)
    words = words[start - first * _WORDS :][:count]
    high, low = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)
    return (high.astype(np.float64) + low.astype(np.float64)) / 2.0**32 - 1.0


_SCALE = _FULL_SCALE * 10.0 ** (RMS_DB / 20.0) / np.sqrt((_TAPS**2).sum() / 6.0)
"""White noise of this kind has a mean square of 1/6."""
