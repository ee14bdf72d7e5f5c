"""What kernels over long signals share: which rows of a signal count, and the snake activation.

A signal's rows stand for an interval of time that reaches a little beyond its window at both ends; a `Span` says which
rows are inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import triton
import triton.language as tl
from torch import Tensor

# Cody and Waite ("Software Manual for the Elementary Functions", 1980): pi as a sum whose first parts have few bits, so
# that whole multiples of them are exact.
PI_1 = tl.constexpr(3.140625)
PI_2 = tl.constexpr(9.67502593994140625e-4)
PI_3 = tl.constexpr(1.509957990978376432e-7)
INVERSE_PI = tl.constexpr(0.3183098861837907)
# Adding and taking away 1.5 * 2**23 rounds a float32 below 2**22 to a whole number.
ROUNDER = tl.constexpr(12582912.0)


@dataclass(frozen=True, slots=True)
class Span:
    """Which rows are inside: window b's frames valid[b, 0] to valid[b, 1] at `rate` rows each, frame 0 at row `first`.

    `valid` is [B, 2] int32.
    """

    valid: Tensor
    rate: int
    first: int

    def raised(self, stride: int) -> Span:
        """The span after `pairs` and a transposed convolution of that stride, kernel 2 * stride, padding stride / 2."""
        return Span(self.valid, self.rate * stride, self.first * stride + stride // 2)


@triton.jit
def snaked(x, alpha, inverse, EXACT: tl.constexpr):
    """x + sin(alpha x)^2 * inverse; EXACT to float32's rounding, else to far less than float16's, in two thirds of the
    instructions.

    sin(y)^2 has period pi. EXACT: y is brought to [-pi/2, pi/2], where the sine's series to the 11th power is good to
    6e-8. Else: t = y / pi is brought to [-1/2, 1/2], where a polynomial in t^2 is good to 7e-7 (ours: the minimax fit
    of sin(pi t)^2 / t^2 weighted by t^2, degree 4).
    """
    if not EXACT:
        rate = alpha * INVERSE_PI
        t = x * rate - ((x * rate + ROUNDER) - ROUNDER)
        z = t * t
        series = 42.643425 + z * (-29.426275 + z * 10.581301)
        series = 9.869525 + z * (-32.46514 + z * series)
        return x + (z * series) * inverse
    y = alpha * x
    turns = (y * INVERSE_PI + ROUNDER) - ROUNDER
    y = ((y - turns * PI_1) - turns * PI_2) - turns * PI_3
    z = y * y
    series = 1.0 / 362880.0 + z * (-1.0 / 39916800.0)
    series = -1.0 / 5040.0 + z * series
    series = 1.0 / 120.0 + z * series
    series = -1.0 / 6.0 + z * series
    sine = y + y * (z * series)
    return x + (sine * sine) * inverse


@triton.jit
def bounds(valid, window, rate, first, rows):
    """Window's rows [low, high) that are inside; never rows that are not there."""
    low = first + tl.load(valid + 2 * window) * rate
    high = first + tl.load(valid + 2 * window + 1) * rate
    return tl.maximum(low, 0), tl.minimum(high, rows)


@triton.jit
def inside(x, row, cols, low, high, channels, shift):
    """[R, C] float32: x + shift of rows in [low, high), 0 of others; `x` points to the window's row 0."""
    keep = ((row >= low) & (row < high))[:, None] & (cols < channels)[None, :]
    offsets = row.to(tl.int64)[:, None] * channels + cols[None, :]
    return tl.where(keep, tl.load(x + offsets, mask=keep, other=0.0).to(tl.float32) + shift[None, :], 0.0)
