"""The prompt queue alone: limits, order, patience, that everybody has a turn; and the sizes of steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DuplicateRequest, UnknownRequest
from engine.tokens.scheduler import (
    Chosen,
    Policy,
    Scheduler,
    batch_classes,
    bucket_for,
    entries_of,
    row_buckets,
    smallest_class,
)

POLICY = Policy(num_slots=8, max_rows=100, patience_steps=4, max_entries=3)
PAGES = 40


@dataclass(frozen=True)
class Arrival:
    at_step: int
    live: bool
    rows: int
    shared: int
    pages: int
    speaks_steps: int
    cancelled: bool


arrivals = st.lists(
    st.builds(
        Arrival,
        at_step=st.integers(0, 30),
        live=st.booleans(),
        rows=st.integers(1, 100),
        shared=st.integers(0, 99),
        pages=st.integers(1, PAGES),
        speaks_steps=st.integers(1, 12),
        cancelled=st.sampled_from([False, False, False, True]),
    ),
    min_size=1,
    max_size=25,
)


@dataclass
class Play:
    """Runs a scheduler over arrivals with slots and pages that fill and empty, and checks every step."""

    script: list[Arrival]
    scheduler: Scheduler = field(default_factory=lambda: Scheduler(POLICY))
    waiting: dict[str, int] = field(default_factory=dict)  # since when
    speaking: dict[str, int] = field(default_factory=dict)  # until when
    chosen_at: dict[str, int] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answers: dict[str, int | None] = field(default_factory=dict)
    free: int = PAGES

    def of(self, name: str) -> Arrival:
        return self.script[int(name)]

    def fits(self, name: str) -> int | None:
        arrival = self.of(name)
        self.asked.append(name)
        rows = None
        if arrival.pages <= self.free:
            self.free -= arrival.pages
            rows = max(1, arrival.rows - arrival.shared)
        self.answers[name] = rows
        return rows

    def run(self) -> Play:
        last = max(arrival.at_step for arrival in self.script)
        for step in range(2000):
            self.arrive(step)
            if step > last and not self.waiting:
                assert len(self.scheduler) == 0
                return self
            self.step(step)
        raise AssertionError(f"{self.waiting} are left over")

    def arrive(self, step: int) -> None:
        for name, until in list(self.speaking.items()):
            if until <= step:
                del self.speaking[name]
                self.free += self.of(name).pages
        for index, arrival in enumerate(self.script):
            name = str(index)
            if arrival.at_step == step:
                self.scheduler.add(name, prompt_rows=arrival.rows, live=arrival.live)
                self.waiting[name] = step
            if arrival.cancelled and arrival.at_step + 2 == step and name in self.waiting:
                self.scheduler.remove(name)
                del self.waiting[name]

    def step(self, step: int) -> None:
        before, active = dict(self.waiting), len(self.speaking)
        self.asked, self.answers = [], {}
        chosen = self.scheduler.prefill(step, active, self.fits)
        self.check_limits(chosen, active)
        self.check_order(before)
        self.check_patience(before, step, active)
        for one in chosen:
            self.chosen_at[one.request_id] = step
            self.order.append(one.request_id)
            del self.waiting[one.request_id]
            self.speaking[one.request_id] = step + self.of(one.request_id).speaks_steps

    def check_limits(self, chosen: list[Chosen], active: int) -> None:
        assert len(chosen) <= min(POLICY.max_entries, POLICY.num_slots - active)
        assert sum(one.rows for one in chosen) <= POLICY.max_rows
        given_pages = {name: rows for name, rows in self.answers.items() if rows is not None}
        assert {one.request_id: one.rows for one in chosen} == given_pages

    def check_order(self, before: dict[str, int]) -> None:
        """Asked in order of arrival, live first, each once, and nobody after one that did not fit."""
        line = [name for name in before if self.of(name).live] + [name for name in before if not self.of(name).live]
        assert self.asked == line[: len(self.asked)]
        assert None not in [self.answers[name] for name in self.asked[:-1]]

    def check_patience(self, before: dict[str, int], step: int, active: int) -> None:
        if not before:
            assert not self.asked
            return
        hasty = (
            any(self.of(name).live for name in before)
            or active < POLICY.num_slots / 2
            or step - min(before.values()) >= POLICY.patience_steps
            or len(before) >= POLICY.max_entries
            or sum(self.of(name).rows for name in before) >= POLICY.max_rows
        )
        assert bool(self.asked) == (hasty and active < POLICY.num_slots)


@given(arrivals)
@settings(deadline=None)
def test_every_step_keeps_the_rules_and_everybody_has_a_turn(script):
    play = Play(script).run()
    assert all(arrival.cancelled or str(index) in play.chosen_at for index, arrival in enumerate(script))


@given(arrivals)
@settings(deadline=None)
def test_requests_of_a_kind_are_chosen_in_order_of_arrival(script):
    play = Play(script).run()
    for live in (True, False):
        kind = [name for name in play.order if play.of(name).live == live]
        assert kind == sorted(kind, key=lambda name: (play.of(name).at_step, int(name)))


@given(arrivals)
@settings(deadline=None)
def test_the_same_arrivals_are_chosen_in_the_same_steps(script):
    assert Play(script).run().chosen_at == Play(script).run().chosen_at


def filled(policy: Policy, *requests: tuple[str, int, bool]) -> Scheduler:
    scheduler = Scheduler(policy)
    for name, rows, live in requests:
        scheduler.add(name, prompt_rows=rows, live=live)
    return scheduler


def names(chosen: list[Chosen]) -> list[str]:
    return [one.request_id for one in chosen]


def fits_all(_: str) -> int:
    return 10


def test_a_bulk_request_waits_for_company_and_goes_with_it():
    scheduler = filled(POLICY, ("a", 10, False))
    assert [scheduler.prefill(step, 4, fits_all) for step in (7, 8)] == [[], []]
    scheduler.add("b", prompt_rows=10, live=False)
    assert [scheduler.prefill(step, 4, fits_all) for step in (9, 10)] == [[], []]
    assert names(scheduler.prefill(11, 4, fits_all)) == ["a", "b"]


@pytest.mark.parametrize(
    ("active", "more"),
    [
        pytest.param(3, [], id="half of the slots are empty"),
        pytest.param(7, [("b", 10, True)], id="somebody listens"),
        pytest.param(4, [("b", 10, False), ("c", 10, False)], id="as many as one pass takes"),
        pytest.param(4, [("b", 90, False)], id="as many rows as one pass takes"),
    ],
)
def test_nothing_waits_for_company_without_need(active, more):
    scheduler = filled(POLICY, ("a", 10, False), *more)
    assert scheduler.prefill(0, active, fits_all) != []


def test_live_overtakes_a_bulk_request_that_waits_for_pages_and_bulk_does_not():
    scheduler = filled(POLICY, ("big", 10, False), ("small", 10, False))

    def no_room_for_big(name: str) -> int | None:
        return None if name == "big" else 10

    assert scheduler.prefill(0, 0, no_room_for_big) == []
    scheduler.add("live", prompt_rows=10, live=True)
    assert names(scheduler.prefill(1, 0, no_room_for_big)) == ["live"]
    assert names(scheduler.prefill(2, 0, fits_all)) == ["big", "small"]


def test_shared_rows_make_room_for_more_prompts():
    scheduler = filled(POLICY, ("a", 90, False), ("b", 90, False))
    assert scheduler.prefill(0, 0, {"a": 10, "b": 2}.get) == [Chosen("a", 10), Chosen("b", 2)]


def test_pages_are_not_asked_for_a_prompt_that_may_find_no_rows():
    scheduler = filled(POLICY, ("a", 90, False), ("b", 11, False))
    asked: list[str] = []

    def fits(name: str) -> int:
        asked.append(name)
        return 90

    assert names(scheduler.prefill(0, 0, fits)) == ["a"]
    assert asked == ["a"]


@pytest.mark.parametrize(("active", "room"), [(6, 2), (7, 1), (8, 0)])
def test_no_more_are_chosen_than_slots_are_free(active, room):
    scheduler = filled(POLICY, *((name, 10, True) for name in "abc"))
    assert names(scheduler.prefill(0, active, fits_all)) == ["a", "b"][:room]


def test_the_largest_bucket_bounds_the_entries():
    policy = Policy(num_slots=64, max_rows=64, patience_steps=0)
    scheduler = filled(policy, *((str(index), 1, False) for index in range(6)))
    assert names(scheduler.prefill(0, 0, lambda _: 1)) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("rows", [0, 101])
def test_prompts_that_no_pass_holds_are_refused(rows):
    with pytest.raises(ValueError, match=f"'a' has {rows} rows; allowed are 1 to 100"):
        Scheduler(POLICY).add("a", prompt_rows=rows, live=False)


def test_ids_are_unique_among_those_that_wait():
    scheduler = filled(POLICY, ("a", 10, False))
    with pytest.raises(DuplicateRequest, match="'a' waits already"):
        scheduler.add("a", prompt_rows=10, live=True)
    scheduler.remove("a")
    assert scheduler.prefill(0, 0, fits_all) == []
    with pytest.raises(UnknownRequest, match="'a' does not wait"):
        scheduler.remove("a")
    scheduler.add("a", prompt_rows=10, live=True)
    assert names(scheduler.prefill(1, 0, fits_all)) == ["a"]
    with pytest.raises(UnknownRequest):
        scheduler.remove("a")


@pytest.mark.parametrize(
    "bad",
    [{"num_slots": 0}, {"max_rows": 0}, {"max_entries": 0}, {"patience_steps": -1}],
    ids=lambda bad: next(iter(bad)),
)
def test_policies_that_cannot_be_are_refused(bad):
    name, value = next(iter(bad.items()))
    with pytest.raises(ValueError, match=f"{name}={value}"):
        Policy(**{"num_slots": 8, "max_rows": 64, "max_entries": 4, "patience_steps": 2} | bad)


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(st.integers(1, 3000))
def test_batch_classes_ascend_to_the_number_of_slots_without_wide_gaps(num_slots):
    classes = batch_classes(num_slots)
    assert classes[0] == 1
    assert classes[-1] == num_slots
    assert list(classes) == sorted(set(classes))
    for below, size in pairwise(classes):
        assert size - below <= (8 if below < 32 else 16 if below < 128 else 32 if below < 512 else 64)


def test_batch_classes_are_these():
    first = (1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128)
    assert batch_classes(1) == (1,)
    assert batch_classes(3) == (1, 2, 3)
    assert batch_classes(256) == (*first, 160, 192, 224, 256)
    assert batch_classes(700)[-5:] == (480, 512, 576, 640, 700)
    assert batch_classes(512)[-2:] == (480, 512)


@given(st.integers(1, 600), st.data())
def test_the_smallest_class_holds_n_and_the_next_smaller_does_not(num_slots, data):
    classes = batch_classes(num_slots)
    n = data.draw(st.integers(0, num_slots))
    size = smallest_class(classes, n)
    assert size >= n
    assert all(other < n for other in classes if other < size)
    with pytest.raises(ValueError, match=f"nothing holds {num_slots + 1}"):
        smallest_class(classes, num_slots + 1)


@given(st.integers(1, 5000))
def test_row_buckets_grow_by_steps_and_then_double(max_rows):
    buckets = row_buckets(max_rows)
    assert buckets[-1] == max_rows
    steps = [*range(64, 513, 64), 1024, 2048, 4096]
    assert list(buckets[:-1]) == [rows for rows in steps if rows < max_rows]
    assert len(buckets) == 1 or buckets[-2] < max_rows <= 2 * buckets[-2]


def test_entries_grow_with_rows():
    assert [entries_of(rows) for rows in (1, 64, 128, 256, 512, 2048)] == [4, 4, 8, 16, 32, 32]


@given(st.integers(1, 3000), st.data())
def test_every_pass_within_the_policy_has_a_bucket_and_no_smaller_one(max_rows, data):
    policy = Policy(num_slots=256, max_rows=max_rows, patience_steps=0)
    entries = data.draw(st.integers(1, min(policy.entry_limit, max_rows)))
    rows = data.draw(st.integers(entries, max_rows))
    buckets = row_buckets(max_rows)
    bucket = bucket_for(buckets, rows=rows, entries=entries)
    assert bucket >= rows
    assert entries_of(bucket) >= entries
    assert all(other < rows or entries_of(other) < entries for other in buckets if other < bucket)


def test_many_short_prompts_need_a_larger_bucket():
    assert bucket_for((64, 128), rows=50, entries=5) == 128
    with pytest.raises(ValueError, match="room for 50 rows of 9 prompts"):
        bucket_for((64, 128), rows=50, entries=9)


@pytest.mark.parametrize("make", [batch_classes, row_buckets])
def test_sizes_of_nothing_are_refused(make):
    with pytest.raises(ValueError, match="=0 is not allowed"):
        make(0)
