"""What a person is told of rejected takes and of segments without a good one; `retry` gives them new attempts."""

from __future__ import annotations

import pytest

from cli.output import Exit
from jobs import keys
from jobs.attempts import at_attempt
from jobs.kinds import Grade, OnBad
from jobs.spec import Checks, SegmentTask
from jobs.state import JobState, SegmentState
from tests.cli.conftest import Door
from tests.helpers_jobs import World

WORDS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")
WHY = "none of 3 takes is good; the best one: too long"


def ended(world: World, *, bad: int, failed: int = 0, on_bad: OnBad = OnBad.MARK) -> tuple[str, list[SegmentTask]]:
    """A job at its end whose first segments are bad and whose last ones failed, after three takes each."""
    job = world.submit(" ".join(f"{word} is here." for word in WORDS), checks=Checks(takes=3, on_bad=on_bad)).job
    tasks = world.lease()
    for place, task in enumerate(tasks):
        if place < bad:
            world.report(task, samples=100, grade=Grade.BAD, takes=3, attempt=1, reason=WHY)
        elif place >= len(tasks) - failed:
            world.report(task, state=SegmentState.FAILED, sample_rate_hz=0, takes=3, grade=Grade.BAD, reason=WHY)
        else:
            world.speak(task)
    for chapter in range(world.truth.job(job).chapters):
        world.truth.chapter_assembled(job, chapter)
    good = not failed and (not bad or on_bad is OnBad.KEEP)
    world.truth.move_job(job, JobState.DONE if good else JobState.DONE_WITH_FAILURES)
    world.store.put(keys.job_object(job, "report.json"), b"{}")
    return job, tasks


def test_marked_segments_are_named_everywhere(open_door: Door) -> None:
    job, _tasks = ended(open_door.world, bad=2)
    named = [{"segment": n, "chapter": 0, "attempt": 1, "takes": 3, "reason": WHY} for n in range(2)]
    for words, code in ((("status", job), Exit.DONE), (("watch", job), Exit.FAILED)):
        told = open_door.json(*words, code=code)
        assert (told["bad_takes"], told["marked"], told["retakes"]) == (named, 2, 4)
        text = open_door.run(*words, code=code).stdout
        assert "4 takes rejected and spoken again" in text
        assert "2 of 8 segments without a good take; the best one stands in the audio:" in text
        assert f"  segment 1 (take 1): {WHY}" in text
        assert f"`tts-batch retry --failed {job}` gives them new takes" in text
    (followed,) = open_door.json("resume", job, code=Exit.FAILED)["jobs"]
    assert (followed["bad_takes"], followed["marked"], followed["retakes"]) == (named, 2, 4)
    assert f"  segment 0 (take 1): {WHY}" in open_door.run("resume", job, code=Exit.FAILED).stderr.splitlines()


def test_kept_segments_are_told_of_and_are_no_failure(open_door: Door) -> None:
    job, _tasks = ended(open_door.world, bad=7, on_bad=OnBad.KEEP)
    told = open_door.run("watch", job).stdout
    assert "7 of 8 segments without a good take" in told
    assert "… and 2 more" in told
    assert "retry --failed" not in told


def test_nothing_is_said_where_all_takes_are_good(open_door: Door) -> None:
    job, _tasks = ended(open_door.world, bad=0)
    assert open_door.run("watch", job).stdout == f"{job}: done\n"
    assert open_door.json("status", job)["bad_takes"] == []


@pytest.mark.parametrize(("on_bad", "back"), [(OnBad.MARK, [0, 1, 7]), (OnBad.KEEP, [7])])
def test_retry_gives_failed_and_marked_segments_more_takes(open_door: Door, on_bad: OnBad, back: list[int]) -> None:
    job, tasks = ended(open_door.world, bad=2, failed=1, on_bad=on_bad)
    assert open_door.json("retry", "--failed", job, "--no-wait")["retried"] == len(back)
    now = open_door.world.truth.job(job)
    assert (now.state, now.done, now.failed) == (JobState.QUEUED, 8 - len(back), 0)
    expected = [at_attempt(tasks[n], 3).model_copy(update={"takes": 6}) for n in back]
    assert open_door.world.lease() == expected


def test_retry_of_single_segments(open_door: Door) -> None:
    job, tasks = ended(open_door.world, bad=1)
    assert open_door.json("retry", "--segment", "4", "--segment", "2", job, "--no-wait")["retried"] == 2
    assert open_door.world.lease() == [at_attempt(tasks[n], 1).model_copy(update={"takes": 4}) for n in (2, 4)]


def test_retry_refuses_what_cannot_be(open_door: Door) -> None:
    job, _tasks = ended(open_door.world, bad=1)
    error = open_door.error("retry", "--segment", "8", job, "--no-wait", code=Exit.BAD_INPUT)
    assert error["code"] == "bad_option"
    assert "has no segment 8; they are numbered from 0 to 7" in error["message"]
    done, _tasks = ended(open_door.world, bad=0, on_bad=OnBad.KEEP)
    for what in (("--segment", "1"), ("--failed",)):
        error = open_door.error("retry", *what, done, "--no-wait", code=Exit.BAD_INPUT)
        assert error["code"] == "illegal_move"
        assert "is done and cannot be changed" in error["message"]
