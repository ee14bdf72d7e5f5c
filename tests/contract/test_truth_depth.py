"""What `jobs.protocols.Truth` promises of the depth of the queue."""

from __future__ import annotations

from jobs.protocols import Depth
from jobs.spec import Priority
from tests.contract.house_of_truth import House
from tests.helpers_truth import record, tasks, worker

LIVE, NORMAL, BULK = Priority


def test_nothing_waits_where_nothing_is(house: House) -> None:
    assert house.truth.depth() == Depth({LIVE: 0, NORMAL: 0, BULK: 0}, 0)


def test_what_waits_is_counted_by_class_and_what_is_held(house: House) -> None:
    house.queue("n", 4)
    house.queue("b", 20, priority=BULK)
    house.queue("c", 5, priority=BULK, model="another")
    assert house.truth.speak(record("s", priority=LIVE), tasks("s", 3))
    assert house.truth.depth() == Depth({LIVE: 3, NORMAL: 4, BULK: 25}, 0, steps=3)
    assert house.truth.depth().segments == 32
    house.truth.register(worker("v"))
    house.truth.register(worker("w"))
    house.truth.lease("v", 5)
    house.truth.lease("w", 4)
    assert house.truth.depth() == Depth({LIVE: 0, NORMAL: 0, BULK: 23}, 9, steps=3)


def test_paused_jobs_do_not_count(house: House) -> None:
    house.queue("n", 4)
    house.queue("m", 4)
    house.truth.pause("n")
    assert house.truth.depth().waiting == {LIVE: 0, NORMAL: 4, BULK: 0}
    house.truth.unpause("n")
    assert house.truth.depth().waiting == {LIVE: 0, NORMAL: 8, BULK: 0}


def test_suspects_wait_in_their_own_class(house: House) -> None:
    house.queue("n", 2)
    house.queue("b", 3, priority=BULK)
    house.truth.register(worker("w"))
    house.truth.lease("w", 9)
    house.truth.crashed("w")
    assert house.truth.depth() == Depth({LIVE: 0, NORMAL: 2, BULK: 3}, 0, steps=2)
    house.truth.pause("b")
    assert house.truth.depth().waiting == {LIVE: 0, NORMAL: 2, BULK: 0}
