"""Attention over a few positions that live no longer than a step: the KV of a depth network.

    kv = SmallKv(shape, rows=256, positions=16, device=device)
    attend = kv.at(3)                       # the rows' position, the same for all
    out = attend(layer, qkv, rope)          # as `Attend`: rotates, keeps, attends to positions 0 to 3

Each row has memory of its own and is computed by itself: what it gets never depends on the other rows.
"""

from __future__ import annotations

import math

import torch

from engine.attention.torch_pages import rotate, split_heads
from engine.tokens.program import Attend, KvShape, Rope


class SmallKv:
    """KV of `rows` rows: `data` [layers, rows, 2, kv_heads, positions, head_dim] (0 is K, 1 is V)."""

    def __init__(self, shape: KvShape, *, rows: int, positions: int, device: torch.device) -> None:
        self.shape = shape
        size = (shape.layers, rows, 2, shape.kv_heads, positions, shape.head_dim)
        self.data = torch.empty(size, dtype=shape.dtype, device=device)

    def at(self, position: int) -> Attend:
        """Attention of all rows at one position; those before it are kept already."""

        def attend(layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
            if rope is None:
                msg = "a depth network without rotary positions is not supported"
                raise ValueError(msg)
            if qkv.is_cuda:
                from engine.kernels import small

                return small.attend(qkv, rope.cos_sin, self.data[layer], position)
            return self._attend(self.data[layer], qkv, rope, position)

        return attend

    def _attend(self, memory: torch.Tensor, qkv: torch.Tensor, rope: Rope, position: int) -> torch.Tensor:
        """The torch twin of the kernel, in float32."""
        q, k, v = split_heads(qkv, self.shape)
        positions = torch.full((len(qkv),), position, dtype=torch.int32, device=qkv.device)
        memory[:, 0, :, position] = rotate(k, positions, rope).to(memory.dtype)
        memory[:, 1, :, position] = v.to(memory.dtype)
        rows, heads, dim = q.shape
        groups = rotate(q, positions, rope).float().view(rows, self.shape.kv_heads, -1, dim) / math.sqrt(dim)
        keys, values = memory[:, :, :, : position + 1].float().unbind(1)
        shares = torch.softmax((groups[:, :, :, None] * keys[:, :, None]).sum(-1), dim=-1)
        return (shares[..., None] * values[:, :, None]).sum(-2).reshape(rows, heads * dim).to(qkv.dtype)
