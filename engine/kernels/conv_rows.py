"""Triton kernels of `engine.ops.causal_conv` and `snake_after`: dense convolutions over rows [B, T, C].

A convolution is one matrix product whose rows are read at shifted places.
Sums are float32; a bias, a snake and a residual are applied to them before they are rounded once. The order of the sum
depends on the layer alone, so a row gets the same in any batch.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.kernels.spans import snaked
from engine.ops import Snake

BLOCK_ROWS = 128
ROWS = 16
"""Rows of a program that works value by value."""
CHANNELS = 128
"""Channels of the same, at most."""


@triton.jit
def _after_kernel(
    x, before, out, alpha, inverse, rows_before, rows, channels, before_stride,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    window = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    have = (cols < channels)[None, :]
    old = (row < rows_before)[:, None] & have
    new = ((row >= rows_before) & (row < rows_before + rows))[:, None] & have
    there = row.to(tl.int64)[:, None] * channels + cols[None, :]
    kept = tl.load(before + window * before_stride + there, mask=old, other=0.0)
    value = tl.load(x + window * rows * channels + there - rows_before * channels, mask=new, other=0.0).to(tl.float32)
    value = snaked(
        value,
        tl.load(alpha + cols, mask=cols < channels, other=0.0)[None, :],
        tl.load(inverse + cols, mask=cols < channels, other=0.0)[None, :],
        x.dtype.element_ty == tl.float32,
    )
    value = tl.where(old, kept.to(tl.float32), value)
    tl.store(out + window * (rows_before + rows) * channels + there, value.to(out.dtype.element_ty), mask=old | new)


@triton.jit
def _conv_kernel(
    rows, weight, bias, alpha, inverse, residual, out, count, rows_in, dilation, channels, outputs,
    TAPS: tl.constexpr, SNAKE: tl.constexpr, RESIDUAL: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_O: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    window = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    col = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    inner = tl.arange(0, BLOCK_C)
    have_row, have_col = row < count, col < outputs
    left = rows + window * rows_in * channels + row[:, None] * channels + inner[None, :]
    right = weight + inner[:, None] * outputs + col[None, :]
    blocks = channels // BLOCK_C
    total = tl.zeros((BLOCK_T, BLOCK_O), dtype=tl.float32)
    for step in range(TAPS * blocks):
        tap, start = step // blocks, (step % blocks) * BLOCK_C
        a = tl.load(left + tap * dilation * channels + start, mask=have_row[:, None], other=0.0)
        b = tl.load(right + (tap * channels + start) * outputs, mask=have_col[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION)
    total += tl.load(bias + col, mask=have_col, other=0.0)[None, :]
    if SNAKE:
        total = snaked(
            total,
            tl.load(alpha + col, mask=have_col, other=0.0)[None, :],
            tl.load(inverse + col, mask=have_col, other=0.0)[None, :],
            out.dtype.element_ty == tl.float32,
        )
    here = window * count * outputs + row[:, None].to(tl.int64) * outputs + col[None, :]
    inside = have_row[:, None] & have_col[None, :]
    if RESIDUAL:
        total += tl.load(residual + here, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + here, total.to(out.dtype.element_ty), mask=inside)


def causal_conv(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    *,
    dilation: int = 1,
    snake: Snake | None = None,
    residual: torch.Tensor | None = None,
) -> torch.Tensor:
    """`engine.ops.causal_conv` on CUDA; all tensors contiguous, channels a multiple of 16."""
    batch, rows_in, channels = rows.shape
    taps, _, outputs = weight.shape
    count = rows_in - (taps - 1) * dilation
    out = torch.empty((batch, count, outputs), dtype=rows.dtype, device=rows.device)
    block_c = next(size for size in (64, 32, 16) if channels % size == 0)
    block_o = 64 if outputs % 128 == 64 or outputs < 64 else 128
    after = snake or Snake(bias, bias)  # never read without one
    grid = (triton.cdiv(count, BLOCK_ROWS), triton.cdiv(outputs, block_o), batch)
    _conv_kernel[grid](
        *(rows, weight, bias, after.alpha, after.inverse, rows if residual is None else residual, out),
        *(count, rows_in, dilation, channels, outputs),
        TAPS=taps,
        SNAKE=snake is not None,
        RESIDUAL=residual is not None,
        BLOCK_T=BLOCK_ROWS,
        BLOCK_C=block_c,
        BLOCK_O=block_o,
        PRECISION="ieee",  # means something only for float32
        num_warps=8,
        num_stages=3,
    )
    return out


def snake_after(x: torch.Tensor, before: torch.Tensor, snake: Snake) -> torch.Tensor:
    """`engine.ops.snake_after` on CUDA; `x` and each window of `before` are contiguous."""
    batch, rows, channels = x.shape
    rows_before = before.shape[1]
    out = torch.empty((batch, rows_before + rows, channels), dtype=x.dtype, device=x.device)
    block = min(CHANNELS, triton.next_power_of_2(channels))
    grid = (triton.cdiv(rows_before + rows, ROWS), triton.cdiv(channels, block), batch)
    _after_kernel[grid](
        *(x, before, out, snake.alpha, snake.inverse, rows_before, rows, channels, before.stride(0)),
        ROWS=ROWS,
        BLOCK=block,
    )
    return out
