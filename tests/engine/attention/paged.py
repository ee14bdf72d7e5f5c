"""Steps over random page tables for the attention tests, and what a dense attention makes of the same rows.

All memory that no row of the case may read is NaN: whoever reads it spoils its result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from engine.attention.base import HostBatch, PagedKv, Rows
from engine.tokens.program import KvShape, Rope


@dataclass(frozen=True)
class Run:
    """`count` rows of `slot` that follow `start` rows kept before."""

    slot: int
    start: int
    count: int


@dataclass(frozen=True)
class Case:
    """One layer's step: memory before it, rows, and the keys and values of each slot so far."""

    kv: PagedKv
    pages: torch.Tensor
    runs: list[Run]
    qkv: torch.Tensor
    rope: Rope
    kept: dict[int, torch.Tensor]
    """[start, 2, kv_heads, head_dim] of each slot."""

    @property
    def slots(self) -> list[int]:
        return [run.slot for run in self.runs for _ in range(run.count)]

    @property
    def positions(self) -> list[int]:
        return [position for run in self.runs for position in range(run.start, run.start + run.count)]

    def rows(self) -> Rows:
        return Rows(torch.tensor(self.slots, dtype=torch.int32), torch.tensor(self.positions, dtype=torch.int32))

    def batch(self) -> HostBatch:
        columns = zip(*[(run.slot, run.count, run.start + run.count) for run in self.runs], strict=True)
        return HostBatch(*(np.array(column, np.int32) for column in columns), self.pages.numpy())

    def memory(self) -> PagedKv:
        """A copy to run a step on."""
        return PagedKv(self.kv.data.clone(), self.kv.shape, self.kv.page_size)

    def dense(self) -> torch.Tensor:
        """[R, query_heads * head_dim] float32 of a plain causal attention, computed in float64."""
        shape, row, parts = self.kv.shape, 0, []
        for run in self.runs:
            heads = self.qkv[row : row + run.count].double().view(run.count, -1, shape.head_dim)
            row += run.count
            turned = _turn(heads, self.rope, run.start)
            k = torch.cat((self.kept[run.slot][:, 0].double(), turned[:, shape.query_heads : -shape.kv_heads]))
            v = torch.cat((self.kept[run.slot][:, 1].double(), heads[:, -shape.kv_heads :]))
            group = shape.query_heads // shape.kv_heads
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            scores = torch.einsum("rhd,nhd->hrn", turned[:, : shape.query_heads], k) / shape.head_dim**0.5
            limits = torch.arange(run.start, run.start + run.count)[:, None]
            scores = scores.masked_fill(torch.arange(len(k))[None, :] > limits, -torch.inf)
            parts.append(torch.einsum("hrn,nhd->rhd", scores.softmax(-1), v).flatten(1))
        return torch.cat(parts).float()


def _turn(heads: torch.Tensor, rope: Rope, start: int) -> torch.Tensor:
    half = heads.shape[-1] // 2
    table = rope.cos_sin[start : start + len(heads), None].double()
    turned = torch.complex(heads[..., :half], heads[..., half:]) * torch.complex(table[..., :half], table[..., half:])
    return torch.cat((turned.real, turned.imag), -1)


def rope_table(positions: int, head_dim: int) -> Rope:
    angles = torch.arange(positions)[:, None] * 10_000.0 ** (-torch.arange(0, head_dim, 2) / head_dim)[None]
    return Rope(torch.cat((angles.cos(), angles.sin()), 1).float())


def kv_shape(query_heads: int = 6, kv_heads: int = 2, head_dim: int = 16) -> KvShape:
    return KvShape(layers=1, query_heads=query_heads, kv_heads=kv_heads, head_dim=head_dim, dtype=torch.float32)


def make_case(runs: list[Run], *, shape: KvShape, page_size: int = 16, table: int = 6, seed: int = 0) -> Case:
    """Every slot has pages of its own in random order; the table's last row is the dummy slot, all of it page 0."""
    torch.manual_seed(seed)
    num_slots = max(run.slot for run in runs) + 1
    tables = torch.zeros(num_slots + 1, table, dtype=torch.int32)
    numbers = 1 + torch.randperm(num_slots * table, dtype=torch.int32)
    tables[:num_slots] = numbers.view(num_slots, table)
    num_pages = num_slots * table + 1
    kv = PagedKv.zeros(shape, num_pages=num_pages, page_size=page_size, device=torch.device("cpu"))
    kv.data[:, 1:] = torch.nan
    kept = {}
    for run in runs:
        kept[run.slot] = torch.randn(run.start, 2, shape.kv_heads, shape.head_dim)
        for position, pair in enumerate(kept[run.slot]):
            kv.data[0, tables[run.slot, position // page_size], :, :, position % page_size] = pair
    width = (shape.query_heads + 2 * shape.kv_heads) * shape.head_dim
    qkv = torch.randn(sum(run.count for run in runs), width)
    return Case(kv, tables, runs, qkv, rope_table(table * page_size, shape.head_dim), kept)
