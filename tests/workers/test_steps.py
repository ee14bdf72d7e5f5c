"""Steps of a job: each may run twice and writes the same bytes; a job that is gone or over is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from jobs import keys
from jobs.errors import BrokerUnavailable, ObjectDamaged, StoreError, UnknownJob
from jobs.plan_store import save_plan
from jobs.protocols import StepKind
from jobs.spec import AudioFormat, JobRecord
from jobs.state import JobState
from tests.workers.making import Stage, lines, running, until
from workers.steps import give_up, run_step

BOOK = f"CHAPTER ONE\n\n{lines(2)}\n\nCHAPTER TWO\n\n{lines(2, 'once more')}\n"
BROKEN = f"{BOOK}\n\nThis one [[fault:error]] fails.\n"


def planned(stage: Stage, text: str = BOOK) -> str:
    """A job in PLANNING with its plan in the store."""
    draft = stage.draft(text, formats=(AudioFormat.M4B, AudioFormat.FLAC))
    save_plan(stage.store, draft.job, draft.plan)
    stage.truth.create_job(
        JobRecord(
            job=draft.job,
            spec=draft.spec,
            state=JobState.PLANNING,
            title="A Book",
            author="Nobody",
            created_at_s=1.0,
            updated_at_s=1.0,
        )
    )
    return draft.job


def spoken(stage: Stage, text: str = BOOK) -> str:
    """A job in ASSEMBLING: everything is spoken."""
    job = planned(stage, text)
    run_step(stage.context, StepKind.PLAN, job, None)
    with running(stage):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    return job


def objects(stage: Stage) -> dict[str, bytes]:
    return {key: stage.store.get(key) for key in stage.store.list("")}


def test_planning_twice_queues_once(stage: Stage) -> None:
    job = planned(stage)
    for _again in range(2):
        run_step(stage.context, StepKind.PLAN, job, None)
        record = stage.truth.job(job)
        assert (record.state, record.total, record.chapters) == (JobState.QUEUED, 6, 2)


def test_assembling_and_finishing_twice_write_the_same_bytes(stage: Stage) -> None:
    job = spoken(stage)
    seen = []
    for _again in range(2):
        for chapter in (1, 0):
            run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
        seen.append(objects(stage))
        assert stage.truth.job(job).chapters_assembled == 2
    assert seen[0] == seen[1]
    prefix = keys.job_object(job, "chapters/")
    chapters = {key.removeprefix(prefix).partition(".")[0] for key in seen[0] if key.startswith(prefix)}
    assert chapters == {"001-chapter-one", "002-chapter-two"}

    def away_at_the_end(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "move_job":
            raise BrokerUnavailable("away")

    stage.replace_truth(away_at_the_end)
    with pytest.raises(BrokerUnavailable):
        run_step(stage.context, StepKind.FINISH, job, None)
    once = objects(stage)
    stage.context.truth = stage.truth
    run_step(stage.context, StepKind.FINISH, job, None)
    assert objects(stage) == once
    assert {keys.job_object(job, name) for name in ("book.m4b", "book.flac", "report.json")} <= set(once)
    assert stage.state(job) is JobState.DONE


def test_a_job_with_a_failed_segment_ends_with_failures(stage: Stage) -> None:
    job = spoken(stage, BROKEN)
    for chapter in range(stage.truth.job(job).chapters):
        run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
    run_step(stage.context, StepKind.FINISH, job, None)
    assert stage.state(job) is JobState.DONE_WITH_FAILURES
    assert b"the text asks to be rejected" in stage.store.get(keys.job_object(job, "report.json"))


@pytest.mark.parametrize("kind", list(StepKind))
def test_a_job_that_is_over_or_gone_is_left_alone(stage: Stage, kind: StepKind) -> None:
    job = spoken(stage)
    stage.truth.cancel(job)
    before = objects(stage), stage.events(job)
    run_step(stage.context, kind, job, 0)
    give_up(stage.context, kind, job, StoreError("full"))
    assert (objects(stage), stage.events(job)) == before
    stage.truth.forget(job)
    run_step(stage.context, kind, job, 0)
    give_up(stage.context, kind, job, StoreError("full"))
    assert objects(stage) == before[0]
    with pytest.raises(UnknownJob):
        stage.truth.job(job)


def test_steps_that_come_at_the_wrong_time_do_nothing(stage: Stage) -> None:
    job = spoken(stage)
    before = objects(stage), stage.events(job)
    run_step(stage.context, StepKind.PLAN, job, None)
    run_step(stage.context, StepKind.ASSEMBLE, job, None)
    assert (objects(stage), stage.events(job)) == before
    early = planned(stage, "Another text.")
    run_step(stage.context, StepKind.FINISH, early, None)
    assert stage.state(early) is JobState.PLANNING


def test_a_step_given_up_fails_its_job_with_the_reason(stage: Stage) -> None:
    job = spoken(stage)
    give_up(stage.context, StepKind.ASSEMBLE, job, StoreError("no space left"))
    record = stage.truth.job(job)
    assert (record.state, record.reason) == (JobState.FAILED, "assemble: no space left")


@pytest.mark.parametrize("harm", ["delete", "damage"])
@pytest.mark.parametrize("kind", [StepKind.ASSEMBLE, StepKind.FINISH])
def test_a_take_that_got_lost_is_spoken_again(stage: Stage, kind: StepKind, harm: str) -> None:
    job = spoken(stage)
    if kind is StepKind.FINISH:
        for chapter in (0, 1):
            run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
    takes = {segment: result.take for segment, result in stage.truth.results(job).items()}
    whole = stage.store.get(keys.take_audio(takes[1]))
    if harm == "delete":
        stage.store.delete(keys.take_audio(takes[1]))
    else:
        stage.store.put(keys.take_audio(takes[1]), whole[:-20] + bytes(20))
    run_step(stage.context, kind, job, 0 if kind is StepKind.ASSEMBLE else None)
    record = stage.truth.job(job)
    assert (record.state, record.waiting, record.done) == (JobState.QUEUED, 1, len(takes) - 1)
    with running(stage):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "it is spoken again")
    assert stage.store.get(keys.take_audio(takes[1])) == whole
    for chapter in (0, 1):
        run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
    run_step(stage.context, StepKind.FINISH, job, None)
    assert stage.state(job) is JobState.DONE


def test_a_damaged_plan_is_said(stage: Stage) -> None:
    job = spoken(stage)
    stage.store.put(keys.job_object(job, "plan.jsonl"), b"{")
    with pytest.raises(ObjectDamaged, match=r"plan\.jsonl in memory://.* is not a plan"):
        run_step(stage.context, StepKind.ASSEMBLE, job, 0)


@pytest.mark.parametrize("kind", [StepKind.ASSEMBLE, StepKind.FINISH])
def test_a_segment_put_back_in_the_middle_of_a_step_is_waited_for(stage: Stage, kind: StepKind) -> None:
    """The same step was sent twice, and the other one finds that a take is lost."""
    job = spoken(stage)
    for chapter in (0, 1):
        run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
    (task, *_) = stage.tasks(BOOK, formats=(AudioFormat.M4B, AudioFormat.FLAC))
    if kind is StepKind.ASSEMBLE:
        stage.truth.speak_again(job, [task])
        with running(stage):
            until(lambda: stage.state(job) is JobState.ASSEMBLING, "it is spoken")
    asked = {StepKind.ASSEMBLE: 2, StepKind.FINISH: 1}[kind]

    def lose(name: str, _arguments: tuple[Any, ...]) -> None:
        nonlocal asked
        asked -= name == "results"
        if asked == 0:
            asked = -1
            assert stage.truth.speak_again(job, [task]) == 1

    stage.replace_truth(lose)
    before = objects(stage)
    run_step(stage.context, kind, job, 0)
    assert objects(stage) == before
    record = stage.truth.job(job)
    assert (record.state, record.waiting) == (JobState.QUEUED, 1)
