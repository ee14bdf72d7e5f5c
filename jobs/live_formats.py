"""Audio formats that can be sent while they are made: samples in, bytes out, nothing is held back longer than a frame.

`encoder = LiveEncoder(LiveFormat.MP3, 22_050); encoder.add(samples) + encoder.close()`

FFmpeg through PyAV. The bytes depend only on the samples, not on how they were cut: every encoder gets blocks of one
length. Codecs and bit rates are those of finished audio (`jobs.assembly.containers`).
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

import av
import numpy as np
import numpy.typing as npt
from av.container import OutputContainer

from jobs.assembly.containers import CONTAINERS, Container
from jobs.spec import AudioFormat
from jobs.wav_header import endless_wav_header, wav_header

Pcm = npt.NDArray[np.int16]
PCM_RATE_HZ = 24_000
"""The rate of `pcm` in OpenAI's API."""
BLOCKS_PER_S = 50
"""Encoders get blocks of 20 ms: one frame of Opus, about one of the others."""


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
        return _MEDIA_TYPES[self]

    def rate_hz(self, sample_rate_hz: int) -> int:
        """The rate at which audio of `sample_rate_hz` is sent: the same where the format takes it."""
        if self is LiveFormat.PCM:
            return PCM_RATE_HZ
        row = _ROWS.get(self)
        return sample_rate_hz if row is None else row.rate_hz(sample_rate_hz)

    def place_of(self, sent_sample: int, sample_rate_hz: int) -> tuple[int, int]:
        """Where in the audio to begin so that a stream goes on at a sample that is sent, and how many to drop before.

        For `pcm` the bytes are then those of the stream from its beginning: it begins where samples of both rates fall
        together, far enough before for the filter. In the other formats there is nothing to drop: those that are not
        compressed are sent at the audio's own rate.
        """
        sent_hz = self.rate_hz(sample_rate_hz)
        if self is not LiveFormat.PCM or sent_hz == sample_rate_hz:
            return round(sent_sample * sample_rate_hz / sent_hz), 0
        common = math.gcd(sample_rate_hz, sent_hz)
        step, sent_step = sample_rate_hz // common, sent_hz // common
        steps = max(0, sent_sample // sent_step - math.ceil(_FILTER_SAMPLES / step))
        return steps * step, sent_sample - steps * sent_step


_FILTER_SAMPLES = 512
"""More than the resampling filter reaches back: 16 taps on each side, so many times wider as the rate goes down."""
_MEDIA_TYPES = {
    LiveFormat.MP3: "audio/mpeg",
    LiveFormat.OPUS: "audio/ogg; codecs=opus",
    LiveFormat.AAC: "audio/aac",
    LiveFormat.FLAC: "audio/flac",
    LiveFormat.WAV: "audio/wav",
    LiveFormat.PCM: "audio/pcm",
}
"""audio/ogg with its codec as in RFC 7845 section 9; audio/pcm is what OpenAI's servers say."""


@dataclass(frozen=True, slots=True)
class _Row:
    """How FFmpeg sends one format: its own container, the codec and rates of finished audio.

    `warm_up_samples` of silence (at the codec's rate) go to the encoder first, and so many `drop_packets` are thrown
    away for them: as in `Container.frame_samples`, a cold encoder would spend too few bits on the first sound.
    """

    muxer: str
    finished: Container
    options: dict[str, str] = field(default_factory=dict)
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


_ROWS = {
    LiveFormat.MP3: _Row(
        "mp3",
        CONTAINERS[AudioFormat.MP3],
        options={"write_xing": "0", "id3v2_version": "0"},  # both would tell of a whole that does not exist yet
    ),
    LiveFormat.OPUS: _Row(
        "ogg",
        CONTAINERS[AudioFormat.OPUS],
        options={"page_duration": "40000"},  # µs; FFmpeg keeps one page back, by default of a whole second
    ),
    LiveFormat.AAC: _Row(
        "adts",
        CONTAINERS[AudioFormat.M4B],
        warm_up_samples=CONTAINERS[AudioFormat.M4B].frame_samples,
        drop_packets=1,
    ),
    LiveFormat.FLAC: _Row(
        "flac",
        CONTAINERS[AudioFormat.FLAC],
        options={"metadata_header_padding": "0"},  # else 8 KiB of nothing go before the first sound
    ),
}


class LiveEncoder:
    """One stream of mono audio. `sample_rate_hz` is that of the samples, `samples` how many there will be, if known.

    Only a WAV says its length; of an unknown one its header says the longest possible.
    """

    def __init__(self, live_format: LiveFormat, sample_rate_hz: int, *, samples: int | None = None) -> None:
        self._encoder: _Encoder
        row = _ROWS.get(live_format)
        if row is not None:
            self._encoder = _Muxed(row, sample_rate_hz)
        elif live_format is LiveFormat.WAV:
            header = endless_wav_header(sample_rate_hz) if samples is None else wav_header(sample_rate_hz, samples)
            self._encoder = _Plain(header)
        elif sample_rate_hz == PCM_RATE_HZ:
            self._encoder = _Plain(b"")
        else:
            self._encoder = _Resampled(sample_rate_hz)

    def add(self, samples: Pcm) -> bytes:
        """Bytes for [S] int16 samples; may be empty, or the header alone."""
        return self._encoder.add(samples)

    def close(self) -> bytes:
        """The rest. The encoder is not used after this."""
        return self._encoder.close()


class _Encoder(Protocol):
    """Samples in, bytes out."""

    def add(self, samples: Pcm) -> bytes: ...

    def close(self) -> bytes: ...


class _Plain:
    """The samples as they are, after a header."""

    def __init__(self, header: bytes) -> None:
        self._header = header

    def add(self, samples: Pcm) -> bytes:
        header, self._header = self._header, b""
        return header + samples.astype("<i2").tobytes()

    def close(self) -> bytes:
        return self._header


class _Blocks:
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


class _Resampled:
    """Samples at PCM_RATE_HZ."""

    def __init__(self, sample_rate_hz: int) -> None:
        self._blocks = _Blocks(sample_rate_hz)
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=PCM_RATE_HZ)

    def add(self, samples: Pcm) -> bytes:
        return b"".join(map(self._bytes, self._blocks.add(samples)))

    def close(self) -> bytes:
        rest = b"".join(map(self._bytes, self._blocks.close()))
        return rest + (self._bytes(None) if self._resampler.frame_size is not None else b"")

    def _bytes(self, frame: av.AudioFrame | None) -> bytes:
        parts = self._resampler.resample(frame)
        return b"".join(part.to_ndarray().astype("<i2").tobytes() for part in parts)


