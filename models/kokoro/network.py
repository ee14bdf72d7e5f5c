"""The whole Kokoro network: phoneme ids, style and speed to samples. Knows no text, no voices and no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by
from torch import Tensor

from models.kokoro.config import KokoroConfig
from models.kokoro.decoder import Decoder
from models.kokoro.parts import Mask, State
from models.kokoro.prosody import Curves, Durations
from models.kokoro.text import Albert, TextEncoder


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance: phoneme ids [T] int64 without the zeros around, style row [2 * style] float32, speed, seed.

    Without a seed its source has no noise.
    """

    ids: Tensor
    style: Tensor
    speed: float = 1.0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """Samples [F * 600] float32 of an utterance, and frames of each id: those of the zeros around first and last."""

    samples: Tensor
    frames: Tensor


@dataclass(frozen=True, slots=True)
class _Planned:
    """What the decoder needs of one utterance: sounds [1, hidden, 1, F], pitch and energy [1, 1, 1, 2F], its style."""

    sounds: Tensor
    pitch: Tensor
    energy: Tensor
    style: Tensor
    frames: Tensor
    seed: int | None


class Kokoro:
    """The network on one device.

    Prosody is computed for each utterance by itself: where the pitch is only a little different, the phase of its sines
    is another after some seconds. The decoder takes a batch on a GPU, with masks, so that a row gets what it gets alone
    to rounding; on a CPU, where batches bring nothing, it takes one at a time: the same to the bit in any company.
    """

    def __init__(self, config: KokoroConfig, state: State) -> None:
        """`state`: tensors by their published names, weight norm folded (see `models.kokoro.weights`)."""
        self.config = config
        self._albert = Albert(state, config)
        self._text = TextEncoder(state, config)
        self._durations = Durations(state, config)
        self._curves = Curves(state)
        self._decoder = Decoder(state, config)
        self.device = state["bert_encoder.weight"].device

    @torch.inference_mode()
    def speak(self, batch: Sequence[Utterance]) -> list[Spoken]:
        """Everything of each utterance. All have a seed, or none has."""
        planned = [self._plan(one) for one in batch]
        groups = [planned] if self.device.type == "cuda" else [[one] for one in planned]
        samples = [row for group in groups for row in self._decode(group)]
        return [Spoken(row, plan.frames) for row, plan in zip(samples, planned, strict=True)]

    def _plan(self, one: Utterance) -> _Planned:
        ids = F.pad(one.ids.to(self.device), (1, 1))[None]
        decoder_style, style = one.style.to(self.device)[None].chunk(2, dim=1)
        encoded = self._durations.encode(self._albert(ids), style)
        frames = self._durations.frames(encoded, one.speed)[0]
        pitch, energy = self._curves(encoded.repeat_interleave(frames, dim=1), style)
        sounds = self._text(ids).repeat_interleave(frames, dim=1).transpose(1, 2)[:, :, None]
        return _Planned(sounds, pitch, energy, decoder_style, frames.cpu(), one.seed)

    def _decode(self, group: Sequence[_Planned]) -> list[Tensor]:
        lengths = torch.tensor([one.sounds.shape[3] for one in group], device=self.device)
        width = int(lengths.max())
        curves = _padded([one.pitch for one in group], 2 * width), _padded([one.energy for one in group], 2 * width)
        style = torch.cat([one.style for one in group])
        seeds = [_signed(one.seed) for one in group if one.seed is not None]
        keys = torch.tensor(seeds, device=self.device) if seeds else None
        sounds = _padded([one.sounds for one in group], width)
        return self._decoder(sounds, curves, style, Mask.of(lengths, width), keys)


def _padded(rows: Sequence[Tensor], width: int) -> Tensor:
    """[1, C, 1, T] each to [B, C, 1, width], zeros beyond each."""
    return torch.cat([F.pad(row, (0, width - row.shape[3])) for row in rows])


def _signed(seed: int) -> int:
    """The int64 of a seed's 64 bits."""
    seed &= (1 << 64) - 1
    return seed - (1 << 64) if seed >> 63 else seed
