"""Audio formats that can be sent while they are made: samples in, bytes out, nothing is held back longer than a frame.

`encoder = LiveEncoder(LiveFormat.MP3, 22_050); encoder.add(samples) + encoder.close()`
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt


class LiveFormat(StrEnum):
    """What OpenAI's clients may ask for as `response_format`."""

    MP3 = "mp3"
    OPUS = "opus"
    """In Ogg."""
    AAC = "aac"
    """ADTS."""
    FLAC = "flac"
    WAV = "wav"
    PCM = "pcm"
    """Signed 16-bit little-endian mono at 24 kHz, as OpenAI's API has it."""

    @property
    def media_type(self) -> str:
        """The value of Content-Type."""
        raise NotImplementedError


class LiveEncoder:
    """One stream of mono audio. `sample_rate_hz` is that of the samples."""

    def __init__(self, live_format: LiveFormat, sample_rate_hz: int) -> None:
        raise NotImplementedError

    def add(self, samples: npt.NDArray[np.int16]) -> bytes:
        """Bytes for [S] int16 samples; may be empty, or the header alone."""
        raise NotImplementedError

    def close(self) -> bytes:
        """The rest. The encoder is not used after this."""
        raise NotImplementedError
