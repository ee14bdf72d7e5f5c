"""What is measured in a take's samples in time: level, where there is sound, pauses, clipped and clicking samples.

Levels are in dB of full scale (a sine of amplitude 1.0 has -3 dB). numpy only; nothing here knows a text or a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

FRAME_S = 0.01
"""Levels are of frames of 10 ms: the shortest sound of speech, a burst, fills about one."""
LEVEL_FLOOR_DB = -120.0
"""What digital silence counts as; the quietest noise of 16-bit audio lies at -98."""
LOUD_SHARE = 0.95
"""The level that this share of the frames stays under is the take's own measure: a few loud frames do not move it."""
SOUND_RANGE_DB = (35.0, 20.0)
"""Sound begins at most 35 and at least 20 dB under the loud level, in between `OVER_NOISE_DB` above the noise."""
NOISE_SHARE = 0.05
OVER_NOISE_DB = 6.0
SHORTEST_SOUND_FRAMES = 3
"""What sounds for less than 30 ms and stands alone is no speech but a click or a breath."""
SHORTEST_PAUSE_S = 0.15
"""Shorter gaps are inside words: the closures of stops last 50 to 120 ms."""

RAIL = 0.999
"""Samples from here on stand at the rail: 16 bits keep 1.0 as 32767 and leave no room above it."""
FLAT_LEAST = 0.1
"""A flat top below this is rounding of a quiet sound, not a limiter."""
CLIP_RUN_SAMPLES = 3
"""A peak of speech may touch the rail once or twice; three samples in a row were cut off."""

CLICK_BLOCK_SAMPLES = 16
CLICK_NEAR_BLOCKS = 2
"""Blocks of 16 samples on each side that may still ring of a click itself."""
CLICK_FAR_BLOCKS = 24
"""Blocks on each side that say what is usual there: 16 ms at 24 kHz, a pulse and more of any voice above 60 Hz."""
CLICK_LEAST = 0.02
"""A step of the curve smaller than this, of full scale, is not heard as a click."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Where a take sounds. `sound` [F] bool by frame of 10 ms; `parts` [P, 2] first and end frame between pauses."""

    levels_db: npt.NDArray[np.float64]
    loud_db: float
    sound: npt.NDArray[np.bool_]
    parts: npt.NDArray[np.int64]

    @property
    def lead_s(self) -> float:
        """Silence before the first sound; the whole take if there is none."""
        return float(self.parts[0, 0] if len(self.parts) else len(self.sound)) * FRAME_S

    @property
    def trail_s(self) -> float:
        """Silence after the last sound; the whole take if there is none."""
        return float(len(self.sound) - (self.parts[-1, 1] if len(self.parts) else 0)) * FRAME_S

    @property
    def spoken_s(self) -> float:
        """From the first sound to the end of the last one."""
        return float(self.parts[-1, 1] - self.parts[0, 0]) * FRAME_S if len(self.parts) else 0.0

    @property
    def pauses_s(self) -> npt.NDArray[np.float64]:
        """[P - 1] seconds of each pause between two parts."""
        return np.asarray((self.parts[1:, 0] - self.parts[:-1, 1]) * FRAME_S, np.float64)

    @property
    def speech_db(self) -> float:
        """Root mean square over the frames that sound."""
        power = np.power(10.0, self.levels_db[self.sound] / 10)
        return float(10 * np.log10(power.mean())) if power.size else LEVEL_FLOOR_DB


