"""Kokoro's prosody: how long each phoneme is, and pitch and energy of every half frame."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from models.kokoro.config import KokoroConfig
from models.kokoro.parts import Conv, Lstm, State, StyledBlock

NORM_EPS = 1e-5


class Durations:
    """LSTMs with styled norms between them; then the frames of each phoneme."""

    def __init__(self, state: State, config: KokoroConfig) -> None:
        prefix = "predictor.text_encoder.lstms."
        self._lstms = [Lstm(state, f"{prefix}{2 * place}") for place in range(config.layers)]
        styles = [f"{prefix}{2 * place + 1}.fc." for place in range(config.layers)]
        self._styles = [(state[f"{name}weight"], state[f"{name}bias"]) for name in styles]
        self._lstm = Lstm(state, "predictor.lstm")
        self._out = tuple(state[f"predictor.duration_proj.linear_layer.{part}"] for part in ("weight", "bias"))

    def encode(self, x: Tensor, style: Tensor) -> Tensor:
        """[B, T, hidden] to [B, T, hidden + style]."""
        beside = style[:, None].expand(-1, x.shape[1], -1)
        x = torch.cat((x, beside), dim=2)
        for lstm, (weight, bias) in zip(self._lstms, self._styles, strict=True):
            y = lstm(x)
            scale, shift = F.linear(style, weight, bias)[:, None].chunk(2, dim=2)
            y = (1 + scale) * F.layer_norm(y, (y.shape[-1],), eps=NORM_EPS) + shift
            x = torch.cat((y, beside), dim=2)
        return x

    def frames(self, encoded: Tensor, speed: float) -> Tensor:
        """[B, T] int64: at least one frame for each phoneme; `speed` divides them."""
        length = torch.sigmoid(F.linear(self._lstm(encoded), *self._out)).sum(dim=2) / speed
        return length.round().clamp(min=1).long()


class Curves:
    """Pitch (Hz) and energy, two columns for each frame."""

    def __init__(self, state: State) -> None:
        self._shared = Lstm(state, "predictor.shared")
        self._blocks = {
            kind: [StyledBlock(state, f"predictor.{kind}.{place}", doubled=place == 1) for place in range(3)]
            for kind in ("F0", "N")
        }
        self._out = {kind: Conv(state, f"predictor.{kind}_proj") for kind in ("F0", "N")}

    def __call__(self, aligned: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        """[B, F, hidden + style] to pitch and energy [B, 1, 1, 2F]."""
        image = self._shared(aligned).transpose(1, 2)[:, :, None]
        pitch, energy = (self._curve(kind, image, style) for kind in ("F0", "N"))
        return pitch, energy

    def _curve(self, kind: str, x: Tensor, style: Tensor) -> Tensor:
        for block in self._blocks[kind]:
            x, _ = block(x, style)
        return self._out[kind](x)
