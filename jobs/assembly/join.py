"""Takes and silences as one stream of int16 blocks, by sample count: what an encoder is fed.

Holds one take at a time. A take that does not start (or end) near zero is faded over 5 ms there, so that joins do not
click; lengths never change. Knows no file formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jobs.assembly.timeline import Placed, Timeline
from jobs.protocols import Store
from jobs.takes import Pcm, check_length, load_take

FADE_S = 0.005
NEAR_ZERO = 164
"""A jump of up to half a percent of full scale is not heard as a click."""
MAX_BLOCK_SAMPLES = 1 << 16


def book_blocks(store: Store, timeline: Timeline) -> Iterator[Pcm]:
    """The blocks of all chapters; their lengths add up to `timeline.samples`. Raises what `run_blocks` raises."""
    for chapter in timeline.chapters:
        yield from run_blocks(store, chapter.segments, chapter.samples, timeline.sample_rate_hz)


def run_blocks(store: Store, segments: Sequence[Placed], samples: int, sample_rate_hz: int) -> Iterator[Pcm]:
    """Blocks ([n] int16, n <= 65,536) of one run of placed segments; their lengths add up to `samples`.

    Raises:
        ObjectMissing: a take is not in the store.
        ObjectDamaged: a take is not what its record or the result of its segment says.
    """
    position = 0
    for placed in segments:
        yield from _silence(placed.start_sample - position)
        length = placed.end_sample - placed.start_sample
        if placed.take is None:
            yield from _silence(length)
        else:
            yield from _cut(_take(store, placed.take, length, sample_rate_hz))
        position = placed.end_sample
    yield from _silence(samples - position)


def soften_edges(pcm: Pcm, sample_rate_hz: int) -> Pcm:
    """A take ([S] int16) with a linear 5 ms fade at each edge that is not near zero; the same length, a copy."""
    fade = min(round(FADE_S * sample_rate_hz), pcm.size // 2)
    out = pcm.copy()
    if fade == 0:
        return out
    ramp = np.arange(fade, dtype=np.float64) / fade
    if abs(int(pcm[0])) > NEAR_ZERO:
        out[:fade] = np.rint(pcm[:fade] * ramp)
    if abs(int(pcm[-1])) > NEAR_ZERO:
        out[-fade:] = np.rint(pcm[-fade:] * ramp[::-1])
    return out


def _take(store: Store, take: str, length: int, sample_rate_hz: int) -> Pcm:
    info, pcm = load_take(store, take)
    check_length(store, info, length, sample_rate_hz)
    return soften_edges(pcm, sample_rate_hz)


def _cut(pcm: Pcm) -> Iterator[Pcm]:
    for start in range(0, pcm.size, MAX_BLOCK_SAMPLES):
        yield pcm[start : start + MAX_BLOCK_SAMPLES]


def _silence(samples: int) -> Iterator[Pcm]:
    for start in range(0, samples, MAX_BLOCK_SAMPLES):
        yield np.zeros(min(MAX_BLOCK_SAMPLES, samples - start), dtype=np.int16)
