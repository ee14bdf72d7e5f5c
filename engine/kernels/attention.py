"""Triton kernels of attention over paged KV: rotate and keep, attend (flash decoding), combine the splits of long rows.

One row is one query position with all its heads; prefill rows and decode rows are the same to these kernels. Every
program works on one row alone, so what a row gets never depends on the other rows of the step. The torch twin is
`engine.attention.torch_pages`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from engine.attention.base import Rows
from engine.kernels.overlap import launch_options, wait

_LEAST_TILE = 16
"""`tl.dot` wants at least this many rows; heads of a group beyond the real ones are zeros."""


@dataclass(frozen=True, slots=True)
class AttendPlan:
    """How the keys of a row are cut, and where the pieces lie until they are combined.

    `chunk` keys make a split (a multiple of `block`), `splits` of them the longest row. With more than one split:
    `partial` [R * query_heads, splits, head_dim] float32, each split's normalised result, and `weights`
    [R * query_heads, splits] float32, the base-2 logarithm of its sum of exponentials. `block` keys are read at once.
    """

    chunk: int
    splits: int
    block: int
    num_warps: int
    num_stages: int
    partial: torch.Tensor | None
    weights: torch.Tensor | None


def rope_append(
    qkv: torch.Tensor,
    cos_sin: torch.Tensor | None,
    *,
    rows: Rows,
    layer: torch.Tensor,
    pages: torch.Tensor,
    q: torch.Tensor,
) -> None:
    """Rotate q and k of `qkv` [R, (Hq + 2 * Hkv) * D] (fp32; `cos_sin` None: copy), keep k and v in `layer`.

    `layer` [pages, 2, Hkv, page_size, D]; `pages` [S + 1, P] int32; the rotated queries go to `q` [R, Hq, D].
    """
    _, _, kv_heads, page_size, head_dim = layer.shape
    num_rows, query_heads, _ = q.shape
    group = query_heads // kv_heads
    _rope_append_kernel[(num_rows, kv_heads)](
        qkv,
        qkv if cos_sin is None else cos_sin,
        rows.slots,
        rows.positions,
        pages,
        layer,
        q,
        qkv.stride(0),
        pages.stride(0),
        GROUP=group,
        GROUP_TILE=triton.next_power_of_2(group),
        KV_HEADS=kv_heads,
        HEAD_DIM=head_dim,
        PAGE_SIZE=page_size,
        ROTATE=cos_sin is not None,
        num_warps=1,
        **launch_options(q.device),
    )


def attend(
    q: torch.Tensor, layer: torch.Tensor, *, rows: Rows, pages: torch.Tensor, plan: AttendPlan, out: torch.Tensor
) -> None:
    """Attend from each row of `q` [R, Hq, D] to keys 0 to its position, over its slot's pages; `out` [R, Hq * D]."""
    _, _, kv_heads, page_size, head_dim = layer.shape
    num_rows, query_heads, _ = q.shape
    group = query_heads // kv_heads
    split = plan.splits > 1
    _attend_kernel[(num_rows * kv_heads, plan.splits)](
        q,
        layer,
        rows.slots,
        rows.positions,
        pages,
        out,
        plan.partial if split else out,
        plan.weights if split else out,
        pages.stride(0),
        plan.chunk,
        math.log2(math.e) / math.sqrt(head_dim),
        GROUP=group,
        GROUP_TILE=max(_LEAST_TILE, triton.next_power_of_2(group)),
        KV_HEADS=kv_heads,
        HEAD_DIM=head_dim,
        PAGE_SIZE=page_size,
        BLOCK=plan.block,
        SPLITS=plan.splits,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32",  # means something only for float32
        num_warps=plan.num_warps,
        num_stages=plan.num_stages,
        **launch_options(q.device),
    )
    if split:
        _combine_kernel[(num_rows, query_heads)](
            *(plan.partial, plan.weights, rows.positions, out, plan.chunk),
            HEADS=query_heads,
            HEAD_DIM=head_dim,
            SPLITS=plan.splits,
            SPLITS_TILE=triton.next_power_of_2(plan.splits),
            num_warps=4,
            **launch_options(q.device),
        )


