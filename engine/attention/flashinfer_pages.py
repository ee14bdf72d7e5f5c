"""Attention over paged KV by FlashInfer (CUDA): planned on the host before each launch, run inside the step's graph.

K and V are rotated and kept by our own kernel; FlashInfer (0.6) only attends, with its FA2 kernels and the page layout
"HND". Every step has its own wrapper in graph mode with buffers that stay where they are; all share one workspace of
partial results, since steps of one stream never overlap.

Planning never waits for the device's results: page lists are made in pinned memory and copied without blocking, and
every tensor the wrappers look at on the host is a host tensor. It waits for one thing, that the copies of this shape's
plan before have left the pinned memory which it overwrites; they do as soon as what ran before that plan has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from engine.attention.base import Counts, HostBatch, PagedKv, Rows
from engine.attention.triton_pages import check_shape
from engine.errors import DeviceUnavailable
from engine.kernels.attention import rope_append
from engine.tokens.program import Rope

LEAST_WORKSPACE_BYTES = 256 << 20
BACKEND = "fa2"
"""For decode and prefill; FlashInfer's built modules have it for bf16 and heads of 128."""
_MOST_BLOCKS = 512
"""FlashInfer starts two blocks for each processor; twice as many as any device has now."""


class FlashInferAttention:
    """The FlashInfer back end over `kv`; `pages` [S + 1, P] int32 are the page tables of all slots.

    `deterministic`: keys of a row are never cut, so that its result does not depend on the other rows.
    """

    def __init__(self, kv: PagedKv, pages: torch.Tensor, *, deterministic: bool = False) -> None:
        try:
            import flashinfer  # large, and only where it is chosen
        except ImportError as error:
            msg = f"attention='flashinfer' needs FlashInfer: pip install 'tts-batch[gpu]' (or choose triton): {error}"
            raise DeviceUnavailable(msg) from error
        check_shape(kv.shape, kv.page_size)
        self.flashinfer: Any = flashinfer
        self.kv = kv
        self.pages = pages
        self.deterministic = deterministic
        self._workspace = torch.zeros(0, dtype=torch.uint8, device=kv.data.device)

    @property
    def name(self) -> str:
        """Its name, as options spell it."""
        return "flashinfer"

    def for_step(self, rows: Rows, *, entries: int) -> FlashInferStep:
        """Attention of steps over these rows; as many entries as rows is a decode step.

        Its buffers are made on the current stream: call it under the stream that the steps run on.
        """
        return FlashInferStep(self, rows, entries)

    def workspace(self, rows: int, entries: int) -> torch.Tensor:
        """Room for the partial results of a step: shared by all steps that do not need more than those before."""
        num_bytes = max(LEAST_WORKSPACE_BYTES, _partial_bytes(self.kv, rows, entries))
        if self._workspace.numel() < num_bytes:
            self._workspace = torch.zeros(num_bytes, dtype=torch.uint8, device=self.kv.data.device)
        return self._workspace


@dataclass(frozen=True, slots=True)
class PageLists:
    """A batch as FlashInfer wants it, all int32.

    Entry e has rows [row_starts[e], row_starts[e + 1]), the pages `pages[page_starts[e] : page_starts[e + 1]]` and
    `lengths[e]` keys in them, `last_lengths[e]` of these in the last page.
    """

    row_starts: Counts
    page_starts: Counts
    pages: Counts
    last_lengths: Counts
    lengths: Counts


