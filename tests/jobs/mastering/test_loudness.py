"""The meter and the settling: reference signals of EBU Tech 3341, clips without loudness, levels that are reached."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kinds import Profile
from jobs.mastering.loudness import FLOOR_DB, LoudnessMeter, measure
from jobs.mastering.profiles import TARGETS, usual_formats
from jobs.mastering.settle import MAX_GAIN_DB, Settling, mastered
from jobs.spec import AudioFormat
from tests.jobs.mastering.speech import cut, run_of, speech_like

RATE_HZ = 24_000


def sine(level_db: float, seconds: float, rate_hz: int = 48_000, hz: float = 1000.0) -> np.ndarray:
    wave = np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)
    return (10 ** (level_db / 20) * wave).astype(np.float32)


@pytest.mark.parametrize("rate_hz", [22_050, 24_000, 44_100, 48_000])
def test_a_sine_has_the_loudness_it_must_have(rate_hz):
    """Tech 3341 case 1: stereo at -23 dBFS is -23 LUFS; one channel of it is 3.01 LU less."""
    found = measure([sine(-23.0, 20, rate_hz)], rate_hz)
    assert found.integrated_lufs == pytest.approx(-26.0, abs=0.1)
    assert found.true_peak_dbtp == pytest.approx(-23.0, abs=0.1)
    assert found.rms_db == pytest.approx(-26.01, abs=0.02)


def test_pauses_are_gated():
    """Tech 3341 case 3: quiet parts more than 10 LU below do not count."""
    parts = [sine(-36.0, 10), sine(-23.0, 60), sine(-36.0, 10)]
    assert measure(parts, 48_000).integrated_lufs == pytest.approx(-26.0, abs=0.1)


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
def test_every_kind_of_block_in_any_size_measures_the_same(dtype):
    audio = speech_like(4, RATE_HZ)
    scaled = audio if dtype is np.int16 else (audio / 32768).astype(dtype)
    whole = measure([audio], RATE_HZ)
    found = measure(cut(scaled, (1, 700, 20_000)), RATE_HZ)
    assert found.integrated_lufs == pytest.approx(whole.integrated_lufs, abs=0.002)
    assert found.true_peak_dbtp == pytest.approx(whole.true_peak_dbtp, abs=0.02)
    assert found.rms_db == pytest.approx(whole.rms_db, abs=0.002)


def test_other_samples_are_refused():
    with pytest.raises(ValueError, match="int64 cannot be measured; use int16"):
        LoudnessMeter(RATE_HZ).feed(np.zeros(4, dtype=np.int64))


@pytest.mark.parametrize("samples", [0, 1, RATE_HZ // 4])
def test_a_clip_under_400_ms_has_no_loudness(samples):
    found = measure([speech_like(1, RATE_HZ)[:samples]] if samples else [], RATE_HZ)
    assert found.integrated_lufs is None


def test_silence_has_no_loudness_and_keeps_its_gain():
    audio = np.zeros(2 * RATE_HZ, dtype=np.int16)
    assert measure([audio], RATE_HZ).rms_db == FLOOR_DB
    settled = Settling(run_of(audio, RATE_HZ), TARGETS[Profile.AUDIOBOOK]).at(-3.0)
    assert (settled.setting.gain_db, settled.level_db) == (0.0, None)
    assert "no loudness" in settled.note


@pytest.mark.parametrize("profile", list(TARGETS))
@pytest.mark.parametrize("level", [0.02, 0.1, 0.3])
def test_the_level_aimed_at_is_reached_with_limited_peaks(profile, level):
    target = TARGETS[profile]
    run = run_of(speech_like(12, RATE_HZ, level=level), RATE_HZ)
    settled = Settling(run, target).at(target.true_peak_dbtp)
    found = measure(mastered(run, settled.setting), RATE_HZ)
    reached_db = found.rms_db if target.loudness_lufs is None else found.integrated_lufs
    assert reached_db == pytest.approx(target.level_db, abs=0.5)
    assert reached_db == pytest.approx(settled.level_db, abs=0.05)
    assert found.true_peak_dbtp < target.true_peak_dbtp + 0.05


def test_what_peaks_do_not_allow_is_said():
    """Single points far above the rest: at -20 LUFS all of them would be cut down to nothing like their shape."""
    audio = np.zeros(20 * RATE_HZ, dtype=np.int16)
    audio[:: RATE_HZ // 20] = 30_000
    settled = Settling(run_of(audio, RATE_HZ), TARGETS[Profile.PODCAST]).at(-30.0)
    assert "off the aim" in settled.note
    assert settled.setting.gain_db <= MAX_GAIN_DB


def test_each_ceiling_is_settled_once():
    reads = []
    audio = speech_like(4, RATE_HZ)

    def blocks():
        reads.append(1)
        return cut(audio, (65_536,))

    run = run_of(audio, RATE_HZ)
    settling = Settling(type(run)(blocks, audio.size, RATE_HZ), TARGETS[Profile.AUDIOBOOK])
    first = settling.at(-3.0)
    count = len(reads)
    assert settling.at(-3.0) is first
    assert len(reads) == count


def test_acx_takes_mp3_and_everything_else_is_m4b():
    assert usual_formats(Profile.ACX) == (AudioFormat.MP3,)
    assert usual_formats(Profile.AUDIOBOOK) == usual_formats(None) == (AudioFormat.M4B,)
