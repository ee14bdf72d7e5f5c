"""The 12 Hz codec's transformer: eight layers at the frame rate, each frame sees the last 72, in float32.

RMS norms, rotary positions, SwiGLU, LayerScale (Touvron et al. 2021); package qwen-tts 0.1.1, tokenizer_12hz.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from engine.ops import rms_norm, silu_mul
from models.codecs.qwen12.config import Qwen12Config
from models.codecs.qwen12.memory import Layout, Memory
from models.codecs.qwen12.weights import State
from models.layers.rope import RopeConfig, inverse_frequencies

PREFIX = "decoder.pre_transformer."


class Transformer:
    """All layers with their projections in and out. Remembers keys and values of the window, and how many frames
    were seen."""

    def __init__(self, state: State, config: Qwen12Config, layout: Layout) -> None:
        self._config = config
        self._in, self._in_bias = (state[f"{PREFIX}input_proj.{part}"] for part in ("weight", "bias"))
        self._out, self._out_bias = (state[f"{PREFIX}output_proj.{part}"] for part in ("weight", "bias"))
        self._norm = state[f"{PREFIX}norm.weight"]
        self._layers = tuple(_Layer(state, config, index, layout) for index in range(config.layers))
        self._frequencies = inverse_frequencies(RopeConfig(config.rope_theta), config.head_dim).to(layout.device)
        self._seen = layout.add((), torch.int64)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, F, latent] to [B, F, latent]."""
        batch, frames, _ = x.shape
        seen = memory.recall(self._seen)
        memory.keep(self._seen, seen + frames)
        places = seen[:, None] + torch.arange(frames, device=x.device)
        angles = places[:, :, None].float() * self._frequencies
        turn = angles.cos()[:, :, None], angles.sin()[:, :, None]
        mask = self._visible(seen, frames)
        rows = F.linear(x, self._in, self._in_bias).view(batch * frames, -1)
        for layer in self._layers:
            rows = layer(rows, turn, mask, memory)
        rows = F.linear(rms_norm(rows, self._norm, self._config.eps), self._out, self._out_bias)
        return rows.view(batch, frames, -1)

    def _visible(self, seen: Tensor, frames: int) -> Tensor:
        """[B, 1, F, W - 1 + F] bool: which of the remembered and the new frames each new one sees."""
        window = self._config.window_frames
        query = torch.arange(frames, device=seen.device)[:, None] + window - 1
        key = torch.arange(window - 1 + frames, device=seen.device)[None, :]
        near = (key <= query) & (key > query - window)
        there = key >= (window - 1 - seen)[:, None, None]
        return (near & there)[:, None]


class _Layer:
    def __init__(self, state: State, config: Qwen12Config, index: int, layout: Layout) -> None:
        prefix = f"{PREFIX}layers.{index}."
        self._config = config
        self._norms = tuple(state[f"{prefix}{name}.weight"] for name in ("input_layernorm", "post_attention_layernorm"))
        parts = (state[f"{prefix}self_attn.{name}_proj.weight"] for name in "qkv")
        self._qkv = torch.cat(list(parts))
        gates = (state[f"{prefix}mlp.{name}_proj.weight"] for name in ("gate", "up"))
        self._gate_up = torch.cat(list(gates))
        scales = (state[f"{prefix}{name}_layer_scale.scale"] for name in ("self_attn", "mlp"))
        attention_scale, mlp_scale = scales
        self._attention_out = attention_scale[:, None] * state[f"{prefix}self_attn.o_proj.weight"]
        self._down = mlp_scale[:, None] * state[f"{prefix}mlp.down_proj.weight"]
        self._index = layout.add((2, config.heads, config.window_frames - 1, config.head_dim), torch.float32)

    def __call__(self, rows: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor, memory: Memory) -> Tensor:
        """[B * F, hidden] to [B * F, hidden]."""
        config = self._config
        batch, _, frames, _ = mask.shape
        qkv = F.linear(rms_norm(rows, self._norms[0], config.eps), self._qkv)
        q, k, v = qkv.view(batch, frames, 3, config.heads, config.head_dim).unbind(2)
        new = torch.stack((_turned(k, turn), v), dim=1).transpose(2, 3)
        kept = torch.cat((memory.recall(self._index), new), dim=3)
        memory.keep(self._index, kept[:, :, :, frames:])
        mixed = F.scaled_dot_product_attention(_turned(q, turn).transpose(1, 2), kept[:, 0], kept[:, 1], attn_mask=mask)
        rows = rows + F.linear(mixed.transpose(1, 2).reshape(batch * frames, -1), self._attention_out)
        gated = silu_mul(F.linear(rms_norm(rows, self._norms[1], config.eps), self._gate_up))
        return rows + F.linear(gated, self._down)


def _turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """[B, F, H, D] rotated; cosines and sines [B, F, 1, D / 2]."""
    cos, sin = turn
    low, high = x.chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)
