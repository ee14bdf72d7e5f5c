"""Attention over the few positions of a depth network: what SDPA gives, and the kernel what torch gives."""

from __future__ import annotations

import importlib
import os

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by

from engine.attention.small import SmallKv
from engine.attention.torch_pages import rotate, split_heads
from engine.tokens.program import KvShape
from models.layers.rope import RopeConfig, rope_table

CPU = torch.device("cpu")
SHAPE = KvShape(layers=2, query_heads=4, kv_heads=2, head_dim=8, dtype=torch.float32)
ROPE = rope_table(RopeConfig(10_000.0), head_dim=8, positions=32, device=CPU)
POSITIONS = 6


def rows(count, position, seed=0):
    generator = torch.Generator().manual_seed(100 * seed + position)
    return torch.randn(count, (4 + 2 * 2) * 8, generator=generator)


def run(count, attend_at):
    return torch.stack([attend_at(position, rows(count, position)) for position in range(POSITIONS)])


def ours(count):
    kv = SmallKv(SHAPE, rows=count, positions=POSITIONS, device=CPU)
    return run(count, lambda position, qkv: kv.at(position)(1, qkv, ROPE))


def test_it_is_causal_attention_over_the_positions_so_far():
    count = 3
    everything = [split_heads(rows(count, position), SHAPE) for position in range(POSITIONS)]
    turned = []
    for position, (q, k, v) in enumerate(everything):
        places = torch.full((count,), position, dtype=torch.int32)
        turned.append((rotate(q, places, ROPE), rotate(k, places, ROPE), v))
    q, k, v = (torch.stack([step[part] for step in turned], dim=2) for part in range(3))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(ours(count), expected.permute(2, 0, 1, 3).flatten(2), rtol=1e-5, atol=1e-6)


def test_a_row_gets_the_same_alone():
    together = ours(5)
    kv = SmallKv(SHAPE, rows=1, positions=POSITIONS, device=CPU)
    for position in range(POSITIONS):
        alone = kv.at(position)(1, rows(5, position)[3:4], ROPE)
        assert torch.equal(alone[0], together[position, 3])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_kernel_computes_what_torch_does(dtype):
    pytest.importorskip("triton")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("kernels on a GPU are compared in tests/bench/qwen3_tts.py")
    small = importlib.import_module("engine.kernels.small")
    shape = KvShape(SHAPE.layers, SHAPE.query_heads, SHAPE.kv_heads, SHAPE.head_dim, dtype)
    kv = SmallKv(shape, rows=3, positions=POSITIONS, device=CPU)
    memory = SmallKv(shape, rows=3, positions=POSITIONS, device=CPU).data[1].fill_(torch.nan)
    for position in range(POSITIONS):
        qkv = rows(3, position).to(dtype)
        expected = kv.at(position)(1, qkv, ROPE)
        close = {"rtol": 1e-5, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 2e-3, "atol": 1e-3}
        torch.testing.assert_close(small.attend(qkv, ROPE.cos_sin, memory, position), expected, **close)
        torch.testing.assert_close(memory[:, :, :, position], kv.data[1][:, :, :, position], rtol=0, atol=1e-3)
