"""Attention over paged KV by our Triton kernels (CUDA): one launch keeps K and V, one attends, a third combines splits.

Nothing is planned on the host and every shape is fixed by the step, so steps of any kind can be captured. How long
rows are cut depends on the number of rows in the step alone: few rows need many programs to fill the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.attention.base import HostBatch, PagedKv, Rows
from engine.kernels.attention import AttendPlan, attend, rope_append
from engine.tokens.program import KvShape, Rope

MOST_SPLITS = 64
"""The combining kernel holds all splits of a head at once: more of them would not fit into its registers."""
HEAD_DIMS = (16, 32, 64, 128)
LEAST_BLOCK = 16
"""Fewest keys that a matrix product of the kernel takes."""
MOST_GROUP = 16
"""Query heads of one KV head that fit into one tile."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is tuned on a device; it changes speed and rounding, never meaning.

    `chunks` are pairs (rows, keys), most rows first: a step of at least so many rows cuts its keys into splits of
    `keys` (0: no cut). `block_keys` are read at once (at most a page);
    `num_warps` and `num_stages` (pipelined reads) are Triton's.
    """

    chunks: tuple[tuple[int, int], ...] = ((128, 0), (24, 1024), (8, 256), (0, 64))
    block_keys: int = 64
    num_warps: int = 4
    num_stages: int = 3

    def chunk(self, rows: int) -> int:
        """Keys per split of a step with that many rows; 0 is no cut."""
        return next((keys for least, keys in self.chunks if rows >= least), 0)


class TritonAttention:
    """The Triton back end over `kv`; `pages` [S + 1, P] int32 are the page tables of all slots.

    What a row gets depends on the number of rows in its step (by the cut), never on the other rows.
    """

    def __init__(self, kv: PagedKv, pages: torch.Tensor, *, tuning: Tuning | None = None) -> None:
        check_shape(kv.shape, kv.page_size)
        self.kv = kv
        self.pages = pages
        self.tuning = tuning or Tuning()

    @property
    def name(self) -> str:
        """Its name, as options spell it."""
        return "triton"

    def for_step(self, rows: Rows, *, entries: int) -> TritonStep:  # noqa: ARG002  # each row is its own work
        """Attention of steps over these rows, with its own workspaces."""
        chunk = self.tuning.chunk(len(rows.slots))
        return TritonStep(self.kv, self.pages, rows, _plan(self.kv, self.pages, len(rows.slots), chunk, self.tuning))


class TritonStep:
    """Attention of one shape of step."""

    def __init__(self, kv: PagedKv, pages: torch.Tensor, rows: Rows, plan: AttendPlan) -> None:
        self._kv = kv
        self._pages = pages
        self._rows = rows
        self._plan = plan
        size = (len(rows.slots), kv.shape.query_heads, kv.shape.head_dim)
        self._q = torch.empty(size, dtype=kv.shape.dtype, device=kv.data.device)

    def plan(self, batch: HostBatch) -> None:
        """Nothing has to be prepared."""

    def __call__(self, layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
        """Rotate, keep, attend; shapes as in `Attend`. Sums in float32, returns the dtype of `qkv`."""
        memory = self._kv.data[layer]
        out = torch.empty_like(qkv[:, : self._q.shape[1] * self._q.shape[2]], memory_format=torch.contiguous_format)
        cos_sin = None if rope is None else rope.cos_sin
        rope_append(qkv, cos_sin, rows=self._rows, layer=memory, pages=self._pages, q=self._q)
        attend(self._q, memory, rows=self._rows, pages=self._pages, plan=self._plan, out=out)
        return out


def check_shape(shape: KvShape, page_size: int) -> None:
    """Raises ValueError unless the kernels can work on that KV."""
    group, rest = divmod(shape.query_heads, shape.kv_heads)
    if rest or group > MOST_GROUP or shape.head_dim not in HEAD_DIMS:
        msg = (
            f"{shape.query_heads} query heads over {shape.kv_heads} KV heads of {shape.head_dim}: our kernels take 1 "
            f"to {MOST_GROUP} query heads for each KV head, of {HEAD_DIMS} dimensions; choose attention='torch'"
        )
        raise ValueError(msg)
    if page_size < LEAST_BLOCK or page_size & (page_size - 1):
        msg = f"page_size={page_size}: the Triton kernels take powers of two from {LEAST_BLOCK} on; 64 is usual"
        raise ValueError(msg)


def _plan(kv: PagedKv, pages: torch.Tensor, rows: int, chunk: int, tuning: Tuning) -> AttendPlan:
    """The cut for tables of that many pages; all of it is known before the first step."""
    block = max(LEAST_BLOCK, min(tuning.block_keys, kv.page_size))
    longest = pages.shape[1] * kv.page_size
    chunk = longest if not chunk else max(chunk // block, 1) * block
    while -(-longest // chunk) > MOST_SPLITS:
        chunk *= 2
    splits = -(-longest // chunk)
    partial = weights = None
    if splits > 1:
        pieces = (rows * kv.shape.query_heads, splits)
        partial = torch.empty((*pieces, kv.shape.head_dim), dtype=torch.float32, device=kv.data.device)
        weights = torch.empty(pieces, dtype=torch.float32, device=kv.data.device)
    return AttendPlan(chunk, splits, block, tuning.num_warps, tuning.num_stages, partial, weights)
