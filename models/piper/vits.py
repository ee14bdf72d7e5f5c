"""One voice in torch: ids of one utterance to latents, latents to samples. Knows no file, text or request."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.noise import normal
from models.piper.layout import VoiceLayout
from models.piper.vits_decoder import Decoder
from models.piper.vits_duration import DurationPredictor
from models.piper.vits_flow import Flow
from models.piper.vits_text import TextEncoder

DURATION_DRAW, LATENT_DRAW = 0, 1
"""Numbers of the two random draws of an utterance."""

BUDGET_FRAMES_PER_ID = 20
BUDGET_FRAMES_FIXED = 100
"""An utterance may take so many frames at its pace. Speech takes about two per id (pads counted), slow speech three."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How an utterance is spoken: noise of the latents, noise of the durations, and the factor on every duration."""

    noise_scale: float
    noise_w: float
    length_scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Latents [T, Z] float32 of an utterance. `ends` [N]: the frame at which each id ends; `cut` by the budget."""

    latents: Tensor
    ends: tuple[int, ...]
    cut: bool


class Vits:
    """The network of one voice."""

    def __init__(self, layout: VoiceLayout, decoder_dtype: torch.dtype) -> None:
        """Read all parts from the voice's weights.

        Raises:
            BadWeights: a part is missing or of another architecture.
        """
        self.text = TextEncoder(layout)
        self.durations = DurationPredictor(layout)
        self.flow = Flow(layout)
        self.decoder = Decoder(layout, decoder_dtype)

    def encode(self, ids: Tensor, *, seed: int, pace: Pace) -> Encoded:
        """ids [N] int64 -> latents [T, Z] float32 (T >= 1), where each id ends, and whether the budget cut them short.

        Raises:
            ValueError: the durations are not finite.
        """
        hidden, mean, log_deviation = self.text(ids)
        noise = _noise(seed, DURATION_DRAW, (len(ids), 2), pace.noise_w)
        frames = torch.exp(self.durations(hidden, noise)).mul_(pace.length_scale).ceil_()
        if not torch.isfinite(frames).all():
            msg = f"the voice gives durations that are not finite for {len(ids)} ids at seed {seed}"
            raise ValueError(msg)
        budget = int(len(ids) * BUDGET_FRAMES_PER_ID * pace.length_scale) + BUDGET_FRAMES_FIXED
        ends = frames.cumsum(0)  # whole numbers: exact in float32 far beyond any budget
        cut = bool(ends[-1] > budget)
        counts = torch.diff(ends.clamp_(max=budget), prepend=ends.new_zeros(1)).long()
        source = torch.repeat_interleave(counts)  # [T]: the id each frame belongs to
        if len(source) == 0:
            source = torch.zeros(1, dtype=torch.long)  # VITS makes at least one frame
        latents = mean[source]
        noise = _noise(seed, LATENT_DRAW, (len(source), mean.shape[1]), pace.noise_scale)
        latents.addcmul_(torch.exp(log_deviation)[source], noise)
        return Encoded(self.flow(latents), tuple(map(int, ends.tolist())), cut)

    def decode(self, latents: Tensor, start_frame: int, stop_frame: int) -> Tensor:
        """latents [T, Z] -> samples of frames [start, stop), float32 in [-1, 1]."""
        return self.decoder(latents, start_frame, stop_frame)


def _noise(seed: int, draw: int, shape: tuple[int, int], scale: float) -> Tensor:
    """Noise of the request alone: keyed by its seed, by rows of frames or ids."""
    if scale == 0:
        return torch.zeros(shape)
    return torch.from_numpy(normal(seed, draw, shape)).mul_(scale)
