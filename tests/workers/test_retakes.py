"""Takes that are not good: spoken again with another seed in the same process, the best one wins, records remember."""

from __future__ import annotations

from typing import Any

import pytest

from jobs import keys
from jobs.attempts import at_attempt
from jobs.kinds import Grade, OnBad
from jobs.spec import Checks, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.takes import read_take
from models.fake.faults import acting, read_marks
from tests.workers.making import WORKER, Gate, Stage, lines, running, until, words

HALF = "[[fault:silence:p=0.5]] "
ALWAYS = "[[fault:silence]] "


def some_lines(mark: str, count: int = 12) -> str:
    return "\n\n".join(
        f"{mark}This is the line {chr(97 + place)} and a few more words of it follow here." for place in range(count)
    )


def is_spoilt(task: SegmentTask) -> bool:
    """Whether the fake spoils this attempt: three seconds of silence stand in its middle."""
    return bool(acting(read_marks(task.spoken)[1], task.seed))


def first_whole(task: SegmentTask) -> int:
    """The first attempt that is not spoilt; as many as there are if none is."""
    return next((n for n in range(task.takes) if not is_spoilt(at_attempt(task, n))), task.takes)


def spoken(stage: Stage, text: str, **wishes: Any) -> list[SegmentTask]:
    tasks = stage.submit(text, **wishes)
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    return tasks


def test_a_take_that_is_not_good_is_spoken_again_at_once(stage: Stage) -> None:
    tasks = spoken(stage, some_lines(HALF), checks=Checks(takes=12))
    results = stage.results(tasks)
    assert {result.state for result in results} == {SegmentState.DONE}
    assert {result.grade for result in results} == {Grade.GOOD}
    attempts = [first_whole(task) for task in tasks]
    assert len(set(attempts)) > 2
    assert [result.attempt for result in results] == attempts
    assert [result.takes for result in results] == [attempt + 1 for attempt in attempts]
    assert stage.truth.job(tasks[0].job).retakes == sum(attempts)
    for task, result in zip(tasks, results, strict=True):
        assert result.take == at_attempt(task, result.attempt).take
        assert stage.heard(at_attempt(task, result.attempt)) == words(task)
        for attempt in range(result.takes):  # each attempt is on record, with its audio
            info = read_take(stage.store, at_attempt(task, attempt).take)
            assert info.verdict.good == (attempt == result.attempt)
            assert stage.store.exists(keys.take_audio(info.take))


@pytest.mark.parametrize("on_bad", OnBad)
def test_what_becomes_of_a_segment_without_a_good_take(stage: Stage, on_bad: OnBad) -> None:
    text = f"{some_lines('', 2)}\n\n{ALWAYS}Nobody will ever hear this very line without a gap."
    tasks = spoken(stage, text, checks=Checks(takes=3, on_bad=on_bad))
    good, _second, bad = stage.results(tasks)
    assert (good.state, good.grade, good.reason) == (SegmentState.DONE, Grade.GOOD, "")
    assert bad.takes == 3
    assert bad.grade is Grade.BAD
    assert bad.reason.startswith("none of 3 takes is good; the best one: ")
    record = stage.truth.job(tasks[0].job)
    if on_bad is OnBad.FAIL:
        assert (bad.state, bad.samples) == (SegmentState.FAILED, 0)
        assert (record.failed, record.marked) == (1, 0)
    else:
        assert bad.state is SegmentState.DONE
        assert bad.samples > 0
        assert (record.failed, record.marked) == (0, 1)
    assert record.retakes == 2


def test_an_unusable_take_is_never_delivered(stage: Stage) -> None:
    tasks = spoken(stage, "[[fault:mute]] Nothing at all.", checks=Checks(takes=2, on_bad=OnBad.KEEP))
    (result,) = stage.results(tasks)
    assert (result.state, result.takes) == (SegmentState.FAILED, 2)
    assert result.reason.startswith("none of 2 takes can be used; the best one: the take is silent")
    assert stage.takes() == set()
    for attempt in range(2):
        info = read_take(stage.store, at_attempt(tasks[0], attempt).take)
        assert (info.verdict.grade, info.audio_bytes) == (Grade.UNUSABLE, 0)


