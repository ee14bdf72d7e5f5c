"""What ACX (Audible) asks of every file of an audiobook, compared with what a finished file measures. Pure.

Limits: ACX audio submission requirements. Its rules say RMS and peak of samples; the true peak is shown beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.mastering.figures import Coding, Levels
from jobs.mastering.long_chapters import MAX_FILE_S
from jobs.mastering.loudness import FLOOR_DB

MIN_RMS_DB, MAX_RMS_DB = -23.0, -18.0
MAX_PEAK_DB = -3.0
MAX_NOISE_DB = -60.0
MIN_BIT_RATE_BPS = 192_000
SAMPLE_RATE_HZ = 44_100
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
    """One figure of one file (its unit is in its name). `passed` is None where it is shown alone: ACX sets no limit."""

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
    words = "; ".join({1: "mono", 2: "stereo"}.get(kind, str(kind)) for kind in kinds)
    return (Check("channels of all files", words, "all mono or all stereo", len(kinds) <= 1),)


def _level_checks(levels: Levels) -> Iterator[Check]:
    rms, peak, noise = levels.rms_db, levels.peak_db, levels.noise_floor_db
    yield Check("rms dB", f"{rms:.1f}", f"{MIN_RMS_DB:g} to {MAX_RMS_DB:g}", MIN_RMS_DB <= rms <= MAX_RMS_DB)
    yield Check("peak dB", f"{peak:.2f}", f"{MAX_PEAK_DB:g}", peak <= MAX_PEAK_DB)
    yield Check("true peak", f"{levels.true_peak_dbtp:.2f}", "", None)
    shown = "zero" if noise <= FLOOR_DB else f"{noise:.1f}"
    yield Check("noise dB", shown, f"{MAX_NOISE_DB:g}", noise <= MAX_NOISE_DB)


def _coding_checks(coding: Coding) -> Iterator[Check]:
    yield Check("format", coding.codec, "mp3", coding.codec == "mp3")
    rates = coding.bit_rates_bps
    kind = "CBR" if coding.constant_bit_rate else "VBR"
    value = f"{min(rates, default=0) / 1000:.0f} {kind}"
    fine = coding.constant_bit_rate and min(rates) >= MIN_BIT_RATE_BPS
    yield Check("kb/s", value, f"{MIN_BIT_RATE_BPS // 1000} CBR", fine)
    rate = coding.sample_rate_hz
    yield Check("Hz", str(rate), str(SAMPLE_RATE_HZ), rate == SAMPLE_RATE_HZ)
    channels = {1: "mono", 2: "joint stereo" if coding.joint_stereo else "stereo"}
    value = channels.get(coding.channels, str(coding.channels))
    yield Check("channels", value, "mono", value in {"mono", "stereo"})


def _time_checks(levels: Levels) -> Iterator[Check]:
    yield Check("min", f"{levels.duration_s / 60:.1f}", f"{MAX_FILE_S / 60:g}", levels.duration_s <= MAX_FILE_S)
    head, tail = levels.head_s, levels.tail_s
    yield Check("head s", f"{head:.2f}", f"{MIN_HEAD_S:g} to {MAX_HEAD_S:g}", MIN_HEAD_S <= head <= MAX_HEAD_S)
    yield Check("tail s", f"{tail:.2f}", f"{MIN_TAIL_S:g} to {MAX_TAIL_S:g}", MIN_TAIL_S <= tail <= MAX_TAIL_S)
