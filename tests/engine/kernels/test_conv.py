"""Each kernel against the torch layer that it stands for, on odd sizes and spans that cut windows."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from engine import noise_torch
from engine.kernels import conv
from engine.kernels.spans import Span
from engine.ops import Snake

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, ROWS, CHANNELS, RATE, FIRST = 3, 45, 12, 10, 2
VALID = torch.tensor([[0, 4], [1, 3], [2, 2]], dtype=torch.int32, device=DEVICE)  # whole, cut, nothing
SPAN = Span(VALID, RATE, FIRST)
FEW_CHANNELS = 8  # per program in these tests: so that 12 channels take two, the second one half


@pytest.fixture(autouse=True)
def small_programs(monkeypatch):
    """A shape that the interpreter gets through in few programs, and several of them in each direction."""
    monkeypatch.setattr(conv, "CHANNELS", FEW_CHANNELS)
    monkeypatch.setattr(conv, "ROWS", 32)
    monkeypatch.setattr(conv, "LANES", 8)


@pytest.fixture
def draw():
    generator = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(DEVICE)

    return normal


def snake_of(draw) -> Snake:
    alpha = draw(CHANNELS).abs() + 0.05
    return Snake(alpha, 1 / alpha)


def snaked(x: torch.Tensor, snake: Snake) -> torch.Tensor:
    return x + torch.sin(snake.alpha * x) ** 2 * snake.inverse


def inside(x: torch.Tensor) -> torch.Tensor:
    row = torch.arange(x.shape[1], device=DEVICE) - FIRST
    keep = (row >= VALID[:, :1] * RATE) & (row < VALID[:, 1:] * RATE)
    return torch.where(keep[:, :, None], x, 0.0)


def convolved(x: torch.Tensor, taps: conv.Taps) -> torch.Tensor:
    kernel = taps.weight.t()[:, None]
    options = {"padding": 3 * taps.dilation, "dilation": taps.dilation, "groups": len(kernel)}
    return functional.conv1d(x.transpose(1, 2), kernel, taps.bias, **options).transpose(1, 2)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_pairs(draw, scale):
    x, shift, snake = draw(BATCH, ROWS, CHANNELS) * scale, draw(CHANNELS), snake_of(draw)
    x[:, -1], x[1, 5] = torch.nan, torch.inf  # outside: whatever stands there
    value = snaked(inside(x + shift), snake)
    wanted = torch.cat([functional.pad(value, (0, 0, 1, 0)), functional.pad(value, (0, 0, 0, 1))], dim=-1)
    torch.testing.assert_close(conv.pairs(x, shift, snake, SPAN), wanted, rtol=1e-5, atol=1e-4 if scale > 1 else 2e-6)


def test_pairs_and_a_product_are_a_transposed_convolution(draw):
    stride, outputs = 4, 5
    x, shift, snake = draw(BATCH, ROWS, CHANNELS), draw(CHANNELS), snake_of(draw)
    weight = draw(CHANNELS, outputs, 2 * stride)
    before, itself = weight[:, :, stride:], weight[:, :, :stride]
    matrix = torch.cat([part.permute(0, 2, 1).reshape(CHANNELS, -1) for part in (before, itself)])
    got = (conv.pairs(x, shift, snake, SPAN) @ matrix).view(BATCH, -1, outputs)
    value = snaked(inside(x + shift), snake).transpose(1, 2)
    wanted = functional.conv_transpose1d(value, weight, stride=stride).transpose(1, 2)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    up = SPAN.raised(stride)
    assert (up.rate, up.first) == (RATE * stride, FIRST * stride + stride // 2)


@pytest.mark.parametrize("dilation", [1, 3, 9])
@pytest.mark.parametrize("snakes", [True, False])
def test_depthwise(draw, dilation, snakes):
    x, shift = draw(BATCH, ROWS, CHANNELS), draw(CHANNELS)
    taps = conv.Taps(draw(7, CHANNELS), draw(CHANNELS), dilation)
    around = (snake_of(draw), snake_of(draw)) if snakes else None
    value = inside(x + shift)
    wanted = convolved(snaked(value, around[0]) if around else value, taps)
    wanted = snaked(wanted, around[1]) if around else wanted
    x[:, -1] = torch.nan
    torch.testing.assert_close(conv.depthwise(x, shift, taps, SPAN, around), wanted, rtol=1e-5, atol=1e-5)


def test_long_walks_give_what_short_ones_give(draw, monkeypatch):
    x, shift = draw(BATCH, ROWS, CHANNELS), draw(CHANNELS)
    taps, around = conv.Taps(draw(7, CHANNELS), draw(CHANNELS), 3), (snake_of(draw), snake_of(draw))
    short = conv.depthwise(x, shift, taps, SPAN, around)
    monkeypatch.setattr(conv, "LONG_VALUES", 1)
    long = conv.depthwise(x, shift, taps, SPAN, around)
    torch.testing.assert_close(long, short, rtol=1e-6, atol=1e-6)


def test_last(draw):
    x, shift, snake = draw(BATCH, ROWS, CHANNELS), draw(CHANNELS), snake_of(draw)
    taps = conv.Taps(draw(7, CHANNELS) / 8, draw(1))
    value = snaked(inside(x + shift), snake).transpose(1, 2)
    wanted = torch.tanh(functional.conv1d(value, taps.weight.t()[None], taps.bias, padding=3)).transpose(1, 2)
    wanted = inside(wanted)[:, FIRST:-FIRST, 0]
    got = conv.last(x, shift, snake, taps, SPAN)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=2e-6)
    assert not got[2].any()


def test_noise(draw):
    x, gain, shift = draw(BATCH, ROWS, CHANNELS), draw(BATCH, ROWS, CHANNELS), draw(CHANNELS)
    seeds = torch.tensor([5, -9, 2**50], device=DEVICE)
    first_frames = torch.tensor([0, 2**33, -2], device=DEVICE)
    positions = first_frames[:, None] * RATE + torch.arange(ROWS, device=DEVICE) - FIRST
    number = noise_torch.normal(seeds, 70, positions.clamp(min=0))
    wanted = x + number[:, :, None] * (gain + shift)
    conv.add_noise(x, gain, shift, SPAN, (seeds, first_frames, 70))
    torch.testing.assert_close(x, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_signals_round_only_what_they_keep(draw, dtype):
    x, shift = draw(BATCH, ROWS, CHANNELS).to(dtype), draw(CHANNELS)
    taps, around = conv.Taps(draw(7, CHANNELS), draw(CHANNELS)), (snake_of(draw), snake_of(draw))
    wanted = conv.depthwise(x.float(), shift, taps, SPAN, around).to(dtype)
    got = conv.depthwise(x, shift, taps, SPAN, around)
    torch.testing.assert_close(got, wanted, rtol=torch.finfo(dtype).eps, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_short_snake_of_half_signals_errs_far_less_than_they_round(draw, scale):
    """`last` sums in float32 and gives float32: nothing but the snakes differs."""
    x, shift, snake = (draw(BATCH, ROWS, CHANNELS) * scale).half(), draw(CHANNELS), snake_of(draw)
    taps = conv.Taps(draw(7, CHANNELS) / (50 * scale), draw(1) / 8)
    long, short = (conv.last(signal, shift, snake, taps, SPAN) for signal in (x.float(), x))
    assert long.std() > 0.05
    torch.testing.assert_close(short, long, rtol=0, atol=1e-6 * scale)


def test_every_walk_is_written_out_whole():
    assert all(steps % conv.UNROLL.value == 0 for steps in conv.STEPS)


def test_a_signal_must_be_contiguous(draw):
    x = draw(BATCH, CHANNELS, ROWS).transpose(1, 2)
    with pytest.raises(ValueError, match="contiguous"):
        conv.pairs(x, draw(CHANNELS), snake_of(draw), SPAN)
