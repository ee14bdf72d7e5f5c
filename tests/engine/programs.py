"""Programs for tests of the engine, made to break one promise each, and a small driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.engine import UtteranceEngine
from engine.program import Latent
from engine.request import Delta, FinishReason, Request, Samples


@dataclass
class CountLatent:
    """A latent of `num_frames` frames whose samples count up from 0."""

    num_frames: int
    finish: FinishReason = FinishReason.STOP
    words: tuple[tuple[int, int], ...] = ()


@dataclass
class CountProgram:
    """Request.inputs is the number of frames; sample i of the segment is i. Notes what it was asked for."""

    sample_rate_hz: int = 1000
    hop_samples: int = 2
    first_chunk_frames: int = 2
    chunk_frames: int = 5
    on_encode: Callable[[Sequence[Request]], None] = lambda batch: None
    on_decode: Callable[[Latent, Samples], Samples] = lambda latent, samples: samples
    batches: list[list[str]] = field(default_factory=list)
    windows: list[tuple[int, int]] = field(default_factory=list)

    def encode(self, batch: Sequence[Request]) -> list[Latent]:
        self.batches.append([request.request_id for request in batch])
        self.on_encode(batch)
        return [CountLatent(int(str(request.inputs))) for request in batch]

    def decode(self, latent: Latent, start_frame: int, stop_frame: int) -> Samples:
        self.windows.append((start_frame, stop_frame))
        samples = np.arange(start_frame * self.hop_samples, stop_frame * self.hop_samples, dtype=np.float32)
        return self.on_decode(latent, samples)


def request(name: str, frames: int = 12, *, live: bool = False, group: str = "") -> Request:
    return Request(name, inputs=frames, seed=0, length_hint=frames, group=group, live=live)


def drain(engine: UtteranceEngine, max_steps: int = 10_000) -> list[Delta]:
    """Step until idle; fails instead of running for ever."""
    deltas: list[Delta] = []
    for _ in range(max_steps):
        if engine.idle:
            return deltas
        deltas += engine.step()
    raise AssertionError(f"the engine is not idle after {max_steps} steps")


def by_request(deltas: list[Delta]) -> dict[str, list[Delta]]:
    parts: dict[str, list[Delta]] = {}
    for delta in deltas:
        parts.setdefault(delta.request_id, []).append(delta)
    return parts


def check_whole(parts: list[Delta]) -> Samples:
    """In order, gapless, exactly one end, which is the last; returns the audio."""
    position = 0
    for delta in parts:
        assert delta.start_sample == position
        position += len(delta.samples)
    assert [delta.last for delta in parts] == [False] * (len(parts) - 1) + [True]
    assert (parts[-1].error is not None) == (parts[-1].finish is FinishReason.ERROR)
    return np.concatenate([delta.samples for delta in parts])
