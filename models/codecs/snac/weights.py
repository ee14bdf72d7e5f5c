"""The weights of a SNAC decoder as its arithmetic wants them: float32, weight norm folded in, codes as table rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from models.codecs.snac.config import DILATIONS, LEVEL_STRIDES, SnacConfig
from models.codecs.snac.layout import DIRECTION, SIZE, block_prefix, names, read_state, unit_prefix

RANDOM_GAIN = 0.3
"""Of random residual and noise branches and of the last layer: four blocks neither die nor burst, tanh has room."""


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """A residual unit of C channels: x + point(snake(conv(snake(x))))."""

    dilation: int
    first_alpha: Tensor
    """[1, C, 1]"""
    conv: Tensor
    """[C, 1, 7]"""
    conv_bias: Tensor
    second_alpha: Tensor
    """[1, C, 1]"""
    point: Tensor
    """[C, C, 1], outputs first"""
    point_bias: Tensor


@dataclass(frozen=True, slots=True)
class BlockWeights:
    """A block: snake, transposed convolution from C to D channels, noise, residual units."""

    stride: int
    alpha: Tensor
    """[1, C, 1]"""
    up: Tensor
    """[C, D, 2 * stride]"""
    up_bias: Tensor
    noise: Tensor | None
    """[D, D, 1], outputs first; None without a noise layer"""
    units: tuple[UnitWeights, ...]


@dataclass(frozen=True, slots=True)
class SnacWeights:
    """All of the decoder, on one device."""

    tables: tuple[Tensor, ...]
    """For each level [codebook_size, latent_dim]: what a code adds to the latent steps it covers"""
    conv: Tensor
    """[latent_dim, 1, 7]"""
    conv_bias: Tensor
    point: Tensor
    """[decoder_dim, latent_dim, 1]"""
    point_bias: Tensor
    blocks: tuple[BlockWeights, ...]
    alpha: Tensor
    """[1, C, 1]"""
    last: Tensor
    """[1, C, 7]"""
    last_bias: Tensor

    @classmethod
    def load(cls, folder: Path, config: SnacConfig, *, device: torch.device) -> SnacWeights:
        """Read a folder's weights. Raises BadWeights (see `layout.read_state`)."""
        return cls.fold(read_state(folder, config), config, device=device)

    @classmethod
    def fold(cls, state: dict[str, Tensor], config: SnacConfig, *, device: torch.device) -> SnacWeights:
        """From a checked table of names; weight norm is folded: direction * size / norm of direction."""

        def weight(name: str) -> Tensor:
            size, direction = state[name + SIZE].to(device), state[name + DIRECTION].to(device)
            norm: Tensor = torch.linalg.vector_norm(direction, dim=(1, 2), keepdim=True)
            return direction * (size / norm)

        return _assemble(config, weight, lambda name: state[name].to(device))

    @classmethod
    def random(cls, config: SnacConfig, *, seed: int, device: torch.device) -> SnacWeights:
        """Random weights drawn on the device, of a loudness that stays in range; for tests and benchmarks."""
        generator = torch.Generator(device).manual_seed(seed)
        shapes = names(config)

        def normal(shape: tuple[int, ...], scale: float) -> Tensor:
            return torch.randn(shape, generator=generator, device=device) * scale

        def weight(name: str) -> Tensor:
            shape = shapes[name + DIRECTION]
            gain = RANDOM_GAIN if shape[0] == 1 or name.endswith((".3", ".linear")) else 1.0
            return normal(shape, gain / math.sqrt(shape[1] * shape[2]))

        def plain(name: str) -> Tensor:
            if name.endswith(".alpha"):
                return torch.rand(shapes[name], generator=generator, device=device) * 1.5 + 0.25
            return normal(shapes[name], 1.0 if name.endswith("codebook.weight") else 0.1)

        return _assemble(config, weight, plain)


_Read = Callable[[str], Tensor]


def _assemble(config: SnacConfig, weight: _Read, plain: _Read) -> SnacWeights:
    """`weight` gives the folded weight of a weight-normed layer, `plain` any other tensor, both by name."""
    tables = []
    for level in range(len(LEVEL_STRIDES)):
        prefix = f"quantizer.quantizers.{level}"
        projection = weight(f"{prefix}.out_proj")[:, :, 0]
        tables.append(torch.addmm(plain(f"{prefix}.out_proj.bias"), plain(f"{prefix}.codebook.weight"), projection.t()))
    tail = 2 + len(config.decoder_rates)
    return SnacWeights(
        tables=tuple(tables),
        conv=weight("decoder.model.0"),
        conv_bias=plain("decoder.model.0.bias"),
        point=weight("decoder.model.1"),
        point_bias=plain("decoder.model.1.bias"),
        blocks=tuple(_block(config, block, weight, plain) for block in range(len(config.decoder_rates))),
        alpha=plain(f"decoder.model.{tail}.alpha"),
        last=weight(f"decoder.model.{tail + 1}"),
        last_bias=plain(f"decoder.model.{tail + 1}.bias"),
    )


def _block(config: SnacConfig, block: int, weight: _Read, plain: _Read) -> BlockWeights:
    prefix = block_prefix(block)
    units = tuple(
        _unit(unit_prefix(config, block, unit), dilation, weight, plain) for unit, dilation in enumerate(DILATIONS)
    )
    return BlockWeights(
        stride=config.decoder_rates[block],
        alpha=plain(f"{prefix}.0.alpha"),
        up=weight(f"{prefix}.1"),
        up_bias=plain(f"{prefix}.1.bias"),
        noise=weight(f"{prefix}.2.linear") if config.noise else None,
        units=units,
    )


def _unit(prefix: str, dilation: int, weight: _Read, plain: _Read) -> UnitWeights:
    return UnitWeights(
        dilation=dilation,
        first_alpha=plain(f"{prefix}.0.alpha"),
        conv=weight(f"{prefix}.1"),
        conv_bias=plain(f"{prefix}.1.bias"),
        second_alpha=plain(f"{prefix}.2.alpha"),
        point=weight(f"{prefix}.3"),
        point_bias=plain(f"{prefix}.3.bias"),
    )
