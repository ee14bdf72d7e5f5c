"""What files measure, and what ACX would say of it."""

from __future__ import annotations

import av
import numpy as np
import pytest

from jobs.errors import BadInput
from jobs.mastering.acx import acx_checks, book_checks
from jobs.mastering.figures import Coding, LevelMeter, Levels, measure_file, mono
from jobs.mastering.long_chapters import long_chapters
from jobs.stores import MemoryStore
from tests.jobs.assembly.making import Book
from tests.jobs.mastering.speech import cut, speech_like

RATE_HZ = 44_100
GOOD = Levels(
    loudness_lufs=-20.0, rms_db=-20.5, peak_db=-3.2, true_peak_dbtp=-3.1, noise_floor_db=-68.0, head_s=0.7, tail_s=2.0,
    duration_s=600.0,
)  # fmt: skip
CODED = Coding(codec="mp3", sample_rate_hz=44_100, channels=1, joint_stereo=False, bit_rates_bps=(192_000,))


def failing(levels: Levels, coding: Coding = CODED) -> list[str]:
    return [check.name for check in acx_checks(levels, coding) if check.passed is False]


def test_a_good_file_passes_and_every_limit_bites():
    assert failing(GOOD) == []
    for name, value, figure in [
        ("rms_db", -23.1, "rms dB"), ("rms_db", -17.9, "rms dB"), ("peak_db", -2.9, "peak dB"),
        ("noise_floor_db", -59.9, "noise dB"), ("head_s", 0.49, "head s"), ("head_s", 1.01, "head s"),
        ("tail_s", 0.99, "tail s"), ("tail_s", 5.01, "tail s"), ("duration_s", 7200.1, "min"),
    ]:  # fmt: skip
        assert failing(GOOD.model_copy(update={name: value})) == [figure]
    for name, value, figure in [
        ("codec", "aac", ["format", "kb/s"]), ("bit_rates_bps", (160_000,), ["kb/s"]),
        ("bit_rates_bps", (192_000, 256_000), ["kb/s"]), ("sample_rate_hz", 48_000, ["Hz"]),
        ("channels", 6, ["channels"]),
    ]:  # fmt: skip
        assert failing(GOOD, CODED.model_copy(update={name: value})) == figure
    joint = CODED.model_copy(update={"channels": 2, "joint_stereo": True})
    assert failing(GOOD, joint) == ["channels"]


def test_the_true_peak_is_shown_and_judges_nothing():
    (check,) = [
        check for check in acx_checks(GOOD.model_copy(update={"true_peak_dbtp": -1.0}), CODED) if not check.limit
    ]
    assert (check.name, check.value, check.passed) == ("true peak", "-1.00", None)


def test_a_book_of_mono_and_stereo_fails():
    stereo = CODED.model_copy(update={"channels": 2})
    assert [check.passed for check in book_checks([CODED, CODED])] == [True]
    assert [check.passed for check in book_checks([CODED, stereo])] == [False]


def test_chapters_over_two_hours_are_told_before_they_are_spoken():
    book = Book(MemoryStore()).chapter("Short").add().chapter("Long")
    for _ in range(9):
        book.add()
    assert long_chapters(book.plan, audio_s=7900.0) == ()
    (line,) = long_chapters(book.plan, audio_s=9000.0)
    assert "'Long' will be about 135 min" in line
    assert "at most 120 min" in line


def audio_with_room(head_s: float, tail_s: float, noise: float = 3e-4) -> np.ndarray:
    """[S] float64: quiet noise, five seconds of speech in it."""
    parts = [np.zeros(round(head_s * RATE_HZ)), speech_like(2.4, RATE_HZ) / 32768, np.zeros(round(tail_s * RATE_HZ))]
    joined = np.concatenate(parts)
    return joined + np.random.default_rng(3).normal(scale=noise, size=joined.size)


