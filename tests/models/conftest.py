"""Tiny checkpoints that several tests read, made once."""

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


@pytest.fixture(scope="session")
def reference_qwen12(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that tests/reference/qwen12.py fills; not to be changed by a test."""
    from tests.helpers_reference import run_reference

    folder = tmp_path_factory.mktemp("qwen12")
    run_reference("qwen12.py", "qwen", folder)
    return folder
