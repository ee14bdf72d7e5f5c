"""Passes over long channels-last signals [B, T, C]: snake activations, depthwise and last convolutions, keyed noise.

Rows outside a signal's `Span` are taken as zero wherever a kernel reads neighbours: a convolution sees them as its own
zero padding. What kernels write there is never read. Signals may be float16, bfloat16 or float32; arithmetic, and all
per-channel parameters (`shift`, `alpha`, taps), are float32. `shift` [C] is a bias that layers before left unadded.

Their torch twin is `models.codecs.snac.plain`, layer by layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from engine.kernels.normal import normal_at
from engine.kernels.spans import Span, bounds, inside, snaked
from engine.ops import Snake

CHANNELS = 64
"""Channels that one program works on at most."""
LANES = 4
"""Rows that a convolution's program works on at a time: 2 values of a tile per thread, so that windows of 7 tiles and
the channels' parameters stay in registers."""
STEPS = (8, 32)
"""Rows that a lane walks over, of short and of long signals: 6 more are read than written."""
UNROLL = tl.constexpr(4)
"""Rows of a walk that are written out: the 7 activations change places once in so many rows. Divides all steps."""
LONG_VALUES = 1 << 22
"""Values from which a signal is long: then its lanes fill the device also with long walks."""
ROWS = 16
"""Rows of a program that works value by value."""


@dataclass(frozen=True, slots=True)
class Taps:
    """A depthwise convolution of 7 taps: `weight` [7, C], `bias` [C] float32, rows between taps."""

    weight: Tensor
    bias: Tensor
    dilation: int = 1


def pairs(x: Tensor, shift: Tensor, snake: Snake, span: Span) -> Tensor:
    """[B, T, C] to [B, T + 1, 2 * C]: row m holds the activations of rows m - 1 and m of x.

    A transposed convolution of stride s and kernel 2s is a matrix product with these rows: output row m * s + r is
    x[m - 1] times tap r + s and x[m] times tap r (its padding is left to the span: `Span.raised`).
    """
    batch, rows, channels = _shape(x)
    out = torch.empty(batch, rows + 1, 2 * channels, dtype=x.dtype, device=x.device)
    block = _channel_block(channels)
    grid = (triton.cdiv(rows + 2, ROWS), triton.cdiv(channels, block), batch)
    _pairs_kernel[grid](
        x, out, shift, snake.alpha, snake.inverse, span.valid, span.rate, span.first, rows, channels, ROWS, block
    )
    return out


def depthwise(x: Tensor, shift: Tensor, taps: Taps, span: Span, around: tuple[Snake, Snake] | None) -> Tensor:
    """Depthwise convolution [B, T, C] to [B, T, C], with a snake before and one after it if `around` gives them."""
    batch, rows, channels = _shape(x)
    out = torch.empty_like(x)
    block, steps = _channel_block(channels), STEPS[x.numel() >= LONG_VALUES]
    before, after = around or (Snake(shift, shift), Snake(shift, shift))  # without snakes never read
    lanes = triton.cdiv(rows, steps * taps.dilation) * taps.dilation
    grid = (triton.cdiv(lanes, LANES), triton.cdiv(channels, block), batch)
    _depthwise_kernel[grid](
        *(x, out, shift, before.alpha, before.inverse, taps.weight, taps.bias, after.alpha, after.inverse),
        *(span.valid, span.rate, span.first, rows, channels),
        *(taps.dilation, steps, around is not None, LANES, block),
    )
    return out


def last(x: Tensor, shift: Tensor, snake: Snake, taps: Taps, span: Span) -> Tensor:
    """The samples: snake, a convolution [7, C] to one channel, tanh; float32, 0 outside the span.

    `x` [B, T, C] reaches `span.first` rows beyond its window at both ends: returns [B, T - 2 * span.first].
    """
    batch, rows, channels = _shape(x)
    samples = rows - 2 * span.first
    out = torch.empty(batch, samples, dtype=torch.float32, device=x.device)
    steps = STEPS[x.numel() >= LONG_VALUES]
    grid = (triton.cdiv(triton.cdiv(samples, steps), LANES), batch)
    _last_kernel[grid](
        *(x, out, shift, snake.alpha, snake.inverse, taps.weight, taps.bias),
        *(span.valid, span.rate, span.first, rows, samples, channels),
        *(steps, LANES, triton.next_power_of_2(channels)),
    )
    return out


