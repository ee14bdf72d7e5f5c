"""Kokoro's decoder: styled blocks at the frame rate, then iSTFTNet (Kaneko et al. 2022) on a harmonic source.

The source (Wang et al. 2019, NSF) sums nine sines of the pitch and noise. Its random initial phases have no effect in
the published code (they stand in a sample that its resampling never reads) and are left out. Its noise is nine normal
numbers a sample that are only ever summed with fixed weights, so one of the same variance takes their place: keyed by
(seed, DRAW_NOISE, sample).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from engine import noise_torch
from engine.ops import Snake
from models.kokoro.config import HARMONICS, SAMPLE_RATE_HZ, KokoroConfig
from models.kokoro.parts import AdaIn, Conv, Mask, Raise, State, StyledBlock, masked

DRAW_NOISE = 80
"""Draw number (see `engine.noise`) of the source's noise."""
SINE_GAIN = 0.1
VOICED_NOISE = 0.003
VOICED_HZ = 10.0


class Source:
    """The excitation of a pitch curve, as magnitudes and phases."""

    def __init__(self, state: State, config: KokoroConfig) -> None:
        self._weight = state["decoder.generator.m_source.l_linear.weight"]
        self._bias = state["decoder.generator.m_source.l_linear.bias"]
        self.scale = config.samples_per_frame // 2
        self._order = torch.arange(1, HARMONICS + 1, device=self._weight.device, dtype=torch.float32)

    def __call__(self, pitch_hz: Tensor, seeds: Tensor | None) -> Tensor:
        """[B, 2F] Hz to samples [B, 2F * scale]; without `seeds` [B] int64 there is no noise."""
        turns = (pitch_hz[:, None] * self._order[:, None] / SAMPLE_RATE_HZ) % 1
        phase = torch.cumsum(turns, dim=2) * 2 * torch.pi
        phase = F.interpolate(phase * self.scale, scale_factor=self.scale, mode="linear")
        voiced = (pitch_hz > VOICED_HZ).float().repeat_interleave(self.scale, dim=1)
        sines = torch.sin(phase) * SINE_GAIN * voiced[:, None]
        total = torch.einsum("bht,h->bt", sines, self._weight[0]) + self._bias
        if seeds is not None:
            positions = torch.arange(total.shape[1], device=total.device).expand(total.shape)
            loud = voiced * VOICED_NOISE + (1 - voiced) * SINE_GAIN / 3
            total = total + loud * self._weight.norm() * noise_torch.normal(seeds, DRAW_NOISE, positions)
        return torch.tanh(total)


