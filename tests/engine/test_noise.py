"""Noise: the published generator, independent of shape and window, and normal in shape."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.noise import normal, philox, uniform

# Known-answer tests of Philox4x32-10 as published with the Random123 library of the paper's authors.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]

seeds = st.integers(0, 2**64 - 1)
draws = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_the_published_words(counter, key, words):
    made = philox(tuple(np.array([word], np.uint64) for word in counter), key)
    assert tuple(int(word[0]) for word in made) == words


def test_uniform_is_laid_out_block_by_block_from_the_key_and_counter_it_documents():
    seed, draw, start = 0x299F31D0_A4093822, 7, 4 * (2**33 + 5)
    counter = tuple(np.array([word], np.uint64) for word in (5, 2, draw, 0))
    words = [int(word[0]) for word in philox(counter, (0xA4093822, 0x299F31D0))]
    want = [((word >> 9) * 2 + 1) / 2**24 for word in words]
    assert uniform(seed, draw, (4,), start=start).tolist() == want


@given(seeds, draws, st.integers(0, 2**40), st.integers(1, 200), st.data())
def test_a_window_is_a_piece_of_the_whole(seed, draw, start, size, data):
    cut = data.draw(st.integers(0, size))
    for noise in (uniform, normal):
        whole = noise(seed, draw, (size,), start=start)
        head, tail = noise(seed, draw, (cut,), start=start), noise(seed, draw, (size - cut,), start=start + cut)
        assert np.array_equal(whole, np.concatenate((head, tail)))
        assert whole.dtype == np.float32


@given(seeds, st.integers(1, 12), st.integers(1, 12))
def test_the_shape_changes_no_value(seed, rows, columns):
    assert np.array_equal(normal(seed, 0, (rows, columns)).ravel(), normal(seed, 0, (rows * columns,)))


@given(seeds, draws)
def test_other_seeds_and_draws_give_other_noise(seed, draw):
    here = uniform(seed, draw, (64,))
    assert not np.array_equal(here, uniform(seed ^ 1, draw, (64,)))
    assert not np.array_equal(here, uniform(seed ^ (1 << 40), draw, (64,)))
    assert not np.array_equal(here, uniform(seed, draw ^ 1, (64,)))


def test_normal_is_the_inverse_normal_distribution_of_uniform():
    exact = statistics.NormalDist().inv_cdf
    pairs = zip(uniform(11, 2, (20_000,)).tolist(), normal(11, 2, (20_000,)).tolist(), strict=True)
    assert max(abs(exact(p) - x) for p, x in pairs) < 3e-6


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_moments_and_tails(seed):
    n = 200_000
    x = normal(seed, 0, (n,)).astype(np.float64)
    assert abs(x.mean()) < 5 / n**0.5
    assert abs(x.var() - 1) < 5 * (2 / n) ** 0.5
    assert abs((x**3).mean()) < 5 * (15 / n) ** 0.5
    assert abs((x**4).mean() - 3) < 5 * (96 / n) ** 0.5
    assert 0.0 < (np.abs(x) > 3.29).mean() < 0.0016  # the true share is 0.001
    for lag in (1, 2, 4, 500):
        assert abs((x[lag:] * x[:-lag]).mean()) < 5 / n**0.5
    u = uniform(seed, 0, (n,))
    assert 0.0 < u.min() < 1e-4
    assert 1 - 1e-4 < u.max() < 1.0


def test_values_do_not_change_between_versions():
    stored = ["-0x1.05f49c0000000p-2", "0x1.2d769c0000000p+0", "0x1.42a7720000000p-1", "0x1.11fbce0000000p-2"]
    assert [value.hex() for value in normal(0, 0, (4,)).tolist()] == stored


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1, 0, (1,)), "seed=-1"), ((2**64, 0, (1,)), "seed="), ((0, 2**32, (1,)), "draw="), ((0, 0, (-3,)), "size=-3")],
)
def test_what_is_out_of_range_is_named(arguments, name):
    with pytest.raises(ValueError, match=f"noise {name}.*must be in"):
        normal(*arguments)
