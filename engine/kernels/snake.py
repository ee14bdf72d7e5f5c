"""Triton kernel of `engine.ops.snake_after`: one pass that copies remembered rows and activates the new ones."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.kernels.spans import snaked

ROWS = 16
CHANNELS = 128


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


def after(x: torch.Tensor, before: torch.Tensor, alpha: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """`engine.ops.snake_after` on CUDA; `x` and each window of `before` are contiguous."""
    batch, rows, channels = x.shape
    rows_before = before.shape[1]
    out = torch.empty((batch, rows_before + rows, channels), dtype=x.dtype, device=x.device)
    block = min(CHANNELS, triton.next_power_of_2(channels))
    grid = (triton.cdiv(rows_before + rows, ROWS), triton.cdiv(channels, block), batch)
    _after_kernel[grid](
        x, before, out, alpha, inverse, rows_before, rows, channels, before.stride(0), ROWS=ROWS, BLOCK=block
    )
    return out
