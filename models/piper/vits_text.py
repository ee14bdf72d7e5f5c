"""The text encoder of VITS: phoneme ids to hidden states and the prior of each id.

Transformer with relative positions in a window (Shaw et al. 2018, as in VITS, Kim et al. 2021); kernel and window
sizes come from the weights. Knows one utterance of exact length: no masks.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from models.piper.layout import VoiceLayout
from models.piper.vits_layers import ChannelNorm, Dense, TapConv, tensor


class RelativeAttention:
    """Self-attention over [T, C] whose scores and values know how far apart two ids are, within a window."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        self.rel_keys = tensor(layout, f"{prefix}.emb_rel_k")  # [1, 2 * window + 1, D]
        self.rel_values = tensor(layout, f"{prefix}.emb_rel_v")
        self.reach = self.rel_keys.shape[1]
        depth = self.rel_keys.shape[2]
        parts = [f"{prefix}.conv_{part}" for part in "qkv"]
        weight = torch.cat([tensor(layout, f"{part}.weight")[:, :, 0] for part in parts])
        bias = torch.cat([tensor(layout, f"{part}.bias") for part in parts])
        channels = weight.shape[1]
        weight[:channels] /= math.sqrt(depth)
        bias[:channels] /= math.sqrt(depth)
        self.qkv = Dense(weight, bias)
        self.heads = channels // depth
        self.out = Dense.read(layout, f"{prefix}.conv_o")

    def __call__(self, x: Tensor) -> Tensor:
        """[T, C] -> [T, C]."""
        ids = x.shape[0]
        query, key, value = self.qkv(x).view(ids, 3, self.heads, -1).permute(1, 2, 0, 3)  # each [H, T, D]
        scores, scores_band = self._banded(ids)
        scores.copy_(query @ key.transpose(1, 2))
        scores_band += query @ self.rel_keys.transpose(1, 2)
        shares, shares_band = self._banded(ids)
        shares.copy_(torch.softmax(scores, dim=-1))
        mixed = shares @ value
        mixed += shares_band @ self.rel_values
        return self.out(mixed.transpose(0, 1).reshape(ids, -1))

    def _banded(self, ids: int) -> tuple[Tensor, Tensor]:
        """Two views of one zeroed buffer: the square [H, T, T] and its diagonals [H, T, 2 * window + 1].

        Rows of the buffer have `window` spare columns on either side, so row i's window starts at column i:
        a step of one row and one column. Whatever falls into the spare columns is never read as a score.
        """
        window = self.reach // 2
        width = ids + 2 * window
        buffer = torch.zeros(self.heads, ids, width)
        band = buffer.as_strided((self.heads, ids, self.reach), (ids * width, width + 1, 1))
        return buffer[:, :, window : window + ids], band


class TextEncoder:
    """Ids of one utterance to what the duration predictor and the flow start from."""

    def __init__(self, layout: VoiceLayout) -> None:
        self.embedding = tensor(layout, "enc_p.emb.weight")
        self.channels = self.embedding.shape[1]
        self.embedding *= math.sqrt(self.channels)
        root = "enc_p.encoder"
        self.layers = [
            (
                RelativeAttention(layout, f"{root}.attn_layers.{number}"),
                ChannelNorm(layout, f"{root}.norm_layers_1.{number}"),
                TapConv(layout, f"{root}.ffn_layers.{number}.conv_1"),
                TapConv(layout, f"{root}.ffn_layers.{number}.conv_2"),
                ChannelNorm(layout, f"{root}.norm_layers_2.{number}"),
            )
            for number in layout.numbers(f"{root}.attn_layers")
        ]
        self.project = Dense.read(layout, "enc_p.proj")

    @property
    def num_symbols(self) -> int:
        """Ids run from 0 to this, exclusive."""
        return self.embedding.shape[0]

    def __call__(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """ids [T] int64 -> hidden [T, C], prior means [T, Z] and prior log deviations [T, Z], float32."""
        x = self.embedding[ids]
        for attention, norm_1, widen, narrow, norm_2 in self.layers:
            x = norm_1(attention(x).add_(x))
            x = norm_2(narrow(widen(x).relu_()).add_(x))
        mean, log_deviation = self.project(x).chunk(2, dim=1)
        return x, mean, log_deviation
