"""Causal layers over rows [B, T, C] that go on where the call before ended: convolutions, doublings, residual units.

Weights come in the published layout and are brought into the one that is quickest here when a layer is made. Arithmetic
is in the dtype of the rows, sums in float32. Source of all shapes: package qwen-tts 0.1.1, tokenizer_12hz.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from engine.ops import Snake, causal_conv, snake_after
from models.codecs.qwen12.config import DILATIONS
from models.codecs.qwen12.memory import Layout, Memory
from models.codecs.qwen12.weights import State

SNAKE_FLOOR = 1e-9
"""Added to beta, as the reference does."""
NORM_EPS = 1e-6


class CausalConv:
    """A convolution over the rows so far: output row t sees rows t - (taps - 1) * dilation to t."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype, *, dilation: int = 1) -> None:
        weight = state[f"{name}.conv.weight"]
        _, inputs, taps = weight.shape
        self.tail_rows = (taps - 1) * dilation
        self._weight = weight.permute(2, 1, 0).to(dtype).contiguous()
        self._bias = state[f"{name}.conv.bias"].float()
        self._dilation = dilation
        self.index = layout.add((self.tail_rows, inputs), dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, D]."""
        return self.over(torch.cat((memory.recall(self.index), x), dim=1), memory)

    def over(self, rows: Tensor, memory: Memory, *, snake: Snake | None = None) -> Tensor:
        """The same with the remembered rows in front already: [B, tail_rows + T, C] to [B, T, D]; then a snake."""
        memory.keep(self.index, rows[:, rows.shape[1] - self.tail_rows :])
        return causal_conv(rows, self._weight, self._bias, dilation=self._dilation, snake=snake)


class DepthwiseConv:
    """The same with a filter for each channel. It is small: at 50 rows a second at most."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype) -> None:
        weight = state[f"{name}.conv.weight"]
        channels, _, self._taps = weight.shape
        self._weight = weight[:, 0].t().contiguous()
        self._bias = state[f"{name}.conv.bias"].float()
        self._index = layout.add((self._taps - 1, channels), dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, C]."""
        rows, count = torch.cat((memory.recall(self._index), x), dim=1), x.shape[1]
        memory.keep(self._index, rows[:, count:])
        total = self._bias.expand(count, -1)
        for tap in range(self._taps):
            total = total + rows[:, tap : tap + count] * self._weight[tap]
        return total.to(x.dtype)


def read_snake(state: State, name: str) -> Snake:
    """BigVGAN's SnakeBeta (Lee et al. 2023): both parameters are kept as logarithms."""
    inverse = (state[f"{name}.beta"].float().exp() + SNAKE_FLOOR).reciprocal()
    return Snake(state[f"{name}.alpha"].float().exp(), inverse)


class Doubling:
    """A transposed convolution whose taps do not overlap, and a ConvNeXt block (Liu et al. 2022)."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype) -> None:
        weight = state[f"{name}.0.conv.weight"]
        inputs, outputs, self._rate = weight.shape
        self._raise = weight.permute(2, 1, 0).reshape(-1, inputs).to(dtype).contiguous()
        self._raise_bias = state[f"{name}.0.conv.bias"].repeat(self._rate).to(dtype)
        self._depthwise = DepthwiseConv(state, f"{name}.1.dwconv", layout, dtype)
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
    """Snake, a transposed convolution of kernel 2 * stride, three residual units.

    Output rows t * stride to (t + 1) * stride - 1 are a product of row t and the row before: a convolution of two taps.
    """

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype) -> None:
        weight = state[f"{name}.1.conv.weight"]
        inputs, self._width, taps = weight.shape
        self._stride = taps // 2
        # [C, D, 2s] to [2, C, s * D]: the row before takes the second half of the taps, the row itself the first.
        halves = weight.view(inputs, self._width, 2, self._stride).permute(2, 0, 3, 1).flip(0)
        self._raise = halves.reshape(2, inputs, -1).to(dtype).contiguous()
        self._raise_bias = state[f"{name}.1.conv.bias"].float().repeat(self._stride)
        self._snake = read_snake(state, f"{name}.0")
        self._index = layout.add((1, inputs), dtype)
        self._units = tuple(
            Unit(state, f"{name}.{place + 2}", layout, dtype, dilation=dilation)
            for place, dilation in enumerate(DILATIONS)
        )

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T * stride, C / 2]."""
        batch, rows, _ = x.shape
        active = snake_after(x, memory.recall(self._index), self._snake)
        memory.keep(self._index, active[:, rows:])
        x = causal_conv(active, self._raise, self._raise_bias).view(batch, rows * self._stride, self._width)
        for unit in self._units:
            x = unit(x, memory)
        return x


class Unit:
    """A residual unit: snake, dilated convolution of 7 taps, snake, product."""

    def __init__(self, state: State, name: str, layout: Layout, dtype: torch.dtype, *, dilation: int) -> None:
        self._first, self._second = (read_snake(state, f"{name}.{act}") for act in ("act1", "act2"))
        self._conv = CausalConv(state, f"{name}.conv1", layout, dtype, dilation=dilation)
        self._point = state[f"{name}.conv2.conv.weight"].permute(2, 1, 0).to(dtype).contiguous()
        self._point_bias = state[f"{name}.conv2.conv.bias"].float()

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T, C]."""
        active = snake_after(x, memory.recall(self._conv.index), self._first)
        y = self._conv.over(active, memory, snake=self._second)
        return causal_conv(y, self._point, self._point_bias, residual=x)


class LastConv:
    """Snake and a convolution of 7 taps to one channel, as a product with all taps and a sum of shifted rows."""

    def __init__(self, state: State, names: tuple[str, str], layout: Layout, dtype: torch.dtype) -> None:
        snake, conv = names
        weight = state[f"{conv}.conv.weight"]
        _, inputs, self._taps = weight.shape
        self._weight = weight[0].to(dtype).contiguous()
        self._bias = state[f"{conv}.conv.bias"].float()
        self._snake = read_snake(state, snake)
        self._index = layout.add((self._taps - 1, inputs), dtype)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        """[B, T, C] to [B, T] float32."""
        rows = x.shape[1]
        active = snake_after(x, memory.recall(self._index), self._snake)
        memory.keep(self._index, active[:, rows:])
        parts = (active @ self._weight).float()
        shifted = [parts[:, tap : tap + rows, tap] for tap in range(self._taps)]
        return torch.stack(shifted).sum(0) + self._bias
