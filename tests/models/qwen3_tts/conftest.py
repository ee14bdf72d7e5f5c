"""What the reference package makes of tiny random checkpoints, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers_reference import run_reference


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that tests/reference/qwen3_tts.py fills; not to be changed by a test."""
    folder = tmp_path_factory.mktemp("qwen3-tts")
    run_reference("qwen3_tts.py", "qwen", folder)
    return folder
