"""What `jobs.protocols.Truth` promises about the checks of a chapter: rulings, CHECK steps, takes that are counted."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.errors import IllegalMove, UnknownJob
from jobs.events import EventKind
from jobs.kinds import Grade
from jobs.protocols import Step, StepKind
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from tests.contract.house_of_truth import House, names
from tests.helpers_truth import record, result, tasks, worker

PLAN, CHECK, ASSEMBLE, FINISH = StepKind


def later(task: SegmentTask, attempt: int = 1) -> SegmentTask:
    """The task of another attempt, with a seed that no Lua number can hold."""
    take = f"{task.segment:031x}{attempt}"
    return task.model_copy(update={"attempt": attempt, "takes": 3, "seed": 2**62 + 1001 + attempt, "take": take})


def settled(task: SegmentTask, **changes: Any) -> SegmentResult:
    return result(task).model_copy(update={"settled": True, **changes})


def bad(task: SegmentTask, **changes: Any) -> SegmentResult:
    return result(task).model_copy(update={"grade": Grade.BAD, "takes": 3, "attempt": 1, **changes})


def failed(task: SegmentTask) -> SegmentResult:
    return settled(task, state=SegmentState.FAILED, samples=0, grade=Grade.BAD, reason='none is "good"', takes=3)


def events(house: House, job: str) -> list[tuple[str, int | None]]:
    told = [event for _id, event in house.streams.events(job)]
    return [(event.kind, event.segment) for event in told if event.kind is not EventKind.JOB]


class TestCounters:
    def test_takes_and_grades_are_counted_and_told(self, house: House) -> None:
        held = lease(house, "a", 4)
        house.truth.finish("speaker", [result(held[0]), bad(held[1]), bad(held[2], grade=Grade.GOOD)])
        now = house.truth.job("a")
        assert (now.done, now.marked, now.retakes) == (3, 1, 4)
        told = [event for _id, event in house.streams.events("a") if event.kind is EventKind.SEGMENT_DONE]
        assert [(event.takes, event.grade) for event in told] == [(1, "good"), (3, "bad"), (3, "good")]
        house.truth.finish("speaker", [result(held[3], state=SegmentState.FAILED).model_copy(update={"takes": 2})])
        now = house.truth.job("a")
        assert (now.failed, now.marked, now.retakes) == (1, 1, 5)
        house.truth.speak_again("a", [later(held[1])])
        now = house.truth.job("a")
        assert (now.done, now.marked, now.retakes) == (2, 0, 3)

    def test_segments_without_a_result_of_a_process_count_the_attempts_before(self, house: House) -> None:
        task = later(tasks("a", 1)[0], 2)
        assert house.truth.create_job(record("a"))
        house.truth.enqueue("a", [task], [])
        for _crash in range(4):
            house.truth.register(worker("speaker"))
            house.truth.lease("speaker", 1)
            house.truth.crashed("speaker")
        gone = house.truth.results("a")[0]
        assert (gone.state, gone.grade, gone.attempt, gone.takes) == (SegmentState.FAILED, Grade.UNUSABLE, 2, 3)
        assert house.truth.job("a").retakes == 2


class TestRule:
    def test_segments_go_back_with_their_next_attempt(self, house: House) -> None:
        house.speak("a", 8)
        assert names(house.steps()) == [(PLAN, None), (ASSEMBLE, 0), (ASSEMBLE, 1)]
        spoken = tasks("a", 8)
        again = [later(spoken[1]), later(spoken[3])]
        assert house.truth.rule("a", 0, [settled(spoken[0]), settled(spoken[2])], again) == 2
        now = house.truth.job("a")
        assert (now.state, now.done, now.waiting) == (JobState.QUEUED, 6, 2)
        assert now.audio_s == pytest.approx(3.0)
        assert events(house, "a")[-2:] == [("segment_again", 1), ("segment_again", 3)]
        assert house.steps() == []
        assert house.truth.lease("speaker", 9) == again
        house.truth.finish("speaker", [bad(task) for task in again])
        assert names(house.steps()) == [(ASSEMBLE, 0)]
        now = house.truth.job("a")
        assert (now.state, now.done, now.marked, now.retakes) == (JobState.ASSEMBLING, 8, 2, 4)
        assert house.truth.results("a")[0] == settled(spoken[0])

    def test_repeating_it_changes_nothing(self, house: House) -> None:
        house.speak("a", 4)
        spoken = tasks("a", 4)
        ruling = ([bad(spoken[0], settled=True)], [later(spoken[1])])
        for _time in range(3):
            assert house.truth.rule("a", 0, *ruling) == 1
        told = events(house, "a")[4:]
        assert told == [("segment_settled", 0), ("segment_again", 1)]
        now = house.truth.job("a")
        assert (now.done, now.marked, now.retakes, now.waiting) == (3, 1, 2, 1)

    def test_a_settled_segment_is_left_alone(self, house: House) -> None:
        house.speak("a", 4)
        spoken = tasks("a", 4)
        assert house.truth.rule("a", 0, [settled(task) for task in spoken], []) == 0
        before = house.truth.results("a")
        assert house.truth.rule("a", 0, [bad(spoken[0])], [later(spoken[1])]) == 0
        assert house.truth.results("a") == before
        assert house.truth.job("a").marked == 0

    def test_only_what_changes_a_delivery_is_told(self, house: House) -> None:
        house.speak("a", 4)
        spoken = tasks("a", 4)
        other = settled(spoken[1], take="f" * 32, attempt=2, takes=3, samples=24_000)
        worse = settled(spoken[2], grade=Grade.BAD, reason="slow", takes=3)
        assert house.truth.rule("a", 0, [settled(spoken[0]), other, worse, failed(spoken[3])], []) == 0
        told = [event for _id, event in house.streams.events("a")]
        last = [event for event in told if event.kind is not EventKind.JOB][4:]
        assert [(event.kind, event.segment, event.take, event.grade, event.reason) for event in last] == [
            ("segment_settled", 1, "f" * 32, "good", None),
            ("segment_settled", 2, spoken[2].take, "bad", "slow"),
            ("segment_failed", 3, None, None, 'none is "good"'),
        ]
        now = house.truth.job("a")
        assert (now.done, now.failed, now.marked, now.retakes) == (3, 1, 1, 6)
        assert now.audio_s == pytest.approx(2.0)
        assert now.state is JobState.ASSEMBLING

    def test_an_assembled_or_incomplete_chapter_is_left_alone(self, house: House) -> None:
        house.speak("a", 8)
        spoken = tasks("a", 8)
        house.truth.chapter_assembled("a", 0)
        assert house.truth.rule("a", 0, [bad(spoken[0])], [later(spoken[1])]) == 0
        house.truth.speak_again("a", [spoken[4]])
        assert house.truth.rule("a", 1, [bad(spoken[5])], [later(spoken[6])]) == 1
        assert house.truth.rule("a", 7, [], []) == 0
        assert set(house.truth.results("a")) == set(range(8)) - {4}
        assert house.truth.job("a").marked == 0

    def test_a_paused_job_stays_paused(self, house: House) -> None:
        held = lease(house, "a", 8)
        house.truth.finish("speaker", [result(task) for task in held[:4]])
        house.truth.pause("a")
        assert house.truth.rule("a", 0, [], [later(held[0])]) == 1
        assert house.truth.job("a").state is JobState.PAUSED
        assert house.truth.lease("speaker", 9) == []
        house.truth.unpause("a")
        assert house.truth.lease("speaker", 9) == [later(held[0])]

    def test_a_job_paused_before_its_last_segments_are_finished_stays_paused(self, house: House) -> None:
        held = lease(house, "a", 8)
        house.truth.pause("a")
        house.truth.finish("speaker", [result(task) for task in held])
        assert house.truth.job("a").state is JobState.PAUSED
        assert names(house.steps())[-2:] == [(ASSEMBLE, 0), (ASSEMBLE, 1)]
        assert house.truth.rule("a", 0, [], [later(held[0])]) == 1
        assert house.truth.job("a").state is JobState.PAUSED
        assert house.truth.lease("speaker", 9) == []
        house.truth.unpause("a")
        assert house.truth.lease("speaker", 9) == [later(held[0])]
        house.truth.pause("a")
        house.truth.finish("speaker", [result(later(held[0]))])
        house.truth.chapter_assembled("a", 0)
        house.steps()
        house.truth.unpause("a")
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps()) == [(ASSEMBLE, 1)]
        house.truth.chapter_assembled("a", 1)
        assert names(house.steps()) == [(FINISH, None)]

    def test_a_job_that_is_over_and_strangers_are_refused(self, house: House) -> None:
        house.speak("a", 4)
        spoken = tasks("a", 8)
        with pytest.raises(ValueError, match="segments of other chapters"):
            house.truth.rule("a", 0, [], [later(spoken[5])])
        with pytest.raises(ValueError, match="segments twice"):
            house.truth.rule("a", 0, [settled(spoken[0])], [later(spoken[0])])
        with pytest.raises(ValueError, match="reported as held"):
            house.truth.rule("a", 0, [settled(spoken[0], state=SegmentState.HELD)], [])
        with pytest.raises(UnknownJob):
            house.truth.rule("nobody", 0, [], [])
        house.truth.cancel("a")
        with pytest.raises(IllegalMove, match="cannot go from cancelled"):
            house.truth.rule("a", 0, [], [later(spoken[0])])


class TestChecks:
    def test_check_steps_name_their_part_and_come_again_when_lost(self, house: House) -> None:
        house.speak("a", 4)
        house.steps()
        house.truth.put_checks("a", 0, [0, 2])
        taken = house.truth.take_steps("c", limit=9, timeout_s=0)
        assert [(step.kind, step.chapter, step.part) for step in taken] == [(CHECK, 0, 0), (CHECK, 0, 2)]
        house.truth.step_sent(taken[0])
        lost = house.truth.reconcile(quiet_s=0)
        assert [(step.kind, step.chapter, step.part) for step in lost] == [(CHECK, 0, 2), (ASSEMBLE, 0, None)]
        assert house.truth.reconcile(quiet_s=0) == []  # they wait in the outbox
        assert [(s.kind, s.part) for s in _confirmed(house)] == [(CHECK, 2), (ASSEMBLE, None)]

    def test_without_parts_the_chapter_is_assembled(self, house: House) -> None:
        house.speak("a", 4)
        house.steps()
        house.truth.put_checks("a", 0, [])
        assert names(house.steps()) == [(ASSEMBLE, 0)]

    def test_nothing_is_put_out_for_what_is_not_complete_or_over(self, house: House) -> None:
        house.speak("a", 4)
        house.queue("b", 4)
        house.steps()
        house.truth.put_checks("b", 0, [0])
        house.truth.chapter_assembled("a", 0)
        house.steps()
        house.truth.put_checks("a", 0, [0])
        house.truth.put_checks("a", 0, [])
        house.truth.cancel("b")
        house.truth.put_checks("b", 0, [])
        assert house.steps() == []
        with pytest.raises(UnknownJob):
            house.truth.put_checks("nobody", 0, [])

    def test_starts_are_counted_by_part_until_the_chapter_moves_forward(self, house: House) -> None:
        house.speak("a", 8)
        started = house.truth.step_started
        assert [started("a", CHECK, 0, 0), started("a", CHECK, 0, 0), started("a", CHECK, 0, 1)] == [1, 2, 1]
        assert [started("a", ASSEMBLE, 0), started("a", ASSEMBLE, 0), started("a", ASSEMBLE, 1)] == [1, 2, 1]
        house.truth.put_checks("a", 0, [0, 1])  # ASSEMBLE came to its end, the CHECKs did not
        assert (started("a", ASSEMBLE, 0), started("a", CHECK, 0, 0)) == (1, 3)
        house.truth.put_checks("a", 0, [])
        assert (started("a", ASSEMBLE, 0), started("a", CHECK, 0, 0)) == (2, 1)
        task = tasks("a", 8)[0]
        house.truth.rule("a", 0, [], [later(task)])
        assert (started("a", ASSEMBLE, 0), started("a", CHECK, 0, 0)) == (0, 0)  # it is not complete
        house.truth.lease("speaker", 1)
        house.truth.finish("speaker", [result(later(task))])
        assert (started("a", ASSEMBLE, 0), started("a", CHECK, 0, 0)) == (1, 1)
        assert started("a", ASSEMBLE, 1) == 2  # another chapter's is no progress of this one
        house.truth.chapter_assembled("a", 0)
        assert (started("a", ASSEMBLE, 0), started("a", CHECK, 0, 0)) == (0, 0)


class TestRetry:
    def test_given_tasks_go_before_kept_ones_and_done_ones_go_too(self, house: House) -> None:
        held = lease(house, "a", 4)
        lost = SegmentState.FAILED
        house.truth.finish("speaker", [result(held[0], state=lost), result(held[1], state=lost)])
        house.truth.finish("speaker", [bad(held[2]), result(held[3])])
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.DONE_WITH_FAILURES)
        again = [later(held[0], 3), later(held[2], 3)]
        assert house.truth.retry_failed("a", again) == 3
        now = house.truth.job("a")
        assert (now.state, now.done, now.failed, now.marked, now.retakes) == (JobState.QUEUED, 1, 0, 0, 0)
        assert house.truth.lease("speaker", 9) == [again[0], held[1], again[1]]

    def test_others_that_failed_stay_so_if_asked(self, house: House) -> None:
        held = lease(house, "a", 4)
        lost = SegmentState.FAILED
        house.truth.finish("speaker", [result(held[0], state=lost), result(held[1], state=lost)])
        house.truth.finish("speaker", [bad(held[2]), result(held[3])])
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.DONE_WITH_FAILURES)
        assert house.truth.retry_failed("a", others=False) == 0
        again = [later(held[0], 3), later(held[2], 3)]
        assert house.truth.retry_failed("a", again, others=False) == 2
        now = house.truth.job("a")
        assert (now.state, now.done, now.failed, now.waiting) == (JobState.QUEUED, 1, 1, 2)
        assert house.truth.lease("speaker", 9) == again

    def test_one_that_failed_by_a_ruling_needs_a_task(self, house: House) -> None:
        house.speak("a", 4)
        spoken = tasks("a", 4)
        house.truth.rule("a", 0, [failed(spoken[1])], [])
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.DONE_WITH_FAILURES)
        assert house.truth.retry_failed("a") == 0
        assert house.truth.retry_failed("a", [later(spoken[1], 3)]) == 1
        assert house.truth.lease("speaker", 9) == [later(spoken[1], 3)]

    def test_strangers_are_refused(self, house: House) -> None:
        house.speak("a", 4)
        with pytest.raises(ValueError, match="retry_failed of job a was given segments of other jobs: b"):
            house.truth.retry_failed("a", tasks("b", 1))


def _confirmed(house: House) -> list[Step]:
    """The waiting steps, taken and confirmed."""
    taken = house.truth.take_steps("c", limit=99, timeout_s=0)
    for step in taken:
        house.truth.step_sent(step)
    return taken


def lease(house: House, job: str, count: int) -> list[SegmentTask]:
    """Queue a job and lease all of it."""
    house.queue(job, count)
    house.truth.register(worker("speaker"))
    return house.truth.lease("speaker", count)
