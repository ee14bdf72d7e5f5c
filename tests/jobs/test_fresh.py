"""A value that is read anew when it is old, once for all who ask."""

from __future__ import annotations

import threading

import pytest

from jobs import fresh as fresh_module
from jobs.fresh import Fresh


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now_s = [100.0]
    monkeypatch.setattr(fresh_module.time, "monotonic", lambda: now_s[0])
    return now_s


def test_it_is_read_anew_when_it_is_old(clock: list[float]):
    values = iter(range(10))
    value = Fresh(lambda: next(values), kept_s=1.0)
    assert (value.get(), value.get()) == (0, 0)
    clock[0] += 0.9
    assert value.get() == 0
    clock[0] += 0.1
    assert value.get() == 1
    clock[0] += 0.5
    assert value.get(no_older_than_s=0) == 2
    assert value.get() == 2


def test_an_error_is_not_kept(clock: list[float]):
    answers = iter([ValueError("away"), 7])

    def read() -> int:
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    value = Fresh(read, kept_s=1.0)
    with pytest.raises(ValueError, match="away"):
        value.get()
    assert value.get() == 7


def test_many_who_ask_at_once_share_one_reading():
    reads, begun, go = [], threading.Event(), threading.Event()

    def read() -> int:
        reads.append(1)
        begun.set()
        go.wait(10)
        return 5

    value = Fresh(read, kept_s=60.0)
    got: list[int] = []
    threads = [threading.Thread(target=lambda: got.append(value.get())) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    go.set()
    for thread in threads:
        thread.join(10)
    assert got == [5] * 8
    assert len(reads) == 1
