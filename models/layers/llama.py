"""The Llama decoder over rows: fused weights, plain matrix products, attention by whoever holds the KV.

decoder = LlamaDecoder(config, weights)
hidden = decoder.backbone(decoder.embed(ids), positions, attend)
logits = decoder.head(hidden, first=0, rows=config.vocab)

Knows no tokens, no slots and no files (`models.layers.checkpoint` fills the weights). Rotary half layout, grouped
queries, RMS norm before each part (Touvron et al. 2023), no biases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import torch

from engine.ops import add_rms_norm, head_norm, linear, rms_norm, silu_mul
from engine.tokens.program import Attend, KvShape
from models.layers.llama_config import LlamaConfig
from models.layers.rope import rope_table

HEAD_MULTIPLE = 64
"""Tables of embedding and head have a multiple of so many rows: matrix products are quickest with aligned widths."""
RANDOM_STD = 0.02
"""Spread of random weights: Llama's own `initializer_range`."""


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer; all matrices are [out, in] and contiguous."""

    input_norm: torch.Tensor
    """[hidden]."""
    qkv: torch.Tensor
    """[(query_heads + 2 * kv_heads) * head_dim, hidden]: queries, then keys, then values."""
    out: torch.Tensor
    """[hidden, query_heads * head_dim]."""
    post_norm: torch.Tensor
    """[hidden]."""
    gate_up: torch.Tensor
    """[2 * ffn, hidden]: the gate, then what it gates."""
    down: torch.Tensor
    """[hidden, ffn]."""
    q_norm: torch.Tensor | None = None
    """[head_dim], with `qk_norm`."""
    k_norm: torch.Tensor | None = None
    """[head_dim], with `qk_norm`."""

    @classmethod
    def empty(cls, config: LlamaConfig, *, device: torch.device, dtype: torch.dtype) -> Self:
        """Memory of the right sizes, not filled."""

        def room(*shape: int) -> torch.Tensor:
            return torch.empty(shape, device=device, dtype=dtype)

        return cls(
            input_norm=room(config.hidden),
            qkv=room(config.qkv_rows, config.hidden),
            out=room(config.hidden, config.query_heads * config.head_dim),
            post_norm=room(config.hidden),
            gate_up=room(2 * config.ffn, config.hidden),
            down=room(config.hidden, config.ffn),
            q_norm=room(config.head_dim) if config.qk_norm else None,
            k_norm=room(config.head_dim) if config.qk_norm else None,
        )

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """All of them."""
        norms = () if self.q_norm is None or self.k_norm is None else (self.q_norm, self.k_norm)
        return self.input_norm, self.qkv, self.out, self.post_norm, self.gate_up, self.down, *norms

    def head_norms(self, config: LlamaConfig) -> torch.Tensor | None:
        """[query_heads + kv_heads, head_dim], the norm of each head of `qkv` (`engine.ops.head_norm`); or None."""
        if self.q_norm is None or self.k_norm is None:
            return None
        parts = (self.q_norm.expand(config.query_heads, -1), self.k_norm.expand(config.kv_heads, -1))
        return torch.cat(parts).contiguous()


@dataclass(frozen=True, slots=True)
class LlamaWeights:
    """All weights. `embedding` and `head` [vocab rounded up to HEAD_MULTIPLE, hidden] are one tensor when tied.

    Their spare rows are zero.
    """

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    norm: torch.Tensor
    head: torch.Tensor

    @classmethod
    def empty(cls, config: LlamaConfig, *, device: torch.device, dtype: torch.dtype) -> Self:
        """Memory for a decoder on a device (also `meta`); only the spare rows of the tables are filled."""

        def table() -> torch.Tensor:
            rows = round_up(config.vocab, HEAD_MULTIPLE)
            made = torch.empty((rows, config.hidden), device=device, dtype=dtype)
            made[config.vocab :].zero_()
            return made

        embedding = table()
        return cls(
            embedding=embedding,
            layers=tuple(LayerWeights.empty(config, device=device, dtype=dtype) for _ in range(config.layers)),
            norm=torch.empty(config.hidden, device=device, dtype=dtype),
            head=embedding if config.tied else table(),
        )

    def tensors(self) -> Iterator[torch.Tensor]:
        """Each tensor once."""
        yield self.embedding
        for layer in self.layers:
            yield from layer.tensors()
        yield self.norm
        if self.head is not self.embedding:
            yield self.head


class LlamaDecoder:
    """The decoder on one device. Nothing in it changes after it was made: any stream or graph may run it."""

    def __init__(self, config: LlamaConfig, weights: LlamaWeights, *, max_positions: int | None = None) -> None:
        """`max_positions` shortens the rotary table (and what may be spoken) below the config's own."""
        self.config = config
        self.weights = weights
        self.max_positions = min(config.max_positions, max_positions or config.max_positions)
        self._head_norms = tuple(layer.head_norms(config) for layer in weights.layers)
        self.rope = rope_table(
            config.rope, head_dim=config.head_dim, positions=self.max_positions, device=weights.norm.device
        )

    @classmethod
    def random(
        cls,
        config: LlamaConfig,
        *,
        seed: int,
        device: torch.device,
        dtype: torch.dtype,
        max_positions: int | None = None,
    ) -> Self:
        """A decoder with random weights, drawn on the device; norms are one."""
        weights = LlamaWeights.empty(config, device=device, dtype=dtype)
        generator = torch.Generator(device=device).manual_seed(seed)
        for tensor in weights.tensors():
            if tensor.dim() == 1:
                tensor.fill_(1.0)
            else:
                tensor.normal_(std=RANDOM_STD, generator=generator)
        for table in (weights.embedding, weights.head):
            table[config.vocab :].zero_()
        return cls(config, weights, max_positions=max_positions)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights.norm.device

    @property
    def kv(self) -> KvShape:
        """What one position keeps; K and V have the weights' dtype."""
        config = self.config
        return KvShape(config.layers, config.query_heads, config.kv_heads, config.head_dim, self.weights.norm.dtype)

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """[R] int ids to [R, hidden]."""
        return self.weights.embedding.index_select(0, ids)

    def backbone(self, hidden: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:  # noqa: ARG002  # attend knows the rows' positions
        """All layers and the last norm: [R, hidden] to [R, hidden]. `hidden` is used up: it may be written over."""
        weights, eps = self.weights, self.config.eps
        residual = hidden
        normed = rms_norm(hidden, weights.layers[0].input_norm, eps)
        for index, layer in enumerate(weights.layers):
            mixed = linear(attend(index, self._qkv(index, normed), self.rope), layer.out)
            normed, residual = add_rms_norm(mixed, residual, layer.post_norm, eps)
            mixed = linear(silu_mul(linear(normed, layer.gate_up)), layer.down)
            last = index + 1 == len(weights.layers)
            following = weights.norm if last else weights.layers[index + 1].input_norm
            normed, residual = add_rms_norm(mixed, residual, following, eps)
        return normed

    def _qkv(self, index: int, normed: torch.Tensor) -> torch.Tensor:
        qkv, norms = linear(normed, self.weights.layers[index].qkv), self._head_norms[index]
        return qkv if norms is None else head_norm(qkv, norms, self.config.eps)

    def head(self, hidden: torch.Tensor, *, first: int, rows: int) -> torch.Tensor:
        """Logits [E, at least `rows`] of ids from `first` on; columns after `rows` are padding."""
        return linear(hidden, self.head_weight(first=first, rows=rows))

    def head_weight(self, *, first: int, rows: int) -> torch.Tensor:
        """The head's rows from `first` on, a view: `rows` rounded up to HEAD_MULTIPLE where the table has as many."""
        return self.weights.head[first : first + round_up(rows, HEAD_MULTIPLE)]

    def step_bytes(self, *, rows: int) -> int:
        """Bytes of weights that one decode step reads when the head scores `rows` ids (embedding rows left out)."""
        layers = sum(tensor.nbytes for layer in self.weights.layers for tensor in layer.tensors())
        return layers + self.weights.norm.nbytes + self.head_weight(first=0, rows=rows).nbytes


def round_up(count: int, multiple: int) -> int:
    """The next multiple."""
    return -(-count // multiple) * multiple
