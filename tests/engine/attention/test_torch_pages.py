"""The torch back end is a dense causal attention, whatever the page tables, and gives each row its own bits."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from engine.attention.base import PagedKv, Rows
from engine.attention.torch_pages import TorchAttention, rotate
from tests.engine.attention.paged import Case, Run, kv_shape, make_case, rope_table

RUNS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), min_size=1, max_size=4).map(
    lambda found: [Run(slot, start, count) for slot, (start, count) in enumerate(found)]
)
HEADS = st.sampled_from([(1, 1), (4, 1), (6, 2), (3, 3)])


def run_torch(case: Case, kv: PagedKv | None = None) -> torch.Tensor:
    step = TorchAttention(kv or case.memory(), case.pages).for_step(case.rows(), entries=len(case.runs))
    step.plan(case.batch())
    return step(0, case.qkv, case.rope)


def only(case: Case, start: int, stop: int, run: Run) -> Case:
    """The case with rows [start, stop) alone, which are `run`."""
    return replace(case, runs=[run], qkv=case.qkv[start:stop].clone())


@settings(max_examples=25, deadline=None)
@given(RUNS, HEADS, st.sampled_from([1, 4, 16]), st.integers(0, 2**16))
def test_it_is_dense_attention_over_any_pages(runs, heads, page_size, seed):
    shape = kv_shape(*heads)
    case = make_case(runs, shape=shape, page_size=page_size, table=-(-52 // page_size), seed=seed)
    torch.testing.assert_close(run_torch(case), case.dense(), rtol=0, atol=2e-5)


@settings(max_examples=20, deadline=None)
@given(RUNS, st.integers(0, 2**16))
def test_reading_whole_tables_gives_the_same(runs, seed):
    case = make_case(runs, shape=kv_shape(), page_size=4, table=13, seed=seed)
    step = TorchAttention(case.memory(), case.pages).for_step(case.rows(), entries=len(runs))
    step._row_by_row = step._whole_tables
    torch.testing.assert_close(step(0, case.qkv, case.rope), case.dense(), rtol=0, atol=2e-5)


def test_whole_tables_are_read_in_parts_when_there_are_many_rows():
    case = make_case([Run(0, 3, 40), Run(1, 0, 45)], shape=kv_shape())
    step = TorchAttention(case.memory(), case.pages).for_step(case.rows(), entries=2)
    step._row_by_row = step._whole_tables
    torch.testing.assert_close(step(0, case.qkv, case.rope), case.dense(), rtol=0, atol=2e-5)


@settings(max_examples=20, deadline=None)
@given(RUNS, HEADS, st.integers(0, 2**16))
def test_a_run_alone_gives_the_same_bits_as_in_company(runs, heads, seed):
    case = make_case(runs, shape=kv_shape(*heads), page_size=4, table=13, seed=seed)
    together, start = run_torch(case), 0
    for run in runs:
        stop = start + run.count
        assert torch.equal(run_torch(only(case, start, stop, run)), together[start:stop])
        start = stop


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 40), st.integers(1, 12), HEADS, st.integers(0, 2**16))
def test_a_run_gives_the_same_bits_row_by_row(start, count, heads, seed):
    case = make_case([Run(0, start, count)], shape=kv_shape(*heads), page_size=4, table=13, seed=seed)
    together, kv = run_torch(case), case.memory()
    for row in range(count):
        assert torch.equal(run_torch(only(case, row, row + 1, Run(0, start + row, 1)), kv)[0], together[row])


def test_rows_see_shared_pages_that_another_slot_fills_in_the_same_step():
    shape, size = kv_shape(), 4
    whole = make_case([Run(0, 0, 10)], shape=shape, page_size=size)
    pages = whole.pages[[0, 0]].clone()
    pages[1, 2] = 0  # the second slot shares two pages and has its third elsewhere
    slots = torch.tensor([0] * 10 + [1] * 2, dtype=torch.int32)
    positions = torch.tensor([*range(10), 8, 9], dtype=torch.int32)
    step = TorchAttention(whole.memory(), pages).for_step(Rows(slots, positions), entries=2)
    out = step(0, torch.cat((whole.qkv, whole.qkv[8:])), whole.rope)
    assert torch.equal(out[10:], out[8:10])
    torch.testing.assert_close(out[:10], whole.dense(), rtol=0, atol=2e-5)


def test_only_the_rows_own_places_are_written():
    case = make_case([Run(0, 5, 2), Run(1, 16, 1)], shape=kv_shape())
    kv = case.memory()
    run_torch(case, kv)
    changed = (kv.data != case.kv.data) & ~(kv.data.isnan() & case.kv.data.isnan())
    places = {(int(page), int(place)) for _, page, _, _, place, _ in changed.nonzero()}
    assert places == {(int(case.pages[0, 0]), 5), (int(case.pages[0, 0]), 6), (int(case.pages[1, 1]), 0)}
    v = case.qkv[0].view(-1, 16)[-2:]
    assert torch.equal(kv.data[0, case.pages[0, 0], 1, :, 5], v)


def test_without_rope_keys_are_kept_as_they_come():
    case = make_case([Run(0, 0, 1)], shape=kv_shape())
    kv = case.memory()
    step = TorchAttention(kv, case.pages).for_step(case.rows(), entries=1)
    out = step(0, case.qkv, None)
    heads = case.qkv.view(-1, 16)
    assert torch.equal(kv.data[0, case.pages[0, 0], 0, :, 0], heads[6:8])
    assert torch.equal(out.view(6, 16), heads[8:].repeat_interleave(3, 0))  # one key: its value


def test_padding_rows_work_on_the_scratch_page_alone():
    case = make_case([Run(0, 7, 1)], shape=kv_shape())
    kv, dummy = case.memory(), len(case.pages) - 1
    rows = Rows(torch.tensor([0, dummy, dummy], dtype=torch.int32), torch.tensor([7, 0, 0], dtype=torch.int32))
    out = TorchAttention(kv, case.pages).for_step(rows, entries=3)(0, case.qkv.repeat(3, 1), case.rope)
    assert out.isfinite().all()
    assert torch.equal(out[:1], run_torch(case))
    assert not kv.data[0, 0, :, :, 1:].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rotation_is_that_of_llama(dtype):
    rope, positions = rope_table(64, 16), torch.tensor([0, 1, 5, 63])
    x = torch.randn(4, 3, 16, generator=torch.Generator().manual_seed(1)).to(dtype)
    cos, sin = rope.cos_sin[positions].chunk(2, -1)
    cos, sin = torch.cat((cos, cos), -1)[None], torch.cat((sin, sin), -1)[None]
    expected, _ = apply_rotary_pos_emb(*[x.float().transpose(0, 1)[None]] * 2, cos, sin)
    assert torch.equal(rotate(x, positions, rope), expected[0].transpose(0, 1).to(dtype))
