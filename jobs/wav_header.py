"""Headers of WAV files that are sent while they are made. Pure."""

from __future__ import annotations

import struct


def endless_wav_header(sample_rate_hz: int) -> bytes:
    """A WAV header for 16-bit mono PCM of unknown length: sizes 0xFFFFFFFF, as players of pipes expect."""
    open_bytes = 0xFFFFFFFF
    return _wav_header(sample_rate_hz, riff_bytes=open_bytes, data_bytes=open_bytes)


def wav_header(sample_rate_hz: int, samples: int) -> bytes:
    """A WAV header for so many samples of 16-bit mono PCM (of more than 4 GiB: for an unknown length)."""
    data_bytes, rest_bytes = 2 * samples, 36
    if data_bytes + rest_bytes >= 0xFFFFFFFF:
        return endless_wav_header(sample_rate_hz)
    return _wav_header(sample_rate_hz, riff_bytes=data_bytes + rest_bytes, data_bytes=data_bytes)


def _wav_header(sample_rate_hz: int, *, riff_bytes: int, data_bytes: int) -> bytes:
    header_bytes, bytes_per_sample = 16, 2
    riff = struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE")
    rate = (sample_rate_hz, sample_rate_hz * bytes_per_sample, bytes_per_sample, 8 * bytes_per_sample)
    return riff + struct.pack("<4sIHHIIHH4sI", b"fmt ", header_bytes, 1, 1, *rate, b"data", data_bytes)
