"""Read finished audio back and compare it with what went in: the last check before a file becomes an object.

Flac and wav are compared sample by sample, m4b by its edit list, mp3 and opus by the count a decoder gives.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import av

from jobs.assembly.containers import Container, container_of
from jobs.errors import EncodeMismatch
from jobs.kinds import Profile
from jobs.spec import AudioFormat


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What a decoder finds in a file. `track_samples` is the length the container declares, where it declares one."""

    decoded_samples: int
    sample_rate_hz: int
    track_samples: int | None
    sha256: str


def read_back(path: Path, audio_format: AudioFormat) -> ReadBack:
    """Decode a whole file. `sha256` is of the little-endian int16 samples of a lossless format, else of nothing."""
    container = container_of(audio_format)
    fingerprint = hashlib.sha256()
    decoded = 0
    with av.open(str(path), format=container.muxer) as source:
        stream = source.streams.audio[0]
        for frame in source.decode(stream):
            decoded += frame.samples
            if container.lossless:
                fingerprint.update(frame.to_ndarray().astype("<i2").tobytes())
        track = None
        if stream.duration is not None and stream.time_base is not None:
            track = round(stream.duration * stream.time_base * stream.rate)
        return ReadBack(decoded, stream.rate, track, fingerprint.hexdigest())


def check_written(
    path: Path,
    *,
    audio_format: AudioFormat,
    sample_rate_hz: int,
    samples: int,
    sha256: str,
    profile: Profile = Profile.RAW,
) -> None:
    """Compare a file with the samples that went in (`sha256` as in `ReadBack`).

    Raises:
        EncodeMismatch: the file is damaged or decodes to another length, rate or content.
    """
    container = container_of(audio_format, profile)
    try:
        found = read_back(path, audio_format)
    except (av.FFmpegError, IndexError) as error:
        msg = f"the {audio_format} file cannot be read back: {error}; repeat the step"
        raise EncodeMismatch(msg) from error
    rate_hz = container.resampled_to_hz or sample_rate_hz
    problem = ""
    if found.sample_rate_hz != rate_hz:
        problem = f"its rate is {found.sample_rate_hz} Hz, not {rate_hz} Hz"
    elif container.resampled_to_hz is not None:
        wanted = samples * rate_hz / sample_rate_hz
        if not -1 <= found.decoded_samples - wanted <= 1 + container.max_tail_samples:
            problem = f"it decodes to {found.decoded_samples} samples at {rate_hz} Hz, not {wanted:.1f}"
    elif not 0 <= found.decoded_samples - samples <= _max_tail_samples(container, samples):
        problem = f"it decodes to {found.decoded_samples} samples, not {samples}"
    elif audio_format is AudioFormat.M4B and found.track_samples != samples:
        problem = f"its edit list is {found.track_samples} samples long, not {samples}"
    elif container.lossless and found.sha256 != sha256:
        problem = "its samples are not the ones that went in"
    if problem:
        msg = f"the {audio_format} file read back is not what was encoded: {problem}; repeat the step"
        raise EncodeMismatch(msg)


def _max_tail_samples(container: Container, samples: int) -> int:
    return -samples % container.frame_samples if container.frame_samples else container.max_tail_samples