def add_noise(x: Tensor, gain: Tensor, shift: Tensor, span: Span, keys: tuple[Tensor, Tensor, int]) -> None:
    """x += normal * (gain + shift), in place; x and gain [B, T, C]. One normal number for all channels of a row.

    `keys`: seeds [B] int64, first frames [B] int64 (the place of row `span.first` in the utterance, in frames) and the
    draw: the number is `engine.noise`'s at the row's place in the utterance; rows before the utterance take its first.
    """
    batch, rows, channels = _shape(x)
    seeds, first_frames, draw = keys
    block = _channel_block(channels)
    grid = (triton.cdiv(rows, ROWS), triton.cdiv(channels, block), batch)
    _noise_kernel[grid](x, gain, shift, seeds, first_frames, draw, span.rate, span.first, rows, channels, ROWS, block)


def _shape(x: Tensor) -> tuple[int, int, int]:
    if x.dim() != 3 or not x.is_contiguous():
        msg = f"a signal of shape {tuple(x.shape)} and strides {x.stride()} was given; it must be contiguous [B, T, C]"
        raise ValueError(msg)
    batch, rows, channels = x.shape
    return batch, rows, channels


def _channel_block(channels: int) -> int:
    return min(CHANNELS, triton.next_power_of_2(channels))


@triton.jit
def _pairs_kernel(
    x, out, shift, alpha, inverse, valid, rate, first, rows, channels, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    window = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS) - 1  # -1 and `rows` too: the zeros at both ends
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    have = cols < channels
    low, high = bounds(valid, window, rate, first, rows)
    value = inside(
        x + window * rows * channels, row, cols, low, high, channels, tl.load(shift + cols, mask=have, other=0.0)
    )
    value = snaked(
        value,
        tl.load(alpha + cols, mask=have, other=0.0)[None, :],
        tl.load(inverse + cols, mask=have, other=0.0)[None, :],
        x.dtype.element_ty == tl.float32,
    ).to(out.dtype.element_ty)
    home = out + window * (rows + 1) * 2 * channels
    here = home + row.to(tl.int64)[:, None] * 2 * channels + cols[None, :]
    tl.store(here + 2 * channels, value, mask=(row < rows)[:, None] & have[None, :])
    tl.store(here + channels, value, mask=((row >= 0) & (row <= rows))[:, None] & have[None, :])


