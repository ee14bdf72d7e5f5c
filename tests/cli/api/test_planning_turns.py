"""Turns: so many at once, so many wait, the others are told to come again."""

from __future__ import annotations

import threading

import pytest

from cli.api.errors import ApiError
from cli.api.planning_turns import Turns
from tests.helpers_cli import wait_until


def test_a_turn_after_another():
    turns = Turns(at_once=1, waiting=0)
    for _ in range(3):
        with turns.turn():
            pass


def test_who_waits_gets_the_next_turn_and_the_others_are_sent_away():
    turns, begun, go_on = Turns(at_once=1, waiting=1, wait_s=30), threading.Event(), threading.Event()
    done: list[str] = []

    def work(name: str) -> None:
        with turns.turn():
            begun.set()
            go_on.wait(30)
            done.append(name)

    first, second = (threading.Thread(target=work, args=(name,)) for name in ("first", "second"))
    first.start()
    assert begun.wait(30)
    second.start()
    wait_until(lambda: turns._room._value == 0, "the second one waits")
    with pytest.raises(ApiError, match="plans 1 sources at one time") as caught, turns.turn():
        pass
    assert (caught.value.status, caught.value.body.code) == (503, "planning_is_busy")
    assert int(caught.value.headers["Retry-After"]) > 0
    go_on.set()
    first.join()
    second.join()
    assert done == ["first", "second"]


def test_a_turn_that_does_not_come_in_time():
    turns = Turns(at_once=1, waiting=1, wait_s=0.01)
    with turns.turn(), pytest.raises(ApiError), turns.turn():
        pass
    with turns.turn():
        pass


def test_a_turn_that_fails_is_given_back():
    turns = Turns(at_once=1, waiting=0)
    for _ in range(3):
        with pytest.raises(KeyError), turns.turn():
            raise KeyError
