"""The clerk and the processes that it has for large batches."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jobs.batches import clerk as clerks
from jobs.batches.clerk import Clerk, run_clerk
from jobs.batches.records import Counts, Status
from jobs.errors import StoreError
from tests.jobs.batches.office import Office, request


class Process:
    """One that ends when it is told to; then its work is done."""

    def __init__(self, office: Office, batch: str) -> None:
        self.work = Clerk(office.desk)
        self.batch = batch
        self.status: int | None = None
        self.calls: list[str] = []

    def end(self, status: int = 0) -> None:
        if status == 0:
            self.work.advance(self.batch)
        self.status = status

    def poll(self) -> int | None:
        return self.status

    def terminate(self) -> None:
        self.calls.append("terminate")

    def wait(self) -> int:
        self.calls.append("wait")
        return -15


class Spawning:
    """Keeps the processes that were started."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.made: list[Process] = []

    def __call__(self, batch: str) -> Process:
        self.made.append(Process(self.office, batch))
        return self.made[-1]


@pytest.fixture
def spawning(office: Office) -> Spawning:
    made = Spawning(office)
    office.clerk.spawn = made
    return made


def large(count: int = 201) -> list[dict[str, Any]]:
    return [request(f"line {n}", seed=n) for n in range(count)]


def test_a_large_batch_is_begun_and_ended_elsewhere(office: Office, spawning: Spawning) -> None:
    batch = office.begin(*large(), rounds=3)
    assert (office.now(batch).status, len(spawning.made)) == (Status.VALIDATING, 1)
    spawning.made[0].end()
    office.clerk.round()
    assert (office.now(batch).status, len(spawning.made)) == (Status.IN_PROGRESS, 1)
    office.work()
    for _ in range(3):
        office.clerk.round()
    assert (office.now(batch).status, len(spawning.made)) == (Status.FINALIZING, 2)
    spawning.made[1].end()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=201, completed=201)
    assert len(spawning.made) == 2


def test_a_small_one_is_moved_on_meanwhile(office: Office, spawning: Spawning) -> None:
    office.begin(*large())
    small = office.begin(request("a"))
    office.work()
    office.clerk.round()
    assert office.now(small).status is Status.COMPLETED
    assert len(spawning.made) == 1


def test_a_process_that_died_is_followed_by_another(office: Office, spawning: Spawning) -> None:
    batch = office.begin(*large())
    spawning.made[0].end(status=-9)
    office.clerk.round()
    assert len(spawning.made) == 2
    spawning.made[1].end()
    office.clerk.round()
    assert office.now(batch).status is Status.IN_PROGRESS


def test_there_are_only_so_many(office: Office, spawning: Spawning) -> None:
    batches = []
    for _ in range(4):
        batches.append(office.begin(*large()))
        office.now_s += 1
    assert [process.batch for process in spawning.made] == batches[: clerks.MAX_PROCESSES]
    spawning.made[0].end()
    office.clerk.round()
    assert [process.batch for process in spawning.made] == batches[: clerks.MAX_PROCESSES + 1]


def test_none_is_started_for_nothing(office: Office, spawning: Spawning) -> None:
    offers, office.offers = office.offers, []
    batch = office.begin(*large(), rounds=2)
    office.offers = offers
    office.batches.cancel(batch)
    office.clerk.round()
    assert (office.now(batch).status, spawning.made) == (Status.CANCELLED, [])


def test_those_at_work_end_with_the_clerk(office: Office) -> None:
    spawning, stop = Spawning(office), threading.Event()
    office.begin(*large(), rounds=0)
    thread = threading.Thread(target=run_clerk, args=(office.desk, stop, spawning), kwargs={"every_s": 0.01})
    thread.start()
    while not spawning.made:
        stop.wait(0.01)
    stop.set()
    thread.join(20)
    assert [process.calls for process in spawning.made] == [["terminate", "wait"]]


def test_a_store_that_is_away_is_waited_for(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    stop, asked = threading.Event(), []
    office.begin(request("a"), rounds=0)

    def away(name: str, _arguments: tuple[Any, ...]) -> None:
        asked.append(name)
        if len(asked) < 3:
            raise StoreError("the disk is away")
        if len(office.truth.jobs()) == 1:
            stop.set()

    run_clerk(office.other_clerk(away).desk, stop, every_s=0.001)
    assert "the disk is away" in caplog.text
    assert len(office.truth.jobs()) == 1
