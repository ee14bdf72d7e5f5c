"""Encode one file from a stream of int16 blocks, with tags, chapter marks and cover; read it back and compare.

FFmpeg through PyAV. The bytes depend only on what goes in (no clock, no random serial numbers). Knows no takes.

    info = encode(path, blocks, EncodeSpec(AudioFormat.M4B, sample_rate_hz=22050, samples=n, tags=Tags("Title")))
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

import av
import numpy as np
from av.container import OutputContainer

from jobs.assembly.containers import Container, check_fits, container_of
from jobs.assembly.readback import check_written
from jobs.errors import BadInput, EncodeMismatch
from jobs.kinds import Profile
from jobs.spec import AudioFormat
from jobs.takes import Pcm


@dataclass(frozen=True, slots=True)
class Tags:
    """What players show. Empty ones are not written; `narrator` goes where audiobook players look (composer)."""

    title: str
    artist: str = ""
    album: str = ""
    narrator: str = ""
    genre: str = "Audiobook"
    comment: str = ""
    track: str = ""


@dataclass(frozen=True, slots=True)
class ChapterMark:
    """A chapter from `start_sample` to the next mark or the end."""

    title: str
    start_sample: int


@dataclass(frozen=True, slots=True)
class Cover:
    """A picture as it is put into the file: `codec` is `mjpeg` or `png`."""

    data: bytes
    codec: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class EncodeSpec:
    """What is to be written. `samples` is the exact length the blocks add up to; `brand` is for mp4 files alone.

    `profile` is what the audio was mastered for: it may ask for another bit rate.
    """

    audio_format: AudioFormat
    sample_rate_hz: int
    samples: int
    tags: Tags
    marks: tuple[ChapterMark, ...] = ()
    cover: Cover | None = None
    brand: str = "M4B "
    profile: Profile = Profile.RAW

    @property
    def container(self) -> Container:
        """How it is written."""
        return container_of(self.audio_format, self.profile)


@dataclass(frozen=True, slots=True)
class EncodedInfo:
    """What was written. `samples` at the rate that went in."""

    samples: int
    duration_s: float
    bytes: int


def read_cover(data: bytes) -> Cover:
    """A cover from the bytes of a JPEG or PNG picture.

    Raises:
        BadInput: it is another kind of file, or damaged.
    """
    try:
        with av.open(io.BytesIO(data), "r") as picture:
            frame = next(picture.decode(video=0))
            codec = picture.streams.video[0].codec_context.name
    except (av.FFmpegError, IndexError, StopIteration) as error:
        msg = f"the cover ({len(data)} bytes) is not a picture that can be read: {error}; use a JPEG or PNG file"
        raise BadInput(msg) from error
    if codec not in {"mjpeg", "png"}:
        msg = f"the cover is a {codec} picture; use a JPEG or PNG file"
        raise BadInput(msg)
    return Cover(data, codec, frame.width, frame.height)


def encode(path: Path, blocks: Iterable[Pcm], spec: EncodeSpec) -> EncodedInfo:
    """Write one file and check it by decoding it again.

    Raises:
        BadOutput: the format cannot hold this rate or length.
        EncodeMismatch: the blocks do not add up to `spec.samples`, or the file decodes to something else.
        OSError: the file cannot be written (`Store.writer` turns it into a StoreError).
    """
    fingerprint = hashlib.sha256()
    with opened(path, spec) as (output, audio):
        for packet in encoded(audio, _fingerprinted(blocks, fingerprint), spec):
            output.mux(packet)
    return checked(path, spec, sha256=fingerprint.hexdigest())


@contextmanager
def opened(target: Path | io.BytesIO, spec: EncodeSpec) -> Iterator[tuple[OutputContainer, av.AudioStream]]:
    """A file with tags, marks and cover, and its audio stream, whose packets are still to come.

    Raises:
        BadOutput: the format cannot hold this rate or length.
    """
    check_fits(spec.audio_format, sample_rate_hz=spec.sample_rate_hz, samples=spec.samples, profile=spec.profile)
    container = spec.container
    file = str(target) if isinstance(target, Path) else target
    with av.open(file, "w", format=container.muxer, container_options=_muxer_options(container, spec)) as output:
        output.metadata.update(_metadata(spec))
        if not container.chapter_comments:
            output.set_chapters(_chapters(spec))
        yield output, _add_streams(output, container, spec)


def encoded(audio: av.AudioStream, blocks: Iterable[Pcm], spec: EncodeSpec) -> Iterator[av.Packet[av.AudioStream]]:
    """The packets of a stream of `opened`.

    Raises:
        EncodeMismatch: the blocks do not add up to `spec.samples`.
    """
    warm_up = spec.container.frame_samples
    silence = [np.zeros(warm_up, dtype=np.int16)] if warm_up else []
    packets = _raw_packets(audio, chain(silence, blocks), spec, start=-warm_up)
    return islice(packets, len(silence), None)


def checked(path: Path, spec: EncodeSpec, *, sha256: str) -> EncodedInfo:
    """Read a written file back (`sha256` as in `check_written`). Raises EncodeMismatch."""
    check_written(
        path,
        audio_format=spec.audio_format,
        sample_rate_hz=spec.sample_rate_hz,
        samples=spec.samples,
        sha256=sha256,
        profile=spec.profile,
    )
    return EncodedInfo(spec.samples, spec.samples / spec.sample_rate_hz, path.stat().st_size)


def _muxer_options(container: Container, spec: EncodeSpec) -> dict[str, str]:
    options = {"fflags": "+bitexact", **container.options}  # bitexact: no random ogg serial, no program version
    if container.muxer == "mp4":
        options["brand"] = spec.brand
        options["movie_timescale"] = str(spec.sample_rate_hz)  # the edit list is then exact to the sample
    return options


def _add_streams(output: OutputContainer, container: Container, spec: EncodeSpec) -> av.AudioStream:
    rate_hz = container.resampled_to_hz or spec.sample_rate_hz
    audio = output.add_stream(container.codec, rate=rate_hz, options=dict(container.codec_options))
    if not isinstance(audio, av.AudioStream):
        msg = f"{container.codec} is not an audio codec"
        raise TypeError(msg)
    audio.layout = "mono"
    if container.bit_rate is not None:
        audio.bit_rate = container.bit_rate
    if spec.cover is not None and container.cover:
        _add_cover(output, spec.cover)
    return audio


def _raw_packets(
    audio: av.AudioStream, blocks: Iterable[Pcm], spec: EncodeSpec, *, start: int
) -> Iterator[av.Packet[av.AudioStream]]:
    position = start
    for block in blocks:
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block)[np.newaxis, :], format="s16", layout="mono")
        frame.sample_rate = spec.sample_rate_hz
        frame.time_base = Fraction(1, spec.sample_rate_hz)
        frame.pts = position
        yield from audio.encode(frame)
        position += block.size
    if position != spec.samples:
        msg = f"{position} samples came to be encoded, {spec.samples} were promised; nothing was written"
        raise EncodeMismatch(msg)
    yield from audio.encode(None)


def _add_cover(output: OutputContainer, cover: Cover) -> None:
    picture = output.add_mux_stream(cover.codec, width=cover.width, height=cover.height)
    picture.disposition = av.stream.Disposition.attached_pic
    packet = av.Packet(cover.data)
    packet.stream = picture
    packet.pts = packet.dts = 0
    packet.is_keyframe = True
    output.mux(packet)


def _fingerprinted(blocks: Iterable[Pcm], fingerprint: hashlib._Hash) -> Iterator[Pcm]:
    for block in blocks:
        fingerprint.update(block.astype("<i2").tobytes())
        yield block


def _metadata(spec: EncodeSpec) -> dict[str, str]:
    tags = spec.tags
    values = {
        "title": tags.title,
        "artist": tags.artist,
        "album_artist": tags.artist,
        "album": tags.album,
        "composer": tags.narrator,
        "genre": tags.genre,
        "comment": tags.comment,
        "track": tags.track,
    }
    if spec.container.chapter_comments:
        for number, mark in enumerate(spec.marks):
            values[f"CHAPTER{number:03d}"] = _clock(mark.start_sample, spec.sample_rate_hz)
            values[f"CHAPTER{number:03d}NAME"] = mark.title
    return {name: text for name, value in values.items() if (text := _one_line(value))}


def _chapters(spec: EncodeSpec) -> list[av.container.core.Chapter]:
    ends = [mark.start_sample for mark in spec.marks[1:]] + [spec.samples]
    return [
        {
            "id": number,
            "start": mark.start_sample,
            "end": end,
            "time_base": Fraction(1, spec.sample_rate_hz),
            "metadata": {"title": _one_line(mark.title)},
        }
        for number, (mark, end) in enumerate(zip(spec.marks, ends, strict=False))
    ]


def _clock(sample: int, sample_rate_hz: int) -> str:
    ms = round(sample * 1000 / sample_rate_hz)
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"


def _one_line(text: str) -> str:
    """Tags hold no line ends and no control characters: many readers stop there."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
