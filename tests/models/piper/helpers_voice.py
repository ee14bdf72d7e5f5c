"""The real voice for the tests of models/piper, or the reason why they skip; sentences and requests."""

from __future__ import annotations

import importlib.util
import os
import random

import pytest

from engine.request import Request
from models.piper.program import PiperInputs, PiperProgram
from models.piper.vits import Pace

SENTENCES = [
    "Yes.",
    "It did not.",
    "She asked whether the last train would wait for them.",
    "The ferry left the harbour before the fog had lifted, and nobody waved.",
    "Bread, salt, and a little wine were all that was left in the house!",
    "Who would have told the gardener? Nobody; he knew.",
    "He counted the coins twice, put them back into the tin, and said nothing.",
    "A narrow road climbs from the village to the chapel on the hill.",
    "Rain.",
    "When the rain finally stopped, the children ran into the garden and shouted at the top of their voices.",
]
WORDS = ["rain", "house", "ferry", "narrow", "twice", "would", "garden", "nobody", "coins", "salt", "wait", "seven"]


def needs(package: str) -> None:
    """Skip without the package; on CI its absence is a failure."""
    if importlib.util.find_spec(package) is None:
        reason = f"the package {package} is not installed (extras voice-joe and test)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def random_texts(seed: int, count: int) -> list[str]:
    """Texts of one to thirty words."""
    rng = random.Random(seed)
    lengths = [1, 2, 30, *(rng.randint(1, 12) for _ in range(count - 3))]
    return [" ".join(rng.choices(WORDS, k=length)).capitalize() + rng.choice(".?!") for length in lengths]


def request(inputs: PiperInputs, seed: int) -> Request:
    return Request(f"r{seed}", inputs, seed=seed, length_hint=len(inputs.ids), group=inputs.voice)


def silent(inputs: PiperInputs, length_scale: float = 1.0) -> PiperInputs:
    """The same ids without noise: the only setting in which other engines can be compared."""
    return PiperInputs(inputs.voice, inputs.ids, Pace(0.0, 0.0, length_scale))


def pcm(program: PiperProgram, latent: object) -> bytes:
    """The whole utterance on the fixed grid of chunks, as 16-bit samples."""
    import numpy as np

    step = program.chunk_frames
    frames = latent.num_frames
    parts = [program.decode(latent, at, min(at + step, frames)) for at in range(0, frames, step)]
    return (np.concatenate(parts) * 32767).astype("<i2").tobytes()
