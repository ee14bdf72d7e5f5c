"""The codec lane: groups of windows to samples, on a stream of its own beside the steps. Knows windows, no requests.

    lane.submit([CodecJob(window, codes, seed), ...])     # one size class, at most `max_batch`
    for window, samples in lane.collect(wait=False):
        ...

A window of class `size` is decoded `size + 2 * context` frames wide: its left context first, then its own frames, then
what it has of the right; beyond that the utterance has ended (or only frames follow that cannot be heard in it).
A codec that remembers needs no context: its windows come in order, each with its request's place in the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.request import Samples
from engine.tokens.codec_shapes import CodecJob, CodecShape, StreamShape, WindowShape
from engine.tokens.graphs import Mark, Track
from engine.tokens.program import Codec, StreamCodec
from engine.tokens.scheduler import smallest_class
from engine.tokens.windows import Window, WindowPolicy

BATCHES = (1, 2, 4, 8, 16, 32, 64)
"""Windows in a launch; fewer are filled up with silent ones."""
WARM_BUFFERS = 2
"""Host buffers made beforehand for each launch: to make one (pinned memory) takes as long as a step."""


@dataclass(frozen=True, slots=True)
class _Flight:
    """One launch: its windows and the host buffer [B, samples] their samples will lie in."""

    windows: list[Window]
    audio: torch.Tensor
    begin: Mark
    end: Mark


def window_policy(codec: Codec | StreamCodec) -> WindowPolicy:
    """How requests are cut for a codec, unless somebody wants it otherwise."""
    if isinstance(codec, StreamCodec):
        return WindowPolicy(context_frames=0, in_order=True)
    return WindowPolicy(context_frames=codec.context_frames)


class CodecLane:
    """Batched codec decoding, in the order of submission."""

    def __init__(
        self,
        codec: Codec | StreamCodec,
        device: torch.device,
        *,
        max_batch: int,
        eager: bool,
        timed: bool,
        places: int = 0,
    ) -> None:
        """`places`: requests that a codec which remembers is to remember at once."""
        self._codec = codec
        self._track = Track.make(device, eager=eager, priority=0)
        with self._track.current():
            self._state = codec.new_state(places) if isinstance(codec, StreamCodec) else ()
        self._batches = (*(size for size in BATCHES if size < max_batch), max_batch)
        self._timed = timed
        self._shapes: dict[tuple[int, int], CodecShape] = {}
        self._flights: deque[_Flight] = deque()
        self._spare: dict[tuple[int, ...], list[torch.Tensor]] = {}
        self.launches = 0
        self.timings_ms: list[tuple[int, float]] = []
        """(frames decoded, device milliseconds) of each launch, if timed."""

    @property
    def busy(self) -> bool:
        """Whether anything was submitted that has not been collected."""
        return bool(self._flights)

    def submit(self, jobs: Sequence[CodecJob]) -> None:
        """Send one group of windows of the same size class to the device."""
        shape = self.shape(smallest_class(self._batches, len(jobs)), jobs[0].window.size)
        with self._track.current():
            shape.send(jobs)
            begin = Mark(self._track, timed=self._timed)
            shape.run()
            audio = self._host_buffer(shape.audio.shape)
            audio.copy_(shape.audio, non_blocking=True)
            self._flights.append(
                _Flight([job.window for job in jobs], audio, begin, Mark(self._track, timed=self._timed))
            )
        self.launches += 1

    def collect(self, *, wait: bool) -> list[tuple[Window, Samples]]:
        """The windows that are ready, each with its own samples; with `wait` at least one launch is waited for."""
        ready: list[tuple[Window, Samples]] = []
        while self._flights and (self._flights[0].end.done or (wait and not ready)):
            flight = self._flights.popleft()
            flight.end.wait()
            ready += [(window, self._samples(flight, row)) for row, window in enumerate(flight.windows)]
            if self._timed:
                frames = flight.audio.numel() // self._codec.samples_per_frame
                self.timings_ms.append((frames, flight.begin.ms_until(flight.end)))
            self._spare[tuple(flight.audio.shape)].append(flight.audio)
        return ready

    def shape(self, batch: int, size: int) -> CodecShape:
        """The launch of that batch and size class; captured when it is made."""
        if (batch, size) not in self._shapes:
            with self._track.current():
                self._shapes[batch, size] = self._make(batch, size)
        return self._shapes[batch, size]

    def _make(self, batch: int, size: int) -> CodecShape:
        if isinstance(self._codec, StreamCodec):
            return StreamShape(self._codec, self._state, self._track, batch=batch, size=size)
        return WindowShape(self._codec, self._track, batch=batch, size=size)

    def warm(self, sizes: Sequence[int]) -> int:
        """Capture every launch and make its host buffers; returns how many launches there are."""
        for size in sorted(sizes, reverse=True):
            for batch in reversed(self._batches):
                shape = self.shape(batch, size).audio.shape
                made = [self._host_buffer(shape) for _ in range(WARM_BUFFERS)]
                self._spare[tuple(shape)] += made
        return len(self._shapes)

    def _samples(self, flight: _Flight, row: int) -> Samples:
        window, hop = flight.windows[row], self._codec.samples_per_frame
        start = window.left * hop
        samples: Samples = flight.audio[row].numpy()[start : start + (window.stop - window.start) * hop].copy()
        return samples

    def _host_buffer(self, shape: torch.Size) -> torch.Tensor:
        spare = self._spare.setdefault(tuple(shape), [])
        return spare.pop() if spare else torch.empty(shape, pin_memory=self._track.stream is not None)