@triton.jit
def _depthwise_kernel(
    x, out, shift, alpha1, inverse1, weight, bias, alpha2, inverse2, valid, rate, first, rows, channels,
    DILATION: tl.constexpr, STEPS: tl.constexpr, SNAKES: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # A lane walks over STEPS rows that are DILATION apart and keeps the last 7 activations: each is computed once.
    # DILATION lanes side by side cover STEPS * DILATION rows.
    EXACT: tl.constexpr = x.dtype.element_ty == tl.float32
    window = tl.program_id(2).to(tl.int64)
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    row = lane // DILATION * (STEPS * DILATION) + lane % DILATION
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    have = cols < channels
    low, high = bounds(valid, window, rate, first, rows)
    x += window * rows * channels
    out += window * rows * channels
    add = tl.load(shift + cols, mask=have, other=0.0)
    tap = weight + cols
    w0 = tl.load(tap, mask=have, other=0.0)[None, :]
    w1 = tl.load(tap + channels, mask=have, other=0.0)[None, :]
    w2 = tl.load(tap + 2 * channels, mask=have, other=0.0)[None, :]
    w3 = tl.load(tap + 3 * channels, mask=have, other=0.0)[None, :]
    w4 = tl.load(tap + 4 * channels, mask=have, other=0.0)[None, :]
    w5 = tl.load(tap + 5 * channels, mask=have, other=0.0)[None, :]
    w6 = tl.load(tap + 6 * channels, mask=have, other=0.0)[None, :]
    b = tl.load(bias + cols, mask=have, other=0.0)[None, :]
    s0 = inside(x, row - 3 * DILATION, cols, low, high, channels, add)
    s1 = inside(x, row - 2 * DILATION, cols, low, high, channels, add)
    s2 = inside(x, row - DILATION, cols, low, high, channels, add)
    s3 = inside(x, row, cols, low, high, channels, add)
    s4 = inside(x, row + DILATION, cols, low, high, channels, add)
    s5 = inside(x, row + 2 * DILATION, cols, low, high, channels, add)
    ahead = inside(x, row + 3 * DILATION, cols, low, high, channels, add)
    if SNAKES:
        a1 = tl.load(alpha1 + cols, mask=have, other=0.0)[None, :]
        i1 = tl.load(inverse1 + cols, mask=have, other=0.0)[None, :]
        a2 = tl.load(alpha2 + cols, mask=have, other=0.0)[None, :]
        i2 = tl.load(inverse2 + cols, mask=have, other=0.0)[None, :]
        s0 = snaked(s0, a1, i1, EXACT)
        s1 = snaked(s1, a1, i1, EXACT)
        s2 = snaked(s2, a1, i1, EXACT)
        s3 = snaked(s3, a1, i1, EXACT)
        s4 = snaked(s4, a1, i1, EXACT)
        s5 = snaked(s5, a1, i1, EXACT)
    for _ in tl.range(0, STEPS, loop_unroll_factor=UNROLL):
        s6 = ahead
        ahead = inside(x, row + 4 * DILATION, cols, low, high, channels, add)  # asked for a step before it is used
        if SNAKES:
            s6 = snaked(s6, a1, i1, EXACT)
        total = b + w0 * s0 + w1 * s1 + w2 * s2 + w3 * s3 + w4 * s4 + w5 * s5 + w6 * s6
        if SNAKES:
            total = snaked(total, a2, i2, EXACT)
        offsets = row.to(tl.int64)[:, None] * channels + cols[None, :]
        tl.store(out + offsets, total.to(out.dtype.element_ty), mask=(row < rows)[:, None] & have[None, :])
        row += DILATION
        s0, s1, s2, s3, s4, s5 = s1, s2, s3, s4, s5, s6


@triton.jit
def _last_kernel(
    x, out, shift, alpha, inverse, weight, bias, valid, rate, first, rows, samples, channels,
    STEPS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # As in the depthwise kernel a lane keeps 7 activations, of all channels; its row's sum is one sample.
    EXACT: tl.constexpr = x.dtype.element_ty == tl.float32
    window = tl.program_id(1).to(tl.int64)
    sample = (tl.program_id(0) * LANES + tl.arange(0, LANES)) * STEPS
    row = sample + first
    cols = tl.arange(0, BLOCK)
    have = cols < channels
    low, high = bounds(valid, window, rate, first, rows)
    x += window * rows * channels
    out += window * samples
    add = tl.load(shift + cols, mask=have, other=0.0)
    a = tl.load(alpha + cols, mask=have, other=0.0)[None, :]
    i = tl.load(inverse + cols, mask=have, other=0.0)[None, :]
    tap = weight + cols
    w0 = tl.load(tap, mask=have, other=0.0)[None, :]
    w1 = tl.load(tap + channels, mask=have, other=0.0)[None, :]
    w2 = tl.load(tap + 2 * channels, mask=have, other=0.0)[None, :]
    w3 = tl.load(tap + 3 * channels, mask=have, other=0.0)[None, :]
    w4 = tl.load(tap + 4 * channels, mask=have, other=0.0)[None, :]
    w5 = tl.load(tap + 5 * channels, mask=have, other=0.0)[None, :]
    w6 = tl.load(tap + 6 * channels, mask=have, other=0.0)[None, :]
    b = tl.load(bias)
    s0 = snaked(inside(x, row - 3, cols, low, high, channels, add), a, i, EXACT)
    s1 = snaked(inside(x, row - 2, cols, low, high, channels, add), a, i, EXACT)
    s2 = snaked(inside(x, row - 1, cols, low, high, channels, add), a, i, EXACT)
    s3 = snaked(inside(x, row, cols, low, high, channels, add), a, i, EXACT)
    s4 = snaked(inside(x, row + 1, cols, low, high, channels, add), a, i, EXACT)
    s5 = snaked(inside(x, row + 2, cols, low, high, channels, add), a, i, EXACT)
    ahead = inside(x, row + 3, cols, low, high, channels, add)
    for _ in tl.range(0, STEPS, loop_unroll_factor=UNROLL):
        s6 = snaked(ahead, a, i, EXACT)
        ahead = inside(x, row + 4, cols, low, high, channels, add)
        total = w0 * s0 + w1 * s1 + w2 * s2 + w3 * s3 + w4 * s4 + w5 * s5 + w6 * s6
        value = tl.sum(total, axis=1) + b
        value = 1.0 - 2.0 / (1.0 + tl.exp(2.0 * value))  # tanh
        value = tl.where((row >= low) & (row < high), value, 0.0)
        tl.store(out + sample, value, mask=sample < samples)
        row += 1
        sample += 1
        s0, s1, s2, s3, s4, s5 = s1, s2, s3, s4, s5, s6


@triton.jit
def _noise_kernel(
    x, gain, shift, seeds, first_frames, draw, rate, first, rows, channels, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    window = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    have = cols < channels
    position = tl.load(first_frames + window) * rate + (row - first)
    number = normal_at(tl.load(seeds + window), draw, tl.maximum(position, 0))
    offsets = (window * rows + row)[:, None] * channels + cols[None, :]
    mask = (row < rows)[:, None] & have[None, :]
    add = tl.load(shift + cols, mask=have, other=0.0)[None, :]
    value = tl.load(gain + offsets, mask=mask, other=0.0).to(tl.float32) + add
    value = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32) + number[:, None] * value
    tl.store(x + offsets, value.to(x.dtype.element_ty), mask=mask)
