"""How loud a run of audio is: integrated loudness, RMS and true peak, measured while it streams by.

FFmpeg's `ebur128` filter (ITU-R BS.1770-4, gated as EBU R 128), through PyAV.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt

SILENCE_LUFS = -70.0
"""The absolute gate of BS.1770: where nothing is above it, the filter says −70 and there is no loudness."""
FLOOR_DB = -120.0
"""What a level of nothing at all is given as: far below the least a 16-bit sample can be."""
_FULL_SCALE = 32768.0
_FORMATS = {np.dtype(np.int16): "s16", np.dtype(np.float32): "flt", np.dtype(np.float64): "dbl"}


@dataclass(frozen=True, slots=True)
class Loudness:
    """What a meter found. `integrated_lufs` is None where no stretch of 400 ms is above −70 LUFS.

    `rms_db` is of all samples and `true_peak_dbtp` the highest point between and at them, both relative to full scale.
    """

    integrated_lufs: float | None
    rms_db: float
    true_peak_dbtp: float


class LoudnessMeter:
    """Fed mono blocks ([n] int16, or float32 and float64 with full scale 1.0) of one kind, in order."""

    def __init__(self, sample_rate_hz: int) -> None:
        self._rate_hz = sample_rate_hz
        self._graph: Any = None
        self._source: Any = None
        self._sink: Any = None
        self._position = 0
        self._energy = 0.0
        self._found: dict[str, str] = {}

    def feed(self, block: npt.NDArray[Any]) -> None:
        """Measure one more block. Raises ValueError for another type of sample."""
        if block.size == 0:
            return
        sample_format = _FORMATS.get(block.dtype)
        if sample_format is None:
            msg = f"blocks of {block.dtype} cannot be measured; use int16, float32 or float64"
            raise ValueError(msg)
        if self._graph is None:
            self._open(sample_format)
        scaled = block.astype(np.float64)
        self._energy += float(np.square(scaled).sum()) / (_FULL_SCALE**2 if sample_format == "s16" else 1.0)
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(block)[np.newaxis, :], format=sample_format, layout="mono"
        )
        frame.sample_rate = self._rate_hz
        frame.time_base = Fraction(1, self._rate_hz)
        frame.pts = self._position
        self._position += block.size
        self._source.push(frame)
        self._drain()

    def result(self) -> Loudness:
        """What all blocks together are. Ends the measurement."""
        if self._graph is not None:
            self._source.push(None)
            self._drain()
        integrated_lufs = float(self._found.get("lavfi.r128.I", SILENCE_LUFS))
        return Loudness(
            integrated_lufs=integrated_lufs if integrated_lufs > SILENCE_LUFS else None,
            rms_db=power_db(self._energy / max(1, self._position)),
            true_peak_dbtp=power_db(float(self._found.get("lavfi.r128.true_peak", 0.0)) ** 2),
        )

    def _open(self, sample_format: str) -> None:
        graph = av.filter.Graph()
        rate = self._rate_hz
        self._source = graph.add(
            "abuffer", f"sample_rate={rate}:sample_fmt={sample_format}:channel_layout=mono:time_base=1/{rate}"
        )
        meter = graph.add("ebur128", "metadata=1:peak=true:framelog=quiet")
        self._sink = graph.add("abuffersink")
        self._source.link_to(meter)
        meter.link_to(self._sink)
        graph.configure()
        self._graph = graph

    def _drain(self) -> None:
        """Take off what the filter has ready; the last frame's notes are of everything up to it."""
        while True:
            try:
                self._found = dict(self._sink.pull().metadata) or self._found
            except (av.BlockingIOError, av.EOFError):
                return


def measure(blocks: Iterable[npt.NDArray[Any]], sample_rate_hz: int) -> Loudness:
    """Measure a whole run of blocks."""
    meter = LoudnessMeter(sample_rate_hz)
    for block in blocks:
        meter.feed(block)
    return meter.result()


def power_db(power: float) -> float:
    """A mean square (full scale 1.0) in dB, `FLOOR_DB` at least; to a thousandth."""
    return round(max(FLOOR_DB, 10.0 * float(np.log10(power))), 3) if power > 0 else FLOOR_DB
