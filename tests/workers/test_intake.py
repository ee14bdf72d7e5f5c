"""Intake alone, turn by turn: how much it leases, what goes first, what it says of a store or broker in trouble."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.errors import Fenced, StoreAway, StoreError
from jobs.spec import Priority, SegmentTask
from jobs.state import JobState
from models import registry
from tests.helpers_truth import worker
from tests.workers.making import WORKER, Outage, Stage, lines, nobody_speaks, running, until
from workers import intake as intake_module
from workers.intake import LOOKUPS_AT_ONCE, Intake, look_ahead
from workers.outlet import Outlet

SLOTS = 4
LIMIT = SLOTS + look_ahead(SLOTS)


def make_intake(stage: Stage, *, slots: int = SLOTS) -> Intake:
    stage.truth.register(worker(WORKER, "fake@fake-1"))
    outlet = Outlet(stage.context, WORKER, slots=slots, left=lambda: None, again=nobody_speaks)
    return Intake(stage.context.truth, WORKER, slots=slots, model=registry.load, outlet=outlet)


def turns(intake: Intake, count: int) -> None:
    for _turn in range(count):
        intake._turn()


def taken(intake: Intake) -> list[tuple[str, int]]:
    """Take everything that is prepared."""
    found = []
    while (ready := intake.take()) is not None:
        found.append((ready.task.job, ready.task.segment))
    return found


def named(tasks: list[SegmentTask]) -> list[tuple[str, int]]:
    return [(task.job, task.segment) for task in tasks]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "LIVE_POLL_S", 0.0)


@pytest.mark.parametrize(("slots", "ahead"), [(1, 1), (4, 4), (8, 8), (16, 8), (64, 16)])
def test_look_ahead_is_small_against_the_slots(slots: int, ahead: int) -> None:
    assert look_ahead(slots) == ahead


def test_no_more_is_leased_than_slots_and_look_ahead(stage: Stage) -> None:
    tasks = stage.submit(lines(40))
    intake = make_intake(stage)
    turns(intake, 6)
    assert stage.truth.job(tasks[0].job).held == LIMIT
    assert taken(intake) == named(tasks)[:LIMIT]
    turns(intake, 6)
    assert stage.truth.job(tasks[0].job).held == LIMIT  # all are busy now
    for _left in range(3):
        intake.finished()
    turns(intake, 6)
    assert taken(intake) == named(tasks)[LIMIT : LIMIT + 3]


def test_with_many_slots_one_call_leases_several(stage: Stage) -> None:
    tasks = stage.submit(lines(80))
    wanted: list[int] = []

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "lease":
            wanted.append(arguments[1])

    stage.replace_truth(note)
    intake = make_intake(stage, slots=64)  # 16 ahead, so two at a time
    turns(intake, 1)
    assert (wanted, stage.truth.job(tasks[0].job).held) == ([80], 80)
    for _slot in range(64):
        intake.take()
    wanted.clear()
    intake.finished()
    turns(intake, 1)
    assert wanted == [2]  # for class live only
    intake.finished()
    turns(intake, 1)
    assert wanted == [2, 2]
    while intake.take():
        pass
    intake.finished()
    turns(intake, 1)
    assert wanted == [2, 2, 3]  # nothing is ready: what is missing is leased at once


@pytest.mark.parametrize("live", [True, False])
def test_segments_keep_their_order(stage: Stage, live: bool) -> None:
    tasks = stage.submit(lines(6), live=live)
    intake = make_intake(stage)
    turns(intake, 2)
    assert taken(intake) == named(tasks)


def test_segments_of_class_live_are_leased_beyond_the_limit_but_few(stage: Stage) -> None:
    bulk = stage.submit(lines(30), priority=Priority.BULK)
    intake = make_intake(stage)
    turns(intake, 2)
    urgent = stage.submit(lines(30, "now"), priority=Priority.LIVE)
    turns(intake, 30)
    assert stage.truth.job(urgent[0].job).held == SLOTS
    assert taken(intake) == named(urgent)[:SLOTS] + named(bulk)[:LIMIT]


def test_a_live_segment_that_comes_later_goes_before_what_waits(stage: Stage) -> None:
    bulk = stage.submit(lines(3), priority=Priority.BULK)
    intake = make_intake(stage)
    turns(intake, 1)
    live = stage.submit(lines(2, "now"), live=True)
    turns(intake, 1)
    assert taken(intake) == named(live) + named(bulk)


def test_a_full_intake_looks_when_something_is_queued_and_not_all_the_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "IDLE_WAIT_S", 60.0)
    looks: list[bool] = []

    def note(name: str, _arguments: tuple[Any, ...]) -> None:
        looks.extend([True] if name == "lease" else [])

    stage.replace_truth(note)
    bulk = stage.submit(lines(30), priority=Priority.BULK)
    intake = make_intake(stage)
    intake.thread.start()
    until(lambda: stage.truth.job(bulk[0].job).held == LIMIT, "it is full")
    for count in range(1, SLOTS + 1):
        stage.speak(f"s{count}", lines(1, f"now {count}"))
        until(lambda count=count: len(intake._urgent) == count, "it is here")
    assert len(looks) <= 4 + 3 * SLOTS  # until it was full; then found, none left, maybe woken once more
    intake.drain()


def test_an_idle_intake_is_woken(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "IDLE_WAIT_S", 60.0)
    intake = make_intake(stage)
    intake.thread.start()
    for count in range(1, 4):
        stage.speak(f"s{count}", lines(1, f"now {count}"))
        until(lambda count=count: len(intake._urgent) == count, "it is here")
    intake.drain()


def test_a_speech_request_that_nobody_listens_to_yet_goes_before_what_waits(stage: Stage) -> None:
    """Its takes are checked before they are heard, so it has no live stream; but somebody waits."""
    bulk = stage.submit(lines(3), priority=Priority.BULK)
    intake = make_intake(stage)
    turns(intake, 1)
    assert not intake.holds_speech
    tasks = stage.speak("s", lines(2, "now"))
    turns(intake, 1)
    assert intake.holds_speech
    ready = intake.take()
    assert ready is not None
    assert ready.request.live
    intake.put_back(ready)
    assert taken(intake) == named(tasks) + named(bulk)
    assert not intake.holds_speech


def test_what_is_put_back_keeps_its_urgency(stage: Stage) -> None:
    bulk = stage.submit(lines(2), priority=Priority.BULK)
    intake = make_intake(stage)
    turns(intake, 1)
    live = stage.submit(lines(2, "now"), live=True)
    turns(intake, 1)
    first = intake.take()
    assert first is not None
    intake.put_back(first)
    assert intake._busy == 0
    assert intake.take() == first
    later = stage.submit(lines(1, "later"), live=True)
    turns(intake, 1)
    intake.put_back(first)
    assert taken(intake) == named(live) + named(later) + named(bulk)


def test_dropped_and_drained_segments_are_named_and_gone(stage: Stage) -> None:
    kept, dropped = stage.submit(lines(2)), stage.submit(lines(2, "not"), live=True)
    intake = make_intake(stage)
    turns(intake, 2)
    assert sorted(intake.drop_jobs(frozenset({dropped[0].job}))) == [task.ref for task in dropped]
    assert intake.drop_jobs(frozenset({dropped[0].job})) == []
    intake.stopping.set()
    intake.thread.start()
    assert intake.drain() == [task.ref for task in kept]
    assert intake.take() is None


def test_a_store_that_cannot_be_read_does_not_end_the_intake(stage: Stage) -> None:
    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name in {"get", "exists"}:
            raise StoreError("the folder is not there")

    stage.replace_store(refuse)
    tasks = stage.submit(lines(3))
    intake = make_intake(stage)
    turns(intake, 2)
    assert taken(intake) == named(tasks)


def test_a_lost_broker_delays_only(stage: Stage) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    with running(stage) as run:
        until(stage.truth.workers, "it is known")
        outage.away.set()
        tasks = stage.submit(lines(3))
        until(lambda: outage.refused.count("lease") > 3, "leasing is tried again and again")
        assert stage.truth.job(tasks[0].job).held == 0
        assert not run.over
        outage.away.clear()
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")


def test_a_fenced_intake_says_so_and_ends(stage: Stage) -> None:
    intake = make_intake(stage)
    stage.truth.retire(WORKER)
    with pytest.raises(Fenced):
        stage.truth.lease(WORKER, 1)
    intake.thread.start()
    intake.thread.join(10)
    assert not intake.thread.is_alive()
    assert intake.fenced.is_set()


def test_a_drain_looks_for_no_more_takes_and_hands_out_all_that_was_leased(stage: Stage) -> None:
    tasks = stage.submit(lines(80))
    intake = make_intake(stage, slots=64)
    looked: list[str] = []

    def hold(name: str, _arguments: tuple[Any, ...]) -> None:
        looked.append(name)
        assert intake.stopping.wait(20)
        raise StoreAway("no answer")

    stage.replace_store(hold)
    intake.thread.start()
    until(lambda: len(looked) == LOOKUPS_AT_ONCE, "takes are looked for")
    assert intake.drain() == [task.ref for task in tasks]
    assert len(looked) == LOOKUPS_AT_ONCE
    intake.leave()
