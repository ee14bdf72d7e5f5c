"""A room from queue to store: words, order, live audio, reuse, segments that cannot be spoken, cancellation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.errors import DeviceUnavailable
from jobs import keys
from jobs.attempts import at_attempt
from jobs.protocols import StepKind
from jobs.spec import Priority
from jobs.state import JobState, SegmentState
from jobs.takes import open_samples, read_take
from models import registry
from models.card import ModelCard
from models.errors import BadWeights
from models.fake.program import FakeProgram
from tests.workers.making import LONG, Gate, Stage, lines, running, until, words
from workers import room
from workers.engines import EngineSettings
from workers.room_config import RoomConfig

CHAPTERS = f"CHAPTER ONE\n\n{lines(5)}\n\nCHAPTER TWO\n\n{lines(5, 'once more')}\n"


@pytest.mark.parametrize("slots", [1, 4])
def test_every_take_says_its_words(stage: Stage, slots: int) -> None:
    tasks = stage.submit(CHAPTERS)
    job = tasks[0].job
    with running(stage, slots=slots):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    for task, result in zip(tasks, stage.results(tasks), strict=True):
        info = read_take(stage.store, task.take)
        assert stage.heard(task) == words(task)
        assert (result.state, result.take, result.samples) == (SegmentState.DONE, task.take, info.samples)
        assert (info.origin.spoken, info.origin.seed, result.reused) == (task.spoken, task.seed, False)
    order = stage.done_order(job)
    assert sorted(order) == [task.segment for task in tasks]
    if slots == 1:
        assert order == sorted(order)
    steps = stage.truth.take_steps("test", limit=10, timeout_s=0)
    assert [step.chapter for step in steps if step.kind is StepKind.ASSEMBLE] == [0, 1]
    assert stage.truth.workers() == []


def test_a_take_is_in_the_store_before_the_truth_is_told(stage: Stage) -> None:
    calls: list[str] = []

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "put":
            calls.append(arguments[0])
        if name == "finish":
            calls.extend(f"told {result.take}" for result in arguments[1])

    stage.replace_store(note)
    stage.replace_truth(note)
    tasks = stage.submit(CHAPTERS)
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    assert len(calls) == 3 * len(tasks)
    for task in tasks:
        order = [calls.index(entry) for entry in (keys.take_audio(task.take), keys.take_info(task.take))]
        assert order[0] < order[1] < calls.index(f"told {task.take}")


def test_live_chunks_are_gapless_and_are_the_take(stage: Stage) -> None:
    tasks = stage.submit(f"{lines(3)}\n\nThis is {LONG}.", live=True)
    with running(stage, slots=2):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    stream = stage.chunks(tasks[0].job)
    for task in tasks:
        chunks = [chunk for chunk in stream if chunk.segment == task.segment]
        assert [chunk.chunk for chunk in chunks] == list(range(len(chunks)))
        assert {chunk.take for chunk in chunks} == {task.take}
        place = 0
        for chunk in chunks:
            assert (chunk.start_sample, len(chunk.data)) == (place, 2 * chunk.samples)
            place += chunk.samples
        assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        assert not any(chunk.discard for chunk in chunks)
        assert b"".join(chunk.data for chunk in chunks) == open_samples(stage.store, task.take).tobytes()
    assert sum(chunk.segment == tasks[-1].segment for chunk in stream) > 3
    assert list(dict.fromkeys(chunk.segment for chunk in stream)) == [task.segment for task in tasks]


@pytest.mark.parametrize(("fault", "complete"), [("budget", True), ("nan", False)])
def test_a_failed_live_take_is_followed_by_discard(stage: Stage, fault: str, complete: bool) -> None:
    tasks = stage.submit(f"First. \n\nThis is [[fault:{fault}]] {LONG}.", live=True)
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    assert [result.state for result in stage.results(tasks)] == [SegmentState.DONE, SegmentState.FAILED]
    stream = [chunk for chunk in stage.chunks(tasks[0].job) if chunk.segment == 1]
    attempts = [at_attempt(tasks[1], attempt).take for attempt in range(tasks[1].takes)]
    assert list(dict.fromkeys(chunk.take for chunk in stream)) == attempts  # one after the other
    for take in attempts:
        chunks = [chunk for chunk in stream if chunk.take == take]
        assert [chunk.chunk for chunk in chunks] == list(range(len(chunks)))
        assert len(chunks) > 2
        assert [chunk.discard for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        assert any(chunk.last for chunk in chunks) == complete  # half a take never says it is whole
        assert chunks[-1].data == b""
    assert stage.takes() == {tasks[0].take}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spoken": "Bad [[fault:nonsense]] mark."}, "[[fault:nonsense]] names no fault"),
        ({"spoken": "…"}, "nothing can be spoken in '…'"),
        ({"voice": "nobody"}, "model fake has no voice 'nobody'; it has tone, tone-low, tone-high"),
        ({"speed": 1000.0}, "speed 1000.0 is not allowed"),
        ({"spoken": "Bad [[fault:error]] one."}, "the text asks to be rejected"),
        ({"spoken": "Bad [[fault:oom]] one."}, "MemoryError while encoding it alone"),
        ({"spoken": "Bad [[fault:nan]] one."}, "samples that are not finite"),
        (
            {"spoken": "Bad [[fault:budget]] one."},
            "the model did not stop by itself within the time that its text may take",
        ),
    ],
)
def test_a_segment_that_cannot_be_spoken_fails_with_the_reason(
    stage: Stage, change: dict[str, Any], reason: str
) -> None:
    tasks = stage.tasks(lines(4))
    tasks[1] = tasks[1].model_copy(update=change)
    tasks = stage.queue("some", tasks)
    with running(stage):
        until(lambda: stage.state("some") is JobState.ASSEMBLING, "all segments are finished")
    results = stage.results(tasks)
    assert [result.state for result in results] == [
        SegmentState.FAILED if task.segment == 1 else SegmentState.DONE for task in tasks
    ]
    assert reason in results[1].reason
    assert stage.takes() == {task.take for task in tasks if task.segment != 1}


@pytest.mark.parametrize("error", [BadWeights("the file is damaged"), DeviceUnavailable("not on this device")])
def test_a_model_that_cannot_be_loaded_fails_its_segments_only(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    break_model(monkeypatch, error)
    good = stage.queue("good", stage.tasks(lines(3)))
    broken = stage.queue("broken", [task.model_copy(update={"model": "broken"}) for task in stage.tasks(lines(2))])
    with running(stage, models=("fake", "broken")):
        for job in ("good", "broken"):
            until(lambda job=job: stage.state(job) is JobState.ASSEMBLING, f"job {job} is finished")
    assert {result.state for result in stage.results(good)} == {SegmentState.DONE}
    assert {(result.state, result.reason) for result in stage.results(broken)} == {(SegmentState.FAILED, str(error))}


@pytest.mark.parametrize("error", [MemoryError("no room for 6 GB"), RuntimeError("CUDA out of memory")])
def test_too_little_memory_for_a_model_fails_its_segments_only_and_is_found_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    loads = break_model(monkeypatch, error)
    broken = stage.queue("broken", [task.model_copy(update={"model": "broken"}) for task in stage.tasks(lines(9))])
    with running(stage, slots=2, models=("fake", "broken")) as run:
        until(lambda: stage.state("broken") is JobState.ASSEMBLING, "job broken is finished")
        good = stage.queue("good", stage.tasks(lines(3)))
        until(lambda: stage.state("good") is JobState.ASSEMBLING, "job good is finished")
        assert run.stop() == 0
    assert loads == ["broken", "fake"]
    assert {result.state for result in stage.results(good)} == {SegmentState.DONE}
    (reason,) = {result.reason for result in stage.results(broken)}
    assert reason.startswith(f"model broken cannot be loaded on cpu: {type(error).__name__}: {error}; ")


def test_a_device_that_is_lost_while_a_model_is_loaded_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = type("AcceleratorError", (RuntimeError,), {})("an illegal memory access")
    break_model(monkeypatch, lost)
    config = RoomConfig("w", "cpu", "auto", ("broken",), EngineSettings(1))
    with pytest.raises(RuntimeError, match="illegal memory access") as raised:
        room.Room(config, Stage().context).model("broken")
    assert raised.value is lost


def break_model(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[str]:
    """Add a model `broken` to the fake, whose loading fails; returns the models that were loaded or tried."""
    load, card = registry.load, registry.card
    loads: list[str] = []

    def load_or_fail(name: str, **options: Any) -> object:
        loads.append(name)
        if name == "broken":
            raise error
        return load(name, **options)

    def card_of(name: str, **options: Any) -> ModelCard:
        return replace(card("fake", **options), name=name)

    monkeypatch.setattr(registry, "load", load_or_fail)
    monkeypatch.setattr(registry, "names", lambda: ("fake", "broken"))
    monkeypatch.setattr(registry, "card", card_of)
    return loads


def test_a_model_without_an_engine_fails_its_segments_only(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def refuse(_model: object, settings: EngineSettings) -> None:
        made.append(settings.slots)
        raise DeviceUnavailable("too little memory")

    monkeypatch.setattr(room, "make_engine", refuse)
    tasks = stage.queue("some", stage.tasks(lines(12)))
    with running(stage, slots=2) as run:
        until(lambda: stage.state("some") is JobState.ASSEMBLING, "all is finished")
        until(lambda: run.room.intake._busy == 0, "nothing counts as busy")
    assert made == [2]
    assert {(result.state, result.reason) for result in stage.results(tasks)} == {
        (SegmentState.FAILED, "too little memory")
    }


def test_a_cancelled_job_frees_its_slots_and_leaves_no_takes(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(lines(12, LONG), live=True)
    job = tasks[0].job
    with running(stage, slots=2) as run:
        held = run.room.intake._limit
        until(lambda: gate.arrived == 1 and stage.truth.job(job).held == held, "the room is full")
        assert stage.truth.cancel(job) == len(tasks) - held
        until(lambda: run.room.heartbeat._over, "a heartbeat brings the news")
        gate.free()
        until(lambda: not run.room._voicings, "the slots are free")
        others = stage.submit(lines(3))
        until(lambda: stage.state(others[0].job) is JobState.ASSEMBLING, "another job is spoken")
        until(lambda: [worker.held for worker in stage.truth.workers()] == [0], "nothing is held")
        assert run.stop() == 0
    assert stage.state(job) is JobState.CANCELLED
    assert stage.takes() == {task.take for task in others}
    assert stage.truth.results(job) == {}
    assert not any(chunk.last for chunk in stage.chunks(job))


def test_a_live_segment_overtakes_a_full_buffer(stage: Stage, gate: Gate) -> None:
    bulk = stage.submit(lines(20), priority=Priority.BULK)
    order: list[str] = []

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "finish":
            order.extend(result.job for result in arguments[1])

    stage.replace_truth(note)
    with running(stage, slots=1) as run:
        until(lambda: gate.arrived == 1 and stage.truth.job(bulk[0].job).held == run.room.intake._limit, "it is full")
        live = stage.submit(lines(1, "now"), priority=Priority.LIVE)
        until(lambda: len(run.room.intake._buffered()) == run.room.intake._limit, "the live one is prepared too")
        gate.free()
        until(lambda: stage.state(bulk[0].job) is JobState.ASSEMBLING, "all is spoken")
    assert order.index(live[0].job) == 1  # behind the one that had the slot
    assert len(order) == 21


def test_a_take_in_the_store_is_not_spoken_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    first = stage.queue("first", stage.tasks(lines(6)))
    with running(stage):
        until(lambda: stage.state("first") is JobState.ASSEMBLING, "all is spoken")
    encoded: list[int] = []
    encode = FakeProgram.encode

    def count(program: FakeProgram, batch: Any) -> Any:
        encoded.append(len(batch))
        return encode(program, batch)

    monkeypatch.setattr(FakeProgram, "encode", count)
    second = stage.queue("second", [*first, stage.tasks("Something new.")[0]])
    with running(stage, worker="here-2"):
        until(lambda: stage.state("second") is JobState.ASSEMBLING, "all is there")
    assert sum(encoded) == 1
    assert [result.reused for result in stage.results(second)] == [True] * 6 + [False]
    assert [result.samples for result in stage.results(second)][:6] == [r.samples for r in stage.results(first)]