def frame_levels_db(samples: Samples, rate_hz: int) -> npt.NDArray[np.float64]:
    """[F] root mean square of each frame of 10 ms; what is left over at the end belongs to the last one."""
    size = max(1, round(rate_hz * FRAME_S))
    count = max(1, len(samples) // size)
    starts = np.arange(count) * size
    sums = np.add.reduceat(np.square(samples, dtype=np.float64), starts)
    sizes = np.diff(np.append(starts, len(samples)))
    levels: npt.NDArray[np.float64] = 10 * np.log10(np.maximum(sums / sizes, 10 ** (LEVEL_FLOOR_DB / 10)))
    return levels


def find_activity(samples: Samples, rate_hz: int) -> Activity:
    """Where a take sounds. `samples`: [S] finite float32, S at least 1."""
    levels_db = frame_levels_db(samples, rate_hz)
    loud_db, noise_db = (float(value) for value in np.quantile(levels_db, (LOUD_SHARE, NOISE_SHARE)))
    threshold_db = float(np.clip(noise_db + OVER_NOISE_DB, loud_db - SOUND_RANGE_DB[0], loud_db - SOUND_RANGE_DB[1]))
    sounding = runs(levels_db > max(threshold_db, LEVEL_FLOOR_DB))
    parts = _joined(sounding)
    long_enough = [_sounds(sounding, part) >= SHORTEST_SOUND_FRAMES for part in parts]
    parts = parts[np.array(long_enough, bool)] if len(parts) else parts
    sound = np.zeros(len(levels_db), bool)
    for start, end in parts:
        sound[start:end] = levels_db[start:end] > threshold_db
    return Activity(levels_db, loud_db, sound, parts)


def runs(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """[R, 2] first and end index of each run of True."""
    flips = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return flips.reshape(-1, 2)


def clipped_samples(samples: Samples) -> int:
    """Samples in runs of three and more that stand at the rail, or flat at the take's own highest level."""
    size = np.abs(samples)
    peak = float(size.max())
    top = min(RAIL, peak) if peak >= FLAT_LEAST else RAIL
    high = np.flatnonzero(size >= top)  # few in a take that is not clipped: what follows looks at those alone
    if len(high) < CLIP_RUN_SAMPLES:
        return 0
    groups = np.split(high, np.flatnonzero((np.diff(high) != 1) | (np.diff(np.sign(samples[high])) != 0)) + 1)
    return sum(len(group) for group in groups if len(group) >= CLIP_RUN_SAMPLES)


def click_ratio(samples: Samples) -> tuple[float, int]:
    """How far the sharpest bend of the curve stands above what is usual around it, and its sample.

    The bend is the second difference: what a single wrong sample or a jump at a join makes large and a voice small.
    Compared with the largest bends before and after (`CLICK_FAR_BLOCKS`): a burst of speech has many in a row. The
    ratio is 0 for bends below `CLICK_LEAST`, and where the take has less than those blocks.
    """
    bends = np.abs(np.diff(samples, n=2))
    blocks = len(bends) // CLICK_BLOCK_SAMPLES
    if blocks < 2 * (CLICK_NEAR_BLOCKS + 1) + 1:
        return 0.0, 0
    peaks = bends[: blocks * CLICK_BLOCK_SAMPLES].reshape(blocks, CLICK_BLOCK_SAMPLES).max(axis=1)
    reach = CLICK_FAR_BLOCKS - CLICK_NEAR_BLOCKS
    highest = _sliding_max(np.pad(peaks, CLICK_FAR_BLOCKS), reach)
    before, after = highest[:blocks], highest[CLICK_FAR_BLOCKS + CLICK_NEAR_BLOCKS + 1 :][:blocks]
    usual = np.maximum(np.maximum(before, after), CLICK_LEAST / 4)
    ratios = np.where(peaks >= CLICK_LEAST, peaks / usual, 0.0)
    block = int(ratios.argmax())
    return float(ratios[block]), block * CLICK_BLOCK_SAMPLES


def _sliding_max(values: npt.NDArray[np.float32], width: int) -> npt.NDArray[np.float32]:
    """[N - width + 1] the largest of each `width` values in a row, found by doubling."""
    highest, covered = values, 1
    while covered < width:
        step = min(covered, width - covered)
        highest = np.maximum(highest[:-step], highest[step:])
        covered += step
    return highest


def _joined(sounding: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Runs with less than a pause between them as one."""
    if not len(sounding):
        return sounding
    apart = np.flatnonzero((sounding[1:, 0] - sounding[:-1, 1]) * FRAME_S >= SHORTEST_PAUSE_S - FRAME_S / 2)
    starts = sounding[np.append(0, apart + 1), 0]
    ends = sounding[np.append(apart, len(sounding) - 1), 1]
    return np.stack((starts, ends), axis=1)


def _sounds(sounding: npt.NDArray[np.int64], part: npt.NDArray[np.int64]) -> int:
    """Frames that sound in a part."""
    inside = (sounding[:, 0] >= part[0]) & (sounding[:, 1] <= part[1])
    return int((sounding[inside, 1] - sounding[inside, 0]).sum())
