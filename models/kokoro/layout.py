"""Names and shapes of Kokoro's tensors, weight norm folded: what `models.kokoro.weights` must give."""

from __future__ import annotations

import math
from collections.abc import Iterator

from models.kokoro.config import HARMONICS, KokoroConfig

Shape = tuple[int, ...]
BLOCK = 1_024
"""Channels of the decoder's styled blocks; the published code has no setting for them."""
RESIDUE = 64
"""Channels of the sounds that every block sees again."""
CURVES = 2
"""Pitch and energy."""
LAYER = "bert.encoder.albert_layer_groups.0.albert_layers.0"


def names(config: KokoroConfig) -> dict[str, Shape]:
    """Name and shape of every tensor."""
    return dict(_names(config))


def _names(config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    yield from _bert(config)
    yield from _linear("bert_encoder", config.hidden, config.bert_hidden)
    yield from _predictor(config)
    yield "text_encoder.embedding.weight", (config.symbols, config.hidden)
    for place in range(config.layers):
        prefix = f"text_encoder.cnn.{place}"
        yield from _conv(f"{prefix}.0", config.hidden, config.hidden, config.text_kernel)
        yield f"{prefix}.1.gamma", (config.hidden,)
        yield f"{prefix}.1.beta", (config.hidden,)
    yield from _lstm("text_encoder.lstm", config.hidden, config.hidden)
    yield from _decoder(config)


def _bert(config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    hidden, embedding = config.bert_hidden, config.bert_embedding
    for name, rows in (("word", config.symbols), ("position", config.bert_positions), ("token_type", 2)):
        yield f"bert.embeddings.{name}_embeddings.weight", (rows, embedding)
    yield from _norm("bert.embeddings.LayerNorm", embedding)
    yield from _linear("bert.encoder.embedding_hidden_mapping_in", hidden, embedding)
    for name in ("query", "key", "value", "dense"):
        yield from _linear(f"{LAYER}.attention.{name}", hidden, hidden)
    yield from _norm(f"{LAYER}.attention.LayerNorm", hidden)
    yield from _linear(f"{LAYER}.ffn", config.bert_ffn, hidden)
    yield from _linear(f"{LAYER}.ffn_output", hidden, config.bert_ffn)
    yield from _norm(f"{LAYER}.full_layer_layer_norm", hidden)


def _predictor(config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    hidden, style = config.hidden, config.style
    for place in range(config.layers):
        yield from _lstm(f"predictor.text_encoder.lstms.{2 * place}", hidden + style, hidden)
        yield from _linear(f"predictor.text_encoder.lstms.{2 * place + 1}.fc", 2 * hidden, style)
    yield from _lstm("predictor.lstm", hidden + style, hidden)
    yield from _lstm("predictor.shared", hidden + style, hidden)
    yield from _linear("predictor.duration_proj.linear_layer", config.duration_frames, hidden)
    for kind in ("F0", "N"):
        yield from _styled(f"predictor.{kind}.0", hidden, hidden, style)
        yield from _styled(f"predictor.{kind}.1", hidden, hidden // 2, style, doubled=True)
        yield from _styled(f"predictor.{kind}.2", hidden // 2, hidden // 2, style)
        yield from _conv(f"predictor.{kind}_proj", 1, hidden // 2, 1)


def _decoder(config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    style = config.style
    yield from _styled("decoder.encode", config.hidden + CURVES, BLOCK, style)
    for place in range(4):
        last = place == 3
        outputs = config.channels if last else BLOCK
        yield from _styled(f"decoder.decode.{place}", BLOCK + CURVES + RESIDUE, outputs, style, doubled=last)
    for name in ("F0_conv", "N_conv"):
        yield from _conv(f"decoder.{name}", 1, 1, 3)
    yield from _conv("decoder.asr_res.0", RESIDUE, config.hidden, 1)
    yield from _linear("decoder.generator.m_source.l_linear", 1, HARMONICS)
    yield from _generator(config)


def _generator(config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    prefix, spectrum = "decoder.generator.", config.fft + 2
    stages = len(config.upsample_rates)
    for place, kernel in enumerate(config.upsample_kernels):
        width = config.channels >> (place + 1)
        last = place + 1 == stages
        yield f"{prefix}ups.{place}.weight", (2 * width, width, kernel)
        yield f"{prefix}ups.{place}.bias", (width,)
        reach = 1 if last else 2 * math.prod(config.upsample_rates[place + 1 :])
        yield from _conv(f"{prefix}noise_convs.{place}", width, spectrum, reach)
        yield from _resblock(f"{prefix}noise_res.{place}", width, 11 if last else 7, config)
        for index, size in enumerate(config.kernels):
            yield from _resblock(f"{prefix}resblocks.{place * len(config.kernels) + index}", width, size, config)
    yield from _conv(f"{prefix}conv_post", spectrum, config.channels >> stages, 7)


def _resblock(prefix: str, width: int, kernel: int, config: KokoroConfig) -> Iterator[tuple[str, Shape]]:
    for place in range(len(config.dilations)):
        for half in (1, 2):
            yield from _conv(f"{prefix}.convs{half}.{place}", width, width, kernel)
            yield from _linear(f"{prefix}.adain{half}.{place}.fc", 2 * width, config.style)
            yield f"{prefix}.alpha{half}.{place}", (1, width, 1)


def _styled(
    prefix: str, inputs: int, outputs: int, style: int, *, doubled: bool = False
) -> Iterator[tuple[str, Shape]]:
    yield from _conv(f"{prefix}.conv1", outputs, inputs, 3)
    yield from _conv(f"{prefix}.conv2", outputs, outputs, 3)
    yield from _linear(f"{prefix}.norm1.fc", 2 * inputs, style)
    yield from _linear(f"{prefix}.norm2.fc", 2 * outputs, style)
    if inputs != outputs:
        yield f"{prefix}.conv1x1.weight", (outputs, inputs, 1)
    if doubled:
        yield f"{prefix}.pool.weight", (inputs, 1, 3)
        yield f"{prefix}.pool.bias", (inputs,)


def _lstm(prefix: str, inputs: int, outputs: int) -> Iterator[tuple[str, Shape]]:
    half = outputs // 2
    for suffix in ("", "_reverse"):
        yield f"{prefix}.weight_ih_l0{suffix}", (4 * half, inputs)
        yield f"{prefix}.weight_hh_l0{suffix}", (4 * half, half)
        yield f"{prefix}.bias_ih_l0{suffix}", (4 * half,)
        yield f"{prefix}.bias_hh_l0{suffix}", (4 * half,)


def _conv(prefix: str, outputs: int, inputs: int, taps: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.weight", (outputs, inputs, taps)
    yield f"{prefix}.bias", (outputs,)


def _linear(prefix: str, outputs: int, inputs: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.weight", (outputs, inputs)
    yield f"{prefix}.bias", (outputs,)


def _norm(prefix: str, width: int) -> Iterator[tuple[str, Shape]]:
    yield f"{prefix}.weight", (width,)
    yield f"{prefix}.bias", (width,)
