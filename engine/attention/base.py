"""What every attention back end gives: paged KV memory, and one bound `StepAttention` for each shape of step.

    kv = PagedKv.zeros(program.kv, num_pages=1024, page_size=64, device=device)
    backend = TorchAttention(kv, state.pages)
    step = backend.for_step(rows, entries=256)      # once per graph
    step.plan(batch)                                 # on the host, before each launch
    out = step(layer, qkv, rope)                     # inside the graph, once per layer

All rows' K and V of a layer are kept before any row of the step attends, so a row may attend to rows of the same step,
also of other slots (a page that two prompts share).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from engine.tokens.program import Attend, KvShape

Counts = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class PagedKv:
    """KV memory: `data` [layers, pages, 2, kv_heads, page_size, head_dim] (0 is K, 1 is V). Page 0 is scratch."""

    data: torch.Tensor
    shape: KvShape
    page_size: int

    @classmethod
    def zeros(cls, shape: KvShape, *, num_pages: int, page_size: int, device: torch.device) -> PagedKv:
        """Memory for `num_pages` pages, the scratch page included."""
        size = (shape.layers, num_pages, 2, shape.kv_heads, page_size, shape.head_dim)
        return cls(torch.zeros(size, dtype=shape.dtype, device=device), shape, page_size)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one shape of step: buffers that stay where they are, filled before or inside the graph.

    `slots` [R] int32 and `positions` [R] int32. Rows of one slot are consecutive, with consecutive positions.
    """

    slots: torch.Tensor
    positions: torch.Tensor


@dataclass(frozen=True, slots=True)
class HostBatch:
    """The same rows as the host knows them, for back ends that plan there; padding entries stand at the end.

    Entry e is a run of `row_counts[e]` rows of slot `slots[e]` whose KV holds `lengths[e]` rows once they are kept.
    `pages[s]` is the page table of slot s (the same numbers as on the device). Padding entries have the dummy slot and
    length 1: in a decode step one row each, in a prefill pass no rows, but the last entry has all rows that are left
    (their results are never read).
    """

    slots: Counts
    row_counts: Counts
    lengths: Counts
    pages: Counts


class StepAttention(Attend, Protocol):
    """Attention of one shape of step, bound to its rows."""

    def plan(self, batch: HostBatch) -> None:
        """Prepare the next launch on the host; what it puts on the device is ordered before it on the stream."""
        ...


class AttentionBackend(Protocol):
    """One way to attend over paged KV."""

    @property
    def name(self) -> str:
        """Its name, as options spell it."""
        ...

    def for_step(self, rows: Rows, *, entries: int) -> StepAttention:
        """Attention for steps of len(rows.slots) rows in `entries` runs (decode: one row each)."""
        ...
