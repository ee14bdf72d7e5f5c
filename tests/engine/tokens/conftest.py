"""Small matrices gain nothing from a second thread, and lose a lot when the other core is busy."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)
