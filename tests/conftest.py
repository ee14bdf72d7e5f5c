"""What holds for all tests: in CI property tests draw the same examples every time, at home new ones.

Without a GPU Triton's kernels run in its interpreter; it must know before any kernel is defined.
"""

from __future__ import annotations

import os
import shutil

from hypothesis import settings

if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
