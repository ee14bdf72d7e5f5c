"""Reference implementations that cannot be imported beside ours: they run in a process of their own.

TEST_REFERENCES names a folder with a folder of packages for each; `make references` fills `.references`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIMIT_S = 300


def packages(name: str) -> Path:
    """The folder of a reference's packages. Where it is not there the test is skipped, in CI it fails."""
    folder = Path(os.environ.get("TEST_REFERENCES", ROOT / ".references")) / name
    if not folder.is_dir():
        reason = f"the reference packages are not in {folder}; get them by `make references`"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def run_reference(script: str, name: str, out: Path) -> None:
    """Run `tests/reference/<script> PACKAGES OUT`; its output is shown if it fails."""
    command = [sys.executable, str(ROOT / "tests" / "reference" / script), str(packages(name)), str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TRANSFORMERS_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
