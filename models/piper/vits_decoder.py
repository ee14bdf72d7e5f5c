"""The HiFi-GAN decoder of VITS: windows of latents to samples, exact at their seams.

Residual blocks of type 1 and 2 (Kong et al. 2020), rates, kernels and dilations from the voice's file. A window is
decoded from just the frames and, behind every upsampling, just the samples that its own samples depend on; at the
ends of the utterance the window is cut there, so that the network sees its true zero padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from models.errors import BadWeights
from models.piper.layout import VoiceLayout
from models.piper.vits_layers import tensor

SLOPE = 0.1
"""Of every leaky rectifier but the last (hifi-gan/models.py, LRELU_SLOPE)."""
LAST_SLOPE = 0.01
"""The last one uses torch's default."""
WIDTH_STEP_FRAMES = 16
"""Windows are made this much or a multiple wide. The CPU kernels are compiled for each width they meet (about 50 ms a
window, measured): with all widths there are, that costs as much as the decoding itself."""


@dataclass(frozen=True, slots=True)
class Span:
    """Positions [start, stop) on the time grid of one stage."""

    start: int
    stop: int

    def widened(self, radius: int, length: int) -> Span:
        """The span and its neighbourhood, cut at the ends of the utterance."""
        return Span(max(0, self.start - radius), min(length, self.stop + radius))


class WideConv:
    """A dense "same" convolution of many rows: [T, In] -> [T, Out], through a channels-last conv2d.

    That is the form the CPU kernels take without reordering; measured against unfolded products it is up to twice
    as fast on the narrow, long rows of a decoder.
    """

    def __init__(self, layout: VoiceLayout, prefix: str, dtype: torch.dtype) -> None:
        spec = layout.conv(prefix)
        weight = tensor(layout, f"{prefix}.weight")[:, :, None, :]
        bias = f"{prefix}.bias"
        self.weight = weight.to(dtype).to(memory_format=torch.channels_last)
        self.bias = tensor(layout, bias).to(dtype) if bias in layout.weights else None
        self.dilation = (1, spec.dilation)
        self.radius = (weight.shape[3] - 1) // 2 * spec.dilation

    def __call__(self, x: Tensor) -> Tensor:
        """Apply with zeros past both ends."""
        rows, channels = x.shape
        image = x.as_strided((1, channels, 1, rows), (rows * channels, 1, rows * channels, channels))
        out = functional.conv2d(image, self.weight, self.bias, padding=(0, self.radius), dilation=self.dilation)
        return out[0, :, 0].t().contiguous()  # rows already lie so, unless a platform has other kernels


class Upsampling:
    """A transposed convolution: [T, In] -> [T * rate, Out], as one product.

    With kernel = taps * rate, output block j depends on the inputs j - taps + 1 … j: the rows of the product are
    these inputs side by side, its columns the samples of the block.
    """

    def __init__(self, layout: VoiceLayout, prefix: str, dtype: torch.dtype) -> None:
        spec = layout.conv(prefix)
        weight = tensor(layout, f"{prefix}.weight")  # [In, Out, K]
        self.rate, self.cut = spec.stride, spec.pad_left
        if weight.shape[2] % self.rate or weight.shape[2] - self.rate != 2 * self.cut:
            msg = f"{prefix} has kernel {weight.shape[2]}, stride {self.rate}, padding {self.cut}: not a Piper decoder"
            raise BadWeights(msg)
        self.taps = weight.shape[2] // self.rate
        self.channels = weight.shape[1]
        blocks = weight.view(weight.shape[0], self.channels, self.taps, self.rate)
        blocks = blocks.flip(2)  # the oldest input meets the last tap
        self.weight = blocks.permute(2, 0, 3, 1).reshape(self.taps * weight.shape[0], -1).contiguous().to(dtype)
        self.bias = tensor(layout, f"{prefix}.bias").repeat(self.rate).to(dtype)

    def source(self, out: Span, length: int) -> Span:
        """The inputs (of `length` in all) that the outputs `out` depend on."""
        first = (out.start + self.cut) // self.rate - (self.taps - 1)
        last = (out.stop - 1 + self.cut) // self.rate
        return Span(max(0, first), min(length, last + 1))

    def __call__(self, x: Tensor, have: Span, want: Span) -> Tensor:
        """x [T, In] at positions `have` of its grid -> rows `want` of the output grid."""
        spare = self.taps - 1
        padded = functional.pad(x, (0, 0, spare, spare))
        channels = x.shape[1]
        rows = padded.as_strided((x.shape[0] + spare, self.taps * channels), (channels, 1))
        blocks = torch.addmm(self.bias, rows, self.weight).view(-1, self.channels)
        offset = self.cut - self.rate * have.start  # row 0 of the blocks is output rate * have.start - cut
        return blocks[want.start + offset : want.stop + offset]