class _Sink(io.RawIOBase):
    """Where a muxer writes: what it wrote is taken away at once, so it cannot go back."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]  # FFmpeg gives bytes
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """What was written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


class _Muxed:
    """Samples through an encoder of FFmpeg into its container."""

    def __init__(self, row: _Row, sample_rate_hz: int) -> None:
        self._sink = _Sink()
        self._blocks = _Blocks(sample_rate_hz)
        self._drop = row.drop_packets
        self._output, self._audio = _opened(self._sink, row, sample_rate_hz)
        warm_up = math.ceil(row.warm_up_samples * sample_rate_hz / row.rate_hz(sample_rate_hz))
        self._mux(self._blocks.add(np.zeros(warm_up, np.int16)))

    def add(self, samples: Pcm) -> bytes:
        self._mux(self._blocks.add(samples))
        return self._sink.take()

    def close(self) -> bytes:
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


def _opened(sink: _Sink, row: _Row, sample_rate_hz: int) -> tuple[OutputContainer, av.AudioStream]:
    options = {"fflags": "+bitexact", "flush_packets": "1", **row.options}  # bitexact: no random serial, no version
    output = av.open(sink, "w", format=row.muxer, container_options=options)
    codec = row.finished.codec
    audio = output.add_stream(codec, rate=row.rate_hz(sample_rate_hz), options=dict(row.finished.codec_options))
    if not isinstance(audio, av.AudioStream):
        msg = f"{codec} is not an audio codec"
        raise TypeError(msg)
    audio.layout = "mono"
    if row.finished.bit_rate is not None:
        audio.bit_rate = row.finished.bit_rate
    return output, audio
