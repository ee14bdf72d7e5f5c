"""The helper that spoils takes: what it makes is what it says, and the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.checks.measures import click_ratio
from tests.helpers_corrupt import cut, doubled, padded, swapped
from tests.jobs.checks.sounds import RATE_HZ, said


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_lengths_are_as_promised_and_no_click_gives_a_join_away(seed):
    samples, other = said(*range(12)), said(*range(20, 26))
    second = RATE_HZ
    assert 0.39 < len(cut(samples, RATE_HZ, seed)) / len(samples) < 0.81
    assert abs(len(doubled(samples, RATE_HZ, seed, whole=True)) - 2 * len(samples)) <= 1
    phrase = doubled(samples, RATE_HZ, seed, whole=False)
    assert 0.6 * second < len(phrase) - len(samples) < 4.6 * second
    pad = padded(samples, other, RATE_HZ, seed)
    assert 0.99 * second < len(pad) - len(samples) < 3.6 * second
    assert np.array_equal(pad, padded(samples, other, RATE_HZ, seed))
    for spoiled in (cut(samples, RATE_HZ, seed), phrase, pad):
        assert spoiled.dtype == np.float32
        assert click_ratio(spoiled)[0] < 8


@given(st.integers(2, 30), st.integers(0, 100), st.booleans())
def test_nobody_keeps_the_own_audio_and_all_is_kept(count, seed, alike):
    takes = [np.full(1 + (index * 7) % 13, index, np.float32) for index in range(count)]
    mixed = swapped(takes, seed, alike=alike)
    assert all(one[0] != index for index, one in enumerate(mixed))
    if not alike:
        assert sorted(one[0] for one in mixed) == list(range(count))
