"""What the reference package decodes from a tiny random checkpoint, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers_reference import run_reference


@pytest.fixture(scope="session")
def reference_qwen12(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that tests/reference/qwen12.py fills; not to be changed by a test."""
    folder = tmp_path_factory.mktemp("qwen12")
    run_reference("qwen12.py", "qwen", folder)
    return folder
