"""The decoder against a plain one written from the definition, on random weights of both residual block types."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from models.errors import BadWeights
from models.piper.layout import ConvSpec, VoiceLayout
from models.piper.vits_decoder import Decoder

RATES, KERNELS, CHANNELS = (4, 2), (8, 4), (12, 6, 4)
DILATIONS = ((1, 3), (2, 5))


def random_layout(block_type: int) -> VoiceLayout:
    rng = np.random.default_rng(block_type)
    weights, convs = {}, {}

    def add(name, shape, spec, *, bias=True, transposed=False):
        fan_in = shape[1] * shape[2] if not transposed else shape[0] * 2
        weights[f"{name}.weight"] = (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)
        if bias:
            channels = shape[1] if transposed else shape[0]
            weights[f"{name}.bias"] = rng.standard_normal(channels).astype(np.float32) * np.float32(0.1)
        convs[name] = spec

    add("dec.conv_pre", (CHANNELS[0], 8, 7), ConvSpec(1, 1, 1, 3))
    for stage, (rate, kernel) in enumerate(zip(RATES, KERNELS, strict=True)):
        shape = (CHANNELS[stage], CHANNELS[stage + 1], kernel)
        add(f"dec.ups.{stage}", shape, ConvSpec(rate, 1, 1, (kernel - rate) // 2), transposed=True)
        for block, taps in enumerate((3, 5)):
            for step, dilation in enumerate(DILATIONS[block]):
                names = {1: ("convs1", "convs2"), 2: ("convs",)}[block_type]
                for name, reach in zip(names, (dilation, 1), strict=False):
                    size = (CHANNELS[stage + 1], CHANNELS[stage + 1], taps)
                    spec = ConvSpec(1, reach, 1, (taps - 1) // 2 * reach)
                    add(f"dec.resblocks.{2 * stage + block}.{name}.{step}", size, spec)
    add("dec.conv_post", (1, CHANNELS[-1], 7), ConvSpec(1, 1, 1, 3), bias=False)
    return VoiceLayout(weights, convs)


def plain(layout: VoiceLayout, latents: torch.Tensor) -> torch.Tensor:
    """HiFi-GAN as the paper's appendix draws it: conv1d on [1, C, T], whole utterance, float64."""

    def conv(name, x):
        spec = layout.convs[name]
        weight = torch.from_numpy(layout.weights[f"{name}.weight"]).double()
        bias = layout.weights.get(f"{name}.bias")
        bias = None if bias is None else torch.from_numpy(bias).double()
        if ".ups." in name:
            return functional.conv_transpose1d(x, weight, bias, stride=spec.stride, padding=spec.pad_left)
        return functional.conv1d(x, weight, bias, padding=spec.pad_left, dilation=spec.dilation)

    x = conv("dec.conv_pre", latents.t()[None].double())
    for stage in range(len(RATES)):
        x = conv(f"dec.ups.{stage}", functional.leaky_relu(x, 0.1))
        outs = []
        for block in (2 * stage, 2 * stage + 1):
            y = x
            for step in range(2):
                z = y
                for name in ("convs", "convs1", "convs2"):
                    if f"dec.resblocks.{block}.{name}.{step}" in layout.convs:
                        z = conv(f"dec.resblocks.{block}.{name}.{step}", functional.leaky_relu(z, 0.1))
                y = y + z
            outs.append(y)
        x = sum(outs) / len(outs)
    return torch.tanh(conv("dec.conv_post", functional.leaky_relu(x, 0.01)))[0, 0]


@pytest.mark.parametrize("block_type", [1, 2])
def test_every_window_is_a_part_of_the_plain_whole(block_type):
    layout = random_layout(block_type)
    decoder = Decoder(layout, torch.float32)
    latents = torch.randn(60, 8, generator=torch.Generator().manual_seed(4))
    whole = plain(layout, latents)
    assert whole.abs().max() > 0.1
    hop = decoder.hop_samples
    assert len(whole) == 60 * hop
    for start, stop in [(0, 60), (0, 1), (59, 60), (0, 30), (30, 60), (17, 41), (29, 30)]:
        window = decoder(latents, start, stop)
        assert torch.allclose(window.double(), whole[start * hop : stop * hop], atol=2e-6)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_utterances_shorter_than_the_context_are_whole(frames):
    layout = random_layout(2)
    decoder = Decoder(layout, torch.float32)
    latents = torch.randn(frames, 8, generator=torch.Generator().manual_seed(frames))
    assert frames < decoder.context_frames()
    assert torch.allclose(decoder(latents, 0, frames).double(), plain(layout, latents), atol=2e-6)


def test_a_decoder_of_another_shape_is_refused():
    layout = random_layout(2)
    layout.convs["dec.ups.0"] = ConvSpec(3, 1, 1, 2)
    with pytest.raises(BadWeights, match=r"dec\.ups\.0 has kernel 8, stride 3"):
        Decoder(layout, torch.float32)
    layout = random_layout(2)
    layout.weights.pop("dec.conv_pre.weight")
    with pytest.raises(BadWeights, match=r"dec\.conv_pre\.weight"):
        Decoder(layout, torch.float32)
