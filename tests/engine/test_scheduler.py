"""The scheduler alone: what is cut, who is put together, who comes first, that everybody comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UnknownRequest
from engine.scheduler import Policy, Scheduler, Window

POLICY = Policy(first_chunk_frames=3, chunk_frames=7, max_encode_batch=4, max_length_ratio=2.0, other_share=4)


@dataclass(frozen=True)
class Arrival:
    at_step: int
    live: bool
    group: str
    length: int
    frames: int


arrivals = st.lists(
    st.builds(
        Arrival,
        at_step=st.integers(0, 40),
        live=st.booleans(),
        group=st.sampled_from(["", "joe"]),
        length=st.integers(0, 60),
        frames=st.integers(1, 40),
    ),
    min_size=1,
    max_size=25,
)


@dataclass
class Play:
    """Runs a scheduler over arrivals by the step and keeps what it decided."""

    script: list[Arrival]
    scheduler: Scheduler = field(default_factory=lambda: Scheduler(POLICY))
    batches: list[list[str]] = field(default_factory=list)
    windows: list[tuple[int, Window]] = field(default_factory=list)
    ended_at: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> Arrival:
        return self.script[int(name)]

    def run(self, max_steps: int = 2000) -> Play:
        last = max(arrival.at_step for arrival in self.script)
        for step in range(max_steps):
            for index, arrival in enumerate(self.script):
                if arrival.at_step == step:
                    self.scheduler.add(str(index), group=arrival.group, length_hint=arrival.length, live=arrival.live)
            if step > last and not len(self.scheduler):
                return self
            self.step(step)
        raise AssertionError("requests are left over")

    def step(self, step: int) -> None:
        batch = self.scheduler.encode_batch()
        if batch:
            self.batches.append(batch)
            self.scheduler.encoded({name: self.of(name).frames for name in batch})
        window = self.scheduler.next_window()
        if window is not None:
            self.windows.append((step, window))
            if self.scheduler.decoded(window):
                assert window.request_id not in self.ended_at
                self.ended_at[window.request_id] = step


def cut(arrival: Arrival) -> list[tuple[int, int]]:
    """The windows a request must be decoded in, written a second way."""
    marks = list(range(0, arrival.frames, POLICY.chunk_frames))
    if arrival.live:
        marks = [0, *range(POLICY.first_chunk_frames, arrival.frames, POLICY.chunk_frames)]
    return list(zip(marks, [*marks[1:], arrival.frames], strict=True))


@given(arrivals)
def test_every_request_is_encoded_once_and_cut_the_same_way_in_any_company(script):
    play = Play(script).run()
    names = [str(index) for index in range(len(script))]
    assert sorted(name for batch in play.batches for name in batch) == sorted(names)
    for name in names:
        windows = [(w.start_frame, w.stop_frame) for _, w in play.windows if w.request_id == name]
        assert windows == cut(play.of(name))
    assert sorted(play.ended_at) == sorted(names)


@given(arrivals)
def test_batches_hold_one_group_and_like_lengths(script):
    play = Play(script).run()
    for batch in play.batches:
        members = [play.of(name) for name in batch]
        lengths = [max(1, member.length) for member in members]
        assert len(batch) <= POLICY.max_encode_batch
        assert len({member.group for member in members}) == 1
        assert max(lengths) <= POLICY.max_length_ratio * min(lengths)
        assert len({member.live for member in members}) == 1


@given(arrivals)
def test_an_unheard_live_request_goes_before_everything_else(script):
    play = Play(script).run()
    first_heard = {}
    for step, window in play.windows:
        first_heard.setdefault(window.request_id, step)
    for step, window in play.windows:
        unheard = [
            index
            for index, arrival in enumerate(script)
            if arrival.live and arrival.at_step <= step < first_heard[str(index)]
        ]
        if unheard:  # then this very window was a live request's first one
            assert window.start_frame == 0
            assert play.of(window.request_id).live


@given(arrivals)
def test_no_step_is_idle_while_there_is_work(script):
    play = Play(script).run()
    steps = [step for step, _ in play.windows]
    assert len(set(steps)) == len(steps)
    for step in range(max(steps)):
        begun = any(arrival.at_step <= step and play.ended_at[str(i)] >= step for i, arrival in enumerate(script))
        assert begun == (step in steps)


def test_others_get_their_share_of_an_engine_full_of_live_requests():
    live = [Arrival(0, True, "", 10, 400) for _ in range(5)]
    play = Play([*live, Arrival(0, False, "", 10, 14), Arrival(0, False, "", 10, 14)]).run()
    others = [index for index, (_, window) in enumerate(play.windows) if not play.of(window.request_id).live]
    heard_at = 5  # five first chunks come before anything else
    assert others[0] <= heard_at + POLICY.other_share
    assert all(later - sooner == POLICY.other_share for sooner, later in pairwise(others))


def test_encoding_waits_until_nothing_encoded_is_left_so_batches_are_full():
    play = Play([Arrival(max(0, turn - 3), False, "", 10, 20) for turn in range(8)]).run()
    assert [len(batch) for batch in play.batches] == [4, 4]


def test_the_nearest_in_length_are_put_together():
    lengths = [20, 30, 30, 30, 21, 39, 19, 20]
    play = Play([Arrival(0, False, "", length, 7) for length in lengths]).run()
    assert sorted(play.batches[0]) == ["0", "4", "6", "7"]


def test_when_the_turn_of_others_cannot_be_used_live_requests_go_on():
    scheduler = Scheduler(POLICY)
    scheduler.add("live", group="", length_hint=5, live=True)
    scheduler.encoded(dict.fromkeys(scheduler.encode_batch(), 100))
    scheduler.add("other", group="", length_hint=5, live=False)
    for _ in range(POLICY.other_share - 1):
        assert scheduler.encode_batch() == []
        scheduler.decoded(scheduler.next_window())
    assert scheduler.encode_batch() == ["other"]  # and suppose this fails
    assert scheduler.next_window().request_id == "live"


def test_the_longest_waiting_is_in_the_next_batch_however_odd_its_length():
    script = [Arrival(0, False, "", 1000, 7), *[Arrival(0, False, "", 10, 7) for _ in range(8)]]
    assert Play(script).run().batches[0] == ["0"]


@given(st.integers(2, 4))
def test_a_failed_batch_halves_the_next_and_each_success_adds_one(num_requests):
    scheduler = Scheduler(POLICY)
    for name in "abcdefghijklmnop":
        scheduler.add(name, group="", length_hint=5, live=True)
    scheduler.encode_failed(num_requests)
    sizes = []
    for _ in range(4):
        batch = scheduler.encode_batch()
        sizes.append(len(batch))
        scheduler.encoded(dict.fromkeys(batch, 1))
    half = num_requests // 2
    assert sizes == [min(half + turn, POLICY.max_encode_batch) for turn in range(4)]


def test_a_removed_request_is_forgotten_and_others_are_not():
    scheduler = Scheduler(POLICY)
    for name in "ab":
        scheduler.add(name, group="", length_hint=5, live=False)
    scheduler.remove("a")
    assert scheduler.encode_batch() == ["b"]
    for forget in (scheduler.remove, lambda name: scheduler.encoded({name: 1})):
        with pytest.raises(UnknownRequest, match="'a' is not scheduled"):
            forget("a")
    with pytest.raises(ValueError, match="'b' is scheduled already"):
        scheduler.add("b", group="", length_hint=5, live=False)


@pytest.mark.parametrize("name", ["first_chunk_frames", "chunk_frames", "max_encode_batch", "other_share"])
def test_a_policy_of_nothing_is_refused(name):
    with pytest.raises(ValueError, match=f"{name}=0 is not allowed"):
        Policy(**{"first_chunk_frames": 1, "chunk_frames": 1, name: 0})
