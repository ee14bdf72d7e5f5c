"""What holds for all tests: in CI property tests draw the same examples every time, at home new ones.

Without a GPU Triton's kernels run in its interpreter; it must know before any kernel is defined.
Tiny checkpoints that several rooms' tests read are made once.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers_reference import run_reference

if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


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
    folder = tmp_path_factory.mktemp("qwen12")
    run_reference("qwen12.py", "qwen", folder)
    return folder


@pytest.fixture(scope="session")
def reference_qwen3_tts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that tests/reference/qwen3_tts.py fills; not to be changed by a test."""
    folder = tmp_path_factory.mktemp("qwen3-tts")
    run_reference("qwen3_tts.py", "qwen", folder)
    return folder
