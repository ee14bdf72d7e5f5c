"""What `jobs.protocols.Truth` promises of jobs, over both back ends; of the queue: `test_truth_queue.py`."""

from __future__ import annotations

import time

import pytest

from jobs.errors import IllegalMove, UnknownJob
from jobs.protocols import StepKind
from jobs.state import JOB_MOVES, JobState, SegmentState
from jobs.truth.redis_truth import RedisTruth
from tests.contract.house_of_truth import BEAT, House, names, segments_of
from tests.helpers_truth import record, result, tasks, worker


class TestJobs:
    def test_a_new_job_is_planning_and_its_plan_step_waits(self, house: House) -> None:
        assert house.truth.create_job(record("a"))
        assert not house.truth.create_job(record("a"))
        assert house.truth.job("a") == record("a")
        assert names(house.steps()) == [(StepKind.PLAN, None)]
        assert house.kinds("a") == ["planning"]

    def test_jobs_come_oldest_first(self, house: House) -> None:
        for name, created_at_s in (("b", 2.5), ("c", 1.5), ("a", 2.5)):
            house.truth.create_job(record(name, created_at_s=created_at_s))
        assert [entry.job for entry in house.truth.jobs()] == ["c", "a", "b"]

    def test_every_method_names_the_job_it_does_not_know(self, house: House) -> None:
        truth = house.truth
        for call in (truth.job, truth.pause, truth.unpause, truth.cancel, truth.retry_failed, truth.forget):
            with pytest.raises(UnknownJob, match=r"'nobody'.*tts-batch jobs"):
                call("nobody")
        for late in (
            lambda: truth.enqueue("nobody", [], []),
            lambda: truth.move_job("nobody", JobState.FAILED),
            lambda: truth.chapter_assembled("nobody", 0),
        ):
            with pytest.raises(UnknownJob, match="nobody"):
                late()
        assert truth.results("nobody") == {}

    def test_enqueue_counts_and_happens_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        all_tasks = tasks("a", 10)
        known = [result(task, reused=True) for task in all_tasks[:5]]
        for _twice in range(2):
            house.truth.enqueue("a", all_tasks[5:], known)
        now = house.truth.job("a")
        assert (now.state, now.total, now.done, now.reused, now.chapters) == (JobState.QUEUED, 10, 5, 5, 3)
        assert now.total_chars == sum(len(task.spoken) for task in all_tasks[5:])
        assert now.audio_s == pytest.approx(2.5)
        assert names(house.steps()) == [(StepKind.PLAN, None), (StepKind.ASSEMBLE, 0)]
        assert house.kinds("a") == ["planning", *["segment_done"] * 5, "queued"]

    def test_a_job_with_nothing_to_speak_is_assembled_at_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.enqueue("a", [], [result(task, reused=True) for task in tasks("a", 6)])
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps())[1:] == [(StepKind.ASSEMBLE, 0), (StepKind.ASSEMBLE, 1)]

    def test_an_empty_job_is_finished_at_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.enqueue("a", [], [])
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps())[1:] == [(StepKind.FINISH, None)]

    def test_enqueue_refuses_strangers_and_doubles(self, house: House) -> None:
        house.truth.create_job(record("a"))
        with pytest.raises(ValueError, match="segments of other jobs: b"):
            house.truth.enqueue("a", tasks("b", 1), [])
        with pytest.raises(ValueError, match=r"twice: \[0\]"):
            house.truth.enqueue("a", tasks("a", 1), [result(tasks("a", 1)[0])])
        assert house.truth.job("a").total == 0

    def test_chapters_are_counted_down_to_the_finish_step(self, house: House) -> None:
        house.speak("a", 10)
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps()) == [(StepKind.PLAN, None), *((StepKind.ASSEMBLE, number) for number in range(3))]
        for chapter in (1, 0, 1, 7):  # a second time and a chapter that is not there: no matter
            house.truth.chapter_assembled("a", chapter)
        assert house.steps() == []
        house.truth.chapter_assembled("a", 2)
        assert names(house.steps()) == [(StepKind.FINISH, None)]
        assert house.truth.job("a").chapters_assembled == 3
        assert house.truth.move_job("a", JobState.DONE) is JobState.ASSEMBLING
        assert house.truth.move_job("a", JobState.DONE) is JobState.DONE
        assert house.kinds("a")[-5:] == ["assembling", *["chapter_assembled"] * 3, "done"]

    def test_events_carry_the_counters_right_after_the_move(self, house: House) -> None:
        house.speak("a", 4)
        events = [event for _id, event in house.streams.events("a")]
        assert [event.done for event in events] == [0, 0, 0, 1, 2, 3, 4, 4]
        assert all(event.total == 4 for event in events[1:])
        last = events[-2]
        assert (last.segment, last.chapter, last.samples, last.sample_rate_hz) == (3, 0, 12_000, 24_000)
        assert last.audio_s == pytest.approx(2.0)
        assert abs(last.at_s - time.time()) < 60
        assert [event.at_s for event in events] == sorted(event.at_s for event in events)

    def test_a_paused_job_gives_nothing_until_it_goes_on(self, house: House) -> None:
        house.queue("a", 4)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 1)
        house.truth.pause("a")
        house.truth.pause("a")
        assert house.truth.lease("w", 4) == []
        assert house.truth.finish("w", [result(held[0])]) == [True]
        house.truth.unpause("a")
        house.truth.unpause("a")
        assert house.truth.job("a").state is JobState.QUEUED
        assert segments_of(house.truth.lease("w", 4)) == [1, 2, 3]
        assert house.truth.job("a").state is JobState.RUNNING

    def test_a_job_paused_before_its_plan_is_planned_again(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.steps()
        house.truth.pause("a")
        house.truth.enqueue("a", tasks("a", 2), [])
        assert house.truth.job("a").total == 0
        house.truth.unpause("a")
        assert house.truth.job("a").state is JobState.PLANNING
        assert names(house.steps()) == [(StepKind.PLAN, None)]

    def test_cancel_takes_what_waits_and_refuses_what_comes_late(self, house: House) -> None:
        house.queue("a", 10)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        assert house.truth.cancel("a") == 7
        assert house.truth.cancel("a") == 0
        assert house.truth.beat("w", BEAT) == {"a"}
        assert house.truth.finish("w", [result(held[0])]) == [False]
        assert house.truth.give_back("w", [task.ref for task in held[1:]]) == 0
        assert house.truth.beat("w", BEAT) == frozenset()
        assert house.truth.lease("w", 9) == []
        now = house.truth.job("a")
        assert (now.state, now.held, now.done) == (JobState.CANCELLED, 0, 0)

    def test_a_failed_job_keeps_its_segments_for_the_retry(self, house: House) -> None:
        house.queue("a", 10)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        house.truth.move_job("a", JobState.FAILED, reason="disk full")
        assert house.truth.job("a").reason == "disk full"
        assert house.truth.beat("w", BEAT) == {"a"}
        assert house.truth.finish("w", [result(held[0])]) == [False]
        assert house.truth.give_back("w") == 2
        assert house.truth.lease("w", 9) == []
        assert house.truth.retry_failed("a") == 0
        assert segments_of(house.truth.lease("w", 99)) == list(range(10))

    def test_a_job_that_failed_while_assembling_is_assembled_again(self, house: House) -> None:
        house.speak("a", 6)
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.FAILED, reason="disk full")
        house.truth.chapter_assembled("a", 1)  # too late: the retry has it made again
        assert house.truth.job("a").chapters_assembled == 1
        house.steps()
        assert house.truth.retry_failed("a") == 0
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps()) == [(StepKind.ASSEMBLE, 1)]

    def test_retry_puts_back_only_what_failed(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w"))
        bad = {2, 3}
        held = house.truth.lease("w", 8)
        states = [SegmentState.FAILED if task.segment in bad else SegmentState.DONE for task in held]
        house.truth.finish("w", [result(task, state=state) for task, state in zip(held, states, strict=True)])
        with pytest.raises(IllegalMove, match="assembling"):
            house.truth.retry_failed("a")
        for chapter in range(2):
            house.truth.chapter_assembled("a", chapter)
        house.truth.move_job("a", JobState.DONE_WITH_FAILURES)
        house.steps()
        assert house.truth.retry_failed("a") == 2
        now = house.truth.job("a")
        assert (now.state, now.failed, now.done, now.chapters_assembled) == (JobState.QUEUED, 0, 6, 1)
        again = house.truth.lease("w", 8)
        assert segments_of(again) == [2, 3]
        assert again == held[2:4]
        assert house.truth.finish("w", [result(task) for task in again]) == [True, True]
        assert names(house.steps()) == [(StepKind.ASSEMBLE, 0)]
        house.truth.chapter_assembled("a", 0)
        assert names(house.steps()) == [(StepKind.FINISH, None)]
        assert len(house.truth.results("a")) == 8

    @pytest.mark.parametrize("new", list(JobState))
    @pytest.mark.parametrize("old", [JobState.PLANNING, JobState.RUNNING, JobState.ASSEMBLING, JobState.DONE])
    def test_move_job_keeps_to_the_table(self, house: House, old: JobState, new: JobState) -> None:
        if old is JobState.PLANNING:
            house.truth.create_job(record("a"))
        elif old is JobState.RUNNING:
            house.queue("a", 2)
            house.truth.register(worker("w"))
            house.truth.lease("w", 1)
        else:
            house.speak("a", 2)
            house.truth.chapter_assembled("a", 0)
            house.truth.move_job("a", old)
        # Beyond the table: only a job with unfinished segments is queued, only one without is assembled.
        forbidden = {
            JobState.PLANNING: {JobState.QUEUED, JobState.ASSEMBLING},
            JobState.RUNNING: {JobState.ASSEMBLING},
            JobState.ASSEMBLING: {JobState.QUEUED},
        }
        if new is old or new in JOB_MOVES[old] - forbidden.get(old, set()):
            assert house.truth.move_job("a", new) is old
            assert house.truth.job("a").state is new
        else:
            with pytest.raises(IllegalMove, match=f"from {old} to {new}|from {old} it may|cannot go from {old}"):
                house.truth.move_job("a", new)
            assert house.truth.job("a").state is old

    def test_forget_leaves_nothing(self, house: House) -> None:
        house.queue("a", 4)
        house.truth.register(worker("w"))
        house.truth.lease("w", 2)
        with pytest.raises(IllegalMove, match=r"running.*cancel it first"):
            house.truth.forget("a")
        house.truth.cancel("a")
        house.truth.forget("a")
        assert house.truth.jobs() == []
        assert house.streams.events("a") == []
        assert house.truth.give_back("w") == 0
        if isinstance(house.truth, RedisTruth):
            client = house.truth._calls.client
            assert [key for key in client.keys("*") if b":a" in key] == []

    def test_a_job_of_the_same_id_starts_anew_after_forget(self, house: House) -> None:
        house.queue("a", 2)
        house.truth.register(worker("w"))
        old = house.truth.lease("w", 2)
        house.truth.cancel("a")
        house.truth.forget("a")
        house.queue("a", 2)
        assert house.truth.finish("w", [result(task) for task in old]) == [False, False]
        assert (house.truth.job("a").done, house.truth.job("a").held) == (0, 0)
