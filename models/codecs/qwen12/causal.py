"""Causal layers over rows [B, T, C] that go on where the call before ended: convolutions, doublings, residual units.

Weights come in the published layout and are brought into the one that is quickest here when a layer is made. Arithmetic
is in the dtype of the rows, sums in float32. Source of all shapes: package qwen-tts 0.1.1, tokenizer_12hz.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from engine.ops import snake_after
from models.codecs.qwen12.config import DILATIONS
from models.codecs.qwen12.memory import Layout, Memory
from models.codecs.qwen12.weights import State

SNAKE_FLOOR = 1e-9
"""Added to beta, as the reference does."""
NORM_EPS = 1e-6


class CausalConv:
    """A convolution over the rows so far: output row t sees rows t - (taps - 1) * dilation to t."""

    def __init__(
        self, state: State, name: str, layout: Layout, dtype: torch.dtype, *, dilation: int = 1, groups: int = 1
    ) -> None:
        weight = state[f"{name}.conv.weight"]
        _, inputs, taps = weight.shape
        self.tail_rows = (taps - 1) * dilation
        self._weight = weight[:, :, None].to(dtype).contiguous(memory_format=torch.channels_last)
        self._bias = state[f"{name}.conv.bias"].to(dtype)
        self._dilation, self._groups = dilation, groups
        self.index = layout.add((self.tail_rows, inputs * groups), dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, D]."""
        return self.over(torch.cat((memory.recall(self.index), x), dim=1), memory)

    def over(self, rows: Tensor, memory: Memory) -> Tensor:
        """The same with the remembered rows in front already: [B, tail_rows + T, C] to [B, T, D]."""
        memory.keep(self.index, rows[:, rows.shape[1] - self.tail_rows :])
        image = rows.transpose(1, 2).unsqueeze(2)
        out = F.conv2d(image, self._weight, self._bias, dilation=(1, self._dilation), groups=self._groups)
        return out.squeeze(2).transpose(1, 2).contiguous()


class Snake:
    """x + sin(alpha x)^2 / beta by channel, parameters kept as logarithms (BigVGAN's SnakeBeta, Lee et al. 2023)."""

    def __init__(self, state: State, name: str) -> None:
        self._alpha = state[f"{name}.alpha"].float().exp()
        self._inverse = (state[f"{name}.beta"].float().exp() + SNAKE_FLOOR).reciprocal()

    def after(self, x: Tensor, before: Tensor) -> Tensor:
        """The activations of `x` [B, T, C] behind rows `before` [B, N, C], which are activations: [B, N + T, C]."""
        return snake_after(x, before, self._alpha, self._inverse)

    def __call__(self, x: Tensor) -> Tensor:
        """[B, T, C] to [B, T, C]."""
        return self.after(x, x[:, :0])


class Doubling:
    """A transposed convolution whose taps do not overlap, and a ConvNeXt block (Liu et al. 2022)."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype) -> None:
        weight = state[f"{name}.0.conv.weight"]
        inputs, outputs, self._rate = weight.shape
        self._raise = weight.permute(2, 1, 0).reshape(-1, inputs).to(dtype).contiguous()
        self._raise_bias = state[f"{name}.0.conv.bias"].repeat(self._rate).to(dtype)
        self._depthwise = CausalConv(state, f"{name}.1.dwconv", layout, dtype, groups=outputs)
        self._width = outputs
        self._norm = state[f"{name}.1.norm.weight"].to(dtype), state[f"{name}.1.norm.bias"].to(dtype)
        self._up = tuple(state[f"{name}.1.pwconv1.{part}"].to(dtype) for part in ("weight", "bias"))
        gamma = state[f"{name}.1.gamma"]
        self._down = (gamma[:, None] * state[f"{name}.1.pwconv2.weight"]).to(dtype)
        self._down_bias = (gamma * state[f"{name}.1.pwconv2.bias"]).to(dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T * rate, C]."""
        batch, rows, _ = x.shape
        x = F.linear(x, self._raise, self._raise_bias).view(batch, rows * self._rate, self._width)
        y = F.layer_norm(self._depthwise(x, memory), (self._width,), *self._norm, eps=NORM_EPS)
        return x + F.linear(F.gelu(F.linear(y, *self._up)), self._down, self._down_bias)


class Block:
    """Snake, a transposed convolution of kernel 2 * stride, three residual units."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype) -> None:
        weight = state[f"{name}.1.conv.weight"]
        inputs, self._width, taps = weight.shape
        self._stride = taps // 2
        # [C, D, 2s] to [s * D, 2 * C]: the row before takes the second half of the taps, the row itself the first.
        halves = weight.view(inputs, self._width, 2, self._stride).permute(3, 1, 2, 0).flip(2)
        self._raise = halves.reshape(self._stride * self._width, 2 * inputs).to(dtype).contiguous()
        self._raise_bias = state[f"{name}.1.conv.bias"].repeat(self._stride).to(dtype)
        self._snake = Snake(state, f"{name}.0")
        self._index = layout.add((1, inputs), dtype)
        self._units = tuple(
            Unit(state, f"{name}.{place + 2}", layout, dtype, dilation=dilation)
            for place, dilation in enumerate(DILATIONS)
        )

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T * stride, C / 2]."""
        batch, rows, _ = x.shape
        active = self._snake.after(x, memory.recall(self._index))
        memory.keep(self._index, active[:, rows:])
        pairs = torch.cat((active[:, :-1], active[:, 1:]), dim=2)
        x = F.linear(pairs, self._raise, self._raise_bias).view(batch, rows * self._stride, self._width)
        for unit in self._units:
            x = unit(x, memory)
        return x


class Unit:
    """A residual unit: snake, dilated convolution of 7 taps, snake, product."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype, *, dilation: int) -> None:
        self._first, self._second = Snake(state, f"{name}.act1"), Snake(state, f"{name}.act2")
        self._conv = CausalConv(state, f"{name}.conv1", layout, dtype, dilation=dilation)
        self._point = state[f"{name}.conv2.conv.weight"][:, :, 0].to(dtype).contiguous()
        self._point_bias = state[f"{name}.conv2.conv.bias"].to(dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, C]."""
        active = self._first.after(x, memory.recall(self._conv.index))
        y = self._second(self._conv.over(active, memory))
        return F.linear(y, self._point, self._point_bias).add_(x)


class LastConv:
    """Snake and a convolution of 7 taps to one channel, as a product with all taps and a sum of shifted rows."""

    def __init__(self, state: State, names: tuple[str, str], layout: Layout, dtype: torch.dtype) -> None:
        snake, conv = names
        weight = state[f"{conv}.conv.weight"]
        _, inputs, self._taps = weight.shape
        self._weight = weight[0].to(dtype).contiguous()
        self._bias = state[f"{conv}.conv.bias"].float()
        self._snake = Snake(state, snake)
        self._index = layout.add((self._taps - 1, inputs), dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T] float32."""
        rows = x.shape[1]
        active = self._snake.after(x, memory.recall(self._index))
        memory.keep(self._index, active[:, rows:])
        parts = (active @ self._weight).float()
        shifted = [parts[:, tap : tap + rows, tap] for tap in range(self._taps)]
        return torch.stack(shifted).sum(0) + self._bias
