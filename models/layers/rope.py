"""Rotary position tables: plain, and with the scaling of Llama 3.1. Knows no model and no checkpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from engine.tokens.program import Rope


@dataclass(frozen=True, slots=True)
class Llama3Scaling:
    """How Llama 3.1 and 3.2 stretch their positions beyond `original_positions`, the length of their first training.

    A frequency whose wavelength (in rows) is longer than `original_positions / low_freq_factor` is divided by
    `factor`, a shorter one than `original_positions / high_freq_factor` is kept; in between the two are mixed.
    """

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_positions: int

    def __post_init__(self) -> None:
        if self.factor < 1 or not 0 < self.low_freq_factor < self.high_freq_factor or self.original_positions < 1:
            msg = (
                f"rope scaling factor={self.factor}, low={self.low_freq_factor}, high={self.high_freq_factor}, "
                f"original={self.original_positions}: factor must be at least 1, 0 < low < high, original at least 1"
            )
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """Base (`theta`) of the frequencies, and their scaling (None: as they are)."""

    theta: float
    scaling: Llama3Scaling | None = None


def inverse_frequencies(config: RopeConfig, head_dim: int) -> torch.Tensor:
    """[head_dim / 2] float32 on the CPU: radians by which each pair of dimensions turns from row to row.

    theta ** (-2i / head_dim) (Su et al. 2021, RoFormer), scaled as published with Llama 3.1.
    """
    exponents = torch.arange(0, head_dim, 2, dtype=torch.int64).to(torch.float32) / head_dim
    plain = 1.0 / (config.theta**exponents)
    scaling = config.scaling
    if scaling is None:
        return plain
    wavelength = 2 * math.pi / plain
    low, high = scaling.low_freq_factor, scaling.high_freq_factor
    share = ((scaling.original_positions / wavelength - low) / (high - low)).clamp(0.0, 1.0)
    return (1.0 - share) * plain / scaling.factor + share * plain


def rope_table(config: RopeConfig, *, head_dim: int, positions: int, device: torch.device) -> Rope:
    """The table of rows 0 to `positions` - 1, made on the CPU in float32: the same numbers on every device."""
    rows = torch.arange(positions, dtype=torch.float32)
    angles = torch.outer(rows, inverse_frequencies(config, head_dim))
    return Rope(torch.cat((angles.cos(), angles.sin()), dim=1).to(device))
