"""Stretches that come again, by sound and by text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.checks.limits import REPEAT_LIKENESS, REPEAT_S
from jobs.checks.measures import find_activity
from jobs.checks.repeats import MOST_FRAMES, Repeat, find_repeat
from jobs.checks.spectra import band_levels_db, sounding_frames
from tests.jobs.checks.sounds import RATE_HZ, said

TEXT = "anvil bridge copper dragon ember falcon garnet hollow indigo jasper kettle lumber marble"
NAMES = TEXT.split()


def repeat_in(samples: np.ndarray, text: str) -> Repeat | None:
    bands = band_levels_db(samples, RATE_HZ)
    sounding = sounding_frames(find_activity(samples, RATE_HZ).sound, len(bands))
    return find_repeat(bands, sounding, text.split(), least_likeness=REPEAT_LIKENESS)


def test_a_phrase_said_again_is_found_with_its_place_length_and_lag():
    found = repeat_in(said(0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7), " ".join(NAMES[:8]))
    assert found is not None
    assert found.start_s == pytest.approx(0.1 + 2 * 0.34, abs=0.3)
    assert found.length_s == pytest.approx(4 * 0.3, abs=0.6)
    assert found.lag_s == pytest.approx(4 * 0.34, abs=0.05)
    assert found.explained_s == 0.0


def test_pauses_of_other_lengths_do_not_hide_it():
    found = repeat_in(said(0, 1, 2, -4, 3, 4, 5, 1, 2, 3, -9, 4, 5, 6), " ".join(NAMES[:7]))
    assert found is not None
    assert found.length_s > 1.2


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_different_words_are_no_repeat(first):
    found = repeat_in(said(*range(first, first + 14)), " ".join(NAMES))
    assert found is None or found.length_s < REPEAT_S


def test_what_is_said_four_times_is_like_itself_three_times_as_long():
    found = repeat_in(said(0, 1, 2, 3, *[4, 5, 6] * 4), " ".join(NAMES[:7]))
    assert found is not None
    assert found.length_s == pytest.approx(9 * 0.3, abs=0.7)
    assert found.lag_s == pytest.approx(3 * 0.34, abs=0.05)


def test_a_repeat_of_the_text_explains_that_of_the_sound():
    words = [*NAMES[:6], *NAMES[1:5], *NAMES[6:8]]
    found = repeat_in(said(0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 7), " ".join(words))
    assert found is not None
    assert found.explained_s == pytest.approx(found.length_s, rel=0.25)


def test_a_repeat_of_the_text_elsewhere_explains_nothing():
    words = [*NAMES[:4], *NAMES[:2], *NAMES[6:10]]  # anvil bridge come again early, but jasper to … are said twice
    found = repeat_in(said(0, 1, 2, 3, 0, 1, 6, 7, 8, 9, *range(20, 30), 6, 7, 8, 9), " ".join(words))
    assert found is not None
    assert found.explained_s == 0.0


def test_nothing_and_little_sound_are_no_repeat():
    assert repeat_in(np.zeros(5_000, np.float32), "nothing") is None
    assert repeat_in(said(1), "anvil") is None
    assert repeat_in(said(1, 2, 3, 1, 2, 3), "") is not None


def test_long_takes_are_compared_in_coarser_steps():
    order = [*range(110), *range(50, 60)]  # 36 s of sound
    assert len(order) * 0.3 / 0.02 > MOST_FRAMES
    found = repeat_in(said(*order), " ".join(f"w{index}{index * 7919 % 997}x" for index in range(110)))
    assert found is not None
    assert found.length_s == pytest.approx(10 * 0.3, abs=0.6)
