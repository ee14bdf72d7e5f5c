"""The Triton back end is the torch back end: any groups, splits, runs and page tables. On the CPU Triton interprets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.attention.torch_pages import TorchAttention
from engine.attention.triton_pages import TritonAttention, Tuning
from tests.engine.attention.paged import Case, Run, kv_shape, make_case

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tensors of these tests are on the CPU")

MIXED = [Run(0, 0, 1), Run(1, 63, 1), Run(2, 31, 3), Run(3, 0, 4)]
"""A first row, a full table's last but one, a run over a page's end, a prompt."""
NO_CUT = Tuning(chunks=((0, 0),))
CUT = Tuning(chunks=((0, 32),))


def both(case: Case, tuning: Tuning) -> tuple[torch.Tensor, torch.Tensor]:
    """Results of Triton and torch; they must have kept the same."""
    ours, theirs = case.memory(), case.memory()
    backend = TritonAttention(ours, case.pages, tuning=tuning)
    step = backend.for_step(case.rows(), entries=len(case.runs))
    step.plan(case.batch())
    out = step(0, case.qkv, case.rope)
    expected = TorchAttention(theirs, case.pages).for_step(case.rows(), entries=len(case.runs))(0, case.qkv, case.rope)
    torch.testing.assert_close(ours.data, theirs.data, rtol=0, atol=1e-6, equal_nan=True)
    return out, expected


@pytest.mark.parametrize(
    ("tuning", "page_size"),
    [(NO_CUT, 16), (CUT, 16), (Tuning(chunks=((0, 16),)), 16), (CUT, 32), (replace(CUT, block_keys=16), 32)],
)
def test_it_is_the_torch_back_end_however_keys_are_cut(tuning, page_size):
    case = make_case(MIXED, shape=kv_shape(), page_size=page_size, table=96 // page_size)
    out, expected = both(case, tuning)
    torch.testing.assert_close(out, expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(out, case.dense(), rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("query_heads", "kv_heads", "head_dim"),
    [(1, 1, 16), (2, 1, 64), (3, 1, 128), (10, 2, 32), (16, 1, 64), (3, 3, 16)],
)
def test_any_group_and_head(query_heads, kv_heads, head_dim):
    case = make_case([Run(0, 20, 1), Run(1, 2, 2)], shape=kv_shape(query_heads, kv_heads, head_dim))
    torch.testing.assert_close(*both(case, CUT), rtol=0, atol=2e-5)


def test_pages_of_the_usual_size():
    case = make_case([Run(0, 150, 2)], shape=kv_shape(3, 1, 64), page_size=64, table=4)
    torch.testing.assert_close(*both(case, Tuning(chunks=((0, 64),))), rtol=0, atol=2e-5)


def test_without_rope_queries_and_keys_are_as_they_come():
    case = make_case(MIXED, shape=kv_shape())
    kv = [case.memory(), case.memory()]
    steps = [kind(one, case.pages) for kind, one in zip((TritonAttention, TorchAttention), kv, strict=True)]
    out, expected = (one.for_step(case.rows(), entries=4)(0, case.qkv, None) for one in steps)
    torch.testing.assert_close(out, expected, rtol=0, atol=2e-5)
    assert np.array_equal(kv[0].data.numpy(), kv[1].data.numpy(), equal_nan=True)


def test_padding_rows_leave_the_others_alone():
    case = make_case([Run(0, 40, 1), Run(1, 3, 1)], shape=kv_shape())
    dummy = len(case.pages) - 1
    padded = replace(case, runs=[*case.runs, Run(dummy, 0, 1), Run(dummy, 0, 1)], qkv=case.qkv.repeat(2, 1))
    step = TritonAttention(case.memory(), case.pages, tuning=CUT).for_step(padded.rows(), entries=4)
    out = step(0, padded.qkv, case.rope)
    assert out.isfinite().all()
    assert torch.equal(out[:2], both(case, CUT)[0])


def test_steps_that_cut_alike_give_a_row_the_same_bits_whatever_the_others_are():
    case = make_case([Run(slot, 50 + slot, 1) for slot in range(9)], shape=kv_shape(2, 1))
    alone = replace(case, runs=case.runs[:1], qkv=case.qkv[:1])
    turned = replace(case, runs=case.runs[::-1], qkv=case.qkv.flip(0))
    tuning = Tuning(chunks=((0, 32),))
    in_company, by_itself, elsewhere = (both(one, tuning)[0] for one in (case, alone, turned))
    assert torch.equal(in_company[0], by_itself[0])
    assert torch.equal(in_company, elsewhere.flip(0))


def test_several_layers_have_memory_of_their_own():
    case = make_case([Run(0, 0, 2)], shape=replace(kv_shape(), layers=2))
    kv = case.memory()
    before = kv.data[0].clone()
    TritonAttention(kv, case.pages).for_step(case.rows(), entries=1)(1, case.qkv, case.rope)
    assert np.array_equal(kv.data[0].numpy(), before.numpy(), equal_nan=True)
    assert kv.data[1, case.pages[0, 0], :, :, :2].isfinite().all()


@pytest.mark.parametrize(("rows", "keys"), [(1, 64), (7, 64), (8, 256), (23, 256), (24, 1024), (128, 0), (2048, 0)])
def test_few_rows_are_cut_finer(rows, keys):
    assert Tuning().chunk(rows) == keys


def test_there_are_never_more_splits_than_can_be_combined():
    case = make_case([Run(0, 0, 1)], shape=kv_shape(1, 1), table=100)
    step = TritonAttention(case.memory(), case.pages, tuning=Tuning(chunks=((0, 16),))).for_step(case.rows(), entries=1)
    assert (step._plan.chunk, step._plan.splits) == (32, 50)


@pytest.mark.parametrize(
    ("shape", "page_size", "said"),
    [
        (kv_shape(5, 2), 16, "5 query heads over 2"),
        (kv_shape(17, 1), 16, "17 query heads"),
        (kv_shape(head_dim=24), 16, "of 24"),
        (kv_shape(), 8, "page_size=8"),
        (kv_shape(), 48, "page_size=48"),
    ],
)
def test_what_the_kernels_cannot_do_is_said_at_once(shape, page_size, said):
    case = make_case([Run(0, 0, 1)], shape=shape, page_size=page_size)
    with pytest.raises(ValueError, match=said):
        TritonAttention(case.kv, case.pages)
