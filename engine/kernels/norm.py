"""Triton kernels of `engine.ops`, which says what they compute: a row is read once and kept in registers.

Rows are contiguous in their last dimension; the stride between rows is free.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.kernels.overlap import launch_options, wait

_SILU_COLUMNS = 1024
_HEADS = 8


@triton.jit
def _store_normed(places, wide, scales, inside, eps, D: tl.constexpr):
    """The norm of a row of float32 (zeros beyond D), rounded before it is weighted."""
    inverse = tl.rsqrt(tl.sum(wide * wide, axis=0) / D + eps)
    rounded = (wide * inverse).to(places.dtype.element_ty).to(tl.float32)
    tl.store(places, (rounded * scales).to(places.dtype.element_ty), mask=inside)


@triton.jit
def _rms_norm_kernel(
    x, weight, out, x_stride, out_stride, eps, D: tl.constexpr, BLOCK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < D
    scales = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    wide = tl.load(x + row * x_stride + columns, mask=inside, other=0.0).to(tl.float32)
    _store_normed(out + row * out_stride + columns, wide, scales, inside, eps, D)


@triton.jit
def _add_rms_norm_kernel(
    x, residual, weight, out, x_stride, residual_stride, out_stride, eps, D: tl.constexpr, BLOCK: tl.constexpr,
    PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < D
    scales = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    added = tl.load(x + row * x_stride + columns, mask=inside, other=0.0).to(tl.float32)
    kept = residual + row * residual_stride + columns
    total = (added + tl.load(kept, mask=inside, other=0.0).to(tl.float32)).to(residual.dtype.element_ty)
    tl.store(kept, total, mask=inside)
    wide = total.to(tl.float32)  # the norm is of the sum as it was rounded
    _store_normed(out + row * out_stride + columns, wide, scales, inside, eps, D)


@triton.jit
def _silu_mul_kernel(gate_up, out, gate_up_stride, out_stride, F, BLOCK: tl.constexpr, PDL: tl.constexpr):
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < F
    gate = tl.load(gate_up + row * gate_up_stride + columns, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(gate_up + row * gate_up_stride + F + columns, mask=inside, other=0.0).to(tl.float32)
    silu = (gate / (1.0 + tl.exp(-gate))).to(out.dtype.element_ty).to(tl.float32)
    tl.store(out + row * out_stride + columns, (silu * up).to(out.dtype.element_ty), mask=inside)


@triton.jit
def _head_norm_kernel(
    qkv, weights, stride, eps, HEADS: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr,
    PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    heads = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = tl.arange(0, BLOCK)
    inside = (heads < HEADS)[:, None] & (columns < D)[None, :]
    at = heads[:, None] * D + columns[None, :]
    scales = tl.load(weights + at, mask=inside, other=0.0).to(tl.float32)
    places = qkv + row * stride + at
    wide = tl.load(places, mask=inside, other=0.0).to(tl.float32)
    inverse = tl.rsqrt(tl.sum(wide * wide, axis=1) / D + eps)
    rounded = (wide * inverse[:, None]).to(qkv.dtype.element_ty).to(tl.float32)
    tl.store(places, (rounded * scales).to(qkv.dtype.element_ty), mask=inside)


def head_norm(qkv: torch.Tensor, weights: torch.Tensor, eps: float) -> torch.Tensor:
    """`engine.ops.head_norm` on CUDA."""
    heads, dim = weights.shape
    _head_norm_kernel[(len(qkv), triton.cdiv(heads, _HEADS))](
        *(qkv, weights, qkv.stride(0), eps),
        HEADS=heads,
        TILE=_HEADS,
        D=dim,
        BLOCK=triton.next_power_of_2(dim),
        num_warps=4,
        **launch_options(qkv.device),
    )
    return qkv


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """`engine.ops.rms_norm` on CUDA."""
    rows, width = x.shape
    out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(width)
    _rms_norm_kernel[(rows,)](
        *(x, weight, out, x.stride(0), out.stride(0), eps),
        D=width,
        BLOCK=block,
        num_warps=_num_warps(block),
        **launch_options(x.device),
    )
    return out


def add_rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """`engine.ops.add_rms_norm` on CUDA."""
    rows, width = x.shape
    out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(width)
    strides = (x.stride(0), residual.stride(0), out.stride(0))
    _add_rms_norm_kernel[(rows,)](
        *(x, residual, weight, out, *strides, eps),
        D=width,
        BLOCK=block,
        num_warps=_num_warps(block),
        **launch_options(x.device),
    )
    return out, residual


def silu_mul(gate_up: torch.Tensor) -> torch.Tensor:
    """`engine.ops.silu_mul` on CUDA."""
    rows, width = gate_up.shape[0], gate_up.shape[1] // 2
    out = torch.empty((rows, width), dtype=gate_up.dtype, device=gate_up.device)
    grid = (rows, triton.cdiv(width, _SILU_COLUMNS))
    _silu_mul_kernel[grid](
        *(gate_up, out, gate_up.stride(0), out.stride(0), width),
        BLOCK=_SILU_COLUMNS,
        num_warps=4,
        **launch_options(gate_up.device),
    )
    return out


def _num_warps(block: int) -> int:
    """Sixteen values a thread: two loads of 16 bytes in bfloat16, and few enough warps for a quick reduction."""
    return min(max(block // 512, 1), 16)
