"""Takes that went wrong, made from good ones: what tests and benchmarks of the checks must find. numpy only.

Every function takes samples [S] float32 and a seed, and gives new samples: the same for the same seed. Joins lie where
the voice is quiet and are faded over 5 ms, as a model's own would be: no click gives them away.
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

FADE_S = 0.005
QUIET_REACH_S = 0.25
"""How far a join may be moved to stand where the voice is quietest."""
FRAME_S = 0.01


def cut(samples: Samples, rate_hz: int, seed: int, *, least: float = 0.2, most: float = 0.6) -> Samples:
    """The end is missing: a share of the samples between `least` and `most`."""
    share = random.Random(f"cut {seed}").uniform(least, most)
    end = max(1, round(len(samples) * (1 - share)))
    kept = samples[:end].copy()
    fade = min(len(kept), round(FADE_S * rate_hz))
    kept[len(kept) - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
    return kept


def doubled(samples: Samples, rate_hz: int, seed: int, *, whole: bool | None = None) -> Samples:
    """Something is said twice: everything (`whole`), or a stretch of 1.2 s at least (four words and more).

    None: one or the other by the seed. A take that is too short for a stretch is said twice as a whole.
    """
    chance = random.Random(f"doubled {seed}")
    seconds = len(samples) / rate_hz
    stretch_s = chance.uniform(1.2, max(1.2, min(4.0, 0.7 * seconds)))
    start_s = chance.uniform(0.0, max(0.0, seconds - stretch_s))
    drawn = chance.random() < 0.5
    if (drawn if whole is None else whole) or seconds < 1.2 * 1.3:
        return _joined([samples, samples], rate_hz)
    start = _quiet_near(samples, start_s, rate_hz)
    end = _quiet_near(samples, start_s + stretch_s, rate_hz)
    return _joined([samples[:end], samples[start:end], samples[end:]], rate_hz)


def swapped(takes: list[Samples], seed: int, *, alike: bool = False) -> list[Samples]:
    """Each take's audio becomes that of another one. `alike`: the one of the nearest length, the hardest case."""
    if alike:
        order = sorted(range(len(takes)), key=lambda index: (len(takes[index]), index))
        to = dict(zip(order, [*order[1:], order[0]], strict=True))
        to |= {a: b for pair in zip(order[::2], order[1::2], strict=False) for a, b in (pair, pair[::-1])}
        return [takes[to[index]].copy() for index in range(len(takes))]
    order = list(range(len(takes)))
    random.Random(f"swapped {seed}").shuffle(order)
    to = dict(zip(order, [*order[1:], order[0]], strict=True))
    return [takes[to[index]].copy() for index in range(len(takes))]


def padded(samples: Samples, other: Samples, rate_hz: int, seed: int, *, least_s: float = 1.0) -> Samples:
    """Babble at the end: `least_s` to three times that of `other` (from anywhere in it) follow the last word."""
    chance = random.Random(f"padded {seed}")
    seconds = chance.uniform(least_s, 3 * least_s)
    while len(other) < (seconds + 3 * QUIET_REACH_S) * rate_hz:
        other = np.concatenate((other, other))
    start = _quiet_near(other, chance.uniform(0.0, len(other) / rate_hz - seconds - 2 * QUIET_REACH_S), rate_hz)
    end = _quiet_near(other, start / rate_hz + seconds, rate_hz)
    return _joined([samples, other[start : max(end, start + round(least_s * rate_hz))]], rate_hz)


def _quiet_near(samples: Samples, at_s: float, rate_hz: int) -> int:
    """The sample near a time at which the voice is quietest."""
    frame = round(FRAME_S * rate_hz)
    reach = round(QUIET_REACH_S / FRAME_S)
    middle = round(at_s / FRAME_S)
    frames = len(samples) // frame
    low, high = max(0, min(middle - reach, frames - 1)), max(1, min(middle + reach, frames))
    level = np.square(samples[low * frame : high * frame].reshape(-1, frame)).mean(axis=1)
    return int(low + level.argmin()) * frame + frame // 2


def _joined(parts: list[Samples], rate_hz: int) -> Samples:
    """The parts after one another, each faded in and out."""
    fade = round(FADE_S * rate_hz)
    faded = [part.copy() for part in parts if len(part)]
    for part in faded:
        length = min(fade, len(part))
        ramp = np.linspace(0, 1, length, dtype=np.float32)
        part[:length] *= ramp
        part[len(part) - length :] *= ramp[::-1]
    return np.concatenate(faded)
