"""Encoders for audio that is sent while it is made: [S] int16 samples in, bytes out. FFmpeg through PyAV.

Knows how to encode, not what the formats are called: that is `jobs.live_formats`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import av
import numpy as np
from av.container import OutputContainer

from jobs.assembly.containers import Container
from jobs.sink import Sink
from jobs.takes import Pcm

BLOCKS_PER_S = 50
"""Encoders get blocks of 20 ms: one frame of Opus, about one of the others."""


@dataclass(frozen=True, slots=True)
class Row:
    """How FFmpeg sends one format: its own container, the codec and rates of finished audio.

    `faster` are options of the encoder that finished audio does without: many are sent at one time.
    `warm_up_samples` of silence (at the codec's rate) go to the encoder first, and so many `drop_packets` are thrown
    away for them: as in `Container.frame_samples`, a cold encoder would spend too few bits on the first sound.
    """

    muxer: str
    finished: Container
    options: dict[str, str] = field(default_factory=dict)
    faster: dict[str, str] = field(default_factory=dict)
    warm_up_samples: int = 0
    drop_packets: int = 0

    def rate_hz(self, sample_rate_hz: int) -> int:
        """The nearest rate that the codec takes, rather a higher one than a lower one."""
        if self.finished.resampled_to_hz is not None:
            return self.finished.resampled_to_hz
        rates_hz = self.finished.rates_hz
        if rates_hz is None or sample_rate_hz in rates_hz:
            return sample_rate_hz
        return min((rate for rate in rates_hz if rate > sample_rate_hz), default=max(rates_hz))


class Encoder(Protocol):
    """Samples in, bytes out."""

    def add(self, samples: Pcm) -> bytes:
        """What there is to send of these samples and those before."""
        ...

    def close(self) -> bytes:
        """The rest."""
        ...


class Plain:
    """The samples as they are, after a header."""

    def __init__(self, header: bytes) -> None:
        self._header = header

    def add(self, samples: Pcm) -> bytes:
        """All of them."""
        header, self._header = self._header, b""
        return header + samples.astype("<i2").tobytes()

    def close(self) -> bytes:
        """The header, if nothing came."""
        return self._header


class Blocks:
    """Samples in blocks of one length, whatever the lengths in which they came."""

    def __init__(self, sample_rate_hz: int) -> None:
        self._rate_hz = sample_rate_hz
        self._size = max(1, sample_rate_hz // BLOCKS_PER_S)
        self._held = np.zeros(0, np.int16)
        self._position = 0

    def add(self, samples: Pcm) -> Iterator[av.AudioFrame]:
        """The blocks that are full now."""
        held = np.concatenate([self._held, samples])
        whole = held.size - held.size % self._size
        self._held = held[whole:]
        for start in range(0, whole, self._size):
            yield self._frame(held[start : start + self._size])

    def close(self) -> Iterator[av.AudioFrame]:
        """The last one, which is shorter."""
        if self._held.size:
            yield self._frame(self._held)

    def _frame(self, block: Pcm) -> av.AudioFrame:
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block)[np.newaxis, :], format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        frame.time_base = Fraction(1, self._rate_hz)
        frame.pts = self._position
        self._position += block.size
        return frame


class Resampled:
    """The samples at another rate."""

    def __init__(self, sample_rate_hz: int, to_hz: int) -> None:
        self._blocks = Blocks(sample_rate_hz)
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=to_hz)

    def add(self, samples: Pcm) -> bytes:
        """Those of whole blocks."""
        return b"".join(map(self._bytes, self._blocks.add(samples)))

    def close(self) -> bytes:
        """The last block, and what the filter held."""
        rest = b"".join(map(self._bytes, self._blocks.close()))
        return rest + (self._bytes(None) if self._resampler.frame_size is not None else b"")

    def _bytes(self, frame: av.AudioFrame | None) -> bytes:
        parts = self._resampler.resample(frame)
        return b"".join(part.to_ndarray().astype("<i2").tobytes() for part in parts)


class Muxed:
    """Samples through an encoder of FFmpeg into its container."""

    def __init__(self, row: Row, sample_rate_hz: int) -> None:
        self._sink = Sink()
        self._blocks = Blocks(sample_rate_hz)
        self._drop = row.drop_packets
        self._output, self._audio = _opened(self._sink, row, sample_rate_hz)
        warm_up = math.ceil(row.warm_up_samples * sample_rate_hz / row.rate_hz(sample_rate_hz))
        self._mux(self._blocks.add(np.zeros(warm_up, np.int16)))

    def add(self, samples: Pcm) -> bytes:
        """What the muxer wrote: its header first, then whole frames."""
        self._mux(self._blocks.add(samples))
        return self._sink.take()

    def close(self) -> bytes:
        """The last frames, and what ends the stream."""
        self._mux(self._blocks.close())
        self._send(self._audio.encode(None))
        self._output.close()
        return self._sink.take()

    def _mux(self, frames: Iterator[av.AudioFrame]) -> None:
        for frame in frames:
            self._send(self._audio.encode(frame))

    def _send(self, packets: list[av.Packet[av.AudioStream]]) -> None:
        for packet in packets:
            if self._drop:
                self._drop -= 1
            else:
                self._output.mux(packet)


def _opened(sink: Sink, row: Row, sample_rate_hz: int) -> tuple[OutputContainer, av.AudioStream]:
    options = {"fflags": "+bitexact", "flush_packets": "1", **row.options}  # bitexact: no random serial, no version
    output = av.open(sink, "w", format=row.muxer, container_options=options)
    codec = row.finished.codec
    audio = output.add_stream(
        codec, rate=row.rate_hz(sample_rate_hz), options={**row.finished.codec_options, **row.faster}
    )
    if not isinstance(audio, av.AudioStream):
        msg = f"{codec} is not an audio codec"
        raise TypeError(msg)
    audio.layout = "mono"
    if row.finished.bit_rate is not None:
        audio.bit_rate = row.finished.bit_rate
    return output, audio
