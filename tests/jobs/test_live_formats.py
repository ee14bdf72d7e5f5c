"""Live formats: what comes out is what went in, in every format, however it was cut, and it comes out early."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.live_formats import PCM_RATE_HZ, LiveEncoder, LiveFormat
from jobs.resampling import resample

RATES_HZ = (16_000, 22_050, 24_000)
EXACT = (LiveFormat.WAV, LiveFormat.FLAC)
DELAY_S = {LiveFormat.MP3: 0.12, LiveFormat.AAC: 0.15, LiveFormat.OPUS: 0.001}
"""How much longer a codec may make a stream that has no header to say so: its delay and its last, whole frame."""


def speech_like(rate_hz: int, seconds: float = 2.0) -> np.ndarray:
    """[S] int16: tones that rise and fall, and some noise."""
    times = np.arange(round(rate_hz * seconds)) / rate_hz
    voice = np.sin(2 * np.pi * (180 * times + 40 * np.sin(3 * times))) * (0.2 + 0.15 * np.sin(11 * times))
    noise = np.random.default_rng(rate_hz).normal(0, 0.003, times.size)
    return np.rint((voice + noise) * 32767).astype(np.int16)


def encoded(live_format: LiveFormat, rate_hz: int, samples: np.ndarray, cuts: list[int] | None = None) -> bytes:
    encoder = LiveEncoder(live_format, rate_hz)
    parts = np.split(samples, sorted(cuts or []))
    return b"".join(encoder.add(part) for part in parts) + encoder.close()


def decoded(live_format: LiveFormat, data: bytes) -> tuple[int, np.ndarray]:
    """Rate, and [S] float of full scale 1.0."""
    if live_format is LiveFormat.PCM:
        return PCM_RATE_HZ, np.frombuffer(data, "<i2") / 32768
    with av.open(io.BytesIO(data)) as file:
        resampler = av.AudioResampler(format="flt", layout="mono")
        frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
        return file.streams.audio[0].rate, np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])


def ffmpeg_decoded(live_format: LiveFormat, data: bytes) -> np.ndarray:
    """The same by the program, from a pipe: as a player reads it."""
    raw = ["-f", "s16le", "-ar", str(PCM_RATE_HZ), "-ac", "1"] if live_format is LiveFormat.PCM else []
    command = ["ffmpeg", "-v", "error", *raw, "-i", "pipe:0", "-f", "s16le", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert not done.stderr
    return np.frombuffer(done.stdout, "<i2") / 32768


def likeness(one: np.ndarray, two: np.ndarray) -> float:
    """The highest correlation of two signals over all shifts."""
    size = 1 << (one.size + two.size - 1).bit_length()
    spectrum = np.fft.rfft(one, size) * np.conj(np.fft.rfft(two, size))
    return float(np.max(np.fft.irfft(spectrum, size)) / (np.linalg.norm(one) * np.linalg.norm(two)))


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("live_format", LiveFormat)
def test_every_format_gives_back_what_went_in(live_format, rate_hz):
    samples = speech_like(rate_hz)
    got_hz, got = decoded(live_format, encoded(live_format, rate_hz, samples))
    assert got_hz == live_format.rate_hz(rate_hz)
    assert 0 <= got.size / got_hz - samples.size / rate_hz <= DELAY_S.get(live_format, 0.0005)
    want = samples if got_hz == rate_hz else resample(samples, rate_hz, got_hz, "s16")
    assert likeness(got, want / 32768) > 0.99
    if live_format in EXACT or got_hz == rate_hz == PCM_RATE_HZ == live_format.rate_hz(1):
        assert np.array_equal(np.rint(got * 32768), samples)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
@pytest.mark.parametrize("live_format", LiveFormat)
def test_ffmpeg_reads_every_format_from_a_pipe(live_format):
    samples = speech_like(22_050)
    data = encoded(live_format, 22_050, samples)
    got = ffmpeg_decoded(live_format, data)
    rate_hz = live_format.rate_hz(22_050)
    assert 0 <= got.size / rate_hz - 2.0 <= DELAY_S.get(live_format, 0.0005)
    want = samples if rate_hz == 22_050 else resample(samples, 22_050, rate_hz, "s16")
    assert likeness(got, want / 32768) > 0.99


@pytest.mark.parametrize("live_format", LiveFormat)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_bytes_do_not_depend_on_how_the_samples_were_cut(live_format, data):
    rate_hz = data.draw(st.sampled_from(RATES_HZ))
    samples = speech_like(rate_hz, 0.4)
    some = st.lists(st.integers(0, samples.size), max_size=12)
    near = st.sampled_from([[0, 0, 1, 2, 2], list(range(rate_hz // 50 + 3)), [samples.size, samples.size]])
    cuts = data.draw(some | near)
    assert encoded(live_format, rate_hz, samples, cuts) == encoded(live_format, rate_hz, samples)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_a_resampled_stream_is_the_resampled_whole(rate_hz):
    samples = speech_like(rate_hz, 1.0)
    got = np.frombuffer(encoded(LiveFormat.PCM, rate_hz, samples, [1, 100, 7000]), "<i2")
    want = resample(samples, rate_hz, PCM_RATE_HZ, "s16")
    assert np.array_equal(got, want)


@pytest.mark.parametrize("live_format", LiveFormat)
def test_sound_comes_out_long_before_the_end(live_format):
    encoder = LiveEncoder(live_format, 22_050)
    early = encoder.add(speech_like(22_050)[: 22_050 // 2])
    rate_hz, got = decoded(live_format, early)
    assert got.size / rate_hz > 0.35


@pytest.mark.parametrize("live_format", LiveFormat)
@pytest.mark.parametrize("rate_hz", [1000, 8000, 44_100, 48_000, 96_000])
def test_rates_that_a_codec_does_not_take_are_resampled(live_format, rate_hz):
    samples = speech_like(rate_hz, 1.0)
    got_hz, got = decoded(live_format, encoded(live_format, rate_hz, samples))
    assert got_hz == live_format.rate_hz(rate_hz)
    frames = 2500 if live_format in {LiveFormat.MP3, LiveFormat.AAC} else 0.01 * got_hz
    assert abs(got.size - got_hz) <= frames


def test_rates_are_never_lower_than_they_must_be():
    assert LiveFormat.MP3.rate_hz(22_050) == 22_050
    assert LiveFormat.MP3.rate_hz(20_000) == 22_050
    assert LiveFormat.MP3.rate_hz(96_000) == 48_000
    assert LiveFormat.AAC.rate_hz(1000) == 7350
    assert LiveFormat.OPUS.rate_hz(22_050) == 48_000
    assert LiveFormat.FLAC.rate_hz(11_111) == 11_111
    assert LiveFormat.PCM.rate_hz(48_000) == PCM_RATE_HZ


@given(st.sampled_from([8000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000]), st.integers(0, 40_000))
@settings(max_examples=40, deadline=None)
def test_a_pcm_stream_goes_on_where_it_was_cut(rate_hz, sent):
    samples = np.random.default_rng(1).integers(-20_000, 20_000, 2 * rate_hz).astype(np.int16)
    whole = encoded(LiveFormat.PCM, rate_hz, samples)
    start, drop = LiveFormat.PCM.place_of(sent, rate_hz)
    assert encoded(LiveFormat.PCM, rate_hz, samples[start:])[2 * drop :] == whole[2 * sent :]


@pytest.mark.parametrize("live_format", [one for one in LiveFormat if one is not LiveFormat.PCM])
def test_places_in_other_formats_are_times(live_format):
    rate_hz = live_format.rate_hz(22_050)
    assert live_format.place_of(3 * rate_hz, 22_050) == (3 * 22_050, 0)


def test_a_wav_of_known_length_says_it():
    samples = speech_like(16_000, 0.1)
    encoder = LiveEncoder(LiveFormat.WAV, 16_000, samples=samples.size)
    data = encoder.add(samples) + encoder.close()
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getnframes(), file.getframerate()) == (samples.size, 16_000)
    assert int.from_bytes(data[4:8], "little") == len(data) - 8


@pytest.mark.parametrize("live_format", LiveFormat)
def test_nothing_in_is_no_error(live_format):
    encoder = LiveEncoder(live_format, 24_000)
    assert encoder.add(np.zeros(0, np.int16)) + encoder.close() == encoded(live_format, 24_000, np.zeros(0, np.int16))


def test_every_format_has_a_media_type():
    assert [live_format.media_type.partition("/")[0] for live_format in LiveFormat] == ["audio"] * 6
