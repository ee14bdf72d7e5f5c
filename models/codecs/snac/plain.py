"""SNAC's decoder in torch operations on [B, C, T] float32: any device, the oracle of the fused one.

Before every layer that looks at neighbours, rows outside the valid frames become zero: so the layer sees there what it
would see beyond the ends of a whole utterance, its own zero padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.noise_torch import normal
from models.codecs.snac.config import LEVEL_STRIDES, STEPS_PER_FRAME, TAPS
from models.codecs.snac.weights import BlockWeights, SnacWeights, UnitWeights

NOISE_DRAW = 64
"""Draw of the first block's noise (`engine.noise`), block n uses NOISE_DRAW + n; far from those of samplers."""
ALPHA_FLOOR = 1e-9
"""SNAC adds it to alpha before dividing."""


@dataclass(frozen=True, slots=True)
class Windows:
    """What is asked for (see `engine.tokens.program.Codec.decode`)."""

    codes: Tensor
    valid: Tensor
    seeds: Tensor
    first_frame: Tensor

    def mask(self, rate: int) -> Tensor:
        """[B, 1, F * rate] bool: rows of valid frames at `rate` rows per frame."""
        frames = torch.arange(self.codes.shape[1], device=self.codes.device)
        inside = (frames >= self.valid[:, :1]) & (frames < self.valid[:, 1:])
        return inside.repeat_interleave(rate, dim=1)[:, None]

    def noise(self, draw: int, rate: int) -> Tensor:
        """[B, 1, F * rate] standard normal noise at the rows' places in the utterance (those before it: any)."""
        rows = torch.arange(self.codes.shape[1] * rate, device=self.codes.device)
        positions = self.first_frame[:, None] * rate + rows
        return normal(self.seeds, draw, positions.clamp(min=0))[:, None]


def latents(weights: SnacWeights, codes: Tensor) -> Tensor:
    """[B, F, 7] codes to [B, F * 4, latent_dim] float32. Codes beyond a table (in frames that are not valid) clamp."""
    rows, frames = codes.shape[:2]
    total, column = torch.zeros((), device=codes.device), 0
    for table, stride in zip(weights.tables, LEVEL_STRIDES, strict=True):
        count = STEPS_PER_FRAME // stride
        ids = codes[:, :, column : column + count].clamp(0, table.shape[0] - 1)
        found = functional.embedding(ids, table)[:, :, :, None]
        total = total + found.expand(rows, frames, count, stride, -1).reshape(rows, frames * STEPS_PER_FRAME, -1)
        column += count
    return total


def decode(weights: SnacWeights, windows: Windows, *, noise: bool) -> Tensor:
    """[B, F * samples_per_frame] float32 in [-1, 1]; 0 where no frame is valid."""
    rate = STEPS_PER_FRAME
    x = latents(weights, windows.codes).transpose(1, 2)
    x = _keep(x, windows.mask(rate))
    x = functional.conv1d(x, weights.conv, weights.conv_bias, padding=TAPS // 2, groups=x.shape[1])
    x = functional.conv1d(x, weights.point, weights.point_bias)
    for index, block in enumerate(weights.blocks):
        x = _keep(snake(x, block.alpha), windows.mask(rate))
        x = functional.conv_transpose1d(x, block.up, block.up_bias, stride=block.stride, padding=block.stride // 2)
        rate *= block.stride
        x = _block_rest(block, x, windows.mask(rate), windows.noise(NOISE_DRAW + index, rate) if noise else None)
    mask = windows.mask(rate)
    x = functional.conv1d(_keep(snake(x, weights.alpha), mask), weights.last, weights.last_bias, padding=TAPS // 2)
    return _keep(torch.tanh(x), mask)[:, 0]


def snake(x: Tensor, alpha: Tensor) -> Tensor:
    """x + sin(alpha x)^2 / alpha (Ziyin, Hartwig, Ueda: "Neural networks fail to learn periodic functions", 2020)."""
    return x + (alpha + ALPHA_FLOOR).reciprocal() * torch.sin(alpha * x).square()


def _block_rest(block: BlockWeights, x: Tensor, mask: Tensor, noise: Tensor | None) -> Tensor:
    """What follows a block's transposed convolution."""
    if noise is not None and block.noise is not None:
        x = x + noise * functional.conv1d(x, block.noise)
    for unit in block.units:
        x = x + _unit(unit, x, mask)
    return x


def _unit(unit: UnitWeights, x: Tensor, mask: Tensor) -> Tensor:
    reach = TAPS // 2 * unit.dilation
    x = _keep(snake(x, unit.first_alpha), mask)
    x = functional.conv1d(
        x, unit.conv, unit.conv_bias, padding=reach, dilation=unit.dilation, groups=unit.conv.shape[0]
    )
    return functional.conv1d(snake(x, unit.second_alpha), unit.point, unit.point_bias)


def _keep(x: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, x, 0.0)
