"""Launches of a codec: so many windows of one size class in fixed buffers; captured when they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from engine.tokens.arena import Arena
from engine.tokens.graphs import Replay, Track
from engine.tokens.program import Codec, Ids, StreamCodec
from engine.tokens.windows import Window


@dataclass(frozen=True, slots=True)
class CodecJob:
    """One window with its codes [left + frames + right, K], the seed of its request's codec noise, and the place of its
    request in the memory of a codec that remembers."""

    window: Window
    codes: Ids
    seed: int
    place: int = 0


class CodecShape(Protocol):
    """One launch."""

    @property
    def audio(self) -> torch.Tensor:
        """[B, samples] float32 on the device: what the last run decoded."""
        ...

    def send(self, jobs: Sequence[CodecJob]) -> None:
        """Put the windows where the launch reads them, ordered on the current stream."""
        ...

    def run(self) -> None:
        """Decode what was sent, ordered on the current stream."""
        ...


class WindowShape:
    """`batch` windows of one size class with their context; rows without a window decode one silent frame."""

    def __init__(self, codec: Codec, track: Track, *, batch: int, size: int) -> None:
        self._codec = codec
        width = size + 2 * codec.context_frames
        self._inputs = Arena(
            {
                "codes": ((batch, width, codec.codes_per_frame), np.int32),
                "valid": ((batch, 2), np.int32),
                "seeds": ((batch,), np.int64),
                "first_frame": ((batch,), np.int64),
            },
            track.device,
        )
        self.audio = torch.zeros(batch, width * codec.samples_per_frame, dtype=torch.float32, device=track.device)
        self.send(())
        self._replay = Replay(self._body, track)

    def send(self, jobs: Sequence[CodecJob]) -> None:
        """See `CodecShape`."""
        staged = self._inputs.stage()
        for field in staged.values():
            field.fill(0)
        staged["valid"][:, 1] = 1
        for row, job in enumerate(jobs):
            staged["codes"][row, : len(job.codes)] = job.codes
            staged["valid"][row, 1] = len(job.codes)
            staged["seeds"][row] = np.uint64(job.seed).view(np.int64)
            staged["first_frame"][row] = job.window.start - job.window.left
        self._inputs.upload()

    def run(self) -> None:
        """See `CodecShape`."""
        self._replay.run()

    def _body(self) -> None:
        fields = self._inputs.fields
        self.audio.copy_(self._codec.decode(fields["codes"], fields["valid"], fields["seeds"], fields["first_frame"]))


class StreamShape:
    """The next `size` frames of `batch` utterances; rows without one go on with that of the padding place."""

    def __init__(
        self, codec: StreamCodec, state: tuple[torch.Tensor, ...], track: Track, *, batch: int, size: int
    ) -> None:
        self._codec = codec
        self._state = state
        self._padding = len(state[0]) - 1
        self._inputs = Arena(
            {
                "codes": ((batch, size, codec.codes_per_frame), np.int32),
                "places": ((batch,), np.int64),
                "fresh": ((batch,), np.bool_),
            },
            track.device,
        )
        self.audio = torch.zeros(batch, size * codec.samples_per_frame, dtype=torch.float32, device=track.device)
        self.send(())
        self._replay = Replay(self._body, track)

    def send(self, jobs: Sequence[CodecJob]) -> None:
        """See `CodecShape`."""
        staged = self._inputs.stage()
        staged["codes"].fill(0)
        staged["places"].fill(self._padding)
        staged["fresh"][:] = True
        for row, job in enumerate(jobs):
            staged["codes"][row, : len(job.codes)] = job.codes
            staged["places"][row] = job.place
            staged["fresh"][row] = job.window.start == 0
        self._inputs.upload()

    def run(self) -> None:
        """See `CodecShape`."""
        self._replay.run()

    def _body(self) -> None:
        fields = self._inputs.fields
        self.audio.copy_(self._codec.decode(fields["codes"], fields["places"], fields["fresh"], self._state))
