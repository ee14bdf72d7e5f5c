"""The tensors of the 12 Hz codec's decoder under their published names: read from safetensors, or random."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from models.codecs.qwen12.config import DILATIONS, Qwen12Config
from models.layers.checkpoint import fill

OTHERS = ("encoder.",)
"""Tensors of the same file that decoding does not need."""
LEAST_USAGE = 1e-5
"""A codebook entry is its sum over how often it was used, at least this (the reference's epsilon)."""
QUIET = 0.3
"""Gain of random layers that end in samples or are added to what they read."""
Shape = tuple[int, ...]
State = dict[str, Tensor]


def names(config: Qwen12Config) -> dict[str, Shape]:
    """Name and shape of every tensor."""
    return dict(_names(config))


def load(folder: Path, config: Qwen12Config, *, device: torch.device) -> State:
    """The tensors of a folder in float32. Raises BadWeights."""
    state = {name: torch.empty(shape, device=device) for name, shape in names(config).items()}
    fill(folder, state, others=OTHERS)
    return state


def random(config: Qwen12Config, *, seed: int, device: torch.device) -> State:
    """Random tensors drawn on the device, of a loudness that stays in range; LayerScale and gammas are large enough
    that what they scale can be heard."""
    generator = torch.Generator(device).manual_seed(seed)

    def drawn(name: str, shape: Shape) -> Tensor:
        noise = torch.randn(shape, generator=generator, device=device)
        if name.endswith(("cluster_usage", "norm.weight", "layernorm.weight")):
            return noise.abs() * 0.1 + 0.9
        if name.endswith(("layer_scale.scale", ".gamma")):
            return noise * 0.05 + 0.3
        if len(shape) == 1:
            return noise * 0.1
        if name.endswith("embedding_sum"):
            return noise
        quiet = shape[0] == 1 or name.endswith("conv2.conv.weight")
        return noise * (QUIET if quiet else 1.0) / math.sqrt(math.prod(shape[1:]))

    return {name: drawn(name, shape) for name, shape in names(config).items()}


def codebooks(state: State, config: Qwen12Config) -> Tensor:
    """[K, codebook size, codebook dim]: entries behind their quantizer's output projection: a frame is their sum."""
    tables = []
    for place in range(config.codes):
        group, index = ("rvq_first", 0) if place == 0 else ("rvq_rest", place - 1)
        book = f"decoder.quantizer.{group}.vq.layers.{index}._codebook."
        usage = state[book + "cluster_usage"].clamp(min=LEAST_USAGE)
        entries = state[book + "embedding_sum"] / usage[:, None]
        tables.append(entries @ state[f"decoder.quantizer.{group}.output_proj.weight"][:, :, 0].t())
    return torch.stack(tables)


def _names(config: Qwen12Config) -> Iterator[tuple[str, Shape]]:
    yield from _quantizer(config)
    yield from _conv("decoder.pre_conv", config.latent_dim, config.codebook_dim, 3)
    yield from _transformer(config)
    for place, rate in enumerate(config.doublings):
        yield from _doubling(f"decoder.upsample.{place}", config.latent_dim, rate)
    yield from _conv("decoder.decoder.0", config.decoder_dim, config.latent_dim, 7)
    width = config.decoder_dim
    for place, rate in enumerate(config.upsample_rates):
        yield from _block(f"decoder.decoder.{place + 1}.block", width, rate)
        width //= 2
    last = len(config.upsample_rates) + 1
    yield from _snake(f"decoder.decoder.{last}", width)
    yield from _conv(f"decoder.decoder.{last + 1}", 1, width, 7)


def _quantizer(config: Qwen12Config) -> Iterator[tuple[str, Shape]]:
    inner = config.codebook_dim // 2
    for group, books in (("rvq_first", 1), ("rvq_rest", config.codes - 1)):
        prefix = f"decoder.quantizer.{group}."
        yield prefix + "input_proj.weight", (inner, config.codebook_dim, 1)  # of the encoder's side; not used
        yield prefix + "output_proj.weight", (config.codebook_dim, inner, 1)
        for index in range(books):
            yield f"{prefix}vq.layers.{index}._codebook.cluster_usage", (config.codebook_size,)
            yield f"{prefix}vq.layers.{index}._codebook.embedding_sum", (config.codebook_size, inner)


def _transformer(config: Qwen12Config) -> Iterator[tuple[str, Shape]]:
    prefix, hidden, inner = "decoder.pre_transformer.", config.hidden, config.heads * config.head_dim
    yield from _linear(prefix + "input_proj", hidden, config.latent_dim)
    for index in range(config.layers):
        layer = f"{prefix}layers.{index}."
        for name in ("q_proj", "k_proj", "v_proj"):
            yield f"{layer}self_attn.{name}.weight", (inner, hidden)
        yield f"{layer}self_attn.o_proj.weight", (hidden, inner)
        for name in ("gate_proj", "up_proj"):
            yield f"{layer}mlp.{name}.weight", (config.ffn, hidden)
        yield f"{layer}mlp.down_proj.weight", (hidden, config.ffn)
        for name in ("input_layernorm", "post_attention_layernorm"):
            yield f"{layer}{name}.weight", (hidden,)
        for name in ("self_attn_layer_scale", "mlp_layer_scale"):
            yield f"{layer}{name}.scale", (hidden,)
    yield prefix + "norm.weight", (hidden,)
    yield from _linear(prefix + "output_proj", config.latent_dim, hidden)


def _doubling(prefix: str, width: int, rate: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.0.conv.weight", (width, width, rate)
    yield f"{prefix}.0.conv.bias", (width,)
    yield f"{prefix}.1.dwconv.conv.weight", (width, 1, 7)
    yield f"{prefix}.1.dwconv.conv.bias", (width,)
    yield f"{prefix}.1.norm.weight", (width,)
    yield f"{prefix}.1.norm.bias", (width,)
    yield from _linear(f"{prefix}.1.pwconv1", 4 * width, width)
    yield from _linear(f"{prefix}.1.pwconv2", width, 4 * width)
    yield f"{prefix}.1.gamma", (width,)


def _block(prefix: str, width: int, rate: int) -> Iterator[tuple[str, Shape]]:
    yield from _snake(f"{prefix}.0", width)
    yield f"{prefix}.1.conv.weight", (width, width // 2, 2 * rate)
    yield f"{prefix}.1.conv.bias", (width // 2,)
    for index in range(len(DILATIONS)):
        unit = f"{prefix}.{index + 2}."
        yield from _snake(unit + "act1", width // 2)
        yield from _conv(unit + "conv1", width // 2, width // 2, 7)
        yield from _snake(unit + "act2", width // 2)
        yield from _conv(unit + "conv2", width // 2, width // 2, 1)


def _conv(prefix: str, outputs: int, inputs: int, taps: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.conv.weight", (outputs, inputs, taps)
    yield f"{prefix}.conv.bias", (outputs,)


def _linear(prefix: str, outputs: int, inputs: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.weight", (outputs, inputs)
    yield f"{prefix}.bias", (outputs,)


def _snake(prefix: str, width: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.alpha", (width,)
    yield f"{prefix}.beta", (width,)
