"""The clerk and the processes that it has for large batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from jobs import keys
from jobs.batches import clerk as clerks
from jobs.batches.claims import Claims
from jobs.batches.clerk import Clerk, run_clerk
from jobs.batches.records import Counts, Status
from jobs.errors import BrokerUnavailable, JobsError, StoreError
from jobs.truth.calls import Calls, make_client
from tests.helpers_valkey import ValkeyServer, shared_server
from tests.jobs.batches.office import Office, jsonl, request
from tests.workers.making import until

LARGE = 12
CLAIM_S = 0.3


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


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clerks, "LARGE_LINES", LARGE)
    monkeypatch.setattr(clerks, "LARGE_FILE_BYTES", len(jsonl(large(LARGE))))


def large(count: int = LARGE + 1) -> list[dict[str, Any]]:
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
    assert office.now(batch).counts == Counts(total=LARGE + 1, completed=LARGE + 1)
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


@pytest.fixture
def calls() -> Iterator[Calls]:
    server = shared_server()
    server.flush()
    client = make_client(server.url)
    yield Calls(client)
    client.close()


@pytest.mark.services
def test_one_of_two_servers_has_the_process(office: Office, spawning: Spawning, calls: Calls) -> None:
    office.clerk.claims = Claims(calls)
    beside, later = Spawning(office), Spawning(office)
    other = Clerk(office.desk, spawn=beside, claims=Claims(calls))
    batch = office.begin(*large())
    for clerk in (other, office.clerk, other):
        clerk.round()
    assert (len(spawning.made), len(beside.made)) == (1, 0)
    small = office.begin(request("a"), rounds=0)
    other.round()
    assert office.now(small).status is Status.IN_PROGRESS
    spawning.made[0].end()
    office.clerk.round()
    office.work()
    other.round()
    office.clerk.round()
    assert (len(spawning.made), len(beside.made)) == (2, 0)  # it claimed it for its beginning a moment ago
    office.clerk.close()
    Clerk(office.desk, spawn=later, claims=Claims(calls)).round()
    assert [process.batch for process in later.made] == [batch]


@pytest.mark.services
def test_a_server_that_cannot_start_a_process_leaves_it_to_others(
    office: Office, calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(batch: str) -> Process:
        raise JobsError(f"no process for {batch}")

    full, beside = Clerk(office.desk, spawn=no_room, claims=Claims(calls)), Spawning(office)
    office.begin(*large(), rounds=0)
    full.round()
    assert "no process for batch_" in caplog.text
    Clerk(office.desk, spawn=beside, claims=Claims(calls)).round()
    assert len(beside.made) == 1


@pytest.mark.services
def test_the_claim_of_a_server_that_died_is_free_after_a_while(calls: Calls) -> None:
    dead, other = Claims(calls, kept_s=CLAIM_S), Claims(calls, kept_s=CLAIM_S)
    assert dead.hold("a")
    assert not other.hold("a")
    assert other.hold("b")
    other.leave("a")
    assert not other.hold("a")
    until(lambda: other.hold("a"), "the dead one's batch is free")
    dead.leave("a")
    assert not dead.hold("a")


@pytest.mark.services
def test_a_claim_that_is_held_again_is_kept(calls: Calls) -> None:
    claims = Claims(calls, kept_s=60.0)
    assert claims.hold("a")
    key = f"{keys.CLAIMS}a"
    calls.client.pexpire(key, 1000)
    assert claims.hold("a")
    assert calls.client.pttl(key) > 1000
    claims.leave("a")
    assert not calls.client.exists(key)


@pytest.mark.services
def test_without_a_broker_a_claim_is_left_all_the_same() -> None:
    server = ValkeyServer().start()
    client = make_client(server.url)
    try:
        claims = Claims(Calls(client, retry_for_s=0.0))
        assert claims.hold("a")
        server.kill()
        claims.leave("a")
        with pytest.raises(BrokerUnavailable):
            claims.hold("a")
    finally:
        client.close()
