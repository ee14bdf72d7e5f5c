"""Qwen3-TTS's talker weights on a device: read from the published safetensors, or random ones for benchmarks and tests.

What a step would compute again each time is computed once here: the text embedding behind its projection, and the depth
network's input projection of every code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by

from models.layers.checkpoint import fill, layer_places
from models.layers.llama import RANDOM_STD, LayerWeights, LlamaWeights
from models.layers.llama_config import LlamaConfig
from models.qwen3_tts.config import Qwen3TtsConfig

OTHERS = ("speaker_encoder.",)
"""Tensors of the same file that the talker does not need."""
PROJECTED_ROWS = 8_192
"""Rows of the text embedding that are projected at a time."""
TEXT_PROJECTION = "talker.text_projection.linear_fc"


@dataclass(frozen=True, slots=True)
class Qwen3TtsWeights:
    """All weights of a step, in one dtype on one device. D: the talker's width, H: the depth network's."""

    talker: LlamaWeights
    """Its embedding and head are those of the codec vocabulary."""
    text: torch.Tensor
    """[text vocab, D]: the text embedding, projected."""
    codes: torch.Tensor
    """[K - 1, num codes, D]: embeddings of the codes after a frame's first one."""
    depth: LlamaWeights
    """Its layers and norm; embedding and head are empty."""
    depth_in: torch.Tensor | None
    """[H, D] and"""
    depth_bias: torch.Tensor | None
    """[H]: from the talker's width to the depth network's; None where both are the same."""
    depth_first: torch.Tensor
    """[codec vocab, H]: the talker's embedding, projected so."""
    depth_codes: torch.Tensor
    """[K - 1, num codes, H]: `codes`, projected so."""
    depth_heads: torch.Tensor
    """[K - 1, num codes, H]: head k scores code k + 1."""

    @classmethod
    def load(cls, folder: Path, config: Qwen3TtsConfig, *, device: torch.device, dtype: torch.dtype) -> Self:
        """The weights of a checkpoint's folder.

        Raises:
            BadWeights: a file is missing or damaged, or its tensors are not those of the config.
        """
        raw = _Raw.empty(config, device=device, dtype=dtype)
        fill(folder, raw.places(config), others=OTHERS)
        return cls._from(raw)

    @classmethod
    def random(cls, config: Qwen3TtsConfig, *, seed: int, device: torch.device, dtype: torch.dtype) -> Self:
        """Random weights, drawn on the device; norms are one, biases zero."""
        raw = _Raw.empty(config, device=device, dtype=dtype)
        generator = torch.Generator(device=device).manual_seed(seed)
        text_generator = torch.Generator().manual_seed(seed)
        for name, place in raw.places(config).items():
            if place.dim() == 1:
                place.fill_(0.0 if name.endswith("bias") else 1.0)
            else:
                place.normal_(
                    std=RANDOM_STD, generator=generator if place.device.type == device.type else text_generator
                )
        return cls._from(raw)

    def step_bytes(self) -> int:
        """Bytes of weights that a step reads: the talker's once, the depth network's layers once for each code."""
        codes = 1 + len(self.depth_heads)
        return (
            sum(tensor.nbytes for layer in self.talker.layers for tensor in layer.tensors())
            + self.talker.head.nbytes
            + codes * sum(tensor.nbytes for layer in self.depth.layers for tensor in layer.tensors())
            + self.depth_heads.nbytes
        )

    @classmethod
    def _from(cls, raw: _Raw) -> Self:
        first = raw.talker.embedding
        return cls(
            talker=raw.talker,
            text=raw.projected_text(first.device),
            codes=raw.codes,
            depth=raw.depth,
            depth_in=raw.depth_in,
            depth_bias=raw.depth_bias,
            depth_first=raw.projected(first),
            depth_codes=raw.projected(raw.codes),
            depth_heads=raw.depth_heads,
        )


