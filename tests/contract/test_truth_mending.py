"""What `jobs.protocols.Truth` promises when something was lost: takes, steps, the processes that did them."""

from __future__ import annotations

import pytest

from jobs.errors import IllegalMove, UnknownJob
from jobs.protocols import StepKind
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from tests.contract.house_of_truth import House, names, segments_of
from tests.helpers_truth import record, result, tasks, worker

PLAN, CHECK, ASSEMBLE, FINISH = StepKind


def assemble(house: House, job: str, chapters: int) -> None:
    for chapter in range(chapters):
        house.truth.chapter_assembled(job, chapter)


class TestSpeakAgain:
    def test_an_assembling_job_speaks_what_was_lost_and_ends_only_then(self, house: House) -> None:
        house.speak("a", 10)
        assemble(house, "a", 3)
        house.steps()
        lost = [tasks("a", 10)[number] for number in (1, 9)]
        assert house.truth.speak_again("a", lost) == 2
        now = house.truth.job("a")
        assert (now.state, now.done, now.failed, now.chapters_assembled) == (JobState.QUEUED, 8, 0, 1)
        assert now.audio_s == pytest.approx(4.0)
        assert set(house.truth.results("a")) == set(range(10)) - {1, 9}
        assert house.kinds("a")[-1] == "queued"
        assert house.steps() == []
        assert house.truth.lease("speaker", 9) == lost
        assert house.truth.finish("speaker", [result(lost[0])]) == [True]
        assert names(house.steps()) == [(ASSEMBLE, 0)]
        assert house.truth.job("a").state is JobState.RUNNING
        assert house.truth.finish("speaker", [result(lost[1])]) == [True]
        assert names(house.steps()) == [(ASSEMBLE, 2)]
        now = house.truth.job("a")
        assert (now.state, now.done) == (JobState.ASSEMBLING, 10)
        assert now.audio_s == pytest.approx(5.0)

    def test_a_late_step_does_not_end_the_job_early(self, house: House) -> None:
        house.speak("a", 8)
        assemble(house, "a", 2)
        house.steps()
        lost = tasks("a", 1)
        house.truth.speak_again("a", lost)
        for end in (JobState.DONE, JobState.DONE_WITH_FAILURES):
            with pytest.raises(IllegalMove, match=f"from queued to {end}"):
                house.truth.move_job("a", end)
        house.truth.chapter_assembled("a", 0)  # made of the takes of before
        assert house.truth.job("a").chapters_assembled == 1
        house.truth.lease("speaker", 9)
        house.truth.finish("speaker", [result(lost[0])])
        assert names(house.steps()) == [(ASSEMBLE, 0)]
        for end in (JobState.DONE, JobState.DONE_WITH_FAILURES):  # assembling again, but chapter 0 is not there yet
            with pytest.raises(IllegalMove, match=f"not assembled cannot go from assembling to {end}"):
                house.truth.move_job("a", end)
        assert house.truth.step_started("a", FINISH, None) == 0
        house.truth.chapter_assembled("a", 0)
        assert names(house.steps()) == [(FINISH, None)]
        house.truth.move_job("a", JobState.DONE)

    def test_a_failed_job_goes_on_and_its_other_chapters_are_assembled(self, house: House) -> None:
        house.speak("a", 12)
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.FAILED, reason="a take is damaged")
        house.steps()
        assert house.truth.speak_again("a", tasks("a", 1, first=5)) == 1
        now = house.truth.job("a")
        assert (now.state, now.reason, now.done) == (JobState.QUEUED, "", 11)
        assert names(house.steps()) == [(ASSEMBLE, 2)]  # its step was ignored while the job had failed
        assert segments_of(house.truth.lease("speaker", 9)) == [5]

    def test_a_job_at_work_or_paused_stays_so(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 5)
        house.truth.finish("w", [result(task) for task in held[:4]])
        assert house.truth.speak_again("a", [held[0], held[4], *tasks("a", 1, first=7)]) == 1
        assert (house.truth.job("a").state, house.truth.job("a").done) == (JobState.RUNNING, 3)
        house.truth.pause("a")
        assert house.truth.speak_again("a", [held[1]]) == 1
        assert house.truth.job("a").state is JobState.PAUSED
        assert house.truth.lease("w", 9) == []
        house.truth.unpause("a")
        assert house.kinds("a")[-2:] == ["paused", "queued"]
        assert segments_of(house.truth.lease("w", 9)) == [0, 1, 5, 6, 7]
        assert house.truth.finish("w", [result(held[0])]) == [True]

    def test_a_job_all_of_whose_segments_are_held_has_work_again(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 8)
        house.truth.finish("w", [result(held[0])])
        assert house.truth.speak_again("a", [held[0]]) == 1
        assert house.truth.lease("w", 8) == [held[0]]

    def test_what_is_not_done_is_left_alone(self, house: House) -> None:
        house.queue("a", 4)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 4)
        states = [SegmentState.DONE, SegmentState.DONE, SegmentState.DONE, SegmentState.FAILED]
        house.truth.finish("w", [result(task, state=state) for task, state in zip(held, states, strict=True)])
        assert house.truth.speak_again("a", [held[3]]) == house.truth.speak_again("a", []) == 0
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert house.truth.speak_again("a", [held[0], held[3]]) == 1
        assert house.truth.speak_again("a", [held[0]]) == 0
        assert (house.truth.job("a").done, house.truth.job("a").failed) == (2, 1)
        assert house.truth.finish("w", [result(held[0])]) == [False]  # nobody holds it now
        assert house.truth.lease("w", 4) == [held[0]]

    def test_takes_that_were_reused_are_counted_as_such_no_more(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.enqueue("a", [], [result(task, reused=True) for task in tasks("a", 3)])
        assert house.truth.speak_again("a", tasks("a", 3)) == 3
        now = house.truth.job("a")
        assert (now.state, now.done, now.reused, now.audio_s) == (JobState.QUEUED, 0, 0, 0.0)

    @pytest.mark.parametrize("end", sorted(FINAL_JOB_STATES - {JobState.FAILED}))
    def test_a_job_at_its_end_is_not_opened_again(self, house: House, end: JobState) -> None:
        house.speak("a", 4)
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", end)
        with pytest.raises(IllegalMove, match=f"from {end} to queued|from {end} it may go to"):
            house.truth.speak_again("a", tasks("a", 1))
        assert (house.truth.job("a").state, house.truth.job("a").done) == (end, 4)

    def test_strangers_doubles_and_unknown_jobs_are_refused(self, house: House) -> None:
        house.speak("a", 4)
        with pytest.raises(ValueError, match="speak_again of job a was given segments of other jobs: b"):
            house.truth.speak_again("a", tasks("b", 1))
        with pytest.raises(ValueError, match=r"twice: \[0\]"):
            house.truth.speak_again("a", tasks("a", 1) * 2)
        with pytest.raises(UnknownJob, match="nobody"):
            house.truth.speak_again("nobody", tasks("nobody", 1))
        assert house.truth.job("a").done == 4


class TestStepStarted:
    def test_starts_are_counted_for_each_step_alone(self, house: House) -> None:
        house.truth.create_job(record("a"))
        assert [house.truth.step_started("a", PLAN, None) for _time in range(4)] == [1, 2, 3, 4]
        house.speak("b", 8)
        assert [house.truth.step_started("b", ASSEMBLE, 0) for _time in range(3)] == [1, 2, 3]
        assert house.truth.step_started("b", ASSEMBLE, 1) == 1
        with pytest.raises(UnknownJob, match="nobody"):
            house.truth.step_started("nobody", PLAN, None)

    def test_a_step_that_is_not_called_for_counts_nothing(self, house: House) -> None:
        house.queue("a", 8)
        assert house.truth.step_started("a", PLAN, None) == 0
        assert house.truth.step_started("a", ASSEMBLE, 0) == 0
        assert house.truth.step_started("a", ASSEMBLE, 7) == 0
        assert house.truth.step_started("a", FINISH, None) == 0
        house.speak("b", 4)
        assert house.truth.step_started("b", FINISH, None) == 0
        house.truth.chapter_assembled("b", 0)
        assert house.truth.step_started("b", ASSEMBLE, 0) == 0
        assert [house.truth.step_started("b", FINISH, None) for _time in range(2)] == [1, 2]
        house.truth.move_job("b", JobState.DONE)
        assert house.truth.step_started("b", FINISH, None) == 0

    def test_moving_forward_begins_anew(self, house: House) -> None:
        house.speak("a", 8)
        for chapter in (0, 0, 1):
            house.truth.step_started("a", ASSEMBLE, chapter)
        house.truth.chapter_assembled("a", 0)
        house.truth.speak_again("a", tasks("a", 1))
        (again,) = house.truth.lease("speaker", 9)
        house.truth.finish("speaker", [result(again)])
        assert house.truth.step_started("a", ASSEMBLE, 0) == 1
        assert house.truth.step_started("a", ASSEMBLE, 1) == 2  # another chapter's step is no progress of this one
        house.truth.move_job("a", JobState.FAILED)
        house.truth.retry_failed("a")
        assert house.truth.step_started("a", ASSEMBLE, 1) == 1

    def test_a_job_of_the_same_id_starts_anew(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.step_started("a", PLAN, None)
        house.truth.cancel("a")
        house.truth.forget("a")
        house.truth.create_job(record("a"))
        assert house.truth.step_started("a", PLAN, None) == 1


class TestReconcileAtOnce:
    def test_every_step_the_truth_calls_for_is_sent_again(self, house: House) -> None:
        house.truth.create_job(record("plan"))
        house.speak("sum", 6)
        house.truth.chapter_assembled("sum", 1)
        house.queue("run", 8)
        held = house.truth.lease("speaker", 5)
        house.truth.finish("speaker", [result(task) for task in held])
        house.speak("end", 2)  # its worker takes the rest of run first
        house.truth.chapter_assembled("end", 0)
        house.truth.create_job(record("over"))
        house.truth.cancel("over")
        house.steps()
        found = house.truth.reconcile(quiet_s=0)
        assert sorted((step.job, step.kind, step.chapter) for step in found) == [
            ("end", FINISH, None),
            ("plan", PLAN, None),
            ("run", ASSEMBLE, 0),
            ("run", ASSEMBLE, 1),
            ("sum", ASSEMBLE, 0),
        ]
        assert {step.entry for step in house.steps()} == {step.entry for step in found}

    def test_a_complete_chapter_of_a_job_at_work_is_called_for_too(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w"))
        house.truth.finish("w", [result(task) for task in house.truth.lease("w", 5)])
        house.steps()
        assert names(house.truth.reconcile(quiet_s=0)) == [(ASSEMBLE, 0)]
        assert house.truth.job("a").state is JobState.RUNNING

    def test_what_a_dead_consumer_took_is_handed_out_at_once(self, house: House) -> None:
        for name in ("a", "b"):
            house.truth.create_job(record(name))
        (taken,) = house.truth.take_steps("dead", limit=1, timeout_s=0)
        assert taken.job == "a"
        found = house.truth.reconcile(quiet_s=0)
        assert [(step.job, step.kind) for step in found] == [("a", PLAN)]  # b still waits for its first consumer
        assert [step.job for step in house.truth.take_steps("new", limit=9, timeout_s=0)] == ["b", "a"]

    def test_quiet_is_what_the_caller_says(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.take_steps("alive", limit=1, timeout_s=0)
        assert house.truth.reconcile(quiet_s=3600) == []
        house.steps()
        assert house.truth.reconcile(quiet_s=3600) == []
