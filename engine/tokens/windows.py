"""Which frames of which request go through the codec, and when. Pure: no torch, no clock.

    planner.add("a", live=False)
    planner.advance("a", 67, ended=False)            # as its tokens are read
    for group in planner.due(step, hurry=False):     # each group is one launch of the codec
        ...

- Where a request is cut depends on the request alone, never on its company or on timing: a bulk one on a fixed grid
  of `bulk_frames`, a live one after its small first windows on one of half that. What is left at its end goes into the
  smallest size that holds it. So a segment sounds the same in any batch.
- A window waits until its right context exists too; only at the end of an utterance there is less of it.
- Windows of one size make a group. With a live window in it a group goes at once; else it goes when it is full, when
  its oldest window has waited long enough, or when there is nothing else to do (`hurry`).
- Windows of one request come in order within a size, but a short last window may come before a longer one that stands
  before it: who hands audio out puts it in order of `start`. All frames come exactly once.
- With `in_order` they all come in order, and never two of one request in a group: for codecs that remember.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from engine.errors import DuplicateRequest, UnknownRequest
from engine.tokens.scheduler import smallest_class


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """Sizes in frames. `first_frames`: the first windows of a live request; `sizes`: ascending, each is one shape of
    the codec's input; `context_frames`: what the codec needs on each side; `max_batch`: windows in a group; `in_order`:
    a window waits for those of its request before it."""

    first_frames: tuple[int, ...] = (4, 16)
    sizes: tuple[int, ...] = (4, 16, 32, 64)
    bulk_frames: int = 64
    context_frames: int = 3
    max_batch: int = 16
    patience_steps: int = 24
    in_order: bool = False

    def __post_init__(self) -> None:
        if not self.sizes or self.sizes[0] < 1 or list(self.sizes) != sorted(set(self.sizes)):
            msg = f"sizes={self.sizes} is not allowed; they are at least 1 and ascend"
            raise ValueError(msg)
        if not all(1 <= frames <= self.sizes[-1] for frames in (*self.first_frames, self.bulk_frames)):
            msg = (
                f"first_frames={self.first_frames}, bulk_frames={self.bulk_frames} must lie between 1 and the "
                f"largest size, {self.sizes[-1]}"
            )
            raise ValueError(msg)
        if self.context_frames < 0 or self.max_batch < 1 or self.patience_steps < 0:
            msg = (
                f"context_frames={self.context_frames}, max_batch={self.max_batch}, "
                f"patience_steps={self.patience_steps}: allowed are 0, 1 and 0 or more"
            )
            raise ValueError(msg)

    def stop_after(self, start: int, *, live: bool) -> int:
        """Where the window that starts here stops, if the request goes on that far."""
        if not live:
            return start + self.bulk_frames
        edge = 0
        for frames in self.first_frames:
            edge += frames
            if start < edge:
                return edge
        return start + max(1, self.bulk_frames // 2)


@dataclass(frozen=True, slots=True)
class Window:
    """Frames [start, stop) of one request, to be decoded and handed out.

    `left` frames before and `right` frames after them exist and are decoded with them: `context_frames`, but less at
    the beginning and at the end of the utterance. All of them fit into `size + 2 * context_frames`.
    """

    request_id: str
    start: int
    stop: int
    left: int
    right: int
    size: int
    live: bool


@dataclass(slots=True)
class _Track:
    """How far a request is: `frames` exist, windows were made up to `cut`, and `waiting` of them wait for a group;
    those `behind` may not be in one yet."""

    live: bool
    frames: int = 0
    cut: int = 0
    waiting: int = 0
    ended: bool = False
    behind: deque[Window] = field(default_factory=deque)


@dataclass(slots=True)
class _Ready:
    """A window that waits for a group, since the first step that saw it."""

    window: Window
    since: int = 0


@dataclass(slots=True)
class _Lane:
    """Windows of one size that wait, in the order in which they became ready."""

    live: deque[_Ready] = field(default_factory=deque)
    bulk: deque[_Ready] = field(default_factory=deque)

    def take(self, count: int) -> list[Window]:
        """The next windows, live ones first."""
        group: list[Window] = []
        for queue in (self.live, self.bulk):
            while queue and len(group) < count:
                group.append(queue.popleft().window)
        return group


class WindowPlanner:
    """Cuts requests into windows and windows into groups. A request leaves when it has ended and all its windows have
    come out of `due`, or by `remove`."""

    def __init__(self, policy: WindowPolicy) -> None:
        self.policy = policy
        self._tracks: dict[str, _Track] = {}
        self._lanes = {size: _Lane() for size in policy.sizes}
        self._unseen: list[_Ready] = []

    def __len__(self) -> int:
        """Windows that wait for a group and may be in one."""
        return sum(len(lane.live) + len(lane.bulk) for lane in self._lanes.values())

    def add(self, request_id: str, *, live: bool) -> None:
        """Take in a request that has no frames yet. Raises DuplicateRequest."""
        if request_id in self._tracks:
            msg = f"request {request_id!r} is being cut already; give each request an id of its own"
            raise DuplicateRequest(msg)
        self._tracks[request_id] = _Track(live)

    def advance(self, request_id: str, frames: int, *, ended: bool) -> None:
        """Note that so many frames of a request exist now, and whether they are all it will have.

        Raises:
            UnknownRequest: it was never added, or has left.
            ValueError: it has ended, or had more frames before.
        """
        track = self._track(request_id)
        if track.ended or frames < track.frames:
            msg = (
                f"request {request_id!r} has {track.frames} frames{' and has ended' if track.ended else ''}; "
                f"it cannot go on to {frames}: frames only grow, and none come after the end"
            )
            raise ValueError(msg)
        track.frames = frames
        track.ended = ended
        while track.cut < track.frames and (ended or self._next_ready(track) <= track.frames):
            self._cut(request_id, track)
        self._drop_if_done(request_id, track)

    def ready_at(self, request_id: str) -> int:
        """How many frames make the next window ready: until then, and before the end, `advance` changes nothing.

        A request that has ended never gets there. Raises UnknownRequest.
        """
        return self._next_ready(self._track(request_id))

    def pending(self, request_id: str) -> bool:
        """True while a window of a request is still to come out of `due`, or may be: it has not ended.

        False right after its end: there is nothing left to decode (it has no frames, or all are out already).
        """
        return request_id in self._tracks

    def remove(self, request_id: str) -> None:
        """Drop a request that was cancelled, with all its windows that wait. One that has left already is no error:
        its last windows may be in the codec still."""
        track = self._tracks.pop(request_id, None)
        if track is None or track.waiting == 0:
            return
        self._unseen = [ready for ready in self._unseen if ready.window.request_id != request_id]
        for lane in self._lanes.values():
            lane.live = deque(ready for ready in lane.live if ready.window.request_id != request_id)
            lane.bulk = deque(ready for ready in lane.bulk if ready.window.request_id != request_id)

    def due(self, step: int, *, hurry: bool) -> list[list[Window]]:
        """The groups to decode now, in this order; each holds 1 to `max_batch` windows of one size.

        `step` counts the engine's steps upwards. With `hurry` nothing is left waiting. Groups with live windows come
        first, small ones before large ones; the others from large to small, as bulk requests have them.
        """
        for ready in self._unseen:
            ready.since = step
        self._unseen.clear()
        groups: list[list[Window]] = []
        while more := self._groups(step, hurry=hurry):
            for window in (window for group in more for window in group):
                self._gone(window, step)
            groups += more
        return groups

    def _groups(self, step: int, *, hurry: bool) -> list[list[Window]]:
        groups = [group for lane in self._lanes.values() for group in self._live_groups(lane)]
        for lane in reversed(self._lanes.values()):
            groups.extend(self._bulk_groups(lane, step, hurry=hurry))
        return groups

    def _gone(self, window: Window, step: int) -> None:
        """A window is in a group; the next of its request may be in a later one."""
        track = self._tracks[window.request_id]
        track.waiting -= 1
        if track.behind:
            self._line_up(_Ready(track.behind.popleft(), step))
        self._drop_if_done(window.request_id, track)

    def _line_up(self, ready: _Ready) -> None:
        lane = self._lanes[ready.window.size]
        (lane.live if ready.window.live else lane.bulk).append(ready)

    def _live_groups(self, lane: _Lane) -> list[list[Window]]:
        groups = []
        while lane.live:
            groups.append(lane.take(self.policy.max_batch))
        return groups

    def _bulk_groups(self, lane: _Lane, step: int, *, hurry: bool) -> list[list[Window]]:
        """Full groups, then the rest if it may not wait any longer."""
        groups = []
        while len(lane.bulk) >= self.policy.max_batch:
            groups.append(lane.take(self.policy.max_batch))
        if lane.bulk and (hurry or step - lane.bulk[0].since >= self.policy.patience_steps):
            groups.append(lane.take(self.policy.max_batch))
        return groups

    def _next_ready(self, track: _Track) -> int:
        return self.policy.stop_after(track.cut, live=track.live) + self.policy.context_frames

    def _cut(self, request_id: str, track: _Track) -> None:
        """Make the next window of a request; it is ready."""
        start = track.cut
        stop = min(self.policy.stop_after(start, live=track.live), track.frames)
        context = self.policy.context_frames
        window = Window(
            request_id,
            start,
            stop,
            left=min(context, start),
            right=min(context, track.frames - stop),
            size=smallest_class(self.policy.sizes, stop - start),
            live=track.live,
        )
        if self.policy.in_order and track.waiting:
            track.behind.append(window)
        else:
            ready = _Ready(window)
            self._line_up(ready)
            self._unseen.append(ready)
        track.cut = stop
        track.waiting += 1

    def _drop_if_done(self, request_id: str, track: _Track) -> None:
        if track.ended and track.waiting == 0:
            del self._tracks[request_id]

    def _track(self, request_id: str) -> _Track:
        if request_id not in self._tracks:
            msg = f"request {request_id!r} is not being cut; it was never added or has left"
            raise UnknownRequest(msg)
        return self._tracks[request_id]
