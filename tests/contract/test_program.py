"""What every model promises: a new one gets these tests by its line in `tests.contract.programs`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.engine import UtteranceEngine
from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import TokenInputs
from engine.tokens.options import EngineOptions
from models import registry
from models.errors import BadPrompt, UnknownVoice
from tests.contract.programs import SUBJECTS

ROUNDING = {"rtol": 0.0, "atol": 5e-5}
"""Batches of another size may round otherwise (float32)."""
FRAMES = 24


@pytest.fixture(scope="module", params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request):
    return request.param


@pytest.fixture(scope="module")
def model(subject, request, tmp_path_factory):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return subject.load(request, tmp_path_factory.mktemp(subject.name))


def make_engine(model, slots=4):
    if model.card.lane == "utterance":
        return UtteranceEngine(model.program, num_slots=slots)
    return TokenEngine(model.program, EngineOptions(num_slots=slots, max_tokens=512, page_size=16))


def request_of(model, prompt, number, *, seed=None, live=False):
    """A request; of a token model at most `FRAMES` long, since random weights never stop."""
    prepared = model.prepare(prompt)
    inputs = prepared.inputs
    if isinstance(inputs, TokenInputs):
        most = FRAMES * model.program.tokens_per_frame
        inputs = replace(inputs, budget_tokens=min(most, inputs.budget_tokens), budget_finish=FinishReason.STOP)
    seed = 10 + number if seed is None else seed
    return Request(f"r{number}", inputs, seed, prepared.length_hint, prepared.group, live)


def run(engine, requests):
    """Samples of each request, put together, and its last delta."""
    pieces = {request.request_id: [] for request in requests}
    last = {}
    for request in requests:
        engine.add(request)
    while not engine.idle:
        for delta in engine.step():
            kept = pieces[delta.request_id]
            assert delta.request_id not in last, "nothing comes after the last delta"
            assert delta.start_sample == sum(map(len, kept)), "deltas follow each other without gaps"
            kept.append(delta.samples)
            if delta.last:
                last[delta.request_id] = delta
    assert last.keys() == pieces.keys()
    return {name: np.concatenate(parts) for name, parts in pieces.items()}, last


@pytest.fixture(scope="module")
def together(subject, model):
    """Samples of all its texts, spoken in one batch."""
    requests = [request_of(model, prompt, number) for number, prompt in enumerate(subject.prompts(model))]
    samples, last = run(make_engine(model), requests)
    assert {delta.finish for delta in last.values()} == {FinishReason.STOP}
    return samples


def test_its_card_says_what_people_and_planner_need(model):
    card = model.card
    assert card.lane in {"utterance", "token"}
    assert card.voice(card.default_voice) is not None
    assert all(voice.licence and voice.language and voice.revision for voice in card.voices)
    assert 0 <= card.pack_chars <= card.max_chars
    assert card.min_speed <= 1.0 <= card.max_speed
    assert card.numerics
    assert set(card.devices) & {"cpu", "cuda"}


def test_it_has_a_test_against_a_reference(subject):
    assert Path(__file__).parents[2].joinpath(subject.parity).is_file()


def test_a_segment_sounds_the_same_alone_and_in_a_batch(subject, model, together):
    for number, prompt in enumerate(subject.prompts(model)):
        alone, _ = run(make_engine(model), [request_of(model, prompt, number)])
        assert len(alone[f"r{number}"]) > 0
        np.testing.assert_allclose(together[f"r{number}"], alone[f"r{number}"], **ROUNDING)


def test_small_live_chunks_join_to_the_whole(subject, model, together):
    live = [request_of(model, prompt, number, live=True) for number, prompt in enumerate(subject.prompts(model)[:2])]
    for name, samples in run(make_engine(model), live)[0].items():
        np.testing.assert_allclose(samples, together[name], **ROUNDING)


def test_its_noise_is_keyed_by_the_seed(subject, model):
    prompt = subject.prompts(model)[0]
    first, _ = run(make_engine(model), [request_of(model, prompt, 0, seed=5)])
    again, _ = run(make_engine(model), [request_of(model, prompt, 0, seed=5)])
    other, _ = run(make_engine(model), [request_of(model, prompt, 0, seed=6)])
    assert np.array_equal(first["r0"], again["r0"])
    if subject.draws:
        assert not np.array_equal(first["r0"], other["r0"])


def test_a_cancelled_request_ends_at_once_and_harms_nobody(subject, model, together):
    prompts = subject.prompts(model)
    engine = make_engine(model)
    for number in (0, 1):
        engine.add(request_of(model, prompts[number], number))
    deltas = engine.step()
    engine.cancel("r1")
    while not engine.idle:
        deltas += engine.step()
    finishes = {delta.request_id: delta.finish for delta in deltas if delta.last}
    assert finishes == {"r0": FinishReason.STOP, "r1": FinishReason.CANCELLED}
    kept = np.concatenate([delta.samples for delta in deltas if delta.request_id == "r0"])
    np.testing.assert_allclose(kept, together["r0"], **ROUNDING)


def test_a_budget_that_runs_out_is_told(subject, model):
    prepared = model.prepare(subject.prompts(model)[1])
    if not isinstance(prepared.inputs, TokenInputs):
        pytest.skip("models of the utterance lane know how long a segment is before they speak")
    tokens = 2 * model.program.tokens_per_frame
    inputs = replace(prepared.inputs, budget_tokens=tokens, min_tokens=tokens)
    _, last = run(make_engine(model), [Request("r0", inputs, 1, prepared.length_hint)])
    assert last["r0"].finish is FinishReason.BUDGET


def test_bad_input_is_refused_with_what_to_do(subject, model):
    good = subject.prompts(model)[0]
    for text in ("", " \n", "…"):
        with pytest.raises(BadPrompt):
            model.prepare(replace(good, spoken=text))
    with pytest.raises(BadPrompt, match=r"split"):
        model.prepare(replace(good, spoken="word " * 2000))
    with pytest.raises(BadPrompt, match="speed"):
        model.prepare(replace(good, speed=9.0))
    if subject.tongues:
        with pytest.raises(BadPrompt, match="tlh"):
            model.prepare(replace(good, language="tlh"))
    with pytest.raises(UnknownVoice, match="nobody"):
        model.prepare(replace(good, voice="nobody"))


def test_every_model_of_the_table_is_held(subject):
    known = {one.name for one in SUBJECTS}
    assert all(any(name == one or name.startswith(f"{one}-") for one in known) for name in registry.names())
