"""Kokoro's readers of phonemes: ALBERT (Lan et al. 2019) for the prosody, a convolutional encoder for the sounds."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from models.kokoro.config import KokoroConfig
from models.kokoro.parts import Conv, Lstm, State

ALBERT_EPS = 1e-12
NORM_EPS = 1e-5
LAYER = "bert.encoder.albert_layer_groups.0.albert_layers.0."


class Albert:
    """One layer that is applied again and again."""

    def __init__(self, state: State, config: KokoroConfig) -> None:
        self._config = config
        self._tables = tuple(state[f"bert.embeddings.{name}_embeddings.weight"] for name in ("word", "position"))
        self._kind = state["bert.embeddings.token_type_embeddings.weight"][0]
        self._norm = _pair(state, "bert.embeddings.LayerNorm")
        self._widen = _pair(state, "bert.encoder.embedding_hidden_mapping_in")
        parts = [_pair(state, f"{LAYER}attention.{name}") for name in ("query", "key", "value")]
        self._qkv = torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts])
        self._dense = _pair(state, f"{LAYER}attention.dense")
        self._attention_norm = _pair(state, f"{LAYER}attention.LayerNorm")
        self._ffn = _pair(state, f"{LAYER}ffn")
        self._ffn_out = _pair(state, f"{LAYER}ffn_output")
        self._last_norm = _pair(state, f"{LAYER}full_layer_layer_norm")
        self._out = _pair(state, "bert_encoder")

    def __call__(self, ids: Tensor) -> Tensor:
        """[B, T] ids to [B, T, hidden]."""
        config = self._config
        batch, width = ids.shape
        words, positions = self._tables
        x = words[ids] + positions[:width] + self._kind
        x = F.linear(_normed(x, self._norm, ALBERT_EPS), *self._widen)
        for _ in range(config.bert_layers):
            qkv = F.linear(x, *self._qkv).view(batch, width, 3, config.bert_heads, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(q, k, v)
            mixed = F.linear(mixed.transpose(1, 2).reshape(batch, width, -1), *self._dense)
            x = _normed(mixed + x, self._attention_norm, ALBERT_EPS)
            y = F.linear(F.gelu(F.linear(x, *self._ffn), approximate="tanh"), *self._ffn_out)
            x = _normed(y + x, self._last_norm, ALBERT_EPS)
        return F.linear(x, *self._out)


class TextEncoder:
    """Three convolutions and an LSTM over embedded phonemes."""

    def __init__(self, state: State, config: KokoroConfig) -> None:
        self._table = state["text_encoder.embedding.weight"]
        padding = (config.text_kernel - 1) // 2
        names = [f"text_encoder.cnn.{place}" for place in range(config.layers)]
        self._convs = [Conv(state, f"{name}.0", padding=padding) for name in names]
        self._norms = [(state[f"{name}.1.gamma"], state[f"{name}.1.beta"]) for name in names]
        self._lstm = Lstm(state, "text_encoder.lstm")

    def __call__(self, ids: Tensor) -> Tensor:
        """[B, T] ids to [B, T, hidden]."""
        x = self._table[ids].transpose(1, 2)[:, :, None]
        for conv, norm in zip(self._convs, self._norms, strict=True):
            rows = conv(x).permute(0, 2, 3, 1)
            x = F.leaky_relu(_normed(rows, norm, NORM_EPS), 0.2).permute(0, 3, 1, 2)
        return self._lstm(x[:, :, 0].transpose(1, 2))


def _pair(state: State, name: str) -> tuple[Tensor, Tensor]:
    return state[f"{name}.weight"], state[f"{name}.bias"]


def _normed(x: Tensor, norm: tuple[Tensor, Tensor], eps: float) -> Tensor:
    return F.layer_norm(x, (x.shape[-1],), *norm, eps=eps)
