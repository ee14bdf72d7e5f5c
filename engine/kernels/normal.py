"""The noise of `engine.noise` inside Triton kernels: the same words and uniforms to the bit, normals to rounding.

The torch twin is `engine.noise_torch`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from engine.noise import CENTRE, CENTRE_HALF_WIDTH, CENTRE_OFFSET, NUM_ROUNDS, TAIL, TAIL_OFFSET

# Kernels read module constants only as scalars. A and B: Wichura's centre, C and D: its tail, highest power first.
ROUNDS = tl.constexpr(NUM_ROUNDS)
A0, A1, A2, A3 = (tl.constexpr(value) for value in CENTRE[0])
B0, B1, B2, B3 = (tl.constexpr(value) for value in CENTRE[1])
C0, C1, C2, C3 = (tl.constexpr(value) for value in TAIL[0])
D0, D1, D2 = (tl.constexpr(value) for value in TAIL[1])
HALF_WIDTH = tl.constexpr(CENTRE_HALF_WIDTH)
CENTRE_AT = tl.constexpr(CENTRE_OFFSET)
TAIL_AT = tl.constexpr(TAIL_OFFSET)


@triton.jit
def uniform_in(low, high, place, draw, seed_low, seed_high):
    """Uniform float32 in (0, 1): word `place` [N] (0 to 3) of Philox block `high` << 32 | `low` [N] uint32 of a draw.

    `high` and the halves of the seed are uint32, scalars or [N].
    """
    zero = tl.zeros_like(low)
    word0, word1, word2, word3 = tl.philox_impl(
        low, zero + high, (zero + draw).to(tl.uint32), zero, zero + seed_low, zero + seed_high, ROUNDS
    )
    bits = tl.where(place < 2, tl.where(place == 0, word0, word1), tl.where(place == 2, word2, word3))
    return (bits >> 9).to(tl.int32).to(tl.float32) * 1.1920928955078125e-07 + 5.9604644775390625e-08  # 2**-23, 2**-24


@triton.jit
def uniform_at(seed, draw, position):
    """Uniform float32 in (0, 1): `seed` int64 scalar (bit pattern), `draw` int, `position` [N] int64 >= 0."""
    block = position >> 2
    low, high = block.to(tl.uint32), (block >> 32).to(tl.uint32)
    seed_low, seed_high = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    return uniform_in(low, high, position & 3, draw, seed_low, seed_high)


@triton.jit
def normal_at(seed, draw, position):
    """Standard normal float32; arguments as in `uniform_at`."""
    p = uniform_at(seed, draw, position)
    q = p - 0.5
    v = CENTRE_AT - q * q
    centre = q * ((((A0 * v + A1) * v + A2) * v + A3) / (((B0 * v + B1) * v + B2) * v + B3))
    t = tl.sqrt(-tl.log(tl.minimum(p, 1.0 - p))) - TAIL_AT
    far = (((C0 * t + C1) * t + C2) * t + C3) / ((D0 * t + D1) * t + D2)
    return tl.where(tl.abs(q) > HALF_WIDTH, tl.where(q < 0, -far, far), centre)
