"""AAC packets of finished chapters, one after the other, as one m4b file: nothing is encoded a second time.

A packet stands for a window of two frames (1024 samples each): packet i of a chapter covers its frames i-1 and i, so a
chapter of n frames has n+1 packets. Where two chapters meet, both have a packet for the same window: the last silent
frame of one, the first frame of the next. The next one's is taken, since the other would hold nothing but silence:

    chapter A  |frame 0|frame 1|silent |             packets A0 A1 A2 A3
    chapter B                          |frame 0|...  packets          B0 B1 ...
    book                                                      A0 A1 A2 B0 B1 ...
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np

from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.encode import EncodedInfo, EncodeSpec, Tags, checked, encoded, opened
from jobs.assembly.join import MAX_BLOCK_SAMPLES
from jobs.errors import EncodeMismatch
from jobs.spec import AudioFormat

_WHOLE = {"ignore_editlist": "1"}
"""The first packet, which completes no sample of the chapter, is wanted too."""


def write_packets(path: Path, chapters: Iterable[Iterable[bytes]], spec: EncodeSpec) -> EncodedInfo:
    """Write the packets of whole chapters as one file and check it by decoding it.

    Raises:
        EncodeMismatch: the packets are too few or too many, or the file decodes to something else.
        OSError: the file cannot be written.
    """
    count = 0
    with opened(path, spec) as (output, audio):
        for data in _meeting(chapters):
            packet = av.Packet(data)
            packet.stream = audio
            packet.pts = packet.dts = (count - 1) * AAC_FRAME_SAMPLES
            packet.duration = AAC_FRAME_SAMPLES
            packet.is_keyframe = True
            output.mux(packet)
            count += 1
    if count != packet_count(spec.samples):
        msg = f"{count} packets came for {spec.samples} samples, not {packet_count(spec.samples)}; repeat the step"
        raise EncodeMismatch(msg)
    return checked(path, spec, sha256="")


def packet_count(samples: int) -> int:
    """How many packets audio of whole frames has."""
    return samples // AAC_FRAME_SAMPLES + 1


def file_packets(file: BinaryIO) -> Iterator[bytes]:
    """The packets of the file of one chapter.

    Raises:
        EncodeMismatch: it cannot be read.
    """
    try:
        with av.open(file, "r", options=_WHOLE) as source:
            for packet in filter(_has_data, source.demux(source.streams.audio[0])):
                yield bytes(packet)
    except (av.FFmpegError, IndexError) as error:
        msg = f"the audio of a chapter cannot be read: {error}; repeat the step"
        raise EncodeMismatch(msg) from error


def file_fits(file: BinaryIO, *, sample_rate_hz: int, samples: int) -> bool:
    """Whether the file of one chapter is whole, of our encoder and of that length (nothing is decoded)."""
    setup = _decoder_setup(sample_rate_hz)
    try:
        with av.open(file, "r", options=_WHOLE) as source:
            stream = source.streams.audio[0]
            if stream.codec_context.extradata != setup:
                return False
            count = 0
            for packet in filter(_has_data, source.demux(stream)):
                if packet.is_corrupt or packet.pts != count * AAC_FRAME_SAMPLES:
                    return False
                count += 1
    except (av.FFmpegError, IndexError):
        return False
    return count == packet_count(samples)


def silent_packets(samples: int, sample_rate_hz: int) -> list[bytes]:
    """The packets of a chapter of nothing but silence."""
    spec = _plain(samples, sample_rate_hz)
    blocks = (
        np.zeros(min(MAX_BLOCK_SAMPLES, samples - start), dtype=np.int16)
        for start in range(0, samples, MAX_BLOCK_SAMPLES)
    )
    with opened(io.BytesIO(), spec) as (_, audio):
        return [bytes(packet) for packet in encoded(audio, blocks, spec)]


def _meeting(chapters: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """All packets but the last one of every chapter that has a next one."""
    last: list[bytes] = []
    for chapter in chapters:
        last = []
        for packet in chapter:
            yield from last
            last = [packet]
    yield from last


def _has_data(packet: av.Packet[av.AudioStream]) -> bool:
    """False for the empty packet at the end of a file."""
    return packet.size > 0


def _decoder_setup(sample_rate_hz: int) -> bytes | None:
    """What our encoder tells the decoder of such a stream (AudioSpecificConfig)."""
    with opened(io.BytesIO(), _plain(sample_rate_hz, sample_rate_hz)) as (_, audio):
        audio.codec_context.open()
        return audio.codec_context.extradata


def _plain(samples: int, sample_rate_hz: int) -> EncodeSpec:
    return EncodeSpec(AudioFormat.M4B, sample_rate_hz, samples, Tags(title=""))
