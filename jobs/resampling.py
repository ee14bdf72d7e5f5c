"""Other sample rates: FFmpeg's swresample at its usual quality, through PyAV."""

from __future__ import annotations

from typing import Any, Literal

import av
import numpy as np
import numpy.typing as npt

from jobs.takes import Pcm


def resample(pcm: Pcm, from_hz: int, to_hz: int, sample_format: Literal["s16", "flt"]) -> npt.NDArray[Any]:
    """[S] int16 samples at another rate: [S'] int16 (`s16`), or float32 of full scale 1.0 (`flt`).

    S' is what the filter gives, S * to_hz / from_hz to within a few samples.
    """
    resampler = av.AudioResampler(format=sample_format, layout="mono", rate=to_hz)
    frame = av.AudioFrame.from_ndarray(pcm.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = from_hz
    parts = [part.to_ndarray().reshape(-1) for given in (frame, None) for part in resampler.resample(given)]
    return np.concatenate(parts) if parts else np.zeros(0, np.int16 if sample_format == "s16" else np.float32)
