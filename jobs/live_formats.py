"""Audio formats that can be sent while they are made: samples in, bytes out, nothing is held back longer than a frame.

`encoder = LiveEncoder(LiveFormat.MP3, 22_050); encoder.add(samples) + encoder.close()`

FFmpeg through PyAV. The bytes depend only on the samples, not on how they were cut: every encoder gets blocks of one
length. Codecs and bit rates are those of finished audio (`jobs.assembly.containers`).
"""

from __future__ import annotations

import math
from enum import StrEnum

from jobs.assembly.containers import CONTAINERS
from jobs.live_encoding import Encoder, Muxed, Plain, Resampled, Row
from jobs.spec import AudioFormat
from jobs.takes import Pcm
from jobs.wav_header import endless_wav_header, wav_header

PCM_RATE_HZ = 24_000
"""The rate of `pcm` in OpenAI's API."""


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


_ROWS = {
    LiveFormat.MP3: Row(
        "mp3",
        CONTAINERS[AudioFormat.MP3],
        options={"write_xing": "0", "id3v2_version": "0"},  # both would tell of a whole that does not exist yet
        faster={"compression_level": "7"},  # LAME's -q: 5 instead of 9 ms of a core for a second of audio
    ),
    LiveFormat.OPUS: Row(
        "ogg",
        CONTAINERS[AudioFormat.OPUS],
        options={"page_duration": "40000"},  # µs; FFmpeg keeps one page back, by default of a whole second
    ),
    LiveFormat.AAC: Row(
        "adts",
        CONTAINERS[AudioFormat.M4B],
        warm_up_samples=CONTAINERS[AudioFormat.M4B].frame_samples,
        drop_packets=1,
    ),
    LiveFormat.FLAC: Row(
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
        self._encoder: Encoder
        row = _ROWS.get(live_format)
        if row is not None:
            self._encoder = Muxed(row, sample_rate_hz)
        elif live_format is LiveFormat.WAV:
            header = endless_wav_header(sample_rate_hz) if samples is None else wav_header(sample_rate_hz, samples)
            self._encoder = Plain(header)
        elif sample_rate_hz == PCM_RATE_HZ:
            self._encoder = Plain(b"")
        else:
            self._encoder = Resampled(sample_rate_hz, PCM_RATE_HZ)

    def add(self, samples: Pcm) -> bytes:
        """Bytes for [S] int16 samples; may be empty, or the header alone."""
        return self._encoder.add(samples)

    def close(self) -> bytes:
        """The rest. The encoder is not used after this."""
        return self._encoder.close()
