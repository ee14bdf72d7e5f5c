"""The token engine on the CPU: requests end once, alone = in company, chunked = whole, budgets, cancels, pages."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import DuplicateRequest, SlotsFull, UnknownRequest
from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import Sampling, TokenInputs
from engine.tokens.options import EngineOptions
from engine.tokens.windows import WindowPolicy
from tests.engine.tokens.programs import HOP, PER_FRAME, SmallProgram

PROGRAM = SmallProgram()
NOISY = SmallProgram(noise=True)
WINDOWS = WindowPolicy(
    first_frames=(1, 2), sizes=(1, 2, 4, 8), bulk_frames=8, context_frames=2, max_batch=4, patience_steps=5
)
SAMPLED = Sampling(temperature=0.9, top_p=0.95, penalty=1.2)
GREEDY = Sampling(temperature=0.0, penalty=1.1)


def make_engine(program=PROGRAM, **options):
    return TokenEngine(program, EngineOptions(page_size=8, max_rows=64, max_tokens=200, **options), WINDOWS)


def make_request(number, *, budget=60, sampling=SAMPLED, rows=None, live=False, **inputs):
    rng = np.random.default_rng(number)
    ids = tuple(int(one) for one in rng.integers(0, 40, rows or 3 + number % 9))
    return Request(f"r{number}", TokenInputs(ids, budget, sampling, **inputs), 1000 + number, len(ids), live=live)


class Heard:
    """What came out, checked for order and gaps as it comes."""

    def __init__(self):
        self.pieces, self.finish, self.errors = {}, {}, {}

    def take(self, deltas):
        for delta in deltas:
            assert delta.request_id not in self.finish, "a delta after the last one"
            pieces = self.pieces.setdefault(delta.request_id, [])
            assert delta.start_sample == sum(len(piece) for piece in pieces)
            pieces.append(delta.samples)
            if delta.last:
                self.finish[delta.request_id] = delta.finish
                self.errors[delta.request_id] = delta.error

    def audio(self, request_id):
        return np.concatenate(self.pieces[request_id])


def run(engine, requests, *, per_step=1000):
    heard, waiting = Heard(), list(requests)
    for _ in range(5000):
        for _ in range(min(per_step, engine.free_slots, len(waiting))):
            engine.add(waiting.pop(0))
        heard.take(engine.step())
        if engine.idle and not waiting:
            return heard
    raise AssertionError("the engine does not come to an end")


def alone(request, program=PROGRAM, **options):
    heard = run(make_engine(program, num_slots=1, **options), [request])
    return heard.audio(request.request_id), heard.finish[request.request_id]


@pytest.mark.parametrize("sampling", [SAMPLED, GREEDY], ids=["sampled", "greedy"])
def test_alone_is_in_company(sampling):
    requests = [make_request(k, budget=20 + 7 * k % 40, sampling=sampling, live=k % 5 == 0) for k in range(24)]
    heard = run(make_engine(NOISY, num_slots=17), requests, per_step=2)
    finishes = set()
    for request in requests:
        audio, finish = alone(request, NOISY)
        assert np.array_equal(heard.audio(request.request_id), audio)
        assert heard.finish[request.request_id] is finish
        finishes.add(finish)
    assert finishes == {FinishReason.STOP, FinishReason.BUDGET} or sampling is GREEDY
    assert len({heard.audio(request.request_id).tobytes() for request in requests}) > 15


def test_a_deterministic_engine_draws_the_same():
    requests = [make_request(k) for k in range(9)]
    heard = run(make_engine(num_slots=4, deterministic=True), requests)
    for request in requests:
        assert np.array_equal(heard.audio(request.request_id), alone(request)[0])


def test_chunked_is_whole():
    request = make_request(3, budget=150, min_tokens=150)
    live = dataclasses.replace(request, live=True)
    whole_policy = dataclasses.replace(WINDOWS, sizes=(64,), bulk_frames=64, first_frames=(64,))
    whole = run(
        TokenEngine(NOISY, EngineOptions(num_slots=1, page_size=8, max_rows=64, max_tokens=200), whole_policy),
        [request],
    )
    assert len(whole.pieces["r3"]) == 1
    for other in (request, live):
        heard = run(make_engine(NOISY, num_slots=1), [other])
        assert len(heard.pieces["r3"]) > 5
        np.testing.assert_allclose(heard.audio("r3"), whole.audio("r3"), rtol=0, atol=1e-6)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_request_ends_once_whatever_joins_leaves_or_is_cancelled(data):
    engine, heard = make_engine(num_slots=3), Heard()
    number, added, cancelled = 0, set(), set()
    for _ in range(data.draw(st.integers(1, 40))):
        if engine.free_slots and data.draw(st.booleans()):
            engine.add(make_request(number, budget=data.draw(st.integers(1, 40)), live=data.draw(st.booleans())))
            added.add(f"r{number}")
            number += 1
        running = sorted(added - set(heard.finish))
        if running and data.draw(st.integers(0, 5)) == 0:
            victim = data.draw(st.sampled_from(running))
            engine.cancel(victim)
            cancelled.add(victim)
        heard.take(engine.step())
        assert all(heard.finish.get(one) is FinishReason.CANCELLED for one in cancelled)
    for _ in range(500):
        heard.take(engine.step())
    assert engine.idle
    assert set(heard.finish) == added
    assert engine.free_slots == 3
    assert engine._pool.num_free == engine._runner.num_pages - 1
    for one in added - cancelled:
        audio, finish = alone(make_request(int(one[1:]), budget=40))
        if finish is FinishReason.STOP and heard.finish[one] is FinishReason.STOP:
            assert np.array_equal(heard.audio(one), audio)


def test_budget_and_its_finish():
    request = make_request(1, budget=32, min_tokens=32)
    audio, finish = alone(request)
    assert finish is FinishReason.BUDGET
    assert len(audio) == 32 // PER_FRAME * HOP
    stops = dataclasses.replace(request, inputs=dataclasses.replace(request.inputs, budget_finish=FinishReason.STOP))
    assert alone(stops)[1] is FinishReason.STOP


def test_no_whole_frame_is_an_empty_last_delta():
    audio, finish = alone(make_request(1, budget=2, min_tokens=2))
    assert (len(audio), finish) == (0, FinishReason.BUDGET)


def test_slots_are_refilled_at_once_and_counted():
    engine = make_engine(num_slots=4)
    requests = [make_request(k, budget=40, min_tokens=40) for k in range(24)]
    heard = run(engine, requests)
    stats = engine.stats()
    assert len(heard.finish) == stats.finished_requests == stats.prefilled_requests == 24
    assert stats.tokens == 24 * 40
    assert stats.decode_rows == 24 * 39
    assert stats.occupancy > 0.85
    assert stats.audio_samples == 24 * 13 * HOP


def test_a_slot_is_free_while_the_tail_is_in_the_codec():
    engine = make_engine(num_slots=2)
    engine.add(make_request(0, budget=40, min_tokens=40))
    engine.add(make_request(1, budget=90, min_tokens=90))
    deltas = []
    while not engine.free_slots:
        deltas += engine.step()
    assert not any(delta.last for delta in deltas)
    engine.add(make_request(2))
    engine.cancel("r0")
    (delta,) = engine.step()
    assert (delta.request_id, delta.finish) == ("r0", FinishReason.CANCELLED)


def test_live_audio_comes_before_the_end():
    engine, heard, first_step = make_engine(num_slots=2), Heard(), None
    engine.add(make_request(0, budget=120, min_tokens=120, live=True))
    for step in range(400):
        heard.take(engine.step())
        if first_step is None and heard.pieces:
            first_step = step
    assert first_step <= (1 + 2) * PER_FRAME + 2
    assert heard.finish == {"r0": FinishReason.BUDGET}


def test_few_pages_make_requests_wait_and_never_fail():
    engine = make_engine(num_slots=4)
    engine._pool = type(engine._pool)(num_pages=12, page_size=8)
    requests = [make_request(k, budget=60, min_tokens=60) for k in range(6)]
    heard = run(engine, requests)
    for request in requests:
        assert np.array_equal(heard.audio(request.request_id), alone(request)[0])
    assert engine._pool.num_free == 11


def test_a_shared_prompt_is_computed_once():
    engine = make_engine(num_slots=3)
    common = tuple(range(1, 30))
    requests = [
        Request(f"s{k}", TokenInputs((*common, k, k + 1), 30, SAMPLED, shared_rows=len(common)), k, 31)
        for k in range(7)
    ]
    heard = run(engine, requests)
    assert engine.stats().shared_rows == 6 * 24
    for request in requests:
        plain = dataclasses.replace(request, inputs=dataclasses.replace(request.inputs, shared_rows=0))
        assert np.array_equal(heard.audio(request.request_id), alone(plain)[0])


def test_what_can_never_run_is_refused():
    engine = make_engine(num_slots=2)
    heard = run(engine, [make_request(0, rows=65), make_request(1, budget=250), make_request(2, budget=30)])
    assert heard.finish["r0"] is heard.finish["r1"] is FinishReason.ERROR
    assert "65 rows" in heard.errors["r0"]
    assert "split the text" in heard.errors["r1"]
    assert heard.finish["r2"] in {FinishReason.STOP, FinishReason.BUDGET}


def test_samples_that_are_not_finite_end_the_request_only():
    program = SmallProgram()
    decode = program.codec.decode

    def broken(codes, valid, seeds, first_frame):
        audio = decode(codes, valid, seeds, first_frame)
        return audio.masked_fill((seeds == 1001)[:, None], float("nan"))

    program.codec.decode = broken
    requests = [make_request(k, budget=90, min_tokens=90) for k in range(3)]
    engine = make_engine(program, num_slots=3)
    heard = run(engine, requests)
    assert [heard.finish[f"r{k}"] for k in range(3)] == [FinishReason.BUDGET, FinishReason.ERROR, FinishReason.BUDGET]
    assert "finite" in heard.errors["r1"]
    assert engine._pool.num_free == engine._runner.num_pages - 1


def test_a_request_with_nothing_to_draw_ends_with_an_error_and_leaves_the_others_alone():
    program = SmallProgram()
    head, calls = program.head, []

    def broken(hidden):
        calls.append(len(hidden))
        logits = head(hidden)
        return logits.fill_(float("nan")) if len(calls) == 30 else logits

    program.head = broken
    engine = make_engine(program, num_slots=2)
    heard = run(engine, [make_request(k, budget=90, min_tokens=90) for k in range(4)])
    assert [heard.finish[f"r{k}"] for k in range(4)] == [FinishReason.ERROR] * 2 + [FinishReason.BUDGET] * 2
    assert "not numbers" in heard.errors["r0"]
    assert engine._pool.num_free == engine._runner.num_pages - 1


def test_a_refused_request_is_known_until_its_delta_is_out():
    engine = make_engine(num_slots=1)
    engine.add(make_request(0, rows=65))
    with pytest.raises(DuplicateRequest):
        engine.add(make_request(0))
    engine.cancel("r0")
    (delta,) = engine.step()
    assert delta.finish is FinishReason.ERROR
    engine.add(make_request(0))


def test_errors_of_the_caller():
    engine = make_engine(num_slots=1)
    engine.add(make_request(0))
    with pytest.raises(DuplicateRequest):
        engine.add(make_request(0))
    with pytest.raises(SlotsFull):
        engine.add(make_request(1))
    with pytest.raises(UnknownRequest):
        engine.cancel("r9")


def test_padding_is_to_the_classes_and_deterministic_is_one_shape():
    program = SmallProgram()
    run(make_engine(program, num_slots=5), [make_request(k, budget=10, min_tokens=10) for k in range(3)])
    assert set(program.rows) == {64, 4}
    program = SmallProgram()
    run(make_engine(program, num_slots=5, deterministic=True), [make_request(k, budget=10) for k in range(3)])
    assert set(program.rows) == {64, 5}
