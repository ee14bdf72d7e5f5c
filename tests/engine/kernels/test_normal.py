"""Noise inside kernels is the noise of `engine.noise_torch`."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine import noise_torch
from engine.kernels.normal import normal_at, uniform_at

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SEEDS = torch.tensor([0, 7, -1, -(2**63), 2**40 + 12345], device=DEVICE)
POSITIONS = torch.cat([torch.arange(500), 2**34 + torch.arange(300), 2**40 + torch.arange(224)]).to(DEVICE)


@triton.jit
def _fill(out, seeds, positions, draw, NORMAL: tl.constexpr):  # noqa: N803
    window = tl.program_id(0)
    index = tl.arange(0, 1024)
    position = tl.load(positions + index)
    if NORMAL:
        value = normal_at(tl.load(seeds + window), draw, position)
    else:
        value = uniform_at(tl.load(seeds + window), draw, position)
    tl.store(out + window * 1024 + index, value)


def filled(draw: int, *, normal: bool) -> torch.Tensor:
    out = torch.empty(len(SEEDS), 1024, device=DEVICE)
    _fill[(len(SEEDS),)](out, SEEDS, POSITIONS, draw, normal)
    return out


def test_uniform_is_the_same_to_the_bit():
    for draw in (0, 1, 64, 2**31 - 1):
        wanted = noise_torch.uniform(SEEDS, draw, POSITIONS.expand(len(SEEDS), -1))
        assert torch.equal(filled(draw, normal=False), wanted)


def test_normal_is_the_same_to_rounding():
    wanted = noise_torch.normal(SEEDS, 65, POSITIONS.expand(len(SEEDS), -1))
    torch.testing.assert_close(filled(65, normal=True), wanted, rtol=2e-5, atol=2e-6)
    assert wanted.abs().max() > 2.5  # the tails too
