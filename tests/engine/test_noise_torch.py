"""Torch noise is numpy noise: uniforms to the bit, normals to rounding, for any seed, draw and position."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine import noise, noise_torch


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**61))
def test_uniform_is_the_same_to_the_bit(seed, draw, start):
    expected = noise.uniform(seed, draw, (9,), start=start)
    seeds = torch.from_numpy(np.array([seed], np.uint64).view(np.int64))
    ours = noise_torch.uniform(seeds, draw, start + torch.arange(9)[None])
    assert np.array_equal(ours[0].numpy(), expected)


def test_normal_is_the_same_to_rounding_also_in_the_tails():
    seeds = torch.tensor([3, 2**62 + 5])
    ours = noise_torch.normal(seeds, 7, torch.arange(200_000).expand(2, -1))
    for row, seed in zip(ours, seeds.tolist(), strict=True):
        np.testing.assert_allclose(row.numpy(), noise.normal(seed, 7, (200_000,)), rtol=0, atol=2e-6)
