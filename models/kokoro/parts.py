"""What all parts of Kokoro are made of: named tensors, masked convolutions and norms over [B, C, 1, T].

Signals are images of height 1 in channels-last memory: a CPU's convolutions then need no reordering. A `Mask` says
which columns of each row exist; beyond them everything is zero before it is convolved, which is the network's own
padding, and statistics leave them out: a row gets what it gets alone. Without a mask all columns exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor, nn

NORM_EPS = 1e-5
State = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Mask:
    """Rows of different lengths: `keep` [B, 1, 1, T] of ones and zeros, `lengths` [B] int64."""

    keep: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, lengths: Tensor, width: int) -> Mask | None:
        """The mask of so many columns; None when all rows have them all."""
        if bool((lengths == width).all()):
            return None
        keep = torch.arange(width, device=lengths.device) < lengths[:, None]
        return cls(keep[:, None, None].float(), lengths)

    def scaled(self, factor: int, more: int = 0) -> Mask:
        """The mask of signals with `factor` columns for each of these, and `more` at the end."""
        width = self.keep.shape[3] * factor + more
        found = Mask.of(self.lengths * factor + more, width)
        assert found is not None, "rows of different lengths stay so"  # noqa: S101  # our own bug if not
        return found


def masked(x: Tensor, mask: Mask | None) -> Tensor:
    """Zeros where nothing exists."""
    return x if mask is None else x * mask.keep


class Conv:
    """A convolution over time, weights [O, I / groups, K]."""

    def __init__(self, state: State, name: str, *, padding: int = 0, dilation: int = 1, stride: int = 1) -> None:
        self._weight = state[f"{name}.weight"][:, :, None].contiguous(memory_format=torch.channels_last)
        self._bias = state.get(f"{name}.bias")
        self._padding, self._dilation, self._stride = padding, dilation, stride

    def __call__(self, x: Tensor, mask: Mask | None = None) -> Tensor:
        """[B, I, 1, T] to [B, O, 1, T']."""
        return F.conv2d(
            masked(x, mask),
            self._weight,
            self._bias,
            stride=(1, self._stride),
            padding=(0, self._padding),
            dilation=(1, self._dilation),
        )


class Raise:
    """A transposed convolution over time, weights [I, O / groups, K]."""

    def __init__(
        self, state: State, name: str, *, stride: int, padding: int, output_padding: int = 0, groups: int = 1
    ) -> None:
        self._weight = state[f"{name}.weight"][:, :, None].contiguous(memory_format=torch.channels_last)
        self._bias = state[f"{name}.bias"]
        self._numbers = (stride, padding, output_padding, groups)

    def __call__(self, x: Tensor, mask: Mask | None) -> Tensor:
        """[B, I, 1, T] to [B, O, 1, T * stride]."""
        stride, padding, output_padding, groups = self._numbers
        return F.conv_transpose2d(
            masked(x, mask),
            self._weight,
            self._bias,
            stride=(1, stride),
            padding=(0, padding),
            output_padding=(0, output_padding),
            groups=groups,
        )


class AdaIn:
    """Instance norm over time, scaled and shifted by the style (Huang and Belongie 2017)."""

    def __init__(self, state: State, name: str) -> None:
        self._weight, self._bias = state[f"{name}.fc.weight"], state[f"{name}.fc.bias"]

    def __call__(self, x: Tensor, style: Tensor, mask: Mask | None) -> Tensor:
        """[B, C, 1, T] with style rows [B, S]."""
        scale, shift = F.linear(style, self._weight, self._bias)[:, :, None, None].chunk(2, dim=1)
        count = x.shape[3] if mask is None else mask.lengths.view(-1, 1, 1, 1)
        mean = masked(x, mask).sum(dim=3, keepdim=True) / count
        centred = x - mean  # twice as quick as var_mean over channels-last memory
        variance = masked(centred.square(), mask).sum(dim=3, keepdim=True) / count
        gain = (1 + scale) * torch.rsqrt(variance + NORM_EPS)
        return torch.addcmul(shift, centred, gain)


class Lstm:
    """A bidirectional LSTM of one layer."""

    def __init__(self, state: State, name: str) -> None:
        weight = state[f"{name}.weight_ih_l0"]
        self._net = nn.LSTM(
            weight.shape[1], weight.shape[0] // 4, batch_first=True, bidirectional=True, device=weight.device
        )
        own = {key: state[f"{name}.{key}"] for key in self._net.state_dict()}
        self._net.load_state_dict(own)
        self._net.requires_grad_(requires_grad=False)

    def __call__(self, x: Tensor) -> Tensor:
        """[B, T, C] to [B, T, 2H]."""
        out: Tensor = self._net(x)[0]
        return out


class StyledBlock:
    """Two styled convolutions with a shortcut; `doubled`: twice as many columns come out."""

    def __init__(self, state: State, name: str, *, doubled: bool = False) -> None:
        self._norms = AdaIn(state, f"{name}.norm1"), AdaIn(state, f"{name}.norm2")
        self._convs = Conv(state, f"{name}.conv1", padding=1), Conv(state, f"{name}.conv2", padding=1)
        shortcut = f"{name}.conv1x1"
        self._shortcut = Conv(state, shortcut) if f"{shortcut}.weight" in state else None
        self.doubled = doubled
        if doubled:
            channels = state[f"{name}.pool.weight"].shape[0]
            self._pool = Raise(state, f"{name}.pool", stride=2, padding=1, output_padding=1, groups=channels)

    def __call__(self, x: Tensor, style: Tensor, mask: Mask | None = None) -> tuple[Tensor, Mask | None]:
        """[B, C, 1, T] to [B, D, 1, T or 2T], with its mask."""
        after = mask if not self.doubled or mask is None else mask.scaled(2)
        y = F.leaky_relu(self._norms[0](x, style, mask), 0.2)
        if self.doubled:
            y, x = self._pool(y, mask), x.repeat_interleave(2, dim=3)
        y = F.leaky_relu(self._norms[1](self._convs[0](y, after), style, after), 0.2)
        y = self._convs[1](y, after)
        if self._shortcut is not None:
            x = self._shortcut(x, after)
        return (y + x) * 2**-0.5, after
