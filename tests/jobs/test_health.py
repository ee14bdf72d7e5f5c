"""The checkup: true, bounded in time, and not asked again by every caller."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from jobs.connect import Broker, open_broker
from jobs.errors import BrokerUnavailable, StoreError
from jobs.health import Checkup, PartDown, Watch, in_time
from jobs.settings import Settings
from jobs.stores import MemoryStore
from tests.helpers_truth import worker


@pytest.fixture
def broker() -> Broker:
    return open_broker("memory://", Settings())


class Counted:
    def __init__(self, check: Callable[[], int]) -> None:
        self.calls = 0
        self._check = check

    def __call__(self) -> int:
        self.calls += 1
        return self._check()


def test_an_answer_is_kept_for_a_while():
    check = Counted(lambda: 7)
    watch = Watch("thing", check, wait_s=5.0, kept_s=60.0)
    assert [watch.look() for _ in range(5)] == [7] * 5
    assert check.calls == 1


def test_an_answer_that_is_old_is_asked_for_anew():
    check = Counted(lambda: check.calls)
    watch = Watch("thing", check, wait_s=5.0, kept_s=0.0)
    assert [watch.look() for _ in range(3)] == [1, 2, 3]


def test_an_error_is_told_and_kept_too():
    def fail() -> int:
        msg = "no disk"
        raise StoreError(msg)

    check = Counted(fail)
    watch = Watch("store", check, wait_s=5.0, kept_s=60.0)
    for _ in range(3):
        with pytest.raises(PartDown, match="no disk"):
            watch.look()
    assert check.calls == 1


def test_a_check_that_hangs_is_waited_for_once_and_asked_once():
    free = threading.Event()
    check = Counted(lambda: free.wait(30) and 1)
    watch = Watch("broker", check, wait_s=0.05, kept_s=0.0)
    for _ in range(3):
        with pytest.raises(PartDown, match="no answer within"):
            watch.look()
    assert check.calls == 1
    free.set()
    while True:
        try:
            assert watch.look() == 1
        except PartDown:
            continue
        break
    assert check.calls in {1, 2}


def test_many_callers_share_one_check():
    begun, free = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        free.wait(30)
        return 3

    check, answers = Counted(slow), []
    watch = Watch("thing", check, wait_s=30.0, kept_s=60.0)
    threads = [threading.Thread(target=lambda: answers.append(watch.look())) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    free.set()
    for thread in threads:
        thread.join(10)
    assert answers == [3] * 8
    assert check.calls == 1


def test_who_hangs_is_not_waited_for():
    free = threading.Event()
    assert in_time(lambda: 3, wait_s=30.0) == 3
    assert in_time(lambda: free.wait(30), wait_s=0.01) is None
    free.set()


def test_all_well(broker: Broker):
    store = MemoryStore()
    broker.truth.register(worker("w", "m@1"))
    health = Checkup(broker, lambda: store).look()
    assert health.works
    assert health.crew is not None
    assert health.crew.by_device == {"cpu": 1}
    assert health.problems.keys() == {"workers"}, "a worker that offers nothing speaks nothing"
    assert list(store.list("")) == [], "the probe is deleted"


def test_no_worker_is_a_problem_but_work_can_be_taken(broker: Broker):
    health = Checkup(broker, MemoryStore).look()
    assert health.works
    assert "jobs wait" in health.problems["workers"]


def test_a_broker_that_is_away_is_named(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    def gone(*_: object) -> None:
        msg = "nothing answers at redis://x"
        raise BrokerUnavailable(msg)

    monkeypatch.setattr(type(broker.truth), "workers", gone)
    health = Checkup(broker, MemoryStore).look()
    assert not health.works
    assert health.crew is None
    assert health.problems == {"broker": "nothing answers at redis://x"}


@pytest.mark.parametrize("method", ["put", "get", "delete"])
def test_a_store_that_does_not_work_is_named(broker: Broker, monkeypatch: pytest.MonkeyPatch, method):
    def full(*_: object) -> None:
        msg = "no space left"
        raise StoreError(msg)

    monkeypatch.setattr(MemoryStore, method, full)
    health = Checkup(broker, MemoryStore).look()
    assert not health.works
    assert health.problems["store"] == "no space left"


def test_a_store_that_gives_back_other_bytes_is_named(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    store = MemoryStore()
    monkeypatch.setattr(MemoryStore, "get", lambda *_: b"")
    assert "other bytes" in Checkup(broker, lambda: store).look().problems["store"]