@triton.jit
def _rope_append_kernel(
    qkv_ptr, cos_sin_ptr, slots_ptr, positions_ptr, pages_ptr, kv_ptr, q_ptr, qkv_stride, pages_stride,
    GROUP: tl.constexpr, GROUP_TILE: tl.constexpr, KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    PAGE_SIZE: tl.constexpr, ROTATE: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """One program: one row's KV head with the query heads of its group."""
    wait(PDL)
    row = tl.program_id(0)
    head = tl.program_id(1)
    HALF: tl.constexpr = HEAD_DIM // 2
    kind = kv_ptr.dtype.element_ty
    slot = tl.load(slots_ptr + row)
    position = tl.load(positions_ptr + row)
    page = tl.load(pages_ptr + slot * pages_stride + position // PAGE_SIZE).to(tl.int64)

    dims = tl.arange(0, HALF)
    heads = tl.arange(0, GROUP_TILE)
    inside = heads[:, None] < GROUP
    source = qkv_ptr + row * qkv_stride
    k_source = source + (KV_HEADS * GROUP + head) * HEAD_DIM + dims
    places = (head * GROUP + heads[:, None]) * HEAD_DIM + dims[None, :]
    q_low = tl.load(source + places, mask=inside, other=0.0).to(tl.float32)
    q_high = tl.load(source + places + HALF, mask=inside, other=0.0).to(tl.float32)
    k_low = tl.load(k_source).to(tl.float32)
    k_high = tl.load(k_source + HALF).to(tl.float32)
    v_low = tl.load(k_source + KV_HEADS * HEAD_DIM)
    v_high = tl.load(k_source + KV_HEADS * HEAD_DIM + HALF)
    if ROTATE:
        cos = tl.load(cos_sin_ptr + position * HEAD_DIM + dims)
        sin = tl.load(cos_sin_ptr + position * HEAD_DIM + HALF + dims)
        q_first = q_low * cos[None, :] - q_high * sin[None, :]
        q_high = q_high * cos[None, :] + q_low * sin[None, :]
        q_low = q_first
        k_first = k_low * cos - k_high * sin
        k_high = k_high * cos + k_low * sin
        k_low = k_first

    target = q_ptr + row * (KV_HEADS * GROUP * HEAD_DIM) + places
    tl.store(target, q_low.to(q_ptr.dtype.element_ty), mask=inside)
    tl.store(target + HALF, q_high.to(q_ptr.dtype.element_ty), mask=inside)
    k_target = kv_ptr + ((page * 2 * KV_HEADS + head) * PAGE_SIZE + position % PAGE_SIZE) * HEAD_DIM + dims
    v_target = k_target + KV_HEADS * PAGE_SIZE * HEAD_DIM
    tl.store(k_target, k_low.to(kind))
    tl.store(k_target + HALF, k_high.to(kind))
    tl.store(v_target, v_low.to(kind))
    tl.store(v_target + HALF, v_high.to(kind))


@triton.jit
def _attend_kernel(
    q_ptr, kv_ptr, slots_ptr, positions_ptr, pages_ptr, out_ptr, partial_ptr, weights_ptr, pages_stride, chunk,
    scale_log2, GROUP: tl.constexpr, GROUP_TILE: tl.constexpr, KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    PAGE_SIZE: tl.constexpr, BLOCK: tl.constexpr, SPLITS: tl.constexpr, PRECISION: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """One program: one row, one KV head with the query heads of its group, one split of the keys.

    Heads are the fastest index: programs of the first rows start first, so a caller that sorts long rows to the front
    gets a short tail.
    """
    wait(PDL)
    place = tl.program_id(0)
    split = tl.program_id(1)
    row = place // KV_HEADS
    head = place % KV_HEADS
    length = tl.load(positions_ptr + row) + 1
    start = split * chunk
    if start >= length:
        return
    end = tl.minimum(start + chunk, length)
    table = pages_ptr + tl.load(slots_ptr + row) * pages_stride

    heads = tl.arange(0, GROUP_TILE)
    dims = tl.arange(0, HEAD_DIM)
    keys = tl.arange(0, BLOCK)
    real = heads < GROUP
    q_places = (place * GROUP + heads)[:, None] * HEAD_DIM + dims[None, :]
    q = tl.load(q_ptr + q_places, mask=real[:, None], other=0.0)
    tile = keys[:, None] * HEAD_DIM + dims[None, :]

    best = tl.full([GROUP_TILE], float("-inf"), tl.float32)
    total = tl.zeros([GROUP_TILE], tl.float32)
    result = tl.zeros([GROUP_TILE, HEAD_DIM], tl.float32)
    page = tl.load(table + start // PAGE_SIZE)
    for first in range(start, end, BLOCK):
        # The next page is looked up one turn early: its keys can then be fetched without waiting for its number.
        following = tl.load(table + tl.minimum(first + BLOCK, end - 1) // PAGE_SIZE)
        base = kv_ptr + ((page.to(tl.int64) * 2 * KV_HEADS + head) * PAGE_SIZE + first % PAGE_SIZE) * HEAD_DIM
        inside = first + keys < end
        # Zeros for keys beyond the end: what stands there may be anything, and 0 * NaN would spoil the sum of V.
        k = tl.load(base + tile, mask=inside[:, None], other=0.0)
        v = tl.load(base + KV_HEADS * PAGE_SIZE * HEAD_DIM + tile, mask=inside[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale_log2
        scores = tl.where(inside[None, :], scores, float("-inf"))
        highest = tl.maximum(best, tl.max(scores, 1))
        shrink = tl.exp2(best - highest)
        shares = tl.exp2(scores - highest[:, None])
        total = total * shrink + tl.sum(shares, 1)
        result = tl.dot(shares.to(v.dtype), v, result * shrink[:, None], input_precision=PRECISION)
        best = highest
        page = following

    result = result / total[:, None]
    if SPLITS == 1:
        tl.store(out_ptr + q_places, result.to(out_ptr.dtype.element_ty), mask=real[:, None])
    else:
        whole = length <= chunk  # one split has all keys: nothing to combine
        tl.store(out_ptr + q_places, result.to(out_ptr.dtype.element_ty), mask=real[:, None] & whole)
        pieces = (place * GROUP + heads).to(tl.int64) * SPLITS + split
        kept = real & (length > chunk)
        tl.store(partial_ptr + pieces[:, None] * HEAD_DIM + dims[None, :], result, mask=kept[:, None])
        tl.store(weights_ptr + pieces, best + tl.log2(total), mask=kept)


@triton.jit
def _combine_kernel(
    partial_ptr, weights_ptr, positions_ptr, out_ptr, chunk, HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    SPLITS: tl.constexpr, SPLITS_TILE: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """One program: one row's query head; all its splits at once, weighted by their sums of exponentials."""
    wait(PDL)
    row = tl.program_id(0)
    place = row * HEADS + tl.program_id(1)
    length = tl.load(positions_ptr + row) + 1
    if length <= chunk:
        return
    splits = tl.arange(0, SPLITS_TILE)
    dims = tl.arange(0, HEAD_DIM)
    there = splits * chunk < length
    pieces = place.to(tl.int64) * SPLITS + splits
    logs = tl.load(weights_ptr + pieces, mask=there, other=float("-inf"))
    partial = tl.load(partial_ptr + pieces[:, None] * HEAD_DIM + dims[None, :], mask=there[:, None], other=0.0)
    shares = tl.exp2(logs - tl.max(logs, 0))
    result = tl.sum(partial * shares[:, None], 0) / tl.sum(shares, 0)
    tl.store(out_ptr + place * HEAD_DIM + dims, result.to(out_ptr.dtype.element_ty))
