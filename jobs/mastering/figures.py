"""What a finished file measures: loudness, peaks, noise floor, head and tail, and how it is coded.

Everything is measured on what a decoder gives, not on what went into the encoder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from jobs.errors import BadInput
from jobs.mastering.loudness import FLOOR_DB, LoudnessMeter, power_db
from jobs.spec import Frozen

WINDOW_S = 0.02
"""Levels are looked at in windows of this length."""
NOISE_WINDOW_S = 0.5
"""The noise floor is the RMS of the quietest stretch of this length, moved by 20 ms at a time."""
SOUND_DB = -50.0
"""Head and tail end where a window is louder than this: 10 dB above the noise that ACX allows, far below any word."""
_FULL_SCALE = 32768.0
_FRAMES_AT_ONCE = 16
"""Frames of a coder are short; meters are quicker with longer blocks."""


class Levels(Frozen):
    """What is measured of samples, in dB of full scale; -120 stands for digital zero.

    `loudness_lufs` is None where there is no speech loud enough to have one. `noise_floor_db`: RMS of the quietest
    half second. `head_s` and `tail_s`: what lies before the first and after the last window of 20 ms above -50 dB.
    """

    loudness_lufs: float | None
    rms_db: float
    peak_db: float
    true_peak_dbtp: float
    noise_floor_db: float
    head_s: float
    tail_s: float
    duration_s: float


class Coding(Frozen):
    """How a file is coded. `bit_rates_bps`: all that its frames have (mp3), else what the file declares, if it does."""

    codec: str
    sample_rate_hz: int
    channels: int
    joint_stereo: bool
    bit_rates_bps: tuple[int, ...]

    @property
    def constant_bit_rate(self) -> bool:
        """Whether all frames have one bit rate (known of mp3 alone)."""
        return self.codec == "mp3" and len(self.bit_rates_bps) == 1


class LevelMeter:
    """Fed mono blocks as `LoudnessMeter` is."""

    def __init__(self, sample_rate_hz: int) -> None:
        self._rate_hz = sample_rate_hz
        self._loudness = LoudnessMeter(sample_rate_hz)
        self._window = max(1, round(WINDOW_S * sample_rate_hz))
        self._rest: npt.NDArray[np.float64] = np.zeros(0)
        self._powers: list[npt.NDArray[np.float64]] = []
        self._peak = 0.0
        self._samples = 0

    def feed(self, block: npt.NDArray[Any]) -> None:
        """Measure one more block. Raises ValueError for a type of sample that has no full scale here."""
        if block.size == 0:
            return
        self._loudness.feed(block)
        self._samples += block.size
        samples = block.astype(np.float64) / (_FULL_SCALE if block.dtype == np.int16 else 1.0)
        self._peak = max(self._peak, float(np.abs(samples).max()))
        joined = np.concatenate([self._rest, samples])
        whole = joined.size - joined.size % self._window
        self._powers.append(np.square(joined[:whole]).reshape(-1, self._window).mean(axis=1))
        self._rest = joined[whole:]

    def result(self) -> Levels:
        """What all blocks together are. Ends the measurement."""
        if self._rest.size:
            self._powers.append(np.square(self._rest).mean(keepdims=True))
        powers = np.concatenate(self._powers) if self._powers else np.zeros(1)
        found = self._loudness.result()
        duration_s = self._samples / self._rate_hz
        loud = np.flatnonzero(powers > 10.0 ** (SOUND_DB / 10.0))
        first, end = (int(loud[0]), int(loud[-1]) + 1) if loud.size else (powers.size, 0)
        window_s = self._window / self._rate_hz
        return Levels(
            loudness_lufs=found.integrated_lufs,
            rms_db=found.rms_db,
            peak_db=power_db(self._peak**2),
            true_peak_dbtp=max(found.true_peak_dbtp, power_db(self._peak**2)),
            noise_floor_db=_noise_floor_db(powers),
            head_s=round(min(first * window_s, duration_s), 3),
            tail_s=round(max(0.0, duration_s - end * window_s), 3),
            duration_s=round(duration_s, 6),
        )


def measure_file(path: Path) -> tuple[Levels, Coding]:
    """Decode a whole file and measure it; of several channels the mean is measured.

    Raises:
        BadInput: it cannot be read, or holds no audio.
    """
    try:
        with av.open(str(path)) as source:
            stream = source.streams.audio[0]
            meter = LevelMeter(stream.rate)
            rates: set[int] = set()
            joint = False
            parts: list[npt.NDArray[Any]] = []
            for packet in source.demux(stream):
                if stream.codec_context.name.startswith("mp3") and packet.size > 3:
                    head = bytes(packet)[:4]
                    rates.add(_mp3_bit_rate(head))
                    joint |= head[3] >> 6 == 1
                parts += [mono(frame) for frame in packet.decode()]
                if len(parts) >= _FRAMES_AT_ONCE or packet.size == 0:
                    meter.feed(np.concatenate(parts or [np.zeros(0)]))
                    parts = []
            declared = stream.codec_context.bit_rate or source.bit_rate or 0
            coding = Coding(
                codec="mp3" if rates else stream.codec_context.name,
                sample_rate_hz=stream.rate,
                channels=stream.codec_context.channels,
                joint_stereo=joint,
                bit_rates_bps=tuple(sorted(rates)) or ((declared,) if declared else ()),
            )
    except (av.FFmpegError, IndexError, OSError) as error:
        msg = f"{path} cannot be measured: {error}; give it a finished audio file"
        raise BadInput(msg) from error
    return meter.result(), coding


def mono(frame: av.AudioFrame) -> npt.NDArray[Any]:
    """The samples of a decoded frame, [n]: int16, or float32 with full scale 1.0; the mean of several channels."""
    array: npt.NDArray[Any] = frame.to_ndarray()
    channels = len(frame.layout.channels)
    planes = array if frame.format.is_planar else array.reshape(-1, channels).T
    if channels == 1 and planes.dtype in (np.int16, np.float32, np.float64):
        return np.asarray(planes[0])
    scaled = planes.astype(np.float64)
    if planes.dtype.kind == "i":
        scaled /= 2.0 ** (8 * planes.dtype.itemsize - 1)
    return np.asarray(scaled.mean(axis=0), dtype=np.float32)


def _noise_floor_db(powers: npt.NDArray[np.float64]) -> float:
    """RMS of the quietest half second; of less audio than that, of all of it."""
    count = min(powers.size, round(NOISE_WINDOW_S / WINDOW_S))
    sums = np.convolve(powers, np.full(count, 1.0 / count), "valid")
    return power_db(max(0.0, float(sums.min()))) if sums.size else FLOOR_DB


_V1_KBPS = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
_V2_KBPS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)


def _mp3_bit_rate(head: bytes) -> int:
    """Bits per second of a frame, from its header (ISO/IEC 11172-3 and 13818-3, layer III)."""
    table = _V1_KBPS if head[1] >> 3 & 3 == 3 else _V2_KBPS
    return 1000 * table[head[2] >> 4]
