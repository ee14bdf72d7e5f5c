"""A step's body, replayed as a CUDA graph or run eagerly; both run the same code on the same buffers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch.cuda import _POOL_HANDLE


@dataclass(frozen=True, slots=True)
class Track:
    """A stream of the device with the memory pool that its graphs share. On a CPU both are None.

    Graphs of one pool reuse each other's memory: they run one after another on one stream, and what must outlive a run
    lies in buffers made outside of it.
    """

    device: torch.device
    stream: torch.cuda.Stream | None
    pool: _POOL_HANDLE | None
    eager: bool

    @classmethod
    def make(cls, device: torch.device, *, eager: bool, priority: int) -> Track:
        """A new stream (lower `priority` numbers go first) and pool; nothing of the kind on a CPU.

        What the device was told before, on any stream (weights, say), is done when the track is there.
        """
        if device.type != "cuda":
            return cls(device, None, None, eager=True)
        torch.cuda.synchronize(device)
        stream = torch.cuda.Stream(device, priority=priority)
        return cls(device, stream, torch.cuda.graph_pool_handle(), eager=eager)

    def current(self) -> contextlib.AbstractContextManager[object]:
        """Makes the track's stream the current one. All work on a track's buffers, the making of them included, is
        ordered on its stream."""
        return contextlib.nullcontext() if self.stream is None else torch.cuda.stream(self.stream)


class Replay:
    """One body, recorded when it is made: its inputs must hold harmless dummies then, for it is run for real twice."""

    def __init__(self, body: Callable[[], None], track: Track) -> None:
        self._body = body
        self._graph: torch.cuda.CUDAGraph | None = None
        if not track.eager and track.stream is not None:
            self._graph = _capture(body, track)

    def run(self) -> None:
        """Run the body once, ordered on the current stream."""
        if self._graph is None:
            self._body()
        else:
            self._graph.replay()


def _capture(body: Callable[[], None], track: Track) -> torch.cuda.CUDAGraph:
    with track.current():
        for _ in range(2):  # kernels are compiled and libraries take their workspaces before recording
            body()
    torch.cuda.synchronize(track.device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=track.pool, stream=track.stream, capture_error_mode="thread_local"):
        body()
    return graph


class Mark:
    """A point on a stream: `done` once the device is past it. With `timed`, the time between two marks can be read."""

    def __init__(self, track: Track, *, timed: bool) -> None:
        self._event: torch.cuda.Event | None = None
        if track.stream is not None:
            self._event = torch.cuda.Event(enable_timing=timed)
            self._event.record(track.stream)

    @property
    def done(self) -> bool:
        """Whether the device has reached it; does not wait."""
        return self._event is None or self._event.query()

    def wait(self) -> None:
        """Block this thread until the device has reached it."""
        if self._event is not None:
            self._event.synchronize()

    def ms_until(self, later: Mark) -> float:
        """Milliseconds of device time between two timed marks; 0 on a CPU."""
        if self._event is None or later._event is None:
            return 0.0
        return float(self._event.elapsed_time(later._event))
