"""What holds for all tests: in CI property tests draw the same examples every time, at home new ones.

Without a GPU Triton's kernels run in its interpreter; it must know before any kernel is defined.
Tiny checkpoints that several rooms' tests read are made once.
Folders whose files take minutes come first, so that no process is left with one of them at the end.
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


SLOW_FOLDERS = ("fault", "doors", "workers", "cli", "contract", "models")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow folders first, in this order; within a folder everything stays as it was collected."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(here).parts[0]
        return SLOW_FOLDERS.index(folder) if folder in SLOW_FOLDERS else len(SLOW_FOLDERS)

    items.sort(key=rank)


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
