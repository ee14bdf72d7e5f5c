"""What FlashInfer is told about a step, and that attention over just that is what the torch back end computes.

FlashInfer itself needs a GPU: a stand-in with its signatures attends by the planned page lists alone.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.attention.base import HostBatch
from engine.attention.flashinfer_pages import LEAST_WORKSPACE_BYTES, FlashInferAttention, page_lists
from engine.attention.torch_pages import TorchAttention
from engine.errors import DeviceUnavailable
from tests.engine.attention.paged import Case, Run, kv_shape, make_case

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="the stand-in is for the CPU")


class Wrapper:
    """Both kinds of wrapper: looks only at the buffers it was made with, as a captured graph would."""

    def __init__(self, workspace, layout, *, backend, use_cuda_graph, **buffers):
        assert (layout, backend, use_cuda_graph) == ("HND", "fa2", True)
        self.workspace = workspace
        self.buffers = buffers
        self._pin_memory_int_workspace_buffer = torch.ones(64, dtype=torch.uint8)

    def keep(self, **values):
        for name, value in values.items():
            (buffer,) = (one for key, one in self.buffers.items() if name in key)
            buffer[: len(value)].copy_(value)

    def attend(self, q, memory, starts, lengths):
        page_starts, pages, last = (self.found(name) for name in ("kv_indptr", "indices", "last_page_len"))
        out = torch.full_like(q, torch.nan)
        for entry, length in enumerate(lengths):
            mine = pages[page_starts[entry] : page_starts[entry + 1]].long()
            assert (len(mine) - 1) * memory.shape[3] + last[entry] == length
            k, v = memory[mine].permute(1, 0, 3, 2, 4).flatten(1, 2)
            first, stop = int(starts[entry]), int(starts[entry + 1])
            for row in range(first, stop):
                seen = int(length) - (stop - 1 - row)
                group = q.shape[1] // k.shape[1]
                keys, values = (one[:seen].repeat_interleave(group, 1) for one in (k, v))
                shares = (torch.einsum("hd,nhd->hn", q[row], keys) / q.shape[2] ** 0.5).softmax(-1)
                out[row] = torch.einsum("hn,nhd->hd", shares, values)
        return out

    def found(self, name):
        return next(one for key, one in self.buffers.items() if name in key)


class Decode(Wrapper):
    def __init__(self, workspace, layout, *, use_tensor_cores, **rest):
        assert use_tensor_cores
        super().__init__(workspace, layout, **rest)

    def plan(self, indptr, indices, last, query_heads, kv_heads, dim, page_size, *, seq_lens, **said):
        self.keep(kv_indptr=indptr, indices=indices, last_page_len=last)
        self.lengths, self.said = seq_lens.clone(), said | {"heads": (query_heads, kv_heads, dim, page_size)}

    def run(self, q, memory, *, out, enable_pdl):
        out.copy_(self.attend(q, memory, torch.arange(len(q) + 1), self.lengths))


class Prefill(Wrapper):
    def plan(self, starts, indptr, indices, last, query_heads, kv_heads, dim, page_size, *, seq_lens, causal, **said):
        assert causal
        self.keep(qo_indptr=starts, kv_indptr=indptr, indices=indices, last_page_len=last)
        self.lengths, self.said = seq_lens.clone(), said | {"heads": (query_heads, kv_heads, dim, page_size)}

    def run(self, q, memory, *, out, enable_pdl):
        out.copy_(self.attend(q, memory, self.found("qo_indptr"), self.lengths))


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    fake = SimpleNamespace(BatchDecodeWithPagedKVCacheWrapper=Decode, BatchPrefillWithPagedKVCacheWrapper=Prefill)
    monkeypatch.setitem(sys.modules, "flashinfer", fake)


def padded(case: Case, *, rows: int) -> tuple[Case, HostBatch]:
    """The case as a prefill pass: an entry without rows, then the rows that are left, all at position 0."""
    dummy, left = len(case.pages) - 1, rows - len(case.slots)
    batch = case.batch()
    entries = HostBatch(
        np.append(batch.slots, [dummy, dummy]).astype(np.int32),
        np.append(batch.row_counts, [0, left]).astype(np.int32),
        np.append(batch.lengths, [1, 1]).astype(np.int32),
        batch.pages,
    )
    qkv = torch.cat((case.qkv, torch.zeros(left, case.qkv.shape[1])))
    return replace(case, runs=[*case.runs, *[Run(dummy, 0, 1)] * left], qkv=qkv), entries


def expected(case: Case) -> torch.Tensor:
    return TorchAttention(case.memory(), case.pages).for_step(case.rows(), entries=1)(0, case.qkv, case.rope)


@pytest.mark.parametrize("deterministic", [False, True])
def test_decode_steps(deterministic):
    case = make_case([Run(0, 40, 1), Run(1, 15, 1), Run(2, 16, 1), Run(3, 0, 1)], shape=kv_shape())
    backend = FlashInferAttention(case.memory(), case.pages, deterministic=deterministic)
    step = backend.for_step(case.rows(), entries=4)
    step.plan(case.batch())
    torch.testing.assert_close(step(0, case.qkv, case.rope), expected(case), rtol=0, atol=2e-5)
    assert isinstance(step._wrapper, Decode)
    assert step._wrapper.said["disable_split_kv"] is deterministic
    assert step._wrapper.said["heads"] == (6, 2, 16, 16)
    assert not step._wrapper._pin_memory_int_workspace_buffer.any()


def test_prefill_passes_with_rows_left_over():
    case = make_case([Run(0, 14, 5), Run(1, 0, 20)], shape=kv_shape())
    whole, batch = padded(case, rows=64)
    memory = case.memory()
    memory.data[0, 0] = 0
    step = FlashInferAttention(memory, case.pages).for_step(whole.rows(), entries=4)
    step.plan(batch)
    out = step(0, whole.qkv, case.rope)
    assert isinstance(step._wrapper, Prefill)
    torch.testing.assert_close(out[:25], expected(case), rtol=0, atol=2e-5)
    assert out.isfinite().all()


def test_a_step_is_planned_again_into_the_same_buffers():
    case = make_case([Run(0, 40, 1), Run(1, 3, 1)], shape=kv_shape())
    step = FlashInferAttention(case.memory(), case.pages).for_step(case.rows(), entries=2)
    places = [one.data_ptr() for one in step._wrapper.buffers.values()]
    for lengths in ([1, 1], [41, 4]):
        step.plan(replace(case.batch(), lengths=np.array(lengths, np.int32)))
    assert [one.data_ptr() for one in step._wrapper.buffers.values()] == places
    torch.testing.assert_close(step(0, case.qkv, case.rope), expected(case), rtol=0, atol=2e-5)


def test_page_lists_of_lengths_around_page_ends():
    pages = np.array([[5, 6, 7], [8, 9, 4], [0, 0, 0]], np.int32)
    slots, counts, lengths = (np.array(one, np.int32) for one in ([1, 0, 2, 2], [1, 3, 0, 9], [8, 9, 1, 1]))
    lists = page_lists(HostBatch(slots, counts, lengths, pages), 4)
    assert lists.row_starts.tolist() == [0, 1, 4, 4, 13]
    assert lists.page_starts.tolist() == [0, 2, 5, 6, 9]
    assert lists.pages.tolist() == [8, 9, 5, 6, 7, 0, 0, 0, 0]
    assert lists.last_lengths.tolist() == [4, 1, 1, 1]
    assert lists.lengths.tolist() == [8, 9, 1, 9]
    assert {one.dtype for one in (lists.row_starts, lists.page_starts, lists.pages, lists.lengths)} == {np.dtype("i4")}


def test_more_padding_than_a_table_has_room_for_stays_on_the_scratch_page():
    batch = HostBatch(*(np.array([one], np.int32) for one in (0, 9, 1)), np.zeros((1, 1), np.int32))
    assert page_lists(batch, 4).pages.tolist() == [0, 0, 0]


def test_steps_share_one_workspace_until_one_needs_more(monkeypatch):
    monkeypatch.setattr("engine.attention.flashinfer_pages.LEAST_WORKSPACE_BYTES", 1000)
    case = make_case([Run(slot, 0, 2) for slot in range(3)], shape=kv_shape())
    backend = FlashInferAttention(case.memory(), case.pages)
    first, again = (backend.for_step(case.rows(), entries=3)._wrapper.workspace for _ in range(2))
    assert first is again
    assert backend.workspace(4096, 400).numel() > first.numel()
    assert LEAST_WORKSPACE_BYTES == 256 * 2**20


@pytest.mark.parametrize("counts", [[2, 1], [1, 0], [2, 0]])
def test_a_batch_of_another_shape_is_refused(counts):
    case = make_case([Run(0, 0, 1), Run(1, 0, 1)], shape=kv_shape())
    step = FlashInferAttention(case.memory(), case.pages).for_step(case.rows(), entries=2)
    with pytest.raises(ValueError, match="2 rows in 2 entries"):
        step.plan(replace(case.batch(), row_counts=np.array(counts, np.int32)))


def test_without_flashinfer_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "flashinfer", None)
    case = make_case([Run(0, 0, 1)], shape=kv_shape())
    with pytest.raises(DeviceUnavailable, match=r"pip install 'tts-batch\[gpu\]'"):
        FlashInferAttention(case.kv, case.pages)
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert any(one.startswith("flashinfer-python==") for one in project["optional-dependencies"]["gpu"])
