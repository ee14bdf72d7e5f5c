"""A small token program for tests: a real Llama decoder of random weights, and a codec whose samples show the codes."""

from __future__ import annotations

import numpy as np
import torch

from engine import noise_torch
from engine.tokens.program import Attend, Codec, Grammar, Ids, KvShape
from models.layers.llama import LlamaDecoder
from models.layers.llama_config import LlamaConfig
from models.layers.rope import RopeConfig

FIRST_ID = 40
CODES = 16
STOP_ID = FIRST_ID
PER_FRAME = 3
HOP = 4
CPU = torch.device("cpu")
CONFIG = LlamaConfig(
    vocab=FIRST_ID + 1 + PER_FRAME * CODES,
    hidden=32,
    layers=2,
    query_heads=4,
    kv_heads=2,
    head_dim=8,
    ffn=48,
    eps=1e-5,
    rope=RopeConfig(10_000.0),
    max_positions=512,
)


class ShowingCodec(Codec):
    """Two frames of context: each frame's samples mix its codes with those around it, zeros beyond the utterance."""

    samples_per_frame = HOP
    codes_per_frame = PER_FRAME
    context_frames = 2

    def __init__(self, *, noise: bool = False, device: torch.device = CPU) -> None:
        self.noise = noise
        self._weights = torch.tensor([1.0, 1 / 32, 1 / 1024], device=device)
        self._shape = torch.tensor([1.0, 0.5, 0.25, 0.125], device=device)

    def decode(self, codes, valid, seeds, first_frame):
        batch, frames, _ = codes.shape
        place = torch.arange(frames, device=codes.device)
        there = (place >= valid[:, :1]) & (place < valid[:, 1:])
        value = ((codes.float() + 1) * self._weights).sum(-1) / 64 * there
        padded = torch.nn.functional.pad(value, (2, 2))
        around = sum(padded[:, k : k + frames] * 0.1 for k in (0, 1, 3, 4))
        mixed = (value + around)[:, :, None] * self._shape
        if self.noise:
            steps = torch.arange(HOP, device=codes.device)
            positions = ((first_frame[:, None] + place) * HOP)[:, :, None] + steps
            drawn = noise_torch.normal(seeds, 32, positions.clamp(min=0).reshape(batch, -1))
            mixed = mixed + 0.01 * drawn.reshape(batch, frames, HOP)
        return mixed.reshape(batch, frames * HOP)


class RememberingCodec:
    """Each frame's samples show its codes and half of what the frame before showed, and so on back to the first."""

    samples_per_frame = HOP

    def __init__(self, codes: int, *, device: torch.device = CPU) -> None:
        self.codes_per_frame = codes
        self._weights = torch.tensor([0.5 / 64 / 2**place for place in range(codes)], device=device)
        self._shape = torch.tensor([1.0, 0.5, 0.25, 0.125], device=device)

    def new_state(self, places):
        return (torch.full((places + 1,), torch.nan, device=self._weights.device),)

    def decode(self, codes, places, fresh, state):
        value = state[0].index_select(0, places).masked_fill(fresh, 0.0)
        shown = []
        for frame in ((codes.float() + 1) * self._weights).sum(-1).unbind(1):
            value = frame + value / 2
            shown.append(value)
        state[0].index_copy_(0, places, value)
        return (torch.stack(shown, dim=1)[:, :, None] * self._shape).flatten(1)


class SmallProgram:
    """Grammar: three kinds of codes in turn, and a stop id that may come at any time."""

    sample_rate_hz = 24_000
    tokens_per_frame = PER_FRAME
    max_positions = 512
    weight_bytes = 0
    depth = None

    def __init__(self, *, config: LlamaConfig = CONFIG, noise: bool = False, device: torch.device = CPU) -> None:
        self.device = device
        self._decoder = LlamaDecoder.random(config, seed=0, device=device, dtype=torch.float32)
        for tensor in self._decoder.weights.tensors():
            if tensor.dim() > 1:
                tensor.mul_(8.0)  # logits that differ by several units, so that draws depend on what came before
        self.codec = ShowingCodec(noise=noise, device=device)
        self.rows: list[int] = []

    @property
    def kv(self) -> KvShape:
        return self._decoder.kv

    @property
    def grammar(self) -> Grammar:
        starts = [FIRST_ID + 1 + k * CODES for k in range(PER_FRAME)]
        return Grammar(FIRST_ID, 1 + PER_FRAME * CODES, tuple((start, start + CODES) for start in starts), (STOP_ID,))

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        self.rows.append(len(ids))
        return self._decoder.embed(ids)

    def backbone(self, hidden: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        return self._decoder.backbone(hidden, positions, attend)

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        return self._decoder.head(hidden, first=FIRST_ID, rows=1 + PER_FRAME * CODES)

    def frames(self, ids: Ids) -> Ids:
        codes = ids.reshape(-1, PER_FRAME) - (FIRST_ID + 1) - CODES * np.arange(PER_FRAME, dtype=np.int32)
        assert ((codes >= 0) & (codes < CODES)).all()
        return codes.astype(np.int32)
