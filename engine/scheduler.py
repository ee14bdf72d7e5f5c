"""Who is encoded together and which window is decoded next, in the utterance lane. Pure: no torch, numpy or clock.

One step is at most one encode batch and one decode window: a window is long against the Python around it (0.1 s of
work for 3 s of audio on a CPU), so single windows cost no throughput, and a live request or a cancellation waits for
one window at most.

- Live first: a live request is encoded at once, then has its first chunk before anybody else's next one.
- Otherwise a batch is encoded only when nothing encoded is left, so batches are full. It holds the request that has
  waited longest and, of its group, those nearest to it in length: little padding, and nobody waits for ever.
- Requests are decoded to their end in order of arrival, which frees slots soonest.
- While live requests keep the engine busy, every `other_share`-th window still goes to the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.errors import UnknownRequest


@dataclass(frozen=True, slots=True)
class Policy:
    """How to cut and share. `max_length_ratio`: longest against shortest prompt of one encode batch."""

    first_chunk_frames: int
    chunk_frames: int
    max_encode_batch: int = 8
    max_length_ratio: float = 2.0
    other_share: int = 8

    def __post_init__(self) -> None:
        for name in ("first_chunk_frames", "chunk_frames", "max_encode_batch", "max_length_ratio", "other_share"):
            if getattr(self, name) < 1:
                msg = f"{name}={getattr(self, name)} is not allowed; it must be at least 1"
                raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Window:
    """Frames [start_frame, stop_frame) of one request, to be decoded now."""

    request_id: str
    start_frame: int
    stop_frame: int


@dataclass(slots=True)
class _Entry:
    """What the scheduler knows of one request. `num_frames` is None until it is encoded."""

    request_id: str
    group: str
    length_hint: int
    live: bool
    num_frames: int | None = None
    next_frame: int = 0


class Scheduler:
    """Decides; the engine does. Every request added leaves by `decoded` of its last window or by `remove`."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.encode_limit = policy.max_encode_batch
        self._entries: dict[str, _Entry] = {}  # in order of arrival
        self._live_run = 0  # windows in a row that others had to let pass

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, request_id: str, *, group: str, length_hint: int, live: bool) -> None:
        """Take in a request that waits to be encoded."""
        if request_id in self._entries:
            msg = f"request {request_id!r} is scheduled already"
            raise ValueError(msg)
        self._entries[request_id] = _Entry(request_id, group, max(1, length_hint), live)

    def remove(self, request_id: str) -> None:
        """Forget a request that was cancelled or failed. Raises UnknownRequest."""
        self._entry(request_id)
        del self._entries[request_id]

    def encode_batch(self) -> list[str]:
        """The requests to encode in this step, the anchor first; empty when there is something to decode instead."""
        waiting = [entry for entry in self._entries.values() if entry.num_frames is None]
        live = [entry for entry in waiting if entry.live]
        if live:
            return self._company(live)
        live_turn = self._live_turn()
        if not waiting or any(entry.live == live_turn for entry in self._ready()):
            return []
        return self._company(waiting)

    def encoded(self, num_frames: Mapping[str, int]) -> None:
        """Note the requests of one batch as ready to be decoded, and how long each is. Raises UnknownRequest."""
        for request_id, frames in num_frames.items():
            self._entry(request_id).num_frames = frames
        # Memory may have been short only for a moment: come back slowly, one more with each batch.
        self.encode_limit = min(self.encode_limit + 1, self.policy.max_encode_batch)

    def encode_failed(self, num_requests: int) -> None:
        """Note that a batch of that size failed as a whole: the next ones are half as large."""
        self.encode_limit = max(1, num_requests // 2)

    def next_window(self) -> Window | None:
        """The window to decode in this step; None when nothing is encoded."""
        live_turn = self._live_turn()
        ready = list(self._ready())
        mine = [entry for entry in ready if entry.live == live_turn] or ready
        if not mine:
            return None
        # min() keeps the first of equals: order of arrival. An unheard live request goes before a heard one.
        return self._window(min(mine, key=lambda entry: entry.live and entry.next_frame > 0))

    def decoded(self, window: Window) -> bool:
        """Note that a window was handed out; True when it was the last one, which ends the request."""
        entry = self._entry(window.request_id)
        entry.next_frame = window.stop_frame
        self._live_run = self._live_run + 1 if entry.live and self._others() else 0
        if entry.next_frame == entry.num_frames:
            del self._entries[window.request_id]
            return True
        return False

    def _company(self, waiting: list[_Entry]) -> list[str]:
        """The longest waiting request and those of its group that are nearest in length, within the limits."""
        anchor, *rest = waiting
        alike = [entry for entry in rest if entry.group == anchor.group]
        alike.sort(key=lambda entry: abs(entry.length_hint - anchor.length_hint))
        chosen = [anchor]
        for entry in alike[: self.encode_limit - 1]:
            lengths = [other.length_hint for other in (*chosen, entry)]
            if max(lengths) <= self.policy.max_length_ratio * min(lengths):
                chosen.append(entry)
        return [entry.request_id for entry in chosen]

    def _live_turn(self) -> bool:
        """True when the next window belongs to the live requests."""
        heard = [entry.next_frame > 0 for entry in self._ready() if entry.live]
        if not heard:
            return False
        others_turn = self._live_run >= self.policy.other_share - 1 and self._others()
        return not (all(heard) and others_turn)

    def _ready(self) -> Iterator[_Entry]:
        return (entry for entry in self._entries.values() if entry.num_frames is not None)

    def _others(self) -> bool:
        return any(not entry.live for entry in self._entries.values())

    def _window(self, entry: _Entry) -> Window:
        size = self.policy.chunk_frames
        if entry.live and entry.next_frame == 0:
            size = self.policy.first_chunk_frames
        assert entry.num_frames is not None, "only encoded requests are decoded"  # noqa: S101  # our own bug if not
        stop = min(entry.next_frame + size, entry.num_frames)
        return Window(entry.request_id, entry.next_frame, stop)

    def _entry(self, request_id: str) -> _Entry:
        if request_id not in self._entries:
            msg = f"request {request_id!r} is not scheduled; it was never added or has ended"
            raise UnknownRequest(msg)
        return self._entries[request_id]
