"""What ACX (Audible) asks of every file of an audiobook, compared with what a finished file measures. Pure.

Limits: ACX audio submission requirements. Its rules say RMS and peak of samples; the true peak is shown beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.mastering.figures import Coding, Levels

MIN_RMS_DB, MAX_RMS_DB = -23.0, -18.0
MAX_PEAK_DB = -3.0
MAX_NOISE_DB = -60.0
MIN_BIT_RATE_BPS = 192_000
SAMPLE_RATE_HZ = 44_100
MAX_FILE_S = 120 * 60.0
MIN_HEAD_S, MAX_HEAD_S = 0.5, 1.0
MIN_TAIL_S, MAX_TAIL_S = 1.0, 5.0

NOT_CHECKED = (
    "not checked: opening credits (title, author, narrator) and closing credits as files of their own",
    "not checked: a retail sample of at most 5 minutes",
    "not checked: that each file is one chapter and begins with its title",
    "ACX takes human narration only at present: these files meet its levels and formats, not that rule",
)
"""What a measurement cannot say, and a rule that no figure meets."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure of one file. `passed` is None where ACX sets no limit and the figure is only shown."""

    name: str
    value: str
    limit: str
    passed: bool | None


def acx_checks(levels: Levels, coding: Coding) -> tuple[Check, ...]:
    """Every figure of one file that ACX sets a limit for."""
    return (*_level_checks(levels), *_coding_checks(coding), *_time_checks(levels))


def book_checks(codings: Sequence[Coding]) -> tuple[Check, ...]:
    """What all files of a book must have in common."""
    kinds = sorted({coding.channels for coding in codings})
    words = "; ".join({1: "mono", 2: "stereo"}.get(kind, f"{kind} channels") for kind in kinds)
    return (Check("channels of all files", words, "all mono or all stereo", len(kinds) <= 1),)


def _level_checks(levels: Levels) -> Iterator[Check]:
    rms, peak, noise = levels.rms_db, levels.peak_db, levels.noise_floor_db
    yield Check("rms", f"{rms:.1f} dB", f"{MIN_RMS_DB:g} to {MAX_RMS_DB:g} dB", MIN_RMS_DB <= rms <= MAX_RMS_DB)
    yield Check("peak", f"{peak:.2f} dB", f"{MAX_PEAK_DB:g} dB or less", peak <= MAX_PEAK_DB)
    yield Check("true peak", f"{levels.true_peak_dbtp:.2f} dBTP", "", None)
    yield Check("noise floor", f"{noise:.1f} dB", f"{MAX_NOISE_DB:g} dB or less", noise <= MAX_NOISE_DB)


def _coding_checks(coding: Coding) -> Iterator[Check]:
    yield Check("format", coding.codec, "mp3", coding.codec == "mp3")
    rates = coding.bit_rates_bps
    kinds = "CBR" if coding.constant_bit_rate else "not constant" if len(rates) > 1 else "not known to be constant"
    value = f"{min(rates, default=0) / 1000:.0f} kb/s, {kinds}"
    fine = coding.constant_bit_rate and min(rates) >= MIN_BIT_RATE_BPS
    yield Check("bit rate", value, f"{MIN_BIT_RATE_BPS // 1000} kb/s or more, CBR", fine)
    rate = coding.sample_rate_hz
    yield Check("sample rate", f"{rate} Hz", f"{SAMPLE_RATE_HZ} Hz", rate == SAMPLE_RATE_HZ)
    channels = {1: "mono", 2: "joint stereo" if coding.joint_stereo else "stereo"}
    value = channels.get(coding.channels, f"{coding.channels} channels")
    yield Check("channels", value, "mono, or stereo but not joint", value in {"mono", "stereo"})


def _time_checks(levels: Levels) -> Iterator[Check]:
    minutes = levels.duration_s / 60
    yield Check("length", f"{minutes:.1f} min", f"{MAX_FILE_S / 60:g} min or less", levels.duration_s <= MAX_FILE_S)
    head, tail = levels.head_s, levels.tail_s
    yield Check("head", f"{head:.2f} s", f"{MIN_HEAD_S:g} to {MAX_HEAD_S:g} s", MIN_HEAD_S <= head <= MAX_HEAD_S)
    yield Check("tail", f"{tail:.2f} s", f"{MIN_TAIL_S:g} to {MAX_TAIL_S:g} s", MIN_TAIL_S <= tail <= MAX_TAIL_S)
