"""Attention of one prompt without pages: an `Attend` for tests that need no engine."""

from __future__ import annotations

import torch

from engine.tokens.program import KvShape, Rope


class DenseAttend:
    """Rows of one sequence; what earlier calls kept is attended to as well (a prompt first, then row by row)."""

    def __init__(self, kv: KvShape) -> None:
        self.kv = kv
        self._kept: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __call__(self, layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
        kv = self.kv
        sizes = [kv.query_heads, kv.kv_heads, kv.kv_heads]
        q, k, v = qkv.view(len(qkv), sum(sizes), kv.head_dim).split(sizes, dim=1)
        old_k, old_v = self._kept.get(layer, (k[:0], v[:0]))
        positions = torch.arange(len(old_k), len(old_k) + len(qkv))
        assert rope is not None
        q, k = _turned(q, rope, positions), _turned(k, rope, positions)
        k, v = torch.cat((old_k, k)), torch.cat((old_v, v))
        self._kept[layer] = (k, v)
        each = kv.query_heads // kv.kv_heads
        k, v = k.repeat_interleave(each, dim=1), v.repeat_interleave(each, dim=1)
        scores = torch.einsum("rhd,khd->hrk", q, k) / kv.head_dim**0.5
        future = torch.arange(len(k))[None] > positions[:, None]
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return torch.einsum("hrk,khd->rhd", weights, v).reshape(len(qkv), -1)


def _turned(x: torch.Tensor, rope: Rope, positions: torch.Tensor) -> torch.Tensor:
    cos, sin = rope.cos_sin[positions][:, None].chunk(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
