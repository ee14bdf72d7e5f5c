"""Moves by hand: what they do, and why some cannot be, in words for people."""

from __future__ import annotations

import pytest

from jobs import control
from jobs.errors import IllegalMove, UnknownJob
from jobs.state import FINAL_JOB_STATES, JobState
from tests.helpers_jobs import World


def ended(world: World, state: JobState) -> str:
    job = world.submit().job
    if state in (JobState.CANCELLED, JobState.FAILED):
        world.truth.move_job(job, state)
        return job
    for task in world.lease():
        world.speak(task)
    for chapter in range(world.truth.job(job).chapters):
        world.truth.chapter_assembled(job, chapter)
    world.truth.move_job(job, state)
    return job


def test_a_job_is_held_and_let_go():
    world = World()
    job = world.submit().job
    assert control.pause(world.truth, job).state is JobState.PAUSED
    assert control.pause(world.truth, job).state is JobState.PAUSED
    assert control.resume(world.truth, job).state is JobState.QUEUED
    assert control.resume(world.truth, job).state is JobState.QUEUED
    assert control.cancel(world.truth, job) == world.truth.job(job).total
    assert control.cancel(world.truth, job) == 0


@pytest.mark.parametrize("state", sorted(FINAL_JOB_STATES))
def test_what_has_ended_says_so(state: JobState):
    world = World()
    job = ended(world, state)
    with pytest.raises(IllegalMove, match=f"^job {job} is {state}; there is nothing left to pause$"):
        control.pause(world.truth, job)
    if state is not JobState.CANCELLED:
        with pytest.raises(IllegalMove, match=f"^job {job} is {state}; there is nothing left to cancel$"):
            control.cancel(world.truth, job)
    assert control.resume(world.truth, job).state is state


def test_files_that_are_being_written_cannot_be_held():
    world = World()
    job = world.submit().job
    for task in world.lease():
        world.speak(task)
    with pytest.raises(IllegalMove, match=f"job {job} is assembling: all of it is spoken"):
        control.pause(world.truth, job)
    assert control.cancel(world.truth, job) == 0


def test_a_job_that_is_not_there():
    for move in (control.pause, control.resume, control.cancel):
        with pytest.raises(UnknownJob, match="gone"):
            move(World().truth, "gone")
