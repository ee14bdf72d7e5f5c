"""The engine over programs that count: order, ends, cancelling, and faults that hurt nobody else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.engine import UtteranceEngine
from engine.errors import DuplicateRequest, SlotsFull, UnknownRequest
from engine.program import RequestRejected
from engine.request import FinishReason
from tests.engine.programs import CountLatent, CountProgram, by_request, check_whole, drain, request

BAD = 13
"""Number of frames that marks the guilty request where a test needs one."""


def engine_of(program: CountProgram, num_slots: int = 8) -> UtteranceEngine:
    return UtteranceEngine(program, num_slots=num_slots, max_encode_batch=4)


def is_bad(latent) -> bool:
    return latent.num_frames == BAD


sizes = st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), min_size=1, max_size=30)


@given(sizes, st.integers(1, 6), st.data())
def test_every_request_ends_once_and_its_deltas_join_without_gaps(script, num_slots, data):
    engine = engine_of(CountProgram(), num_slots)
    todo = [request(str(i), frames, live=live) for i, (frames, live, _) in enumerate(script)]
    to_cancel = {str(i) for i, (_, _, cancel) in enumerate(script) if cancel}
    deltas, held, cancelled_in_time = [], set(), set()
    while todo or not engine.idle:
        for _ in range(min(len(todo), engine.free_slots, data.draw(st.integers(1, 4)))):
            engine.add(todo[0])
            held.add(todo.pop(0).request_id)
        for name in sorted(held & to_cancel):
            if data.draw(st.booleans()):
                engine.cancel(name)
                cancelled_in_time.add(name)
        step = engine.step()
        deltas += step
        held -= {delta.request_id for delta in step if delta.last}
    parts = by_request(deltas)
    assert sorted(parts, key=int) == [str(i) for i in range(len(script))]
    for name, pieces in parts.items():
        audio = check_whole(pieces)
        whole = np.arange(script[int(name)][0] * 2, dtype=np.float32)
        assert np.array_equal(audio, whole[: len(audio)])
        finish = FinishReason.CANCELLED if name in cancelled_in_time else FinishReason.STOP
        assert pieces[-1].finish is finish
        assert len(audio) == len(whole) or finish is FinishReason.CANCELLED
    assert engine.free_slots == num_slots


def test_cancel_acts_at_the_next_step_and_gives_no_more_audio():
    engine = engine_of(CountProgram())
    engine.add(request("a", 30))
    engine.add(request("b", 5))
    (first,) = engine.step()
    engine.cancel("a")
    engine.cancel("a")
    last, other = engine.step()
    assert (last.request_id, last.finish, last.start_sample, len(last.samples)) == (
        "a",
        FinishReason.CANCELLED,
        len(first.samples),
        0,
    )
    assert other.request_id == "b"
    assert engine.free_slots == 8
    with pytest.raises(UnknownRequest, match="'a'"):
        engine.cancel("a")


def test_what_is_cancelled_before_its_first_step_is_never_encoded():
    program = CountProgram()
    engine = engine_of(program)
    engine.add(request("a"))
    engine.cancel("a")
    assert [delta.finish for delta in engine.step()] == [FinishReason.CANCELLED]
    assert program.batches == []


def test_slots_are_bounded_and_ids_are_unique():
    engine = engine_of(CountProgram(), num_slots=2)
    engine.add(request("a"))
    with pytest.raises(DuplicateRequest, match="'a' sits in a slot already"):
        engine.add(request("a"))
    engine.add(request("b"))
    with pytest.raises(SlotsFull, match="all 2 slots are taken; call step"):
        engine.add(request("c"))
    assert len(by_request(drain(engine))) == 2


def test_a_live_request_is_heard_in_the_step_after_it_arrives():
    engine = engine_of(CountProgram())
    for name in "abc":
        engine.add(request(name, 100))
    engine.step()
    engine.add(request("live", 100, live=True))
    (delta,) = engine.step()
    assert (delta.request_id, len(delta.samples)) == ("live", 2 * CountProgram().first_chunk_frames)


def test_a_rejected_request_ends_with_its_reason_and_the_others_speak():
    def reject(batch):
        for index, one in enumerate(batch):
            if one.inputs == BAD:
                raise RequestRejected(index, "no such symbol")

    engine = engine_of(CountProgram(on_encode=reject))
    for name, frames in {"a": 12, "bad": BAD, "c": 12, "d": 11}.items():
        engine.add(request(name, frames))
    ends = {name: parts[-1] for name, parts in by_request(drain(engine)).items()}
    assert ends["bad"].error == "no such symbol"
    assert [ends[name].finish for name in "acd"] == [FinishReason.STOP] * 3


def test_a_rejection_of_nobody_in_the_batch_is_the_programs_fault():
    def reject(batch):
        raise RequestRejected(len(batch), "off by one")

    engine = engine_of(CountProgram(on_encode=reject))
    engine.add(request("a"))
    (delta,) = drain(engine)
    assert delta.finish is FinishReason.ERROR
    assert "rejected request 1 of a batch of 1: off by one" in delta.error


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("shapes differ"), ValueError("bad"), KeyError("é")])
def test_a_failing_batch_is_halved_until_the_guilty_one_stands_alone(fault):
    def fail(batch):
        if any(one.inputs == BAD for one in batch):
            raise fault

    program = CountProgram(on_encode=fail)
    engine = engine_of(program)
    for name, frames in {"a": 12, "b": 12, "bad": BAD, "d": 12, "e": 12}.items():
        engine.add(request(name, frames))
    parts = by_request(drain(engine))
    assert {name for name, deltas in parts.items() if deltas[-1].finish is FinishReason.ERROR} == {"bad"}
    assert parts["bad"][-1].error.startswith(f"{type(fault).__name__} while encoding it alone: ")
    assert ["bad"] in program.batches
    for name in "abde":
        assert len(check_whole(parts[name])) == 24


def test_out_of_memory_by_size_costs_no_request():
    def fail(batch):
        if len(batch) > 2:
            raise MemoryError

    program = CountProgram(on_encode=fail)
    engine = engine_of(program)
    for index in range(8):
        engine.add(request(str(index)))
    assert {parts[-1].finish for parts in by_request(drain(engine)).values()} == {FinishReason.STOP}
    assert [len(batch) for batch in program.batches[:2]] == [4, 2]


@pytest.mark.parametrize(
    ("on_decode", "text"),
    [
        (lambda latent, samples: samples[:-1], "shape"),
        (lambda latent, samples: samples.astype(np.float64), "float64"),
        (lambda latent, samples: samples.reshape(1, -1), "shape"),
        (lambda latent, samples: np.where(samples == 3, np.nan, samples), "1 samples that are not finite"),
        (lambda latent, samples: samples / np.float32(0), "not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_audio_that_breaks_the_contract_ends_that_request_only(on_decode, text):
    program = CountProgram(on_decode=lambda latent, samples: on_decode(latent, samples) if is_bad(latent) else samples)
    engine = engine_of(program)
    engine.add(request("a", 12))
    engine.add(request("bad", BAD))
    parts = by_request(drain(engine))
    assert len(check_whole(parts["a"])) == 24
    assert len(check_whole(parts["bad"])) == 0
    assert parts["bad"][-1].finish is FinishReason.ERROR
    assert parts["bad"][-1].error.startswith("ProgramFault while decoding frames 0 to 5: ")
    assert text in parts["bad"][-1].error


@pytest.mark.parametrize("fault", [MemoryError("no page"), RequestRejected(0, "no page")])
def test_a_fault_in_the_middle_keeps_what_was_handed_out_and_ends_with_an_error(fault):
    def fail(latent, samples):
        if is_bad(latent) and samples[0] > 0:
            raise fault
        return samples

    engine = engine_of(CountProgram(on_decode=fail))
    engine.add(request("bad", BAD))
    engine.add(request("a", 12))
    parts = by_request(drain(engine))
    assert len(check_whole(parts["bad"])) == 10
    assert "no page" in parts["bad"][-1].error
    assert len(check_whole(parts["a"])) == 24


@pytest.mark.parametrize("latents", [[], [CountLatent(0)], [CountLatent(3, FinishReason.ERROR)], [CountLatent(3)] * 2])
def test_latents_that_break_the_contract_end_the_request(latents):
    program = CountProgram()
    program.encode = lambda batch: latents
    engine = engine_of(program)
    engine.add(request("a"))
    (delta,) = drain(engine)
    assert delta.finish is FinishReason.ERROR
    assert delta.error.startswith("ProgramFault while encoding it alone: encode gave ")


def test_words_come_with_the_last_delta_in_samples():
    program = CountProgram()
    program.encode = lambda batch: [CountLatent(12, words=((0, 3), (3, 3), (5, 12)))]
    engine = engine_of(program)
    engine.add(request("a"))
    *others, last = drain(engine)
    hop = program.hop_samples
    assert last.words == ((0, 3 * hop), (3 * hop, 3 * hop), (5 * hop, 12 * hop))
    assert others
    assert {delta.words for delta in others} == {()}


@pytest.mark.parametrize("words", [((0, 13),), ((-1, 2),), ((3, 5), (4, 6)), ((5, 4),)])
def test_words_outside_the_audio_or_out_of_order_end_the_request(words):
    program = CountProgram()
    program.encode = lambda batch: [CountLatent(12, words=words)]
    engine = engine_of(program)
    engine.add(request("a"))
    (delta,) = drain(engine)
    assert "words that do not follow each other in 12 frames" in delta.error


def test_a_lost_device_and_a_bug_end_the_process_not_the_request():
    class AcceleratorError(RuntimeError):
        """Named as torch names it."""

    for fault in (AcceleratorError("illegal address"), AttributeError("typo")):

        def fail(batch, fault=fault):
            raise fault

        engine = engine_of(CountProgram(on_encode=fail))
        engine.add(request("a"))
        with pytest.raises(type(fault)):
            engine.step()


def test_a_budget_latent_ends_with_budget():
    program = CountProgram()
    program.encode = lambda batch: [CountLatent(7, FinishReason.BUDGET)]
    engine = engine_of(program)
    engine.add(request("a"))
    first, last = drain(engine)
    assert (first.finish, last.finish) == (None, FinishReason.BUDGET)


def test_the_receiver_owns_the_samples():
    buffer = np.zeros(10, np.float32)

    def reuse(latent, samples):
        buffer[:] = samples
        return buffer

    engine = engine_of(CountProgram(on_decode=reuse))
    engine.add(request("a", 10))
    assert np.array_equal(check_whole(drain(engine)), np.arange(20, dtype=np.float32))


def test_stats_count_what_happened():
    engine = engine_of(CountProgram(), num_slots=4)
    assert engine.stats().slot_share == 0.0
    for name in "ab":
        engine.add(request(name, 10))
    drain(engine)
    stats = engine.stats()
    assert (stats.steps, stats.encode_batches, stats.encoded_requests, stats.finished_requests) == (4, 1, 2, 2)
    assert stats.audio_samples == 40
    assert stats.slot_share == (2 + 2 + 1 + 1) / (4 * 4)
    assert stats.encode_s >= 0.0
    assert stats.decode_s > 0.0
