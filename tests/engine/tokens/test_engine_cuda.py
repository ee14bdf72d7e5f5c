"""The token engine on a CUDA device, where the host runs ahead: graphs = eager, in any company, and nothing is lost."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import TokenInputs
from engine.tokens.options import EngineOptions
from tests.engine.tokens.programs import CONFIG, SmallProgram
from tests.engine.tokens.test_engine import SAMPLED, WINDOWS, Heard, make_request

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

VOICE = tuple(range(1, 38))
CANCELLED = {"r7", "r20", "r33"}


@pytest.fixture(scope="module")
def program():
    wide = dataclasses.replace(CONFIG, head_dim=16)
    return SmallProgram(config=wide, noise=True, device=torch.device("cuda"))


def requests():
    """Requests that stop or use up their budget, some live, some with a common beginning."""
    for number in range(60):
        request = make_request(number, budget=20 + 13 * number % 120, live=number % 7 == 0)
        if number % 3 == 0:
            inputs = TokenInputs((*VOICE, number % 40), 40 + number, SAMPLED, shared_rows=len(VOICE))
            request = Request(request.request_id, inputs, request.seed, len(inputs.ids), live=request.live)
        yield request


def run(program, order, *, slots=17, **options):
    """Run all; the cancelled ones go three steps after they were added."""
    engine = TokenEngine(
        program, EngineOptions(num_slots=slots, page_size=16, max_rows=64, max_tokens=256, **options), WINDOWS
    )
    engine.warm()
    heard, waiting, doomed = Heard(), list(order), {}
    for step in range(3000):
        while engine.free_slots and waiting:
            engine.add(request := waiting.pop(0))
            if request.request_id in CANCELLED:
                doomed[request.request_id] = step + 3
        for request_id in [one for one, at in doomed.items() if at == step and one not in heard.finish]:
            engine.cancel(request_id)
        heard.take(engine.step())
        if engine.idle and not waiting:
            break
    assert len(heard.finish) == 60
    assert engine._pool.num_free == engine._runner.num_pages - 1
    return heard


def same(left, right):
    whole = [one for one in left.finish if FinishReason.CANCELLED not in (left.finish[one], right.finish[one])]
    assert len(whole) >= 57
    assert all(left.finish[one] is right.finish[one] for one in whole)
    for one in whole:
        np.testing.assert_allclose(left.audio(one), right.audio(one), rtol=0, atol=1e-5)


@pytest.mark.parametrize("attention", ["triton", "torch"])
def test_graphs_and_eager_give_the_same_in_any_company(program, attention):
    order = list(requests())
    first = run(program, order, deterministic=True, attention=attention)
    assert {FinishReason.STOP, FinishReason.BUDGET, FinishReason.CANCELLED} <= set(first.finish.values())
    same(first, run(program, order[::-1], deterministic=True, attention=attention))
    same(first, run(program, order[::2] + order[1::2], deterministic=True, attention=attention, eager=True))


def test_the_default_engine_ends_every_request_too(program):
    heard = run(program, list(requests()))
    assert {heard.finish[one] for one in CANCELLED} & {FinishReason.CANCELLED}
