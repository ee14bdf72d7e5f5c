"""A recording that somebody uploads, decoded within bounds: of bytes, seconds, channels and time, whatever it claims.

Only demuxers and decoders of plain audio are let near it: none that opens files or addresses that the data names.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import av
import numpy as np
import numpy.typing as npt

from jobs.checks import limits
from jobs.checks.measures import clipped_samples, find_activity
from jobs.errors import BadSource, SourceProblem
from jobs.takes import Pcm

MAX_BYTES = 10 * 1024 * 1024
"""What OpenAI's API takes for a voice sample."""
LEAST_S, MOST_S = 3.0, 60.0
LEAST_HZ, MOST_HZ = 16_000, 192_000
KEPT_HZ = 48_000
"""Clips of a higher rate are resampled to this; others keep theirs."""
MAX_CHANNELS = 8
MAX_DECODE_S = 20.0
"""Of real time; a minute of audio takes well under a second."""
LEAST_SPEECH_S = 2.0
"""Seconds that must sound, of the whole."""
_OPTIONS = {
    "format_whitelist": "wav,w64,aiff,mp3,flac,ogg,aac,mov,mp4,m4a,3gp,3g2,mj2,matroska,webm",
    "codec_whitelist": "pcm_u8,pcm_s16le,pcm_s24le,pcm_s32le,pcm_f32le,pcm_f64le,pcm_s16be,pcm_s24be,pcm_s32be,"
    "mp3,mp3float,flac,vorbis,libvorbis,opus,libopus,aac",
    "protocol_whitelist": "",
    "probesize": str(1 << 20),
}
"""FFmpeg's own switches: other formats and codecs are not even tried, and nothing outside the data can be opened."""
_TOLD = "WAV, MP3, FLAC, Ogg, AAC, M4A, MP4 or WebM"
Block = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Clip:
    """[S] int16 samples, mono."""

    pcm: Pcm
    sample_rate_hz: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.pcm.size / self.sample_rate_hz


def read_clip(data: bytes) -> Clip:
    """A checked recording of one voice, its channels mixed.

    Raises:
        BadSource: too large, no audio that can be read, too short or too long, of a low rate, silent or overdriven.
    """
    if len(data) > MAX_BYTES:
        _refuse("clip_too_large", f"the clip has {len(data):,} bytes; at most {MAX_BYTES:,} are taken")
    try:
        with av.open(io.BytesIO(data), "r", options=_OPTIONS) as source:
            rate_hz, blocks = _decode(source)
    except (av.FFmpegError, ValueError, OverflowError) as error:
        message = f"the clip cannot be read as audio ({_reason(error)}); send {_TOLD}"
        _refuse("clip_not_audio", message)
    samples = np.concatenate(blocks) if blocks else np.zeros(0, np.float32)
    if not np.isfinite(samples).all():
        _refuse("clip_not_audio", "the clip has samples that are no finite numbers")
    _check(samples, rate_hz)
    pcm = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype(np.int16)
    return Clip(pcm, rate_hz)


def _refuse(code: str, message: str) -> NoReturn:
    raise BadSource(SourceProblem(code, message))


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _decode(source: av.container.InputContainer) -> tuple[int, list[Block]]:
    """The rate, and blocks of mono float32 of full scale 1.0 at that rate."""
    if not source.streams.audio:
        _refuse("clip_not_audio", f"the clip holds no audio; send {_TOLD}")
    stream = source.streams.audio[0]
    rate_hz, channels = stream.codec_context.sample_rate, stream.codec_context.channels
    if not LEAST_HZ <= rate_hz <= MOST_HZ:
        message = f"the clip has {rate_hz} samples a second; {LEAST_HZ} to {MOST_HZ} are taken"
        _refuse("clip_sample_rate", message)
    if not 1 <= channels <= MAX_CHANNELS:
        _refuse("clip_channels", f"the clip has {channels} channels; 1 to {MAX_CHANNELS} are taken")
    kept_hz = min(rate_hz, KEPT_HZ)
    # Interleaved samples: PyAV 18.1 reads past the end of planar frames with eight channels.
    resampler = av.AudioResampler(format="flt", rate=kept_hz)
    blocks: list[Block] = []
    room = int(MOST_S * kept_hz)
    for frame in _frames(source, stream):
        if frame is not None and (frame.sample_rate, frame.layout.nb_channels) != (rate_hz, channels):
            _refuse("clip_not_audio", "the clip changes its sample rate or channels on its way")
        for part in resampler.resample(frame):
            blocks.append(part.to_ndarray().reshape(-1, channels).mean(axis=1, dtype=np.float32))
            room -= blocks[-1].size
        if room < 0:
            message = f"the clip is longer than {MOST_S:.0f} s; {LEAST_S:.0f} to {MOST_S:.0f} s are taken"
            _refuse("clip_too_long", message)
    return kept_hz, blocks


def _frames(source: av.container.InputContainer, stream: av.AudioStream) -> Iterator[av.AudioFrame | None]:
    """Decoded frames of one stream, for MAX_DECODE_S at most, and None after the last."""
    deadline_s = time.monotonic() + MAX_DECODE_S
    for packet in source.demux(stream):
        if time.monotonic() > deadline_s:
            _refuse("clip_not_audio", f"the clip takes longer than {MAX_DECODE_S:.0f} s to decode")
        yield from packet.decode()
    yield None


def _check(samples: Block, rate_hz: int) -> None:
    seconds = samples.size / rate_hz
    if not LEAST_S <= seconds <= MOST_S:
        message = f"the clip has {seconds:.2f} s; {LEAST_S:.0f} to {MOST_S:.0f} s are taken"
        _refuse("clip_too_short" if seconds < LEAST_S else "clip_too_long", message)
    peak = float(np.abs(samples).max())
    if peak < limits.SILENT_PEAK:
        message = f"the clip is silent: its peak is {peak:.6f}, speech has more than {limits.SILENT_PEAK}"
        _refuse("clip_silent", message)
    activity = find_activity(samples, rate_hz)
    speech_s = float(activity.sound.sum()) * 0.01
    if speech_s < LEAST_SPEECH_S:
        message = f"the clip has {speech_s:.2f} s of sound; at least {LEAST_SPEECH_S:.0f} s are needed"
        _refuse("clip_silent", message)
    share = clipped_samples(samples) / samples.size
    if share > limits.CLIPPED_SHARE:
        message = (
            f"the clip is overdriven: {share:.2%} of its samples are cut off at the highest level; record it lower"
        )
        _refuse("clip_clipped", message)
