"""Attention over paged KV in plain torch operations: runs on any device and says what the other back ends must compute.

On the CPU each row is computed by itself over exactly its own keys: what it gets is the same to the bit alone, in a
batch and in a longer or shorter run of rows. On CUDA the shapes never depend on values (all pages of a table are
read and masked), so that steps can be captured; that costs memory traffic, which the oracle does not mind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

from engine.attention.base import HostBatch, PagedKv, Rows
from engine.tokens.program import KvShape, Rope

ROWS_AT_ONCE = 32
"""Rows whose whole page tables are gathered together on CUDA: bounds what is gathered to some hundred MB."""


class TorchAttention:
    """The torch back end over `kv`; `pages` [S + 1, P] int32 are the page tables of all slots."""

    def __init__(self, kv: PagedKv, pages: torch.Tensor) -> None:
        self.kv = kv
        self.pages = pages

    @property
    def name(self) -> str:
        """Its name, as options spell it."""
        return "torch"

    def for_step(self, rows: Rows, *, entries: int) -> TorchStep:  # noqa: ARG002  # the shape is that of the rows
        """Attention of steps over these rows."""
        return TorchStep(self.kv, self.pages, rows)


class TorchStep:
    """Attention of one shape of step."""

    def __init__(self, kv: PagedKv, pages: torch.Tensor, rows: Rows) -> None:
        self._kv = kv
        self._pages = pages
        self._rows = rows

    def plan(self, batch: HostBatch) -> None:
        """Nothing has to be prepared."""

    def __call__(self, layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
        """Rotate, keep, attend; shapes as in `Attend`. Computes in float32, returns the dtype of `qkv`."""
        memory, positions = self._kv.data[layer], self._rows.positions
        q, k, v = split_heads(qkv, self._kv.shape)
        if rope is not None:
            q, k = rotate(q, positions, rope), rotate(k, positions, rope)
        pages, places = self._places()
        memory[pages, 0, :, places] = k.to(memory.dtype)
        memory[pages, 1, :, places] = v.to(memory.dtype)
        attend = self._row_by_row if qkv.device.type == "cpu" else self._whole_tables
        return attend(memory, q).to(qkv.dtype)

    def _places(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Page and place in the page of each row's own position."""
        positions, size = self._rows.positions.long(), self._kv.page_size
        return self._pages[self._rows.slots.long(), positions // size].long(), positions % size

    def _row_by_row(self, memory: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        scaled, out = _scaled_groups(q, memory.shape[2]), []
        for run in _runs(self._rows.slots.tolist(), self._rows.positions.tolist()):
            last_length = run.length + run.stop - run.start - 1
            k, v = _gather(memory, self._pages[run.slot, : -(-last_length // self._kv.page_size)])
            k, v = k.float().permute(1, 2, 0), v.float().transpose(0, 1)
            for row in range(run.start, run.stop):
                length = run.length + row - run.start
                shares = torch.softmax(torch.bmm(scaled[row], k[:, :, :length]), dim=-1)
                out.append(torch.bmm(shares, v[:, :length]))
        return torch.stack(out).flatten(1)

    def _whole_tables(self, memory: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        tables = self._pages[self._rows.slots.long()]
        keys = torch.arange(tables.shape[1] * self._kv.page_size, device=q.device)
        parts = []
        for start in range(0, len(q), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            mask = keys[None, :] <= self._rows.positions[some, None]
            k, v = _gather(memory, tables[some])
            parts.append(_attend_masked(_scaled_groups(q[some], memory.shape[2]), k, v, mask))
        return torch.cat(parts)


def split_heads(qkv: torch.Tensor, shape: KvShape) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """[R, (Hq + 2 * Hkv) * D] to q [R, Hq, D], k [R, Hkv, D] and v [R, Hkv, D] (views)."""
    heads = qkv.view(len(qkv), -1, shape.head_dim)
    keys, values = shape.query_heads, shape.query_heads + shape.kv_heads
    return heads[:, :keys], heads[:, keys:values], heads[:, values:]


def rotate(x: torch.Tensor, positions: torch.Tensor, rope: Rope) -> torch.Tensor:
    """Rotate `x` [R, H, D] to `positions` [R] in float32 (RoFormer, Su et al. 2021; halves as in Llama checkpoints)."""
    cos, sin = rope.cos_sin.index_select(0, positions)[:, None, :].chunk(2, dim=-1)
    low, high = x.float().chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1).to(x.dtype)


class _Run(NamedTuple):
    """Rows [start, stop) of one slot at consecutive positions; the first of them has `length` keys."""

    start: int
    stop: int
    slot: int
    length: int


def _runs(slots: list[int], positions: list[int]) -> Iterator[_Run]:
    start = 0
    for row in range(1, len(slots) + 1):
        ends = row == len(slots) or slots[row] != slots[start] or positions[row] != positions[row - 1] + 1
        if ends:
            yield _Run(start, row, slots[start], positions[start] + 1)
            start = row


def _gather(memory: torch.Tensor, tables: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """K and V [..., N, Hkv, D] of `tables` [..., pages], N = pages * page_size.

    Always fresh memory of one layout: strides that depend on the number of pages could make a product round otherwise.
    """
    found = memory.index_select(0, tables.flatten()).permute(1, 0, 3, 2, 4)
    _, _, _, heads, dim = found.shape
    k, v = found.clone(memory_format=torch.contiguous_format).view(2, *tables.shape[:-1], -1, heads, dim).unbind()
    return k, v


def _scaled_groups(q: torch.Tensor, kv_heads: int) -> torch.Tensor:
    """[B, Hq, D] to [B, Hkv, Hq / Hkv, D] float32, each query beside those of its KV head, scaled."""
    batch, heads, dim = q.shape
    return q.float().reshape(batch, kv_heads, heads // kv_heads, dim) / math.sqrt(dim)


def _attend_masked(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """`q` [B, Hkv, G, D] over `k`, `v` [B, N, Hkv, D] where `mask` [B, N]; returns [B, Hq * D] float32.

    Masked values become zeros first: what stands there may be anything, and 0 * NaN would spoil the sum.
    """
    scores = torch.matmul(q, k.float().permute(0, 2, 3, 1))
    shares = torch.softmax(scores.masked_fill(~mask[:, None, None, :], -torch.inf), dim=-1)
    values = v.float().masked_fill(~mask[:, :, None, None], 0.0)
    return torch.matmul(shares, values.transpose(1, 2)).flatten(1)
