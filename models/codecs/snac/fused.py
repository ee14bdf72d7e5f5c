"""SNAC's decoder for CUDA, channels-last [B, T, C]: matrix products, and one pass over the signal for the rest.

A residual unit is two passes (snake, convolution, snake; product added in place), a transposed convolution too (pairs
of activated rows; product). What each saves is the point: the 24 kHz signal is far larger than the weights. Signals
keep the rows that transposed convolutions add at both ends (see `engine.kernels.spans`), so every product runs on
plain rows. Biases of products stay unadded: the next reader adds them (`shift`), they add up over a block's units.
Everything runs on fixed shapes without asking the device for a value, so it can be captured into a graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import conv
from engine.kernels.spans import Span
from engine.ops import Snake
from models.codecs.snac.config import STEPS_PER_FRAME
from models.codecs.snac.plain import ALPHA_FLOOR, NOISE_DRAW, Windows, latents
from models.codecs.snac.weights import BlockWeights, SnacWeights, UnitWeights


@dataclass(frozen=True, slots=True)
class _Unit:
    """A residual unit. `shift` [C] is what layers before left unadded; `point` [C, C], inputs first."""

    shift: Tensor
    snakes: tuple[Snake, Snake]
    taps: conv.Taps
    point: Tensor


@dataclass(frozen=True, slots=True)
class _Block:
    """A block. `up` [2 * C, stride * D] stands for the transposed convolution; `noise` [D, D], inputs first."""

    stride: int
    shift: Tensor
    snake: Snake
    up: Tensor
    noise: Tensor | None
    noise_shift: Tensor
    units: tuple[_Unit, ...]


class FusedDecoder:
    """The decoder with its matrices and signals in `dtype` (float32, float16 or bfloat16); sums are float32.

    float32 products follow torch's own setting, which is exact unless the process allows TF32.
    """

    def __init__(self, weights: SnacWeights, dtype: torch.dtype) -> None:
        self._weights = weights
        self._dtype = dtype
        self._no_shift = torch.zeros_like(weights.conv_bias)
        self._taps = _taps(weights.conv, weights.conv_bias, dilation=1)
        self._point = _matrix(weights.point, dtype)
        shift, blocks = weights.point_bias, []
        for block in weights.blocks:
            built, shift = _block(block, shift, dtype)
            blocks.append(built)
        self._blocks = tuple(blocks)
        self._last_shift = shift
        self._snake = _snake(weights.alpha)
        self._last = conv.Taps(weights.last[0].t().contiguous(), weights.last_bias)

    def decode(self, windows: Windows, *, noise: bool) -> Tensor:
        """[B, F * samples_per_frame] float32 in [-1, 1]; 0 where no frame is valid."""
        span = Span(windows.valid, STEPS_PER_FRAME, 0)
        x = latents(self._weights, windows.codes).to(self._dtype)
        x = conv.depthwise(x, self._no_shift, self._taps, span, None) @ self._point
        for index, block in enumerate(self._blocks):
            x = _raise(block, x, span)
            span = span.raised(block.stride)
            if noise and block.noise is not None:
                keys = (windows.seeds, windows.first_frame, NOISE_DRAW + index)
                conv.add_noise(x, x @ block.noise, block.noise_shift, span, keys)
            for unit in block.units:
                _add_unit(unit, x, span)
        return conv.last(x, self._last_shift, self._snake, self._last, span)


def _raise(block: _Block, x: Tensor, span: Span) -> Tensor:
    """Snake and transposed convolution: [B, T, C] to [B, (T + 1) * stride, D]."""
    rows = conv.pairs(x, block.shift, block.snake, span)
    batch, count, width = rows.shape
    return torch.mm(rows.view(batch * count, width), block.up).view(batch, count * block.stride, -1)


def _add_unit(unit: _Unit, x: Tensor, span: Span) -> None:
    """A residual unit, in place."""
    y = conv.depthwise(x, unit.shift, unit.taps, span, unit.snakes)
    channels = x.shape[-1]
    x.view(-1, channels).addmm_(y.view(-1, channels), unit.point)


def _block(weights: BlockWeights, shift: Tensor, dtype: torch.dtype) -> tuple[_Block, Tensor]:
    """A block after layers that left `shift`, and what it leaves itself."""
    stride = weights.stride
    # [C, D, 2s] to [2, C, s, D]: the row before takes the second half of the taps, the row itself the first.
    width, outputs = weights.up.shape[:2]
    halves = weights.up.view(width, outputs, 2, stride).permute(2, 0, 3, 1).flip(0)
    left = weights.up_bias
    noise = None if weights.noise is None else weights.noise[:, :, 0]
    units = []
    for unit in weights.units:
        units.append(_unit(unit, left, dtype))
        left = left + unit.point_bias
    built = _Block(
        stride=stride,
        shift=shift,
        snake=_snake(weights.alpha),
        up=halves.reshape(2 * width, -1).to(dtype).contiguous(),
        noise=None if weights.noise is None else _matrix(weights.noise, dtype),
        noise_shift=torch.zeros_like(left) if noise is None else noise @ weights.up_bias,
        units=tuple(units),
    )
    return built, left


def _unit(weights: UnitWeights, shift: Tensor, dtype: torch.dtype) -> _Unit:
    return _Unit(
        shift=shift,
        snakes=(_snake(weights.first_alpha), _snake(weights.second_alpha)),
        taps=_taps(weights.conv, weights.conv_bias, dilation=weights.dilation),
        point=_matrix(weights.point, dtype),
    )


def _snake(alpha: Tensor) -> Snake:
    flat = alpha.reshape(-1).contiguous()
    return Snake(flat, (flat + ALPHA_FLOOR).reciprocal())


def _taps(weight: Tensor, bias: Tensor, *, dilation: int) -> conv.Taps:
    return conv.Taps(weight[:, 0].t().contiguous(), bias, dilation)


def _matrix(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """[out, in, 1] to [in, out]."""
    return weight[:, :, 0].t().to(dtype).contiguous()
