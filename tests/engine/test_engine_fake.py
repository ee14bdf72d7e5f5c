"""The engine with the shipped fake: the same samples alone, in any batch, whole or in chunks; faults stay at home."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.engine import UtteranceEngine
from engine.request import FinishReason, Request
from models import registry
from models.base import Prompt
from models.fake.hearing import transcribe
from models.fake.score import notes_of
from tests.engine.programs import by_request, check_whole, drain

MODEL = registry.load("fake")
TEXTS = [
    "Call me Ishmael.",
    "Some years ago, never mind how long precisely, I thought I would sail about a little.",
    "No.",
    "It is a way I have of driving off the spleen and regulating the circulation.",
]


def fake_request(name: str, text: str, *, seed: int = 7, live: bool = False) -> Request:
    prepared = MODEL.prepare(Prompt(text, "tone", "en"))
    return Request(name, prepared.inputs, seed, prepared.length_hint, prepared.group, live)


def whole(text: str, seed: int) -> np.ndarray:
    program = MODEL.program
    (latent,) = program.encode([fake_request("x", text, seed=seed)])
    return program.decode(latent, 0, latent.num_frames)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 2**63 - 1), st.booleans()), min_size=1, max_size=12))
def test_any_company_and_any_cut_gives_the_same_samples(script):
    engine = UtteranceEngine(MODEL.program, num_slots=12)
    for index, (text, seed, live) in enumerate(script):
        engine.add(fake_request(str(index), text, seed=seed, live=live))
    for name, parts in by_request(drain(engine)).items():
        text, seed, _ = script[int(name)]
        assert np.array_equal(check_whole(parts), whole(text, seed))


@pytest.mark.parametrize("mark", ["oom", "error", "nan"])
def test_a_marked_text_fails_alone(mark):
    engine = UtteranceEngine(MODEL.program, num_slots=8)
    for index, text in enumerate(TEXTS):
        engine.add(fake_request(str(index), text))
    engine.add(fake_request("bad", f"Nothing good [[fault:{mark}]] comes of this."))
    parts = by_request(drain(engine))
    assert parts["bad"][-1].finish is FinishReason.ERROR
    assert parts["bad"][-1].error
    for index, text in enumerate(TEXTS):
        assert transcribe(check_whole(parts[str(index)])) == notes_of(text)