def page_lists(batch: HostBatch, page_size: int) -> PageLists:
    """The lists of a batch. Padding with more rows than keys gets as many keys: FlashInfer counts back from them."""
    lengths = np.maximum(batch.lengths, batch.row_counts)
    page_counts = -(-lengths // page_size)
    columns = np.arange(page_counts.max())
    tables = batch.pages[batch.slots][:, np.minimum(columns, batch.pages.shape[1] - 1)]
    return PageLists(
        row_starts=_starts(batch.row_counts),
        page_starts=_starts(page_counts),
        pages=tables[columns < page_counts[:, None]].astype(np.int32),
        last_lengths=(lengths - (page_counts - 1) * page_size).astype(np.int32),
        lengths=lengths.astype(np.int32),
    )


class FlashInferStep:
    """Attention of one shape of step."""

    def __init__(self, backend: FlashInferAttention, rows: Rows, entries: int) -> None:
        shape, device = backend.kv.shape, backend.kv.data.device
        self._backend = backend
        self._rows = rows
        self._entries = entries
        self._decode = entries == len(rows.slots)
        self._q = torch.empty((len(rows.slots), shape.query_heads, shape.head_dim), dtype=shape.dtype, device=device)
        most_pages = entries * backend.pages.shape[1] + len(rows.slots)
        sizes = {
            "row_starts": entries + 1,
            "page_starts": entries + 1,
            "pages": most_pages,
            "last_lengths": entries,
            "lengths": entries,
        }
        pinned = device.type == "cuda"
        self._copied = torch.cuda.Event() if pinned else None
        self._host = {name: torch.zeros(n, dtype=torch.int32, pin_memory=pinned) for name, n in sizes.items()}
        self._device = {name: torch.zeros(n, dtype=torch.int32, device=device) for name, n in sizes.items()}
        self._wrapper = self._wrap(backend.workspace(len(rows.slots), entries))
        # A plan without splits leaves the numbers of blocks beyond its work as they are, and FlashInfer runs these
        # blocks all the same. Zeros, or what an earlier plan left, make them repeat real work; chance would not.
        self._wrapper._pin_memory_int_workspace_buffer.zero_()  # noqa: SLF001

    def plan(self, batch: HostBatch) -> None:
        """Tell FlashInfer who has how many keys in which pages.

        Raises:
            ValueError: the batch has not as many rows as the step, or a decode step not one for each entry.
        """
        rows = len(self._q)
        if batch.row_counts.sum() != rows or (self._decode and (batch.row_counts != 1).any()):
            msg = (
                f"row counts {batch.row_counts.tolist()} do not fit a step of {rows} rows in {self._entries} entries: "
                "all rows belong to entries, and with as many entries as rows each has one"
            )
            raise ValueError(msg)
        lists = page_lists(batch, self._backend.kv.page_size)
        if self._copied is not None:
            self._copied.synchronize()
        host = {name: self._stage(name, getattr(lists, name)) for name in self._host}
        # FlashInfer would wait for the stream to copy page numbers from host memory: so they are on the device already.
        pages = self._device["pages"][: len(host["pages"])]
        pages.copy_(host["pages"], non_blocking=True)
        self._plan(host, pages, most_rows=int(batch.row_counts.max()))
        if self._copied is not None:
            self._copied.record()

    def __call__(self, layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
        """Rotate, keep, attend; shapes as in `Attend`."""
        memory = self._backend.kv.data[layer]
        cos_sin = None if rope is None else rope.cos_sin
        rope_append(qkv, cos_sin, rows=self._rows, layer=memory, pages=self._backend.pages, q=self._q)
        out = torch.empty_like(self._q)
        self._wrapper.run(self._q, memory, out=out, enable_pdl=False)
        return out.flatten(1).to(qkv.dtype)

    def _stage(self, name: str, values: Counts) -> torch.Tensor:
        staged = self._host[name][: len(values)]
        staged.numpy()[:] = values
        return staged

    def _wrap(self, workspace: torch.Tensor) -> Any:  # noqa: ANN401  # FlashInfer has no types
        fixed = self._device
        if self._decode:
            return self._backend.flashinfer.BatchDecodeWithPagedKVCacheWrapper(
                workspace,
                "HND",
                use_cuda_graph=True,
                use_tensor_cores=True,
                paged_kv_indptr_buffer=fixed["page_starts"],
                paged_kv_indices_buffer=fixed["pages"],
                paged_kv_last_page_len_buffer=fixed["last_lengths"],
                backend=BACKEND,
            )
        return self._backend.flashinfer.BatchPrefillWithPagedKVCacheWrapper(
            workspace,
            "HND",
            use_cuda_graph=True,
            qo_indptr_buf=fixed["row_starts"],
            paged_kv_indptr_buf=fixed["page_starts"],
            paged_kv_indices_buf=fixed["pages"],
            paged_kv_last_page_len_buf=fixed["last_lengths"],
            backend=BACKEND,
        )

    def _plan(self, host: dict[str, torch.Tensor], pages: torch.Tensor, *, most_rows: int) -> None:
        shape = self._backend.kv.shape
        common = {
            "q_data_type": shape.dtype,
            "kv_data_type": shape.dtype,
            "seq_lens": host["lengths"],
            "disable_split_kv": self._backend.deterministic,
        }
        heads = (shape.query_heads, shape.kv_heads, shape.head_dim, self._backend.kv.page_size)
        where = (host["page_starts"], pages, host["last_lengths"])
        if self._decode:
            self._wrapper.plan(*where, *heads, **common)
        else:
            self._wrapper.plan(
                host["row_starts"], *where, *heads, causal=True, max_token_per_sequence=most_rows, **common
            )


def _starts(counts: Counts) -> Counts:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


def _partial_bytes(kv: PagedKv, rows: int, entries: int) -> int:
    """The most that FlashInfer's planner takes in graph mode: float32 sums for each head, block and row of a tile.

    Tiles have 16 rows of a group when there is one row for each entry, at most 128 else.
    """
    shape = kv.shape
    group = shape.query_heads // shape.kv_heads
    tile = 16 if entries == rows else 128
    blocks = max(_MOST_BLOCKS // shape.kv_heads, -(-rows * group // tile) + entries - 1)
    return shape.query_heads * blocks * tile * (shape.head_dim + 1) * 4
