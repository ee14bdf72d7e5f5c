"""Signs of life: those that speak by their heartbeats, those for steps by their answers, each kind if it is named."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from jobs.settings import Settings
from workers import checkup

HERE = socket.gethostname()


def status(worker, host=HERE, age_s=0.5):
    return SimpleNamespace(info=SimpleNamespace(worker=worker, host=host), beat_age_s=age_s, slots_busy=2)


def looked(monkeypatch, kind, *, speaking=(), answering=()):
    asked = []

    def answers(url):
        asked.append(url)
        return list(answering)

    monkeypatch.setattr(checkup, "answering_workers", answers)
    truth = SimpleNamespace(workers=lambda: list(speaking))
    return checkup.signs_of_life(truth, Settings(broker="redis://b"), kind), bool(asked)


@pytest.mark.parametrize(
    ("kind", "signs", "asks"),
    [
        (None, ["w: last heartbeat 0.5 s ago, 2 slots busy"], False),
        ("gpu", ["w: last heartbeat 0.5 s ago, 2 slots busy"], False),
        ("cpu", [f"cpu-1@{HERE}: answers"], True),
    ],
)
def test_each_kind_is_told_by_its_own_sign(monkeypatch, kind, signs, asks):
    speaking, answering = [status("w")], [f"cpu-1@{HERE}", "cpu-2@elsewhere"]
    assert looked(monkeypatch, kind, speaking=speaking, answering=answering) == (signs, asks)


@pytest.mark.parametrize(("kind", "signs"), [(None, [f"cpu-1@{HERE}: answers"]), ("gpu", []), ("cpu", [])])
def test_the_dead_and_those_of_other_machines_do_not_count(monkeypatch, kind, signs):
    speaking = [status("old", age_s=99.0), status("far", host="elsewhere")]
    answering = [f"cpu-1@{HERE}"] if kind is None else ["cpu-2@elsewhere"]
    assert looked(monkeypatch, kind, speaking=speaking, answering=answering)[0] == signs
