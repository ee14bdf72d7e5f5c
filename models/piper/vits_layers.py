"""Layers shared by the parts of VITS: convolutions over time on [T, C] tensors.

Every activation is a float tensor [T, C] (time-major, one utterance, no batch axis): rows are contiguous, a window of
frames is a slice, and a 1x1 convolution is one matrix product. Utterances are run one by one, on their exact length:
so no result can depend on the company, on any processor. Packing utterances into one product would not keep that (with
MKL the rows of 107 of 240 utterances came out with other bits), and would gain little at one thread: a product
of 220 rows runs at 157 GFLOP/s, one of 2,000 rows at 180.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from models.piper.layout import VoiceLayout

LAYER_NORM_EPS = 1e-5
"""VITS' own LayerNorm (vits/modules.py)."""


def tensor(layout: VoiceLayout, name: str) -> Tensor:
    """A private float32 copy of one array of the voice."""
    return torch.from_numpy(layout.weight(name).copy())


class Dense:
    """A convolution of kernel 1: [T, In] -> [T, Out] float32."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight = weight.t().contiguous()
        self.bias = bias

    @classmethod
    def read(cls, layout: VoiceLayout, prefix: str) -> Dense:
        """The layer of that name."""
        return cls(tensor(layout, f"{prefix}.weight")[:, :, 0], tensor(layout, f"{prefix}.bias"))

    def __call__(self, x: Tensor) -> Tensor:
        """Apply to every frame."""
        return torch.addmm(self.bias, x, self.weight)


class TapConv:
    """A dense convolution with zero padding ("same"): [T, In] -> [T, Out] float32, as one product of unfolded rows."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        weight = tensor(layout, f"{prefix}.weight")  # [Out, In, K]
        self.channels = weight.shape[1]
        self.taps = weight.shape[2]
        self.dilation = layout.conv(prefix).dilation
        self.weight = weight.permute(2, 1, 0).reshape(self.taps * self.channels, -1).contiguous()
        self.bias = tensor(layout, f"{prefix}.bias")

    @property
    def radius(self) -> int:
        """Frames it looks to either side."""
        return (self.taps - 1) // 2 * self.dilation

    def padded(self, x: Tensor) -> Tensor:
        """[T + 2 * radius, In]: x between zeros, the form `on_padded` takes."""
        return functional.pad(x, (0, 0, self.radius, self.radius))

    def on_padded(self, padded: Tensor) -> Tensor:
        """Apply to x that already lies between its zeros (so a residual sum can stay in place)."""
        frames = padded.shape[0] - 2 * self.radius
        row = padded.shape[1]
        taps = padded.as_strided((frames, self.taps, row), (row, self.dilation * row, 1))
        return torch.addmm(self.bias, taps.reshape(frames, -1), self.weight)

    def __call__(self, x: Tensor) -> Tensor:
        """Apply with zeros past both ends."""
        return self.on_padded(self.padded(x))


class DepthwiseConv:
    """A convolution of each channel by itself, three taps, zero padding: [T, C] -> [T, C] float32."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        weight = tensor(layout, f"{prefix}.weight")  # [C, 1, 3]
        self.before, self.here, self.after = (weight[:, 0, tap].contiguous() for tap in range(3))
        self.bias = tensor(layout, f"{prefix}.bias")
        self.dilation = layout.conv(prefix).dilation

    def __call__(self, x: Tensor) -> Tensor:
        """Apply with zeros past both ends."""
        out = torch.addcmul(self.bias, x, self.here)
        shift = self.dilation
        if shift < x.shape[0]:
            out[shift:].addcmul_(x[:-shift], self.before)
            out[:-shift].addcmul_(x[shift:], self.after)
        return out


class ChannelNorm:
    """Layer normalisation over the channels of each frame: [T, C] -> [T, C]."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        self.gamma = tensor(layout, f"{prefix}.gamma")
        self.beta = tensor(layout, f"{prefix}.beta")

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise each frame."""
        return functional.layer_norm(x, self.gamma.shape, self.gamma, self.beta, LAYER_NORM_EPS)
