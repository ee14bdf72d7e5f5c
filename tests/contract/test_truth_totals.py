"""What a worker holds, what is counted of the deployment, and the figures that come with heartbeats."""

from __future__ import annotations

from jobs.figures import Figure, Figures, Total, named
from jobs.protocols import Beat
from jobs.spec import SegmentResult
from jobs.state import JobState, SegmentState
from tests.contract.house_of_truth import House
from tests.helpers_truth import record, result, tasks, worker


def queue(house: House, count: int) -> None:
    house.truth.create_job(record("a"))
    house.truth.enqueue("a", tasks("a", count, per_chapter=count), [])


def failed(good: SegmentResult) -> SegmentResult:
    return good.model_copy(update={"state": SegmentState.FAILED, "reason": "no", "samples": 0})


def test_what_a_worker_holds_is_told_by_name(house: House) -> None:
    truth = house.truth
    queue(house, 4)
    assert truth.holding("nobody") == frozenset()
    truth.register(worker("w"))
    truth.register(worker("other"))
    held = truth.lease("w", 3)
    assert truth.holding("w") == {task.ref for task in held} == {"a|0", "a|1", "a|2"}
    assert truth.holding("other") == frozenset()
    truth.finish("w", [result(held[0])])
    truth.give_back("w", [held[1].ref])
    assert truth.holding("w") == {"a|2"}
    truth.retire("w")
    assert truth.holding("w") == frozenset()


def test_finished_segments_and_their_grades_are_counted_once(house: House) -> None:
    truth = house.truth
    queue(house, 3)
    truth.register(worker("w"))
    held = truth.lease("w", 3)
    results = [result(held[0]), result(held[1]), failed(result(held[2]))]
    truth.finish("w", results)
    truth.finish("w", results)
    assert truth.totals() == {
        named(Total.SEGMENTS, "done"): 2,
        named(Total.SEGMENTS, "failed"): 1,
        named(Total.GRADES, results[0].grade): 2,
        named(Total.DEAD_LETTERS): 1,
    }


def test_segments_that_come_back_are_counted_by_the_cause(house: House) -> None:
    truth = house.truth
    queue(house, 9)
    truth.register(worker("w"))
    held = truth.lease("w", 2)
    truth.give_back("w", [held[0].ref])
    truth.give_back("w", [held[0].ref])  # it holds it no more
    truth.retire("w")
    truth.register(worker("x"))
    truth.lease("x", 3)
    truth.crashed("x")
    totals = truth.totals()
    assert totals[named(Total.GIVEN_BACK, "asked")] == 1
    assert totals[named(Total.GIVEN_BACK, "retired")] == 1
    assert totals[named(Total.GIVEN_BACK, "crashed")] == totals[named(Total.SUSPECTS)] == 3


def test_segments_that_are_spoken_again_are_counted_by_the_cause(house: House) -> None:
    truth = house.truth
    queue(house, 3)
    truth.register(worker("w"))
    held = truth.lease("w", 3)
    truth.finish("w", [result(held[0]), result(held[1]), failed(result(held[2]))])
    assert truth.rule("a", 0, [], [held[0]]) == 1
    assert truth.speak_again("a", [held[1]]) == 1
    again = truth.lease("w", 3)
    truth.finish("w", [result(task) for task in again])
    truth.chapter_assembled("a", 0)
    truth.move_job("a", JobState.DONE_WITH_FAILURES)
    assert truth.retry_failed("a") == 1
    totals = truth.totals()
    assert {name: totals[named(Total.SPOKEN_AGAIN, name)] for name in ("rule", "missing", "retry")} == {
        "rule": 1,
        "missing": 1,
        "retry": 1,
    }


def test_others_may_add_to_the_totals(house: House) -> None:
    house.truth.count({"steps:assemble": 2})
    house.truth.count({"steps:assemble": 1, "steps:finish": 1})
    house.truth.count({})
    assert house.truth.totals() == {"steps:assemble": 3, "steps:finish": 1}


def test_figures_come_with_a_heartbeat_and_stay_until_the_next_that_has_some(house: House) -> None:
    truth = house.truth
    truth.register(worker("w"))
    assert truth.workers()[0].figures == {}
    figures = Figures()
    figures.add(Figure.RETAKES, label="tail")
    figures.add(Figure.SLOT_S, 1.5)
    figures.observe(Figure.REFILL_S, 0.003)
    figures.observe(Figure.REFILL_S, 9.0)
    truth.beat("w", Beat(1, 2, 3.0, figures.read()))
    truth.beat("w", Beat(2, 3, 4.0))
    (status,) = truth.workers()
    assert (status.slots_busy, status.segments_done) == (2, 3)
    assert status.figures == {
        "retakes:tail": 1.0,
        "slot_s": 1.5,
        "refill_s:sum": 9.003,
        "refill_s:count": 2.0,
        "refill_s:0.005": 1.0,
        "refill_s:more": 1.0,
    }
