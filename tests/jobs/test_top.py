"""Two looks at the truth become one view: rates, occupancy, quantiles, warnings."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from jobs.connect import Broker, ServerFacts
from jobs.figures import Figure, Figures, Total, named
from jobs.protocols import Beat
from jobs.streams.memory import MemoryStreams
from jobs.top import Look, View, look, quantile, view_of
from tests.helpers_jobs import OFFER, World
from tests.helpers_truth import result

FACTS = ServerFacts("valkey", "9.1", appendonly=True, maxmemory_policy="noeviction", used_memory_bytes=10**6)


def broker_of(world: World) -> Broker:
    streams = MemoryStreams(max_audio_bytes=1)
    return Broker(url="memory://", safe_url="memory://", truth=world.truth, streams=streams, calls=None)


def looked(world: World, at_s: float, **changes: Any) -> Look:
    found = look(broker_of(world), at_s)
    fields = {name: getattr(found, name) for name in Look.__slots__}
    return Look(**{**fields, "facts": FACTS, **changes})


def between(world: World, work: Any, **changes: Any) -> View:
    before = looked(world, 100.0)
    work()
    return view_of(before, looked(world, 104.0, **changes), worker_ttl_s=15.0)


def test_rates_are_what_happened_between_the_looks() -> None:
    world, figures = World(), Figures()
    world.submit()
    figures.add(Figure.SLOT_S, 100.0)
    world.truth.beat("w", Beat(0, 0, 0.0, figures.read()))

    def work() -> None:
        held = world.truth.lease("w", 2)
        world.truth.finish("w", [result(task) for task in held])
        for figure, value, label in (
            (Figure.SLOT_S, 16.0, ""),
            (Figure.SLOT_BUSY_S, 12.0, ""),
            (Figure.STEPS, 40.0, "fake"),
            (Figure.STEP_S, 0.3, "fake.encode"),
            (Figure.STEP_S, 0.1, "fake.decode"),
            (Figure.STORE_S, 0.5, ""),
            (Figure.RETAKES, 2.0, "tail"),
            (Figure.ERRORS, 1.0, "store"),
        ):
            figures.add(figure, value, label=label)
        for delay_s in (0.001, 0.001, 0.001, 0.4):
            figures.observe(Figure.REFILL_S, delay_s)
        world.truth.beat("w", Beat(3, 2, 8.0, figures.read()))

    view = between(world, work)
    (row,) = view.workers
    assert (view.segments_per_s, view.audio_s_per_s, view.occupancy) == (0.5, 2.0, 0.75)
    assert (row.occupancy, row.step_ms, row.stages) == (0.75, 10.0, {"encode": 0.75, "decode": 0.25})
    assert (row.refill_p50_s, row.refill_p95_s, row.store_s, row.retake_share) == (0.001, 0.5, 0.25, 0.5)
    assert view.since[named(Total.SEGMENTS, "done")] == 2
    assert view.eta_s == round((view.held + sum(view.waiting.values())) / 0.5)
    (job,) = view.jobs
    assert (job.done, job.segments_per_s) == (2, 0.5)
    assert view.warnings == (f"{row.worker}: 1 troubles with store",)


def test_a_worker_that_has_just_come_has_no_rates_of_before() -> None:
    world = World()
    view = between(world, lambda: world.truth.beat("w", Beat(0, 50, 400.0)))
    assert view.workers[0].audio_s_per_s == 100.0  # it was known before, with nothing done
    world.truth.retire("w")
    before = looked(world, 0.0)
    world.truth.register(before_info(world))
    figures = {Figure.SLOT_S: 9.0, Figure.SLOT_BUSY_S: 9.0, "retakes:tail": 3.0, "errors:store": 1.0}
    world.truth.beat("new", Beat(0, 50, 400.0, figures))
    view = view_of(before, looked(world, 4.0), worker_ttl_s=15.0)
    row = view.workers[0]
    assert (row.audio_s_per_s, row.segments_per_s, row.occupancy, view.occupancy) == (0.0, 0.0, None, None)
    assert (row.retake_share, row.errors, view.warnings) == (None, {}, ())


def test_a_worker_that_counts_from_nothing_again_has_no_rates_below_nothing() -> None:
    world = World()
    world.truth.beat("w", Beat(0, 50, 400.0))
    view = between(world, lambda: world.truth.beat("w", Beat(0, 2, 8.0)))
    assert (view.workers[0].audio_s_per_s, view.workers[0].segments_per_s) == (0.0, 0.0)


def test_where_nothing_is_left_the_end_is_there() -> None:
    assert between(World(), lambda: None).eta_s == 0
    world = World()
    world.submit()
    assert between(world, lambda: None).eta_s is None


def before_info(world: World) -> Any:
    from tests.helpers_truth import worker

    return worker("new", OFFER.engine)


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"appendonly": False}, "keeps nothing on disk"),
        ({"maxmemory_policy": "allkeys-lru"}, "throws data away"),
        ({"used_memory_bytes": 90, "maxmemory_bytes": 100}, "full to 90%"),
    ],
)
def test_a_broker_that_is_not_as_it_should_be_is_warned_of(changes: dict[str, Any], warning: str) -> None:
    facts = ServerFacts(**{**{name: getattr(FACTS, name) for name in ServerFacts.__slots__}, **changes})
    view = between(World(), lambda: None, facts=facts)
    assert len(view.warnings) == 1
    assert warning in view.warnings[0]


def test_jobs_that_nobody_can_speak_are_warned_of() -> None:
    world = World()
    world.submit()
    view = between(world, lambda: world.truth.retire("w"))
    assert view.warnings == (f"jobs wait and no worker speaks {OFFER.engine}",)


def test_more_jobs_than_are_shown_are_counted() -> None:
    world = World()
    world.submit()
    view = between(world, lambda: None, states=Counter(dict.fromkeys(looked(world, 0).states, 12)))
    assert view.more_jobs == 11


def test_a_quantile_is_the_bound_of_its_class() -> None:
    figures = Figures()
    assert quantile(figures.read(), 0.5) is None
    figures.observe(Figure.REFILL_S, 100.0)
    assert quantile(figures.read(), 0.5) == 5.0
