"""The file formats of finished audio: one row each, and what each can hold. Pure.

Rates: MPEG-1/2/2.5 layer III, and AAC as in ISO/IEC 14496-3 table 1.18. Opus always runs at 48 kHz here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType

from jobs.errors import BadOutput
from jobs.kinds import Profile
from jobs.spec import AudioFormat

_MP3_RATES_HZ = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
_AAC_RATES_HZ = (7350, *_MP3_RATES_HZ, 64000, 88200, 96000)
_RIFF_MAX_BYTES = 2**32 - 4096
"""Sizes in a RIFF header have 32 bits; the rest is for header and tags."""
AAC_FRAME_SAMPLES = 1024
"""What one packet of AAC-LC stands for; also its encoder's delay."""
_MIN_S = 0.01
"""Resamplers and encoders need a few dozen samples to give any back; nothing that short is speech."""


@dataclass(frozen=True, slots=True)
class Container:
    """How FFmpeg writes one format.

    `rates_hz` is None where any rate goes; `lossless` also promises every sample; `max_tail_samples` is how much longer
    a right file may decode than it is (see the row). `options` are the muxer's, `codec_options` the encoder's.
    `frame_samples`: the file decodes to whole frames of that many samples, and its encoder is first given one such
    frame of silence whose packet is thrown away: a cold encoder spends too few bits on its first frames, and one that
    comes out of silence treats a start as it treats a start after a pause.
    `cover`: a picture can be put in. `chapter_comments`: chapters are Vorbis comments and written by us, since FFmpeg
    (8.1) writes none for flac and rounds the seconds up for ogg (5.6 s becomes 6.6 s).
    """

    muxer: str
    codec: str
    bit_rate: int | None = None
    rates_hz: tuple[int, ...] | None = None
    resampled_to_hz: int | None = None
    lossless: bool = False
    max_tail_samples: int = 0
    frame_samples: int = 0
    cover: bool = False
    chapter_comments: bool = False
    options: MappingProxyType[str, str] = field(default_factory=lambda: MappingProxyType({}))
    codec_options: MappingProxyType[str, str] = field(default_factory=lambda: MappingProxyType({}))


CONTAINERS: dict[AudioFormat, Container] = {
    AudioFormat.M4B: Container(
        muxer="mp4",
        codec="aac",
        bit_rate=64_000,
        rates_hz=_AAC_RATES_HZ,
        frame_samples=AAC_FRAME_SAMPLES,  # where the edit list ends inside a frame, FFmpeg's decoder gives all of it
        cover=True,
        options=MappingProxyType({"movflags": "+faststart"}),
        codec_options=MappingProxyType({"aac_coder": "fast"}),  # 8 times faster than the default at the same error
    ),
    AudioFormat.MP3: Container(
        muxer="mp3",
        codec="libmp3lame",
        bit_rate=96_000,
        rates_hz=_MP3_RATES_HZ,
        max_tail_samples=47,  # FFmpeg notes at most one frame of padding; LAME's may be longer by 1152 - 1105
        cover=True,
    ),
    AudioFormat.FLAC: Container(muxer="flac", codec="flac", lossless=True, cover=True, chapter_comments=True),
    AudioFormat.OPUS: Container(
        muxer="ogg", codec="libopus", bit_rate=32_000, resampled_to_hz=48_000, chapter_comments=True
    ),
    AudioFormat.WAV: Container(muxer="wav", codec="pcm_s16le", lossless=True),
}

ACX_MP3 = replace(CONTAINERS[AudioFormat.MP3], bit_rate=192_000, rates_hz=None, resampled_to_hz=44_100)
"""What ACX takes: 44.1 kHz at a constant 192 kb/s (LAME's rate is constant where a bit rate is asked for)."""


def container_of(audio_format: AudioFormat, profile: Profile = Profile.RAW) -> Container:
    """How a format is written under a mastering profile."""
    if profile is Profile.ACX and audio_format is AudioFormat.MP3:
        return ACX_MP3
    return CONTAINERS[audio_format]


def check_fits(audio_format: AudioFormat, *, sample_rate_hz: int, samples: int, profile: Profile = Profile.RAW) -> None:
    """Raise BadOutput if a format cannot hold that rate or that length (before hours are spent on encoding)."""
    rates_hz = container_of(audio_format, profile).rates_hz
    if rates_hz is not None and sample_rate_hz not in rates_hz:
        allowed = ", ".join(str(rate) for rate in rates_hz)
        msg = f"{audio_format} cannot hold {sample_rate_hz} Hz; it takes {allowed}; use flac, opus or wav"
        raise BadOutput(msg)
    if samples < _MIN_S * sample_rate_hz:
        msg = f"audio of {samples} samples at {sample_rate_hz} Hz is too short for a file; it takes {_MIN_S} s or more"
        raise BadOutput(msg)
    if audio_format is AudioFormat.WAV and 2 * samples > _RIFF_MAX_BYTES:
        hours = samples / sample_rate_hz / 3600
        limit_hours = _RIFF_MAX_BYTES / 2 / sample_rate_hz / 3600
        msg = (
            f"a wav file holds 4 GiB: {limit_hours:.1f} h at {sample_rate_hz} Hz, this audio has {hours:.1f} h; "
            "use flac (the same samples) or m4b"
        )
        raise BadOutput(msg)
