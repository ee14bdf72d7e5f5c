"""What a step loop's turns cost: shared equally, nothing lost, nothing counted twice, idle time free."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lane import Engine
from engine.request import Delta
from jobs.drafts import Source, Wishes, make_draft
from jobs.state import JobState
from jobs.submit import accept
from tests.workers.making import Gate, Stage, lines, running, until
from workers import room
from workers.catalog import find_offer
from workers.costs import NOTHING, Cost, Costs

BOOK = "The boat lay still. Nobody came that day, and nobody called.\n\nThe water kept its secret until the spring."


class World:
    """A clock and a meter that are set by hand, and an engine whose steps take as long as they are told."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.joules: float | None = 7000.0
        self.step_s = 0.0
        self.watts = 100.0
        self.costs = Costs("cpu", clock=lambda: self.now_s, energy=lambda device: self)

    def step(self) -> list[Delta]:
        self.wait(self.step_s)
        return []

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        if self.joules is not None:
            self.joules += self.watts * seconds

    def turn(self, model: str, step_s: float) -> None:
        self.step_s = step_s
        self.costs.step(model, self)


def test_a_step_is_borne_equally_by_those_in_slots():
    world = World()
    world.costs.enter("a", "m")
    world.turn("m", 1.0)
    world.costs.enter("b", "m")
    world.turn("m", 1.0)
    assert world.costs.leave("a") == Cost(1.5, 150.0)
    world.turn("m", 0.25)
    assert world.costs.leave("b") == Cost(0.75, 75.0)
    assert world.costs.device == "cpu"


def test_what_passes_between_steps_counts_only_while_there_is_work():
    world = World()
    world.wait(50.0)
    world.costs.enter("a", "m")
    world.turn("m", 1.0)
    world.wait(0.5)  # slots are filled, audio is handed out
    world.turn("m", 1.0)
    assert world.costs.leave("a").device_s == 2.5
    world.costs.rest()
    world.wait(50.0)
    world.costs.enter("b", "m")
    world.wait(3.0)  # an engine is made
    world.costs.rest()
    world.turn("m", 1.0)
    assert world.costs.leave("b").device_s == 1.0


def test_models_pay_for_their_own_steps():
    world = World()
    world.costs.enter("a", "m")
    world.costs.enter("b", "n")
    world.turn("m", 1.0)
    world.turn("n", 3.0)
    assert (world.costs.leave("a").device_s, world.costs.leave("b").device_s) == (1.0, 3.0)


def test_a_device_that_tells_no_energy_leaves_it_open():
    world = World()
    world.joules = None
    world.costs.enter("a", "m")
    world.turn("m", 1.0)
    assert world.costs.leave("a") == Cost(1.0, None)


def test_attempts_add_up():
    assert Cost(1.0, 3.0) + Cost(0.5, 2.0) == Cost(1.5, 5.0)
    assert Cost(1.0, None) + Cost(0.5, 2.0) == Cost(0.5, 2.0) + Cost(1.0, None) == Cost(1.5, None)
    assert NOTHING + Cost(0.5, 2.0) == Cost(0.5, 2.0)
    assert NOTHING + Cost(0.1234567, None) == Cost(0.123457, None)


moves = st.lists(st.tuples(st.sampled_from(["enter", "step", "leave", "wait", "rest"]), st.floats(0, 9)), max_size=60)


@given(moves)
def test_all_that_passes_with_work_is_borne_once(entries: list[tuple[str, float]]):
    world, held, paid, busy_s, numbers = World(), [], 0.0, 0.0, iter(range(100))
    at_work_since: float | None = None
    for kind, amount in entries:
        if kind == "enter":
            held.append(str(next(numbers)))
            world.costs.enter(held[-1], "m")
        elif kind == "step" and held:
            at_work_since = world.now_s if at_work_since is None else at_work_since
            world.turn("m", amount)
            busy_s += world.now_s - at_work_since
            at_work_since = world.now_s
        elif kind == "leave" and held:
            cost = world.costs.leave(held.pop(int(amount) % len(held)))
            assert cost.device_s >= 0
            assert (cost.energy_j or 0.0) >= 0
            paid += cost.device_s
        elif kind == "wait":
            world.wait(amount)
        elif kind == "rest":
            world.costs.rest()
            at_work_since = None
    paid += sum(world.costs.leave(ref).device_s for ref in held)
    assert paid == pytest.approx(busy_s, abs=1e-6)