def test_levels_are_what_they_are():
    audio = audio_with_room(0.75, 2.0)
    meter = LevelMeter(RATE_HZ)
    for block in cut(audio, (777, 30_000)):
        meter.feed(block)
    found = meter.result()
    assert found.duration_s == pytest.approx(audio.size / RATE_HZ, abs=1e-6)
    assert found.head_s == pytest.approx(0.76, abs=0.03)
    assert found.tail_s == pytest.approx(2.0, abs=0.06)
    assert found.noise_floor_db == pytest.approx(20 * np.log10(3e-4), abs=0.3)
    assert found.rms_db == pytest.approx(10 * np.log10(np.mean(audio**2)), abs=0.001)
    assert found.peak_db == pytest.approx(20 * np.log10(np.abs(audio).max()), abs=0.001)
    assert found.peak_db <= found.true_peak_dbtp < found.peak_db + 2


def test_silence_and_nothing_have_levels_too():
    silent = LevelMeter(RATE_HZ)
    silent.feed(np.zeros(RATE_HZ, dtype=np.int16))
    found = silent.result()
    assert (found.noise_floor_db, found.rms_db, found.head_s, found.tail_s) == (-120.0, -120.0, 1.0, 1.0)
    assert LevelMeter(RATE_HZ).result().duration_s == 0.0


def write(path, audio: np.ndarray, codec: str, *, layout: str = "mono", bit_rate: int | None = None, **options: str):
    """Any file, written by FFmpeg alone."""
    with av.open(str(path), "w") as output:
        stream = output.add_stream(codec, rate=RATE_HZ, options=options)
        stream.layout = layout
        if bit_rate:
            stream.bit_rate = bit_rate
        channels = 1 if layout == "mono" else 2
        for start in range(0, audio.size, 4096):
            block = np.repeat(audio[start : start + 4096].astype(np.float32)[np.newaxis, :], channels, axis=0)
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout=layout)
            frame.sample_rate = RATE_HZ
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


def test_files_of_others_are_measured_as_they_are(tmp_path):
    audio = audio_with_room(0.75, 2.0)
    levels, coding = measure_file(write(tmp_path / "a.mp3", audio, "libmp3lame", bit_rate=192_000))
    assert coding == CODED
    assert coding.constant_bit_rate
    assert levels.duration_s == pytest.approx(audio.size / RATE_HZ, abs=0.06)
    assert levels.head_s == pytest.approx(0.76, abs=0.08)
    _, changing = measure_file(write(tmp_path / "b.mp3", audio, "libmp3lame", bit_rate=150_000, abr="1"))
    assert len(changing.bit_rates_bps) > 1
    assert not changing.constant_bit_rate
    _, joint = measure_file(write(tmp_path / "c.mp3", audio, "libmp3lame", layout="stereo", bit_rate=192_000))
    assert (joint.channels, joint.joint_stereo) == (2, True)
    stereo, _ = measure_file(write(tmp_path / "d.flac", audio, "flac", layout="stereo"))
    assert stereo.rms_db == pytest.approx(10 * np.log10(np.mean(audio**2)), abs=0.01)


def test_what_cannot_be_measured_is_refused(tmp_path):
    (tmp_path / "x.mp3").write_bytes(b"not audio at all" * 100)
    with pytest.raises(BadInput, match=r"x\.mp3 cannot be measured"):
        measure_file(tmp_path / "x.mp3")
    with pytest.raises(BadInput, match="cannot be measured"):
        measure_file(tmp_path / "missing.mp3")


@pytest.mark.parametrize(("sample_format", "scale"), [("s16", 32768), ("s32", 2**31), ("fltp", 1)])
def test_decoded_frames_become_mono(sample_format, scale):
    dtype = {"s16": np.int16, "s32": np.int32, "fltp": np.float32}[sample_format]
    left, right = np.array([0.5, -0.25]), np.array([0.25, 0.25])
    planes = np.stack([left, right])
    packed = planes if sample_format == "fltp" else planes.T.reshape(1, -1)
    frame = av.AudioFrame.from_ndarray((packed * scale).astype(dtype), format=sample_format, layout="stereo")
    assert mono(frame) == pytest.approx([0.375, 0.0])
