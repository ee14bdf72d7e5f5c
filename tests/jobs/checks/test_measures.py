"""What is measured in time and in spectra, against sounds whose figures are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.checks.measures import (
    FRAME_S,
    LEVEL_FLOOR_DB,
    click_ratio,
    clipped_samples,
    find_activity,
    frame_levels_db,
    runs,
)
from jobs.checks.spectra import NUM_BANDS, RANGE_DB, band_levels_db, longest_steady_s, sounding_frames
from tests.jobs.checks.sounds import RATE_HZ, said, silence, word


def sine(seconds: float, hertz: float = 440.0, level: float = 0.5, rate_hz: int = RATE_HZ) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_a_sine_of_half_the_scale_has_nine_db_less(rate_hz):
    levels = frame_levels_db(sine(0.5, 400.0, rate_hz=rate_hz), rate_hz)
    assert len(levels) == pytest.approx(50, abs=1)
    assert levels == pytest.approx(-9.03, abs=0.15)


def test_digital_silence_has_the_lowest_level_and_no_sound():
    assert (frame_levels_db(np.zeros(1_000, np.float32), RATE_HZ) == LEVEL_FLOOR_DB).all()
    activity = find_activity(np.zeros(1_000, np.float32), RATE_HZ)
    assert len(activity.parts) == 0
    assert activity.spoken_s == 0.0


@given(st.floats(0.05, 1.0), st.floats(0.2, 1.5), st.floats(0.05, 1.0))
def test_silences_are_measured_to_the_frame(lead_s, pause_s, trail_s):
    samples = np.concatenate((silence(lead_s), word(1, 0.6), silence(pause_s), word(2, 0.6), silence(trail_s)))
    activity = find_activity(samples, RATE_HZ)
    assert len(activity.parts) == 2
    assert activity.lead_s == pytest.approx(lead_s, abs=2.5 * FRAME_S)
    assert activity.trail_s == pytest.approx(trail_s, abs=2.5 * FRAME_S)
    assert activity.pauses_s == pytest.approx([pause_s], abs=4 * FRAME_S)
    assert activity.spoken_s == pytest.approx(1.2 + pause_s, abs=4 * FRAME_S)


def test_short_gaps_are_no_pauses_and_a_lone_click_is_no_part():
    assert len(find_activity(said(1, 2, 3, gap_s=0.08), RATE_HZ).parts) == 1
    samples = np.concatenate((said(1, 2), silence(0.5)))
    samples[-4_000] = 0.5
    assert len(find_activity(samples, RATE_HZ).parts) == 1


def test_speech_is_found_above_the_noise_of_a_voice():
    chance = np.random.default_rng(3)
    samples = np.concatenate((silence(0.3), word(1, 0.6), silence(0.4), word(2, 0.6), silence(0.3)))
    noisy = samples + chance.normal(0, 0.004, len(samples)).astype(np.float32)  # 28 dB below the words
    assert len(find_activity(noisy, RATE_HZ).parts) == 2


@given(st.lists(st.booleans(), max_size=40))
def test_runs_are_all_the_true_ones(flags):
    found = runs(np.array(flags, bool))
    assert [index for start, end in found for index in range(start, end)] == [i for i, flag in enumerate(flags) if flag]
    assert all(end < start for (_, end), (start, _) in pairwise(found))


@pytest.mark.parametrize("rail", [1.0, 0.6])
def test_flat_tops_are_clipped_and_peaks_are_not(rail):
    wave = sine(0.2, 200.0, 0.9)
    assert clipped_samples(wave) == 0
    flat = np.clip(wave * 3, -rail, rail)
    assert clipped_samples(flat) == pytest.approx(np.count_nonzero(np.abs(flat) == rail), abs=4)


def test_samples_above_full_scale_are_clipped():
    assert clipped_samples(sine(0.2, 200.0, 1.4)) > 1_000
    assert clipped_samples(np.array([0.5, 1.0, 1.0, 0.5, -1.0, 1.0, -1.0], np.float32)) == 0


@pytest.mark.parametrize("at", [2_000, 9_000, 15_000])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_click_stands_out_of_speech_and_its_place_is_told(at, size):
    samples = said(*range(12))
    assert click_ratio(samples)[0] < 4
    samples[at : at + size] = 0.9
    ratio, place = click_ratio(samples)
    assert ratio > 8
    assert abs(place - at) <= 16


def test_a_jump_at_a_join_is_a_click():
    samples = np.concatenate((sine(0.3, 150.0), sine(0.3, 150.0) + np.float32(0.3)))
    assert click_ratio(samples)[0] > 8
    assert click_ratio(sine(0.6, 150.0))[0] < 2


def test_hiss_and_the_onset_of_a_burst_are_no_clicks():
    chance = np.random.default_rng(5)
    burst = np.concatenate((silence(0.2), chance.normal(0, 0.15, 2_000).astype(np.float32), silence(0.2)))
    assert click_ratio(burst)[0] < 8
    assert click_ratio(burst[:50]) == (0.0, 0)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 48_000])
@pytest.mark.parametrize("hertz", [150.0, 1_000.0, 2_400.0])
def test_a_tone_is_loudest_in_its_band(rate_hz, hertz):
    bands = band_levels_db(sine(0.5, hertz, rate_hz=rate_hz), rate_hz)
    assert bands.shape == (25, NUM_BANDS)
    assert bands.max() == 0.0
    assert bands.min() == -RANGE_DB
    loudest = bands[5:20].argmax(axis=1)
    assert len(set(loudest.tolist())) == 1
    higher = band_levels_db(sine(0.5, hertz * 1.5, rate_hz=rate_hz), rate_hz)
    assert higher[10].argmax() > loudest[0]


def test_a_hum_stands_still_and_speech_does_not():
    def steady_s(samples):
        bands = band_levels_db(samples, RATE_HZ)
        return longest_steady_s(bands, sounding_frames(find_activity(samples, RATE_HZ).sound, len(bands)))

    speech = said(*range(10))
    assert steady_s(speech)[0] < 0.3
    length_s, start_s = steady_s(np.concatenate((speech, sine(2.0, 150.0, 0.2))))
    assert length_s == pytest.approx(2.0, abs=0.15)
    assert start_s == pytest.approx(len(speech) / RATE_HZ, abs=0.1)
    assert steady_s(np.concatenate((speech, silence(2.0))))[0] < 0.3
