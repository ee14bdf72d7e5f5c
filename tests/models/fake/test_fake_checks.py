"""What the checks that need no recogniser make of the fake's planted faults, sung by its program through the engine."""

from __future__ import annotations

import pytest

from tests.bench.checks import CLEAN, FAULTS, fake_found, shares


@pytest.mark.slow
def test_planted_faults_are_found_and_clean_takes_left_alone():
    found = shares(fake_found(2_000, 100))
    assert set(found) == {CLEAN, *map(str, FAULTS)}
    assert all(count == 100 for kind, (_, count) in found.items() if kind != CLEAN)
    alarms, clean = found.pop(CLEAN)
    assert clean == 1_000
    assert alarms <= 10
    assert sum(caught for caught, _ in found.values()) >= 990
    for kind, (caught, _) in found.items():
        assert caught >= 97, kind


@pytest.mark.parametrize("speed", [0.6, 1.7])
def test_other_seeds_and_speeds_fare_as_well(speed):
    found = shares(fake_found(150, 5, seed=7, speed=speed))
    alarms, clean = found.pop(CLEAN)
    assert alarms <= 0.02 * clean
    assert sum(caught for caught, _ in found.values()) >= 0.98 * sum(count for _, count in found.values())
