"""Gain and limiter: the same samples in any blocks, no peak above the ceiling, nothing done where nothing is needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.mastering.limiter import BLOCK_SAMPLES, LOOK_AHEAD_S, Setting, limited, true_peak
from jobs.mastering.loudness import measure
from jobs.mastering.settle import mastered
from tests.jobs.mastering.speech import cut, run_of, speech_like

LOUD = speech_like(5, 22_050, level=0.3)


def level(setting: Setting, audio: np.ndarray, rate_hz: int, sizes=(65_536,)) -> np.ndarray:
    return np.concatenate(list(limited(cut(audio, sizes), setting, rate_hz)))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 30_000), min_size=1, max_size=6),
    st.integers(0, 40_000),
    st.floats(-6, 12),
    st.booleans(),
)
def test_any_blocks_give_the_same_samples(sizes, samples, gain_db, tone):
    audio, setting = LOUD[:samples], Setting(round(gain_db, 3), -3.0)
    whole = list(mastered(run_of(audio, 22_050, (max(1, samples),)), setting, tone=tone))
    parts = list(mastered(run_of(audio, 22_050, sizes), setting, tone=tone))
    assert [part.tobytes() for part in whole] == [part.tobytes() for part in parts]
    assert sum(part.size for part in parts) == samples


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("gain_db", [0.0, 6.0, 15.0])
def test_true_peaks_stay_under_the_ceiling(rate_hz, gain_db):
    audio = speech_like(6, rate_hz, level=0.2, seed=rate_hz)
    assert measure([audio], rate_hz).true_peak_dbtp + gain_db > -3.0
    out = np.concatenate(list(mastered(run_of(audio, rate_hz), Setting(gain_db, -3.0))))
    found = measure([out], rate_hz).true_peak_dbtp  # FFmpeg's meter, not ours
    assert -3.6 < found < -2.95
    assert out.size == audio.size


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=400), st.floats(0, 30))
def test_no_sample_is_ever_above_the_ceiling(values, gain_db):
    audio = np.array(values, dtype=np.int16)
    out = level(Setting(gain_db, -3.0), audio, 8_000)
    assert np.abs(out).max() <= 32768 * 10 ** (-3 / 20) * (1 + 1e-9)


def test_what_is_quiet_is_only_made_louder():
    audio = speech_like(3, 24_000, level=0.02)
    out = level(Setting(6.0, -1.0), audio, 24_000)
    assert np.allclose(out, audio * 10 ** (6 / 20), rtol=1e-12)


def test_the_gain_moves_only_around_a_peak_and_is_smooth():
    rate_hz = 24_000
    audio = np.full(rate_hz, 3000, dtype=np.int16)
    audio[12_000:12_010] = 32_000
    gain = level(Setting(0.0, -6.0), audio, rate_hz) / audio
    touched = np.flatnonzero(gain < 1 - 1e-9)
    reach = round(LOOK_AHEAD_S * rate_hz) + 14
    assert 12_000 - reach <= touched[0] < 12_000
    assert 12_010 < touched[-1] <= 12_010 + reach
    assert np.abs(np.diff(gain)).max() < 3.0 / (LOOK_AHEAD_S * rate_hz)
    assert gain[12_005] <= 32768 * 10 ** (-6 / 20) / 32_000


def test_a_peak_at_the_edge_of_a_block_is_seen_from_both_sides():
    for offset in (-2, -1, 0, 1):
        audio = np.zeros(3 * BLOCK_SAMPLES, dtype=np.int16)
        audio[BLOCK_SAMPLES + offset] = 32_000
        out = level(Setting(0.0, -12.0), audio, 16_000)
        assert np.abs(out).max() <= 32768 * 10 ** (-12 / 20)
        assert np.count_nonzero(out) == 1


def test_the_curve_between_samples_is_seen():
    """A sine at a quarter of the rate, sampled between its tops: samples at 0.707, tops at 1."""
    wave = np.sin(np.pi / 2 * np.arange(400) + np.pi / 4)
    assert np.abs(wave).max() == pytest.approx(0.7071, abs=1e-4)
    assert true_peak(wave, 24_000)[50:-50].max() == pytest.approx(1.0, abs=0.005)
