"""Uploaded recordings: what is taken, and that nothing hostile costs more than a refusal."""

from __future__ import annotations

import io
import resource
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs import clips
from jobs.clips import read_clip
from jobs.errors import BadSource
from tests.helpers_clips import RATE_HZ, encoded, sound_file, voice


def refusal(data: bytes) -> str:
    with pytest.raises(BadSource) as caught:
        read_clip(data)
    (problem,) = caught.value.problems
    assert problem.message
    return problem.code


@pytest.mark.parametrize(
    ("data", "rate_hz", "slack_s"),
    [
        (sound_file(voice()), RATE_HZ, 0),
        (sound_file(voice(rate_hz=44_100, channels=2), 44_100, subtype="PCM_24"), 44_100, 0),
        (sound_file(voice(rate_hz=96_000), 96_000, subtype="FLOAT"), 48_000, 0.001),
        (sound_file(voice(rate_hz=48_000, channels=8), 48_000, "FLAC"), 48_000, 0),
        (encoded(voice(rate_hz=44_100), 44_100, "mp3", "libmp3lame"), 44_100, 0.001),
        (encoded(voice(rate_hz=48_000, channels=2), 48_000, "ogg", "libopus"), 48_000, 0.01),
        (encoded(voice(), RATE_HZ, "adts", "aac"), RATE_HZ, 0.1),
        (encoded(voice(), RATE_HZ, "mp4", "aac"), RATE_HZ, 0.1),
        (encoded(voice(rate_hz=48_000), 48_000, "webm", "libopus"), 48_000, 0.01),
        (encoded(voice(), RATE_HZ, "mp4", "aac", picture=True), RATE_HZ, 0.1),
    ],
    ids=["wav", "wav24-stereo", "float-96k", "flac-8-channels", "mp3", "opus", "aac", "m4a", "webm", "video"],
)
def test_plain_recordings_are_taken(data, rate_hz, slack_s):
    clip = read_clip(data)
    assert clip.sample_rate_hz == rate_hz
    assert clip.seconds == pytest.approx(4.0, abs=slack_s)
    wanted = np.interp(np.arange(clip.pcm.size) / rate_hz, np.arange(4 * RATE_HZ) / RATE_HZ, voice()[:, 0])
    likeness = max(
        np.corrcoef(np.roll(clip.pcm, -shift)[rate_hz : 3 * rate_hz], wanted[rate_hz : 3 * rate_hz])[0, 1]
        for shift in range(0, 3000, 4)
    )
    assert likeness > 0.98


def test_channels_are_mixed():
    left_only = voice(channels=2) * np.array([1.0, 0.0], np.float32)
    mixed = read_clip(sound_file(left_only)).pcm
    assert np.abs(mixed - np.rint(voice()[:, 0] * 0.5 * 32767)).max() <= 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (sound_file(voice(2.0)), "clip_too_short"),
        (sound_file(voice(60.5, 16_000), 16_000), "clip_too_long"),
        (sound_file(voice(rate_hz=8_000), 8_000), "clip_sample_rate"),
        (sound_file(voice(3.0, 16_000, channels=100), 16_000), "clip_channels"),
        (sound_file(voice(peak=0.001)), "clip_silent"),
        (sound_file(np.concatenate([voice(0.5), np.zeros((4 * RATE_HZ, 1), np.float32)])), "clip_silent"),
        (sound_file(voice(channels=2) * np.array([1.0, -1.0], np.float32)), "clip_silent"),
        (sound_file(np.clip(voice(peak=3.0), -1, 1)), "clip_clipped"),
        (sound_file(np.full((4 * RATE_HZ, 1), np.nan, np.float32), subtype="FLOAT"), "clip_not_audio"),
        (sound_file(voice())[:44], "clip_too_short"),
        (b"", "clip_not_audio"),
        (b"no audio at all, only words " * 100, "clip_not_audio"),
        (b"PK\x03\x04" + bytes(5000), "clip_not_audio"),
        (b"\xff" * clips.MAX_BYTES, "clip_not_audio"),
        (bytes(clips.MAX_BYTES + 1), "clip_too_large"),
    ],
    ids=[
        *("short", "long", "8k", "100-channels", "silent", "pause", "cancels-out", "clipped", "nan"),
        *("header", "empty", "text", "zip", "ones", "large"),
    ],
)
def test_what_is_no_reference_is_refused_with_a_code(data, code):
    assert refusal(data) == code


def test_hours_of_silence_in_a_small_file_are_not_decoded():
    buffer = io.BytesIO()
    with soundfile.SoundFile(buffer, "w", 16_000, 1, format="FLAC", subtype="PCM_16") as file:
        for _ in range(8 * 60):
            file.write(np.zeros(16_000 * 60, np.int16))
    assert len(buffer.getvalue()) < 2_000_000
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal(buffer.getvalue()) == "clip_too_long"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 64 * 1024


def test_a_header_that_claims_more_than_there_is_costs_nothing():
    data = bytearray(sound_file(voice()))
    data[40:44] = struct.pack("<I", 0xFFFFFFF0)
    assert read_clip(bytes(data)).seconds == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{path}\n#EXT-X-ENDLIST\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{path}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{path}'\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n",
    ],
    ids=["hls-url", "hls-path", "concat", "sdp"],
)
def test_no_file_or_address_that_the_data_names_is_opened(tmp_path: Path, text):
    (tmp_path / "secret.wav").write_bytes(sound_file(voice()))
    assert refusal(text.format(path=tmp_path / "secret.wav").encode()) == "clip_not_audio"


def test_decoding_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clips, "MAX_DECODE_S", -1.0)
    assert refusal(sound_file(voice())) == "clip_not_audio"


SEEDS = [
    sound_file(voice(3.2)),
    sound_file(voice(3.2), kind="FLAC"),
    encoded(voice(3.2), RATE_HZ, "mp4", "aac"),
    encoded(voice(3.2, 48_000), 48_000, "ogg", "libopus"),
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=30),
    st.integers(0, 3),
)
def test_damaged_files_are_refused_or_read_never_worse(data, changes, cut):
    damaged = bytearray(data if cut else data[: len(data) // 2])
    for place, value in changes:
        damaged[place % len(damaged)] = value
    try:
        clip = read_clip(bytes(damaged))
    except BadSource:
        return
    assert clips.LEAST_S <= clip.seconds <= clips.MOST_S
    assert clip.pcm.dtype == np.int16
