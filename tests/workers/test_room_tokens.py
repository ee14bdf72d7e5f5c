"""A room whose model draws tokens: slots that are free before the last audio is out, several engines, cancellation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from engine.request import Delta, FinishReason, Request
from jobs.spec import ModelOffer, SegmentTask, VoiceOffer
from jobs.state import JobState, SegmentState
from jobs.takes import read_take
from tests.workers.making import WORKER, Running, Stage, lines, until
from tests.workers.token_models import SmallModel
from workers.engines import EngineSettings, make_engine
from workers.room import Loaded, Room
from workers.room_config import RoomConfig


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products gain nothing from more threads, and lose much when several programs share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def offer_of(model: SmallModel) -> ModelOffer:
    fields = {name: getattr(model.card, name) for name in ModelOffer.model_fields if name != "voices"}
    return ModelOffer(**fields, voices=tuple(VoiceOffer(**asdict(voice)) for voice in model.card.voices))


def room_of(stage: Stage, *loaded: Loaded, slots: int) -> Room:
    config = RoomConfig(worker=WORKER, device="cpu", precision="auto", models=(), engine=EngineSettings(slots))
    return Room(config, stage.context, loaded=loaded)


def queue(stage: Stage, job: str, count: int, model: SmallModel) -> list[SegmentTask]:
    """A job of that model, as its workers lease it."""
    plain = stage.tasks(lines(count))
    tasks = [task.model_copy(update={"model": model.card.name, "voice": "v"}) for task in plain]
    draft = stage.draft

    def as_model(text: str, **wishes: object) -> object:
        made = draft(text, **wishes)
        return replace(made, spec=made.spec.model_copy(update={"numerics": model.card.numerics}))

    stage.draft = as_model  # type: ignore[method-assign]
    try:
        return stage.queue(job, tasks)
    finally:
        stage.draft = draft  # type: ignore[method-assign]


class Tail:
    """One slot; a request leaves it at once, its audio comes when `ready` names it."""

    num_slots = 1

    def __init__(self) -> None:
        self.given: list[str] = []
        self.ready: set[str] = set()
        self._coming: list[str] = []
        self._in_slot: list[str] = []

    @property
    def free_slots(self) -> int:
        return 1 - len(self._in_slot)

    @property
    def idle(self) -> bool:
        return not self._coming

    def add(self, request: Request) -> None:
        assert self.free_slots
        self.given.append(request.request_id)
        self._in_slot = [request.request_id]
        self._coming.append(request.request_id)

    def cancel(self, request_id: str) -> None:
        raise AssertionError(request_id)

    def step(self) -> list[Delta]:
        self._in_slot = []
        done = [name for name in self._coming if name in self.ready]  # the test adds to `ready` meanwhile
        self._coming = [name for name in self._coming if name not in done]
        return [Delta(name, np.full(100, 0.5, np.float32), 0, FinishReason.STOP) for name in done]


@pytest.mark.usefixtures("all_good")
def test_audio_that_is_still_decoded_does_not_keep_the_next_request_out(stage: Stage) -> None:
    engine, model = Tail(), SmallModel()
    tasks = queue(stage, "some", 3, model)
    refs = [task.ref for task in tasks]
    run = Running(room_of(stage, Loaded(model, engine, offer_of(model)), slots=1), 5.0)
    until(lambda: len(engine.given) == 2, "the second is in the slot; the third waits for the limit on what is held")
    assert engine.given == refs[:2]
    assert stage.truth.results("some") == {}
    engine.ready.update(refs)
    until(lambda: stage.state("some") is JobState.ASSEMBLING, "all is spoken")
    assert run.stop() == 0
    assert engine.given == refs


@pytest.mark.usefixtures("all_good")
def test_tokens_become_takes_and_every_segment_sounds_the_same_in_any_company(stage: Stage) -> None:
    takes = {}
    for job, slots in (("alone", 1), ("together", 3)):
        model = SmallModel()
        tasks = queue(stage, job, 5, model)
        engine = make_engine(model, EngineSettings(slots))
        run = Running(room_of(stage, Loaded(model, engine, offer_of(model)), slots=slots), 5.0)
        until(lambda job=job: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
        assert run.stop() == 0
        results = stage.results(tasks)
        assert {result.state for result in results} == {SegmentState.DONE}
        takes[job] = [result.samples for result in results]
        for key in list(stage.store.list("takes/")):
            stage.store.delete(key)
    assert takes["alone"] == takes["together"]
    assert min(takes["alone"]) > 0


def test_a_deterministic_engine_is_a_part_of_the_numerics_of_its_takes(stage: Stage) -> None:
    model, settings = SmallModel(), EngineSettings(2, deterministic=True, attention="torch")
    assert settings.numerics(model.card) == "small1-fixed2-torch"
    (task,) = queue(stage, "some", 1, model)
    config = RoomConfig(worker=WORKER, device="cpu", precision="auto", models=(), engine=settings)
    room = Room(config, stage.context, loaded=[Loaded(model, make_engine(model, settings), offer_of(model))])
    run = Running(room, 5.0)
    until(lambda: stage.state("some") is JobState.ASSEMBLING, "all is spoken")
    assert run.stop() == 0
    assert read_take(stage.store, task.take).origin.numerics == "small1-fixed2-torch"
