"""The window planner alone: every frame once, the same cut in any company, who goes when."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DuplicateRequest, UnknownRequest
from engine.tokens.windows import Window, WindowPlanner, WindowPolicy

SMALL = WindowPolicy(
    first_frames=(2, 3), sizes=(2, 4, 8), bulk_frames=8, context_frames=1, max_batch=3, patience_steps=5
)

policies = st.sampled_from(
    [SMALL, WindowPolicy(max_batch=2), WindowPolicy((), (5,), 5, context_frames=0, max_batch=2, patience_steps=0)]
)


@dataclass(frozen=True)
class Speaker:
    """Starts at a step and makes a frame every `pace` steps."""

    at_step: int
    live: bool
    frames: int
    pace: int


speakers = st.lists(
    st.builds(
        Speaker,
        at_step=st.integers(0, 20),
        live=st.booleans(),
        frames=st.integers(0, 150),
        pace=st.integers(1, 2),
    ),
    min_size=1,
    max_size=8,
)


def wanted(speaker: Speaker, policy: WindowPolicy) -> list[tuple[int, int, int, int, int]]:
    """(start, stop, left, right, size) of each window, written a second way: by edges."""
    edges = [0]
    while edges[-1] < speaker.frames:
        index = len(edges) - 1
        width = policy.bulk_frames
        if speaker.live:
            first = index < len(policy.first_frames)
            width = policy.first_frames[index] if first else max(1, policy.bulk_frames // 2)
        edges.append(min(edges[-1] + width, speaker.frames))
    return [
        (
            start,
            stop,
            start - max(0, start - policy.context_frames),
            min(speaker.frames, stop + policy.context_frames) - stop,
            min(size for size in policy.sizes if size >= stop - start),
        )
        for start, stop in pairwise(edges)
    ]


@dataclass
class Play:
    """Runs a planner over speakers, advancing them only when they say that it matters, and checks every group."""

    policy: WindowPolicy
    script: list[Speaker]
    groups: list[tuple[int, list[Window]]] = field(default_factory=list)
    ready_since: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.planner = WindowPlanner(self.policy)

    def run(self, max_steps: int = 1000) -> Play:
        for step in range(max_steps):
            for index, speaker in enumerate(self.script):
                self.speak(str(index), speaker, step)
            everything_said = all(step > one.at_step + one.frames * one.pace for one in self.script)
            before = len(self.planner)
            groups = self.planner.due(step, hurry=everything_said)
            self.groups += [(step, group) for group in groups]
            assert len(self.planner) == before - sum(map(len, groups))
            if everything_said:
                assert not len(self.planner)
                assert not any(self.planner.pending(str(index)) for index in range(len(self.script)))
                return self
            self.check_left_over(step)
        raise AssertionError("speakers never end")

    def speak(self, name: str, speaker: Speaker, step: int) -> None:
        frames = (step - speaker.at_step) // speaker.pace
        if step == speaker.at_step:
            self.planner.add(name, live=speaker.live)
        if not 0 <= frames <= speaker.frames or step > speaker.at_step + speaker.frames * speaker.pace:
            return
        ended = frames == speaker.frames
        if ended or frames >= self.planner.ready_at(name):
            self.planner.advance(name, frames, ended=ended)
        for start, stop, _, right, _ in wanted(speaker, self.policy):
            if ended or (frames >= stop + self.policy.context_frames and right == self.policy.context_frames):
                self.ready_since.setdefault((name, start), step)

    def check_left_over(self, step: int) -> None:
        """What may wait: bulk windows of one size, fewer than a group, none of them impatient."""
        out = {(window.request_id, window.start) for _, group in self.groups for window in group}
        left: dict[int, list[int]] = defaultdict(list)
        for index, speaker in enumerate(self.script):
            for start, _, _, _, size in wanted(speaker, self.policy):
                key = (str(index), start)
                if key in self.ready_since and key not in out:
                    assert not speaker.live
                    left[size].append(self.ready_since[key])
        for since in left.values():
            assert len(since) < self.policy.max_batch
            assert step - min(since) < self.policy.patience_steps


@given(policies, speakers)
@settings(deadline=None)
def test_every_frame_comes_once_cut_as_if_alone(policy, script):
    play = Play(policy, script).run()
    came: dict[str, list[Window]] = defaultdict(list)
    for _, group in play.groups:
        for window in group:
            came[window.request_id].append(window)
    for index, speaker in enumerate(script):
        windows = sorted(came[str(index)], key=lambda window: window.start)
        cut = [(one.start, one.stop, one.left, one.right, one.size) for one in windows]
        assert cut == wanted(speaker, policy)
        assert {one.live for one in windows} <= {speaker.live}


@given(policies, speakers)
@settings(deadline=None)
def test_groups_have_one_size_and_go_when_they_may(policy, script):
    play = Play(policy, script).run()
    last_step = max(step for step, _ in play.groups) if play.groups else 0
    for step, group in play.groups:
        assert len({window.size for window in group}) == 1
        assert 1 <= len(group) <= policy.max_batch
        live = [window for window in group if window.live]
        assert all(play.ready_since[window.request_id, window.start] == step for window in live)
        oldest = min(play.ready_since[window.request_id, window.start] for window in group)
        reasons = (live, len(group) == policy.max_batch, step - oldest >= policy.patience_steps, step == last_step)
        assert any(reasons)


@given(policies, speakers)
@settings(deadline=None)
def test_windows_of_one_size_come_in_order(policy, script):
    seen: dict[tuple[str, int], int] = {}
    for _, group in Play(policy, script).run().groups:
        for window in group:
            assert window.start > seen.get((window.request_id, window.size), -1)
            seen[window.request_id, window.size] = window.start


@given(policies, st.booleans(), st.integers(0, 200), st.lists(st.integers(0, 200), max_size=6))
def test_the_cut_does_not_depend_on_when_frames_were_noted(policy, live, frames, noted):
    planner = WindowPlanner(policy)
    planner.add("a", live=live)
    windows = []
    for count in sorted(min(one, frames) for one in noted):
        planner.advance("a", count, ended=False)
        windows += [window for group in planner.due(0, hurry=True) for window in group]
    planner.advance("a", frames, ended=True)
    assert planner.pending("a") == (sum(window.stop - window.start for window in windows) < frames)
    windows += [window for group in planner.due(0, hurry=True) for window in group]
    windows.sort(key=lambda window: window.start)
    cut = [(one.start, one.stop, one.left, one.right, one.size) for one in windows]
    assert cut == wanted(Speaker(0, live, frames, 1), policy)


def ready(planner: WindowPlanner, name: str, frames: int, *, live: bool = False) -> None:
    """A request that ends with that many frames."""
    planner.add(name, live=live)
    planner.advance(name, frames, ended=True)


def groups_of(groups: list[list[Window]]) -> list[list[tuple[str, int]]]:
    return [[(window.request_id, window.start) for window in group] for group in groups]


def test_the_default_cuts_live_small_first_and_bulk_large():
    planner = WindowPlanner(WindowPolicy())
    ready(planner, "live", 90, live=True)
    ready(planner, "bulk", 150)
    windows = [window for group in planner.due(0, hurry=True) for window in group]
    cut = {
        name: sorted((one.start, one.stop, one.size) for one in windows if one.request_id == name)
        for name in ("live", "bulk")
    }
    assert cut["live"] == [(0, 4, 4), (4, 20, 16), (20, 52, 32), (52, 84, 32), (84, 90, 16)]
    assert cut["bulk"] == [(0, 64, 64), (64, 128, 64), (128, 150, 32)]


def test_a_window_is_ready_when_its_right_context_is_there():
    planner = WindowPlanner(WindowPolicy())
    planner.add("live", live=True)
    assert planner.ready_at("live") == 7
    planner.advance("live", 6, ended=False)
    assert planner.due(0, hurry=True) == []
    planner.advance("live", 7, ended=False)
    assert planner.ready_at("live") == 23
    assert planner.due(1, hurry=False) == [[Window("live", 0, 4, left=0, right=3, size=4, live=True)]]


def test_a_live_window_goes_at_once_and_takes_bulk_ones_along():
    planner = WindowPlanner(SMALL)
    ready(planner, "a", 8)
    ready(planner, "b", 8)
    ready(planner, "c", 4)
    assert planner.due(0, hurry=False) == []
    ready(planner, "live", 9, live=True)  # [0, 2) of size 2, [2, 5) and [5, 9) of size 4
    assert groups_of(planner.due(1, hurry=False)) == [[("live", 0)], [("live", 2), ("live", 5), ("c", 0)]]
    assert len(planner) == 2


def test_bulk_windows_wait_for_a_full_group_or_for_the_oldest_to_lose_patience():
    planner = WindowPlanner(SMALL)
    ready(planner, "a", 8)
    assert planner.due(10, hurry=False) == []
    ready(planner, "b", 8)
    assert planner.due(14, hurry=False) == []
    assert groups_of(planner.due(15, hurry=False)) == [[("a", 0), ("b", 0)]]
    ready(planner, "c", 32)
    assert groups_of(planner.due(16, hurry=False)) == [[("c", 0), ("c", 8), ("c", 16)]]
    assert groups_of(planner.due(17, hurry=True)) == [[("c", 24)]]


def test_a_long_window_goes_before_the_tail_when_both_are_due():
    planner = WindowPlanner(SMALL)
    ready(planner, "a", 10)
    assert groups_of(planner.due(0, hurry=True)) == [[("a", 0)], [("a", 8)]]


def test_a_request_without_frames_has_no_window():
    planner = WindowPlanner(SMALL)
    planner.add("a", live=False)
    assert planner.pending("a")
    planner.advance("a", 0, ended=True)
    assert not planner.pending("a")
    assert planner.due(0, hurry=True) == []


def test_without_context_all_windows_may_be_out_before_the_end_is_known():
    planner = WindowPlanner(WindowPolicy((), (5,), 5, context_frames=0))
    planner.add("a", live=True)
    planner.advance("a", 2, ended=False)
    assert groups_of(planner.due(0, hurry=False)) == [[("a", 0)]]
    assert planner.pending("a")
    planner.advance("a", 2, ended=True)
    assert not planner.pending("a")


def test_a_removed_request_takes_its_waiting_windows_along_and_nobody_elses():
    planner = WindowPlanner(SMALL)
    ready(planner, "a", 10)
    ready(planner, "b", 10)
    ready(planner, "live", 10, live=True)
    planner.remove("a")
    planner.remove("live")
    assert len(planner) == 2
    assert groups_of(planner.due(0, hurry=True)) == [[("b", 0)], [("b", 8)]]
    planner.remove("b")  # its windows are out: nothing is left to drop
    ready(planner, "a", 1)
    assert groups_of(planner.due(1, hurry=True)) == [[("a", 0)]]


def test_frames_only_grow_and_none_come_after_the_end():
    planner = WindowPlanner(SMALL)
    planner.add("a", live=False)
    with pytest.raises(DuplicateRequest, match="'a' is being cut already"):
        planner.add("a", live=False)
    planner.advance("a", 4, ended=False)
    with pytest.raises(ValueError, match="has 4 frames; it cannot go on to 3"):
        planner.advance("a", 3, ended=False)
    planner.advance("a", 5, ended=True)
    with pytest.raises(ValueError, match="has 5 frames and has ended"):
        planner.advance("a", 6, ended=True)
    assert groups_of(planner.due(0, hurry=True)) == [[("a", 0)]]
    for call in (lambda: planner.advance("a", 6, ended=True), lambda: planner.ready_at("a")):
        with pytest.raises(UnknownRequest, match="'a' is not being cut"):
            call()


@pytest.mark.parametrize(
    "bad",
    [
        {"sizes": ()},
        {"sizes": (4, 4, 64)},
        {"sizes": (0, 64)},
        {"first_frames": (0,)},
        {"first_frames": (65,)},
        {"bulk_frames": 65},
        {"bulk_frames": 0},
        {"context_frames": -1},
        {"max_batch": 0},
        {"patience_steps": -1},
    ],
    ids=str,
)
def test_policies_that_cannot_be_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        WindowPolicy(**bad)
