"""Fixtures of the door tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.doors.page_browser import browser
from tests.helpers_cli import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One for all tests of a file. Not for more: where it is open, no other event loop can run."""
    with browser() as started:
        yield started
