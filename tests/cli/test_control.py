"""`pause` and `cancel` of what has ended: why they cannot be, in words for people."""

from __future__ import annotations

import pytest

from jobs.state import JobState
from tests.cli.conftest import Door


@pytest.mark.parametrize("move", ["pause", "cancel"])
def test_what_has_ended_cannot_be_changed(open_door: Door, move: str):
    world = open_door.world
    job = world.submit().job
    world.truth.move_job(job, JobState.FAILED, reason="the disk was full")
    error = open_door.error(move, job, code=2)
    assert error["code"] == "illegal_move"
    assert error["message"] == f"job {job} is failed; there is nothing left to {move}"


def test_pause_and_cancel_tell_what_they_did(open_door: Door):
    job = open_door.world.submit().job
    assert open_door.json("pause", job)["state"] == "paused"
    assert open_door.world.truth.job(job).state is JobState.PAUSED
    assert open_door.json("resume", job, "--no-wait")["state"] == "queued"
    assert open_door.json("cancel", job)["dropped_segments"] == open_door.world.truth.job(job).total