class ResidualBlock:
    """Dilated convolutions, each added to what it read; type 1 has a second, plain one behind each."""

    def __init__(self, layout: VoiceLayout, prefix: str, dtype: torch.dtype) -> None:
        paired = layout.count(f"{prefix}.convs1") > 0
        names = ("convs1", "convs2") if paired else ("convs",)
        self.steps = [
            [WideConv(layout, f"{prefix}.{name}.{number}", dtype) for name in names]
            for number in layout.numbers(f"{prefix}.{names[0]}")
        ]
        self.radius = sum(conv.radius for step in self.steps for conv in step)

    def __call__(self, x: Tensor, active: Tensor) -> Tensor:
        """x [T, C] and its rectified form (shared by the blocks of a stage; neither is changed) -> [T, C]."""
        for number, step in enumerate(self.steps):
            y = functional.leaky_relu(x, SLOPE) if number else active
            for position, conv in enumerate(step):
                y = conv(functional.leaky_relu_(y, SLOPE) if position else y)
            x = y.add_(x)
        return x


class Stage:
    """One upsampling and the mean of its residual blocks."""

    def __init__(self, layout: VoiceLayout, number: int, blocks: range, dtype: torch.dtype) -> None:
        self.up = Upsampling(layout, f"dec.ups.{number}", dtype)
        self.blocks = [ResidualBlock(layout, f"dec.resblocks.{block}", dtype) for block in blocks]
        self.radius = max(block.radius for block in self.blocks)

    def __call__(self, x: Tensor, have: Span, want: Span) -> Tensor:
        """x [T, In] at `have` -> [want, Out]; rows nearer than `radius` to a cut that is no true end are not valid."""
        x = self.up(functional.leaky_relu(x, SLOPE), have, want)
        active = functional.leaky_relu(x, SLOPE)
        total = self.blocks[0](x, active)
        for block in self.blocks[1:]:
            total += block(x, active)
        return total.div_(len(self.blocks))


class Decoder:
    """Latents of one utterance to samples, any window of frames at a time."""

    def __init__(self, layout: VoiceLayout, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.first = WideConv(layout, "dec.conv_pre", dtype)
        num_stages = layout.count("dec.ups")
        num_blocks = layout.count("dec.resblocks")
        if num_stages == 0 or num_blocks == 0 or num_blocks % num_stages:
            msg = f"the decoder has {num_stages} upsamplings and {num_blocks} residual blocks: not a Piper decoder"
            raise BadWeights(msg)
        each = num_blocks // num_stages
        self.stages = [
            Stage(layout, number, range(number * each, (number + 1) * each), dtype) for number in range(num_stages)
        ]
        self.last = WideConv(layout, "dec.conv_post", dtype)
        self.hop_samples = 1
        for stage in self.stages:
            self.hop_samples *= stage.up.rate

    def context_frames(self) -> int:
        """Frames to either side of a window that its samples depend on."""
        far = 1_000_000
        return far - self._plan(Span(far, far + 1), 2 * far)[0].start

    def __call__(self, latents: Tensor, start_frame: int, stop_frame: int) -> Tensor:
        """latents [T, Z] float32 -> samples [(stop - start) * hop_samples] float32 in [-1, 1]."""
        width = -(-(stop_frame - start_frame) // WIDTH_STEP_FRAMES) * WIDTH_STEP_FRAMES
        # The end of the window stands, its start moves to the left: those samples are made again and dropped.
        read, wants = self._plan(Span(max(0, stop_frame - width), stop_frame), latents.shape[0])
        x = self.first(latents[read.start : read.stop].to(self.dtype))
        have = read
        for stage, (source, want) in zip(self.stages, wants, strict=True):
            x = stage(x[source.start - have.start : source.stop - have.start], source, want)
            have = want
        samples = self.last(functional.leaky_relu_(x, LAST_SLOPE))[:, 0]
        offset = start_frame * self.hop_samples - have.start
        length = (stop_frame - start_frame) * self.hop_samples
        return torch.tanh(samples[offset : offset + length].float())

    def _plan(self, frames: Span, num_frames: int) -> tuple[Span, list[tuple[Span, Span]]]:
        """From the wanted frames back to front: the frames to read, and per stage the rows it takes and makes."""
        length = num_frames * self.hop_samples
        need = Span(frames.start * self.hop_samples, frames.stop * self.hop_samples)
        need = need.widened(self.last.radius, length)
        wants: list[tuple[Span, Span]] = []
        for stage in reversed(self.stages):
            want = need.widened(stage.radius, length)
            length //= stage.up.rate
            need = stage.up.source(want, length)
            wants.append((need, want))
        return need.widened(self.first.radius, length), wants[::-1]
