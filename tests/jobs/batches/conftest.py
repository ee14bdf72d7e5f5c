"""Fixtures of the tests of batches."""

from __future__ import annotations

import pytest

from tests.jobs.batches.office import Office


@pytest.fixture
def office() -> Office:
    return Office()
