"""Triton kernel of `engine.attention.small`: rotate, keep and attend over few positions, a row and KV head a program.

A program reads and writes the memory of its own row and head only. The torch twin is `SmallKv`.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from engine.kernels.overlap import launch_options, wait


@triton.jit
def _rotated(low, high, cos, sin, kind: tl.constexpr):
    """Both halves turned in float32 and rounded as they are kept."""
    return (low * cos - high * sin).to(kind).to(tl.float32), (high * cos + low * sin).to(kind).to(tl.float32)


@triton.jit
def _attend_kernel(
    qkv, cos_sin, memory, out, qkv_stride, memory_row, memory_kind, memory_head, scale, position,
    GROUP: tl.constexpr, KV_HEADS: tl.constexpr, HALF: tl.constexpr, POSITIONS: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    kind: tl.constexpr = memory.dtype.element_ty
    dim: tl.constexpr = 2 * HALF
    lane = tl.arange(0, HALF)
    cos = tl.load(cos_sin + position * dim + lane)
    sin = tl.load(cos_sin + position * dim + HALF + lane)
    row_start = qkv + row * qkv_stride
    new_k = row_start + (GROUP * KV_HEADS + head) * dim + lane
    new_v = row_start + (GROUP * KV_HEADS + KV_HEADS + head) * dim + lane
    k_low, k_high = _rotated(
        tl.load(new_k).to(tl.float32), tl.load(new_k + HALF).to(tl.float32), cos, sin, kind
    )  # fmt: skip
    v_low = tl.load(new_v).to(kind).to(tl.float32)
    v_high = tl.load(new_v + HALF).to(kind).to(tl.float32)
    keys = memory + row * memory_row + head * memory_head
    values = keys + memory_kind
    here = position * dim + lane
    tl.store(keys + here, k_low.to(kind))
    tl.store(keys + here + HALF, k_high.to(kind))
    tl.store(values + here, v_low.to(kind))
    tl.store(values + here + HALF, v_high.to(kind))
    places = tl.arange(0, POSITIONS)
    before = places < position
    there = places[:, None] * dim + lane[None, :]
    old_k_low = tl.load(keys + there, mask=before[:, None], other=0.0).to(tl.float32)
    old_k_high = tl.load(keys + there + HALF, mask=before[:, None], other=0.0).to(tl.float32)
    old_v_low = tl.load(values + there, mask=before[:, None], other=0.0).to(tl.float32)
    old_v_high = tl.load(values + there + HALF, mask=before[:, None], other=0.0).to(tl.float32)
    for member in tl.static_range(GROUP):
        query = row_start + (head * GROUP + member) * dim + lane
        q_low, q_high = _rotated(
            tl.load(query).to(tl.float32), tl.load(query + HALF).to(tl.float32), cos, sin, qkv.dtype.element_ty
        )  # fmt: skip
        old = tl.sum(old_k_low * q_low[None, :] + old_k_high * q_high[None, :], axis=1) * scale
        old = tl.where(before, old, float("-inf"))
        new = tl.sum(k_low * q_low + k_high * q_high, axis=0) * scale
        most = tl.maximum(tl.max(old, axis=0), new)
        old_share, new_share = tl.exp(old - most), tl.exp(new - most)
        total = tl.sum(old_share, axis=0) + new_share
        low = (tl.sum(old_share[:, None] * old_v_low, axis=0) + new_share * v_low) / total
        high = (tl.sum(old_share[:, None] * old_v_high, axis=0) + new_share * v_high) / total
        to = out + (row * KV_HEADS * GROUP + head * GROUP + member) * dim + lane
        tl.store(to, low.to(out.dtype.element_ty))
        tl.store(to + HALF, high.to(out.dtype.element_ty))


def attend(qkv: torch.Tensor, cos_sin: torch.Tensor, memory: torch.Tensor, position: int) -> torch.Tensor:
    """Rotate, keep and attend at one position of all rows.

    `qkv` [R, (Hq + 2 * Hkv) * D]; `cos_sin` [positions, D] float32; `memory` [R or more, 2, Hkv, P, D] of one layer,
    whose first `position` positions are kept. Returns [R, Hq * D] in the dtype of `qkv`.
    """
    _, _, kv_heads, positions, head_dim = memory.shape
    query_heads = qkv.shape[1] // head_dim - 2 * kv_heads
    out = torch.empty((len(qkv), query_heads * head_dim), dtype=qkv.dtype, device=qkv.device)
    _attend_kernel[(len(qkv), kv_heads)](
        *(qkv, cos_sin, memory, out, qkv.stride(0), *memory.stride()[:3], 1.0 / math.sqrt(head_dim), position),
        GROUP=query_heads // kv_heads,
        KV_HEADS=kv_heads,
        HALF=head_dim // 2,
        POSITIONS=triton.next_power_of_2(positions),
        num_warps=1,
        **launch_options(qkv.device),
    )
    return out