class ResBlock:
    """Three pairs of styled convolutions with snakes; what each pair gives is added."""

    def __init__(self, state: State, name: str, kernel: int, dilations: tuple[int, ...]) -> None:
        self._steps = [
            (
                AdaIn(state, f"{name}.adain1.{place}"),
                _snake(state, f"{name}.alpha1.{place}"),
                Conv(state, f"{name}.convs1.{place}", padding=(kernel - 1) * dilation // 2, dilation=dilation),
                AdaIn(state, f"{name}.adain2.{place}"),
                _snake(state, f"{name}.alpha2.{place}"),
                Conv(state, f"{name}.convs2.{place}", padding=(kernel - 1) // 2),
            )
            for place, dilation in enumerate(dilations)
        ]

    def __call__(self, x: Tensor, style: Tensor, mask: Mask | None) -> Tensor:
        """[B, C, 1, T] to the same."""
        for first_norm, first_snake, first, second_norm, second_snake, second in self._steps:
            y = first(_snaked(first_norm(x, style, mask), first_snake), mask)
            x = x + second(_snaked(second_norm(y, style, mask), second_snake), mask)
        return x


class Decoder:
    """From aligned sounds, pitch and energy to samples."""

    def __init__(self, state: State, config: KokoroConfig) -> None:
        self._config = config
        self._pitch, self._energy = (Conv(state, f"decoder.{name}_conv", padding=1, stride=2) for name in ("F0", "N"))
        self._residue = Conv(state, "decoder.asr_res.0")
        self._encode = StyledBlock(state, "decoder.encode")
        self._decode = [StyledBlock(state, f"decoder.decode.{place}", doubled=place == 3) for place in range(4)]
        self._source = Source(state, config)
        self._stages = [_Stage(state, config, place) for place in range(len(config.upsample_rates))]
        self._post = Conv(state, "decoder.generator.conv_post", padding=3)
        self._window = torch.hann_window(config.fft, device=state["decoder.asr_res.0.weight"].device)

    def __call__(
        self, sounds: Tensor, curves: tuple[Tensor, Tensor], style: Tensor, mask: Mask | None, seeds: Tensor | None
    ) -> list[Tensor]:
        """`sounds` [B, hidden, 1, F], pitch and energy [B, 1, 1, 2F]: the samples of each row, [its frames * 600]."""
        pitch, energy = curves
        double = None if mask is None else mask.scaled(2)
        beside = (self._pitch(pitch, double), self._energy(energy, double))
        x, _ = self._encode(torch.cat((sounds, *beside), dim=1), style, mask)
        residue, half = self._residue(sounds, mask), mask
        for block in self._decode:
            x, half = block(torch.cat((x, residue, *beside), dim=1), style, half)
        return self._generate(x, masked(pitch, double)[:, 0, 0], style, half, seeds)

    def _generate(
        self, x: Tensor, pitch_hz: Tensor, style: Tensor, mask: Mask | None, seeds: Tensor | None
    ) -> list[Tensor]:
        source = self._source(pitch_hz, seeds)
        samples = [source.shape[1]] * len(x) if mask is None else (mask.lengths * self._source.scale).tolist()
        spectrum = _padded([self._spectrum(row[:count]) for row, count in zip(source, samples, strict=True)])
        for stage in self._stages:
            x, mask = stage(x, spectrum, style, mask)
        x = self._post(F.leaky_relu(x), mask)[:, :, 0]
        bins = self._config.fft // 2 + 1
        parts = torch.polar(x[:, :bins].exp(), torch.sin(x[:, bins:]))
        columns = [count // self._config.hop + 1 for count in samples]
        return [self._samples(row[:, :count]) for row, count in zip(parts, columns, strict=True)]

    def _spectrum(self, samples: Tensor) -> Tensor:
        """[S] to [fft + 2, S / hop + 1]: magnitudes, then phases."""
        config = self._config
        found = torch.stft(samples, config.fft, config.hop, config.fft, window=self._window, return_complex=True)
        return torch.cat((found.abs(), found.angle()))

    def _samples(self, parts: Tensor) -> Tensor:
        config = self._config
        return torch.istft(parts, config.fft, config.hop, config.fft, window=self._window)


class _Stage:
    """One raise of the rate: the source is brought to it, then three residual blocks are averaged."""

    def __init__(self, state: State, config: KokoroConfig, place: int) -> None:
        prefix = "decoder.generator."
        rate, kernel = config.upsample_rates[place], config.upsample_kernels[place]
        self._rate = rate
        self._up = Raise(state, f"{prefix}ups.{place}", stride=rate, padding=(kernel - rate) // 2)
        self._last = place + 1 == len(config.upsample_rates)
        stride = math.prod(config.upsample_rates[place + 1 :])
        padding = 0 if self._last else (stride + 1) // 2
        self._source = Conv(state, f"{prefix}noise_convs.{place}", stride=stride, padding=padding)
        self._source_block = ResBlock(state, f"{prefix}noise_res.{place}", 11 if self._last else 7, (1, 3, 5))
        self._blocks = [
            ResBlock(state, f"{prefix}resblocks.{place * len(config.kernels) + index}", size, config.dilations)
            for index, size in enumerate(config.kernels)
        ]

    def __call__(self, x: Tensor, spectrum: Tensor, style: Tensor, mask: Mask | None) -> tuple[Tensor, Mask | None]:
        """[B, C, 1, T] to [B, C / 2, 1, T * rate], and one column more after the last stage."""
        after = None if mask is None else mask.scaled(self._rate, more=int(self._last))
        source = self._source_block(self._source(spectrum[:, :, None], None), style, after)
        x = self._up(F.leaky_relu(x, 0.1), mask)
        if self._last:
            x = torch.cat((x[:, :, :, 1:2], x), dim=3)  # the first column reflected
        x = x + source
        total = self._blocks[0](x, style, after)
        for block in self._blocks[1:]:
            total = total + block(x, style, after)
        return total / len(self._blocks), after


def _padded(rows: list[Tensor]) -> Tensor:
    """[C, T] each to [B, C, longest T], zeros beyond each."""
    width = max(row.shape[1] for row in rows)
    return torch.stack([F.pad(row, (0, width - row.shape[1])) for row in rows])


def _snake(state: State, name: str) -> Snake:
    alpha = state[name].reshape(-1, 1, 1)
    return Snake(alpha, alpha.reciprocal())


def _snaked(x: Tensor, snake: Snake) -> Tensor:
    return torch.addcmul(x, (x * snake.alpha).sin_().square_(), snake.inverse)
