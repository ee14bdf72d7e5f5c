"""Counter-based noise: the value at (seed, draw, position) is the same alone, in any batch, window or process.

Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) in numpy. There is
no state to carry: a window of a long draw is asked for by its first position, `normal(7, 0, (480,), start=4800)`.
Only integer operations and correctly rounded float32 ones (+ - * / sqrt) are used, so platforms agree to the bit.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

_Words = npt.NDArray[np.uint64]
_Floats = npt.NDArray[np.float32]

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
NUM_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HIGH_SHIFT = np.uint64(32)

# Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988), PPND7:
# numerator and denominator, highest power first. With p >= 2**-24 sqrt(-log p) stays below 5, so the third region of
# the algorithm is never reached.
CENTRE = ((59.109374720, 159.29113202, 50.434271938, 3.3871327179), (67.187563600, 78.757757664, 17.895169469, 1.0))
TAIL = ((0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777), (0.12021132975, 0.73700164250, 1.0))
CENTRE_HALF_WIDTH = 0.425
CENTRE_OFFSET = 0.180625
TAIL_OFFSET = 1.6

_LOG_SERIES = (1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)
"""log(m / c) = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (m - c) / (m + c), highest power first."""


def philox(counter: tuple[_Words, _Words, _Words, _Words], key: tuple[int, int]) -> tuple[_Words, ...]:
    """Ten Philox rounds. Four [N] uint64 arrays of 32-bit counter words and two 32-bit key words give four more."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(NUM_ROUNDS):
        p0, p1 = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        c0, c1 = (p1 >> _HIGH_SHIFT) ^ c1 ^ np.uint64(k0), p1 & _LOW
        c2, c3 = (p0 >> _HIGH_SHIFT) ^ c3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = (k0 + KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + KEY_STEPS[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def uniform(seed: int, draw: int, shape: tuple[int, ...], *, start: int = 0) -> _Floats:
    """Uniform noise: `shape` float32 in the open interval (0, 1), odd multiples of 2**-24 (23 random bits, exact).

    `seed` in [0, 2**64) names the request, `draw` in [0, 2**32) the purpose; element i in C order is position
    `start + i`.

    Raises:
        ValueError: seed, draw, start or shape is out of range.
    """
    bits = _bits(seed, draw, math.prod(shape), start)
    return ((bits >> np.uint32(9)).astype(np.float32) * np.float32(2**-23) + np.float32(2**-24)).reshape(shape)


def normal(seed: int, draw: int, shape: tuple[int, ...], *, start: int = 0) -> _Floats:
    """Standard normal noise: `shape` float32, mean 0, deviation 1, |x| < 5.5; arguments as in `uniform`.

    One uniform per value through the inverse normal distribution, so that positions stay independent of each other.

    Raises:
        ValueError: seed, draw, start or shape is out of range.
    """
    p = uniform(seed, draw, (math.prod(shape),), start=start)
    q = p - np.float32(0.5)
    offset = np.float32(CENTRE_OFFSET) - q * q
    values = q * _ratio(CENTRE, offset)
    (tail,) = np.nonzero(np.abs(q) > CENTRE_HALF_WIDTH)
    side = q[tail]
    nearest = np.minimum(p[tail], np.float32(1.0) - p[tail])
    far = _ratio(TAIL, np.sqrt(-_log(nearest)) - np.float32(TAIL_OFFSET))
    values[tail] = np.copysign(far, side)
    return values.reshape(shape)


def _bits(seed: int, draw: int, count: int, start: int) -> npt.NDArray[np.uint32]:
    """[count] uint32 from position `start` on; four positions share one counter block."""
    for name, value, bits in (("seed", seed, 64), ("draw", draw, 32), ("start", start, 62), ("size", count, 40)):
        if not 0 <= value < 1 << bits:
            msg = f"noise {name}={value} is out of range; it must be in [0, 2**{bits})"
            raise ValueError(msg)
    first, last = start // 4, (start + count + 3) // 4
    blocks = np.arange(first, last, dtype=np.uint64)
    counter = (
        blocks & _LOW,
        blocks >> _HIGH_SHIFT,
        np.full_like(blocks, draw),
        np.zeros_like(blocks),
    )
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    flat = np.stack(words, axis=1).astype(np.uint32).reshape(-1)
    return flat[start - first * 4 :][:count]


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: _Floats) -> _Floats:
    numerator, denominator = polynomials
    return _polynomial(numerator, x) / _polynomial(denominator, x)


def _polynomial(coefficients: tuple[float, ...], x: _Floats) -> _Floats:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += np.float32(coefficient)
    return value


def _log(x: _Floats) -> _Floats:
    """Natural logarithm from exact operations: the library's log may differ between processors in the last bit."""
    mantissa, exponent = np.frexp(x)  # mantissa in [0.5, 1)
    m = mantissa.astype(np.float32, copy=False)
    s = (m - np.float32(0.75)) / (m + np.float32(0.75))  # |s| <= 0.2
    series = np.float32(2.0) * s * _polynomial(_LOG_SERIES, s * s)
    return series + np.float32(math.log(0.75)) + exponent.astype(np.float32) * np.float32(math.log(2.0))
