"""A process says that somebody waits for its speech requests, and only as long as somebody does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from jobs.errors import BrokerUnavailable
from jobs.waiting import Waiting


class Told:
    """Stands for the truth: notes what it is told, and may be away."""

    def __init__(self, *, away: int = 0) -> None:
        self.calls: list[list[str]] = []
        self._away = away
        self.twice = threading.Event()

    def still_wanted(self, jobs: Sequence[str]) -> None:
        if self._away:
            self._away -= 1
            msg = "away"
            raise BrokerUnavailable(msg)
        self.calls.append(list(jobs))
        if len(self.calls) == 2:
            self.twice.set()


def waiting_over(truth: Any) -> Waiting:
    return Waiting(truth)


def test_all_are_named_in_one_call_as_long_as_somebody_waits():
    truth = Told()
    waiting = waiting_over(truth)
    waiting.say()
    with waiting.for_request("b"):
        with waiting.for_request("a"):
            waiting.say()
        waiting.say()
    waiting.say()
    assert truth.calls == [["a", "b"], ["b"]]


def test_it_goes_on_after_the_broker_was_away():
    truth, stop = Told(away=2), threading.Event()
    waiting = waiting_over(truth)
    with waiting.for_request("a"):
        thread = threading.Thread(target=waiting.run, args=(stop,), kwargs={"every_s": 0.01})
        thread.start()
        assert truth.twice.wait(10)
        stop.set()
        thread.join(10)
    assert not thread.is_alive()
    assert truth.calls[:2] == [["a"], ["a"]]
