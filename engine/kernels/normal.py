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
def uniform_at(seed, draw, position):
    """Uniform float32 in (0, 1): `seed` int64 scalar (bit pattern), `draw` int, `position` [N] int64 >= 0."""
    block = position >> 2
    low = block.to(tl.uint32)
    high = (block >> 32).to(tl.uint32)
    zero = low * 0
    w0, w1, w2, w3 = tl.philox(seed, low, high, (zero + draw).to(tl.uint32), zero, ROUNDS)
    which = (position & 3).to(tl.int32)
    word = tl.where(which == 0, w0, tl.where(which == 1, w1, tl.where(which == 2, w2, w3)))
    return (word >> 9).to(tl.float32) * 1.1920928955078125e-07 + 5.9604644775390625e-08  # 2**-23, 2**-24


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
