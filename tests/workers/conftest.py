"""Fixtures of the machine room: walls in memory, waits made short, a gate that is opened at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jobs.kinds import Grade
from jobs.verdict import Verdict
from tests.workers.making import Gate, Stage
from workers import intake, judging, keeping, telling


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(intake, "IDLE_WAIT_S", 0.02)
    for module in (intake, telling):
        monkeypatch.setattr(module, "BROKER_WAIT_S", 0.01)
    monkeypatch.setattr(keeping, "STORE_WAIT_S", 0.001)
    return Stage()


@pytest.fixture
def all_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random audio is no speech: the checks say nothing against it here."""
    monkeypatch.setattr(judging, "check_take", lambda _samples, _facts: Verdict(grade=Grade.GOOD))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.free()
