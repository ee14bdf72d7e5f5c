"""The noise of `engine.noise` on any torch device, for batches of seeds: the same words, the same uniforms to the bit.

    uniform(seeds, draw, positions)[b, i] == engine.noise.uniform(seeds[b], draw, (1,), start=positions[b, i])

Needs only integer arithmetic of 64 bits (torch has no unsigned multiplication), so it can be captured into graphs.
`normal` agrees to rounding: a compiler may contract its multiplications and additions.
"""

from __future__ import annotations

import torch

from engine.noise import CENTRE, CENTRE_HALF_WIDTH, CENTRE_OFFSET, KEY_STEPS, MULTIPLIERS, NUM_ROUNDS, TAIL, TAIL_OFFSET

_LOW = 0xFFFFFFFF


def uniform(seeds: torch.Tensor, draw: int, positions: torch.Tensor) -> torch.Tensor:
    """[B, N] float32 in (0, 1). `seeds` [B] int64 (bit patterns of the 64-bit seed), `positions` [B, N] int64 >= 0."""
    bits = _bits(seeds, draw, positions)
    return (bits >> 9).to(torch.float32) * 2.0**-23 + 2.0**-24


def normal(seeds: torch.Tensor, draw: int, positions: torch.Tensor) -> torch.Tensor:
    """[B, N] float32 standard normal noise; arguments as in `uniform`."""
    p = uniform(seeds, draw, positions)
    q = p - 0.5
    centre = q * _ratio(CENTRE, CENTRE_OFFSET - q * q)
    nearest = torch.minimum(p, 1.0 - p)
    far = _ratio(TAIL, torch.sqrt(-torch.log(nearest)) - TAIL_OFFSET)
    return torch.where(q.abs() > CENTRE_HALF_WIDTH, torch.copysign(far, q), centre)


def _bits(seeds: torch.Tensor, draw: int, positions: torch.Tensor) -> torch.Tensor:
    """[B, N] int64 in [0, 2**32): the words of the Philox blocks that the positions fall into."""
    blocks = positions >> 2
    words = [blocks & _LOW, (blocks >> 32) & _LOW, torch.full_like(blocks, draw), torch.zeros_like(blocks)]
    k0, k1 = (seeds & _LOW)[:, None], ((seeds >> 32) & _LOW)[:, None]
    for _ in range(NUM_ROUNDS):
        high0, low0 = _product(words[0], MULTIPLIERS[0])
        high2, low2 = _product(words[2], MULTIPLIERS[1])
        words = [high2 ^ words[1] ^ k0, low2, high0 ^ words[3] ^ k1, low0]
        k0, k1 = (k0 + KEY_STEPS[0]) & _LOW, (k1 + KEY_STEPS[1]) & _LOW
    return torch.stack(words, dim=-1).gather(-1, (positions & 3)[..., None]).squeeze(-1)


def _product(words: torch.Tensor, multiplier: int) -> tuple[torch.Tensor, torch.Tensor]:
    """High and low 32 bits of word * multiplier, by halves of 16 bits: no intermediate reaches 2**63."""
    low, high = (words & 0xFFFF) * multiplier, (words >> 16) * multiplier
    carry = low + ((high & 0xFFFF) << 16)
    return (high >> 16) + (carry >> 32), carry & _LOW


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: torch.Tensor) -> torch.Tensor:
    numerator, denominator = polynomials
    return _polynomial(numerator, x) / _polynomial(denominator, x)


def _polynomial(coefficients: tuple[float, ...], x: torch.Tensor) -> torch.Tensor:
    value = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value