class Watch(Costs):
    """Costs whose clock is a millisecond later at every look; counts the times that work began after a rest."""

    def __init__(self, device: str) -> None:
        super().__init__(device, clock=self.look)
        self.now_s = 0.0
        self.begun = 0

    def look(self) -> float:
        self.now_s += 0.001
        return self.now_s

    def step(self, model: str, engine: Engine) -> list[Delta]:
        self.begun += self._since_s is None
        return super().step(model, engine)

    @property
    def busy_s(self) -> float:
        """Every look but those that begin ends a step."""
        return self.now_s - 0.001 * self.begun


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> list[Watch]:
    """The costs of the rooms that are made."""
    made: list[Watch] = []

    def make(device: str) -> Watch:
        made.append(Watch(device))
        return made[-1]

    monkeypatch.setattr(room, "Costs", make)
    return made


def test_the_segments_of_a_room_bear_all_its_steps(stage: Stage, watches: list[Watch]):
    tasks = stage.submit(lines(9))
    with running(stage, slots=3):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    results = stage.results(tasks)
    assert all(result.device_s > 0 and result.device == "cpu" and result.energy_j is None for result in results)
    assert sum(result.device_s for result in results) == pytest.approx(watches[0].busy_s, abs=1e-5)


@pytest.mark.voice
def test_the_segments_of_a_real_voice_bear_all_its_steps(stage: Stage, watches: list[Watch]):
    offer = find_offer("piper", voice=None, precision="auto")
    draft = make_draft(Source("book.txt", BOOK.encode()), Wishes(offer=offer, store_url=stage.url))
    accept(draft, stage.truth, stage.store)
    with running(stage, models=("piper",)):
        until(lambda: stage.state(draft.job) is JobState.ASSEMBLING, "all is spoken", timeout_s=120)
    results = stage.truth.results(draft.job).values()
    assert len(results) == len(draft.plan.segments)
    assert all(result.device_s > 0 for result in results)
    assert sum(result.device_s for result in results) == pytest.approx(watches[0].busy_s, abs=1e-4)


def test_a_take_that_is_there_costs_nothing(stage: Stage, watches: list[Watch]):
    tasks = stage.submit(lines(3))
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    again = stage.queue("again", tasks)
    with running(stage):
        until(lambda: stage.state("again") is JobState.ASSEMBLING, "all is found")
    assert [(one.device_s, one.device, one.reused) for one in stage.results(again)] == [(0.0, "", True)] * len(again)
    assert [watch.now_s > 0 for watch in watches] == [True, False]


def test_what_was_cancelled_is_dropped_and_nobody_else_pays(stage: Stage, watches: list[Watch], gate: Gate):
    first = stage.submit(lines(2))
    with running(stage, slots=4):
        until(lambda: gate.arrived, "it is in work")
        stage.truth.cancel(first[0].job)
        gate.free()
        until(lambda: not stage.truth.workers()[0].held, "it is dropped")
        spent_s = watches[0].busy_s
        other = stage.submit(lines(3, "another"))
        until(lambda: stage.state(other[0].job) is JobState.ASSEMBLING, "the other is spoken")
    assert stage.state(first[0].job) is JobState.CANCELLED
    shared_s = watches[0].busy_s - spent_s
    assert sum(result.device_s for result in stage.results(other)) == pytest.approx(shared_s, abs=1e-5)
