"""Room tone is a function of the position, at its level, and gone where the packets of two chapters meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.mastering.room_tone import FADE_SAMPLES, RMS_DB, room_tone

TOTAL = 100_000
WHOLE = room_tone(0, TOTAL, TOTAL)


@given(st.integers(0, TOTAL), st.integers(0, 5000))
def test_any_part_is_the_same_as_in_the_whole(start, count):
    count = min(count, TOTAL - start)
    assert np.array_equal(room_tone(start, count, TOTAL), WHOLE[start : start + count])


def test_its_level_and_its_spectrum():
    middle = WHOLE[FADE_SAMPLES : -2 * FADE_SAMPLES] / 32768
    assert 10 * np.log10(np.mean(middle**2)) == pytest.approx(RMS_DB, abs=0.5)
    power = np.abs(np.fft.rfft(middle)) ** 2
    bands = [power[size // 100 : size // 50].mean() for size in (power.size, 4 * power.size, 32 * power.size)]
    assert bands[0] > 2 * bands[1] > 2 * 20 * bands[2]
    assert abs(middle.mean()) < 1e-5


def test_the_first_frame_fades_in_and_the_last_is_silent():
    assert WHOLE[0] == 0
    assert not WHOLE[-FADE_SAMPLES:].any()
    loudness = [np.abs(WHOLE[start : start + 256]).mean() for start in range(0, FADE_SAMPLES, 256)]
    assert loudness == sorted(loudness)


def test_no_level_stands_out():
    """Steady: no half second is louder or quieter than its neighbours by much."""
    levels = [np.sqrt(np.mean(WHOLE[start : start + 11_025] ** 2)) for start in range(2048, TOTAL - 14_000, 11_025)]
    assert max(levels) < 1.3 * min(levels)


def test_a_chapter_without_room_gets_none():
    assert not room_tone(0, 3000, 3000).any()
