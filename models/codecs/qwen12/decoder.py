"""The 12 Hz codec's decoder as the token lane's stream codec: frames of 16 codes in, 24 kHz samples out.

Strictly causal, but a frame is heard in some 579 later ones (eight layers of 71 frames, and 12 of convolutions): so it
remembers instead of decoding a context again. Pieces of any sizes join to what decoding everything at once gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from models.codecs.qwen12 import weights
from models.codecs.qwen12.causal import Block, CausalConv, Doubling, LastConv
from models.codecs.qwen12.config import Qwen12Config
from models.codecs.qwen12.memory import Layout, Memory
from models.codecs.qwen12.transformer import Transformer
from models.codecs.qwen12.weights import State

OFFICIAL_FRAMES = 300
OFFICIAL_CONTEXT_FRAMES = 25
"""How the published code decodes: pieces of 300 frames behind 25 that are decoded again."""


class Qwen12Decoder:
    """One decoder on one device; fulfils `engine.tokens.program.StreamCodec`.

    Codebooks and transformer compute in float32, what follows in `compute_dtype`.
    """

    def __init__(self, config: Qwen12Config, state: State, *, compute_dtype: torch.dtype = torch.float32) -> None:
        """`state` are the tensors of `weights.names`, float32, on the device."""
        self.config = config
        self.compute_dtype = compute_dtype
        self._books = weights.codebooks(state, config)
        self._layout = layout = Layout(self._books.device)
        self._pre_conv = CausalConv(state, "decoder.pre_conv", layout, torch.float32)
        self._transformer = Transformer(state, config, layout)
        self._doublings = tuple(
            Doubling(state, f"decoder.upsample.{place}", layout, compute_dtype)
            for place in range(len(config.doublings))
        )
        self._widen = CausalConv(state, "decoder.decoder.0", layout, compute_dtype)
        last = len(config.upsample_rates) + 1
        self._blocks = tuple(
            Block(state, f"decoder.decoder.{place}.block", layout, compute_dtype) for place in range(1, last)
        )
        names = (f"decoder.decoder.{last}", f"decoder.decoder.{last + 1}")
        self._last = LastConv(state, names, layout, compute_dtype)

    @classmethod
    def from_folder(cls, folder: Path, *, device: torch.device, compute_dtype: torch.dtype = torch.float32) -> Self:
        """The decoder of a folder with config.json and model.safetensors. Raises BadWeights."""
        config = Qwen12Config.from_json(folder / "config.json")
        return cls(config, weights.load(folder, config, device=device), compute_dtype=compute_dtype)

    @classmethod
    def random(
        cls, config: Qwen12Config, *, seed: int, device: torch.device, compute_dtype: torch.dtype = torch.float32
    ) -> Self:
        """A decoder with random weights."""
        return cls(config, weights.random(config, seed=seed, device=device), compute_dtype=compute_dtype)

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        return self.config.samples_per_frame

    @property
    def codes_per_frame(self) -> int:
        """Codes in one frame (K)."""
        return self.config.codes

    def new_state(self, places: int) -> tuple[Tensor, ...]:
        """See `engine.tokens.program.StreamCodec`."""
        return self._layout.zeros(places + 1)

    @torch.inference_mode()
    def decode(self, codes: Tensor, places: Tensor, fresh: Tensor, state: tuple[Tensor, ...]) -> Tensor:
        """See `engine.tokens.program.StreamCodec`."""
        memory = Memory(state, places, fresh)
        x = self._pre_conv(self._latents(codes), memory)
        x = self._transformer(x, memory).to(self.compute_dtype)
        for doubling in self._doublings:
            x = doubling(x, memory)
        x = self._widen(x, memory)
        for block in self._blocks:
            x = block(x, memory)
        return self._last(x, memory).clamp(-1.0, 1.0)

    def whole(self, codes: Tensor) -> Tensor:
        """All samples [F * samples_per_frame] of an utterance [F, K], decoded at once."""
        place = torch.zeros(1, dtype=torch.int64, device=codes.device)
        return self.decode(codes[None], place, place == 0, self.new_state(0))[0]

    def official(self, codes: Tensor) -> Tensor:
        """All samples of an utterance as the published code decodes it: the same as `whole` up to 300 frames, beyond
        them each piece has forgotten what lies more than 25 frames before it."""
        pieces = []
        for start in range(0, len(codes), OFFICIAL_FRAMES):
            context = min(start, OFFICIAL_CONTEXT_FRAMES)
            samples = self.whole(codes[start - context : start + OFFICIAL_FRAMES])
            pieces.append(samples[context * self.samples_per_frame :])
        return torch.cat(pieces)

    def _latents(self, codes: Tensor) -> Tensor:
        """[B, F, K] codes to [B, F, codebook dim] float32: the sum of their entries."""
        books, size, width = self._books.shape
        index = codes.long() + torch.arange(books, device=codes.device) * size
        parts = self._books.view(-1, width).index_select(0, index.flatten())
        return parts.view(*codes.shape, width).sum(dim=2)
