"""Pointwise ops: what Hugging Face's Llama computes, on torch; and the Triton kernels compute what torch does."""

from __future__ import annotations

import importlib
import os

import pytest
import torch

from engine import ops

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
SHAPES = [(1, 64), (5, 96), (3, 3072), (2, 1)]
DTYPES = [torch.float32, torch.bfloat16]
KERNEL_DTYPES = [torch.float32, torch.float16]  # Triton's interpreter cuts bfloat16 off instead of rounding it
EPS = 1e-5


@pytest.fixture(scope="module")
def kernels():
    pytest.importorskip("triton")
    if not INTERPRETED:
        pytest.skip("kernels on a GPU are compared below, on CUDA tensors")
    return importlib.import_module("engine.kernels.norm")


def rows(shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).mul(3).to(dtype)


def tolerance(dtype):
    """Two units in the last place: one for each rounding that may fall to the other side."""
    return {"rtol": max(2 * torch.finfo(dtype).eps, 2e-6), "atol": 2e-6}


def test_rms_norm_is_that_of_hugging_face():
    modeling = pytest.importorskip("transformers.models.llama.modeling_llama")
    theirs = modeling.LlamaRMSNorm(96, eps=EPS)
    for dtype in DTYPES:
        x, weight = rows((7, 96), dtype), rows((96,), dtype, 1)
        theirs.weight.data = weight
        with torch.no_grad():
            assert torch.equal(ops.rms_norm(x, weight, EPS), theirs(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_rms_norm_keeps_the_rounded_sum_and_norms_it(dtype):
    x, residual, weight = rows((4, 32), dtype), rows((4, 32), dtype, 1), rows((32,), dtype, 2)
    total = x + residual
    normed, kept = ops.add_rms_norm(x, residual, weight, EPS)
    assert torch.equal(kept, total)
    assert torch.equal(normed, ops.rms_norm(total, weight, EPS))


def test_silu_mul_takes_the_gate_from_the_first_half():
    gate, up = rows((3, 8)), rows((3, 8), seed=1)
    expected = gate / (1 + torch.exp(-gate)) * up
    torch.testing.assert_close(ops.silu_mul(torch.cat([gate, up], dim=1)), expected)


@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_compute_what_torch_does(kernels, shape, dtype):
    x, residual, weight = rows(shape, dtype), rows(shape, dtype, 1), rows(shape[1:], dtype, 2)
    close = tolerance(dtype)
    torch.testing.assert_close(kernels.rms_norm(x, weight, EPS), ops.rms_norm(x, weight, EPS), **close)
    normed, kept = kernels.add_rms_norm(x, residual.clone(), weight, EPS)
    expected, total = ops.add_rms_norm(x, residual, weight, EPS)
    assert torch.equal(kept, total)
    torch.testing.assert_close(normed, expected, **close)


@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
@pytest.mark.parametrize("width", [1, 33, 1024, 1500])
def test_silu_mul_kernel_computes_what_torch_does(kernels, width, dtype):
    gate_up = rows((3, 2 * width), dtype)
    torch.testing.assert_close(kernels.silu_mul(gate_up), ops.silu_mul(gate_up), **tolerance(dtype))


def test_kernels_take_rows_with_a_stride(kernels):
    wide, weight = rows((4, 80)), rows((32,), seed=1)
    x = wide[:, 16:48]
    torch.testing.assert_close(kernels.rms_norm(x, weight, EPS), ops.rms_norm(x, weight, EPS), **tolerance(x.dtype))
    torch.testing.assert_close(kernels.silu_mul(x), ops.silu_mul(x), **tolerance(x.dtype))


def test_head_norm_norms_each_head_by_itself_and_leaves_the_values():
    qkv, weights = rows((3, 7 * 8)), rows((5, 8), seed=1)  # 4 query heads, 1 key head, 2 more
    expected = torch.cat(
        [ops.rms_norm(qkv[:, head * 8 : head * 8 + 8], weights[head], EPS) for head in range(5)] + [qkv[:, 40:]], dim=1
    )
    got = qkv.clone()
    assert ops.head_norm(got, weights, EPS) is got
    torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
@pytest.mark.parametrize("heads", [1, 8, 11])
def test_head_norm_kernel_computes_what_torch_does(kernels, heads, dtype):
    qkv, weights = rows((4, (heads + 2) * 24), dtype), rows((heads, 24), dtype, 1)
    expected = ops.head_norm(qkv.clone(), weights, EPS)
    torch.testing.assert_close(kernels.head_norm(qkv.clone(), weights, EPS), expected, **tolerance(dtype))


def test_add_rms_norm_kernel_writes_into_the_residual(kernels):
    x, residual, weight = rows((2, 16)), rows((2, 16), seed=1), rows((16,), seed=2)
    total = x + residual
    _, kept = kernels.add_rms_norm(x, residual, weight, EPS)
    assert kept is residual
    assert torch.equal(residual, total)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_rows", [1, 64, 2048])
def test_cuda_gives_what_the_processor_gives(dtype, num_rows):
    x, residual, weight = rows((num_rows, 3072), dtype), rows((num_rows, 3072), dtype, 1), rows((3072,), dtype, 2)
    close = tolerance(dtype)
    ours = ops.add_rms_norm(x.cuda(), residual.cuda(), weight.cuda(), EPS)
    for got, expected in zip(ours, ops.add_rms_norm(x, residual, weight, EPS), strict=True):
        torch.testing.assert_close(got.cpu(), expected, **close)
    torch.testing.assert_close(ops.rms_norm(x.cuda(), weight.cuda(), EPS).cpu(), ops.rms_norm(x, weight, EPS), **close)
    torch.testing.assert_close(ops.silu_mul(x.cuda()).cpu(), ops.silu_mul(x), **close)
