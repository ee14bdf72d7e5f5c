"""The stochastic duration predictor of VITS, run backwards: noise to log durations, one per phoneme id.

Normalising flow of rational-quadratic splines (Durkan et al. 2019) whose parameters come from dilated depthwise
convolutions over the hidden states (Kim et al. 2021, section 2.2.2). One utterance of exact length.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from models.piper.layout import VoiceLayout
from models.piper.vits_layers import ChannelNorm, Dense, DepthwiseConv, tensor

TAIL = 5.0
"""Outside [-TAIL, TAIL] a spline is the identity."""
MIN_BIN = 1e-3
"""Least share of a bin's width and height, and least slope at a knot."""


class DilatedStack:
    """Residual stack of depthwise and dense layers: [T, C] -> [T, C]."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        self.layers = [
            (
                DepthwiseConv(layout, f"{prefix}.convs_sep.{number}"),
                ChannelNorm(layout, f"{prefix}.norms_1.{number}"),
                Dense.read(layout, f"{prefix}.convs_1x1.{number}"),
                ChannelNorm(layout, f"{prefix}.norms_2.{number}"),
            )
            for number in layout.numbers(f"{prefix}.convs_sep")
        ]

    def __call__(self, x: Tensor) -> Tensor:
        """Apply; x itself is not changed."""
        for spread, norm_1, mix, norm_2 in self.layers:
            y = functional.gelu(norm_1(spread(x)))
            x = functional.gelu(norm_2(mix(y))).add_(x)
        return x


class SplineFlow:
    """One coupling: the second of two values per id goes backwards through a spline set by the first."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        self.before = Dense.read(layout, f"{prefix}.pre")
        self.stack = DilatedStack(layout, f"{prefix}.convs")
        self.after = Dense.read(layout, f"{prefix}.proj")
        self.bins = (self.after.bias.shape[0] + 1) // 3
        self.scale = 1.0 / math.sqrt(self.before.bias.shape[0])

    def __call__(self, first: Tensor, second: Tensor, hidden: Tensor) -> Tensor:
        """first [T, 1], second [T, 1], hidden [T, C] -> the new second [T, 1]."""
        shape = self.after(self.stack(self.before(first).add_(hidden)))
        widths, heights = shape[:, : self.bins] * self.scale, shape[:, self.bins : 2 * self.bins] * self.scale
        return inverse_spline(second[:, 0], widths, heights, shape[:, 2 * self.bins :])[:, None]


class DurationPredictor:
    """Noise and hidden states to log durations."""

    def __init__(self, layout: VoiceLayout) -> None:
        self.before = Dense.read(layout, "dp.pre")
        self.stack = DilatedStack(layout, "dp.convs")
        self.after = Dense.read(layout, "dp.proj")
        self.shift = tensor(layout, "dp.flows.0.m")[:, 0]
        self.scale = tensor(layout, "dp.flows.0.scale")[:, 0]
        # Flow 1 is left out when VITS runs backwards; the export does not even hold it.
        numbers = [number for number in layout.numbers("dp.flows") if number > 1]
        self.flows = [SplineFlow(layout, f"dp.flows.{number}") for number in reversed(numbers)]

    def __call__(self, hidden: Tensor, noise: Tensor) -> Tensor:
        """hidden [T, C], noise [T, 2] (already scaled) -> log of the frames of each id, [T] float32."""
        condition = self.after(self.stack(self.before(hidden)))
        first, second = noise[:, :1], noise[:, 1:]
        for flow in self.flows:
            first, second = second, first  # VITS flips the two values before every flow
            second = flow(first, second, condition)
        # One more flip stands before the affine flow, whose channel 0 is the result.
        return (second[:, 0] - self.shift[0]) * self.scale[0]


def inverse_spline(y: Tensor, widths: Tensor, heights: Tensor, slopes: Tensor) -> Tensor:
    """Solve spline(x) = y for x, element by element.

    y [N]; widths and heights [N, B], slopes [N, B - 1], all unnormalised; the slope at both tails is 1.
    Formulas: Durkan et al. 2019, equations 6 to 8 of the appendix (inverse of the rational quadratic).
    """
    knots_x, bin_widths = _knots(widths)
    knots_y, bin_heights = _knots(heights)
    derivatives = functional.pad(functional.softplus(slopes).add_(MIN_BIN), (1, 1), value=1.0)
    inside = (y >= -TAIL) & (y <= TAIL)
    target = y.clamp(-TAIL, TAIL)[:, None]
    number = (torch.searchsorted(knots_y, target, right=True) - 1).clamp_(0, widths.shape[1] - 1)
    left, width = knots_x.gather(1, number), bin_widths.gather(1, number)
    low, height = knots_y.gather(1, number), bin_heights.gather(1, number)
    slope_left, slope_right = derivatives.gather(1, number), derivatives.gather(1, number + 1)
    ratio = height / width
    bend = slope_left + slope_right - 2 * ratio
    above = target - low
    a = above * bend + height * (ratio - slope_left)
    b = height * slope_left - above * bend
    c = -ratio * above
    root = (2 * c) / (-b - torch.sqrt(b * b - 4 * a * c))
    return torch.where(inside, (root * width + left)[:, 0], y)


def _knots(shares: Tensor) -> tuple[Tensor, Tensor]:
    """Unnormalised shares [N, B] -> knots [N, B + 1] from -TAIL to TAIL, and the gaps between them [N, B]."""
    bins = shares.shape[1]
    parts = torch.softmax(shares, dim=1).mul_(1 - MIN_BIN * bins).add_(MIN_BIN)
    knots = functional.pad(torch.cumsum(parts, dim=1), (1, 0)).mul_(2 * TAIL).sub_(TAIL)
    knots[:, 0] = -TAIL
    knots[:, -1] = TAIL
    return knots, knots[:, 1:] - knots[:, :-1]