def test_an_attempt_that_ends_by_an_error_counts_and_leaves_no_record(stage: Stage) -> None:
    tasks = spoken(stage, "[[fault:error:p=0.5]] One of many.", checks=Checks(takes=20))
    (result,) = stage.results(tasks)
    first = next(n for n in range(20) if not acting(read_marks(tasks[0].spoken)[1], at_attempt(tasks[0], n).seed))
    assert (result.state, result.attempt, result.takes) == (SegmentState.DONE, first, first + 1)
    assert len(list(stage.store.list(keys.TAKES))) == 2


def test_whoever_gets_a_segment_goes_on_where_another_one_stopped(stage: Stage) -> None:
    text = some_lines(HALF)
    calm = Stage()
    expected = calm.results(spoken(calm, text, checks=Checks(takes=12)))
    tasks = stage.submit(text, checks=Checks(takes=12))
    for task in tasks:  # what a process left behind that died after it had recorded the first attempts
        if is_spoilt(task):
            for key in (keys.take_audio(task.take), keys.take_info(task.take)):
                stage.store.put(key, calm.store.get(key))
    written: list[str] = []
    stage.replace_store(lambda name, arguments: written.append(arguments[0]) if name == "put" else None)
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    told = {"take", "attempt", "takes", "grade", "samples", "state"}
    assert [result.model_dump(include=told) for result in stage.results(tasks)] == [
        result.model_dump(include=told) for result in expected
    ]
    assert not {keys.take_info(task.take) for task in tasks if is_spoilt(task)} & set(written)
    both = [sorted(side.store.list(keys.TAKES)) for side in (calm, stage)]
    assert both[0] == both[1]
    assert all(calm.store.get(key) == stage.store.get(key) for key in both[0])


def test_a_job_submitted_again_finds_its_last_attempts(stage: Stage) -> None:
    tasks = spoken(stage, some_lines(HALF), checks=Checks(takes=12))
    before = stage.results(tasks)
    stage.truth.cancel(tasks[0].job)
    again = stage.submit(some_lines(HALF), checks=Checks(takes=12))
    assert stage.state(again[0].job) is JobState.ASSEMBLING
    after = stage.results(again)
    assert [(r.take, r.attempt, r.takes) for r in after] == [(r.take, r.attempt, r.takes) for r in before]
    assert all(result.reused for result in after)


def test_a_live_listener_is_told_to_drop_what_is_rejected(stage: Stage) -> None:
    tasks = spoken(stage, some_lines(HALF, 4), live=True, checks=Checks(takes=12))
    stream = stage.chunks(tasks[0].job)
    for task, result in zip(tasks, stage.results(tasks), strict=True):
        takes = [at_attempt(task, attempt).take for attempt in range(result.takes)]
        mine = [chunk for chunk in stream if chunk.segment == task.segment]
        assert list(dict.fromkeys(chunk.take for chunk in mine)) == takes
        assert [chunk.take for chunk in mine if chunk.discard] == takes[:-1]
        assert mine[-1].last


def test_attempts_that_wait_when_the_process_stops_are_given_back(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(some_lines(ALWAYS, 2), checks=Checks(takes=2))
    job = tasks[0].job
    with running(stage) as run:
        until(lambda: gate.arrived > 0, "it speaks")
        run.flag.stopping = True
        gate.free()
        assert run.status() == 0
    record = stage.truth.job(job)
    assert (record.done, record.failed, record.held, record.waiting) == (0, 0, 0, 2)
    assert stage.takes() == {task.take for task in tasks}  # the first attempts are on record
    with running(stage, worker="here-2"):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    assert [result.takes for result in stage.results(tasks)] == [2, 2]


def test_attempts_of_a_cancelled_job_are_dropped(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(some_lines(ALWAYS, 2), checks=Checks(takes=20))
    job = tasks[0].job
    with running(stage, slots=2):
        until(lambda: gate.arrived > 0, "it speaks")
        stage.truth.cancel(job)
        gate.free()
        until(lambda: stage.truth.job(job).held == 0, "nothing is held")
        until(lambda: not stage.truth.workers()[0].held, "the worker holds nothing")
        other = stage.submit(lines(2))
        until(lambda: stage.state(other[0].job) is JobState.ASSEMBLING, "the process goes on")
    assert stage.truth.results(job) == {}
    assert WORKER not in {status.info.worker for status in stage.truth.workers()}
