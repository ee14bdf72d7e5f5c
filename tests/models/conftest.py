"""The tiny Orpheus checkpoint, made once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_orpheus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; not to be changed by a test."""
    from tests.helpers_orpheus import make_tiny_orpheus  # torch: not for tests of models without it

    folder = tmp_path_factory.mktemp("tiny-orpheus")
    make_tiny_orpheus(folder)
    return folder