@dataclass(frozen=True, slots=True)
class _Raw:
    """The tensors as a checkpoint has them. The text embedding is in host memory: only its projection is used."""

    talker: LlamaWeights
    text: torch.Tensor
    text_projection: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
    codes: torch.Tensor
    depth: LlamaWeights
    depth_in: torch.Tensor | None
    depth_bias: torch.Tensor | None
    depth_heads: torch.Tensor

    @classmethod
    def empty(cls, config: Qwen3TtsConfig, *, device: torch.device, dtype: torch.dtype) -> _Raw:
        def room(*shape: int) -> torch.Tensor:
            return torch.empty(shape, device=device, dtype=dtype)

        talker, depth, text = config.talker, config.depth, config.text_hidden
        narrows = talker.hidden != depth.hidden
        return cls(
            talker=LlamaWeights.empty(talker, device=device, dtype=dtype),
            text=torch.empty((config.text_vocab, text), dtype=dtype),
            text_projection=(room(text, text), room(text), room(talker.hidden, text), room(talker.hidden)),
            codes=room(config.codes - 1, depth.vocab, talker.hidden),
            depth=_layers(depth, device=device, dtype=dtype),
            depth_in=room(depth.hidden, talker.hidden) if narrows else None,
            depth_bias=room(depth.hidden) if narrows else None,
            depth_heads=room(config.codes - 1, depth.vocab, depth.hidden),
        )

    def places(self, config: Qwen3TtsConfig) -> dict[str, torch.Tensor]:
        """Where each tensor of a checkpoint goes."""
        places = {
            "talker.model.codec_embedding.weight": self.talker.embedding[: config.talker.vocab],
            "talker.model.text_embedding.weight": self.text,
            "talker.codec_head.weight": self.talker.head[: config.talker.vocab],
        }
        names = (f"{TEXT_PROJECTION}{number}.{part}" for number in (1, 2) for part in ("weight", "bias"))
        places |= dict(zip(names, self.text_projection, strict=True))
        places |= layer_places(self.talker, config.talker, "talker.model.")
        predictor = "talker.code_predictor."
        places |= layer_places(self.depth, config.depth, f"{predictor}model.")
        for place in range(config.codes - 1):
            places[f"{predictor}model.codec_embedding.{place}.weight"] = self.codes[place]
            places[f"{predictor}lm_head.{place}.weight"] = self.depth_heads[place]
        if self.depth_in is not None and self.depth_bias is not None:
            places[f"{predictor}small_to_mtp_projection.weight"] = self.depth_in
            places[f"{predictor}small_to_mtp_projection.bias"] = self.depth_bias
        return places

    def projected(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., D] to [..., H] as the depth network takes it."""
        return rows if self.depth_in is None else F.linear(rows, self.depth_in, self.depth_bias)

    def projected_text(self, device: torch.device) -> torch.Tensor:
        """[text vocab, D]: two linear layers with SiLU between them."""
        return torch.cat(list(self._projected_parts(device)))

    def _projected_parts(self, device: torch.device) -> Iterator[torch.Tensor]:
        up, up_bias, down, down_bias = self.text_projection
        for start in range(0, len(self.text), PROJECTED_ROWS):
            rows = self.text[start : start + PROJECTED_ROWS].to(device)
            yield F.linear(F.silu(F.linear(rows, up, up_bias)), down, down_bias)


def _layers(config: LlamaConfig, *, device: torch.device, dtype: torch.dtype) -> LlamaWeights:
    """Layers and norm of a decoder that has neither embedding nor head of its own."""
    nothing = torch.empty((0, config.hidden), device=device, dtype=dtype)
    return LlamaWeights(
        embedding=nothing,
        layers=tuple(LayerWeights.empty(config, device=device, dtype=dtype) for _ in range(config.layers)),
        norm=torch.empty(config.hidden, device=device, dtype=dtype),
        head=nothing,
    )
