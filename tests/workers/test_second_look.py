"""The second look at a chapter: voices' rates, recognisers, rounds of attempts, and that all of it may be repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from jobs import keys
from jobs.attempts import at_attempt
from jobs.checks import second_look
from jobs.checks.hearing import Heard, write_heard
from jobs.checks.rate import RateTake
from jobs.errors import BrokerUnavailable
from jobs.events import EventKind
from jobs.kinds import Grade, OnBad
from jobs.plan_store import load_plan
from jobs.protocols import StepKind
from jobs.spec import Checks, JobRecord, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.takes import read_take
from jobs.tasks import tasks_of
from jobs.verdict import Reason
from tests.workers.making import Stage, lines, running, until
from workers import second_look as second_look_step
from workers.context import Context
from workers.steps import run_step

BOOK = f"CHAPTER ONE\n\n{lines(3)}\n\nCHAPTER TWO\n\n{lines(3, 'once more')}\n"
SLOW = Reason(check="voice_rate", score=5.0, limit=3.5, text="far too slow")
WRONG = Reason(check="word_errors", score=0.5, limit=0.1, text="other words")


class Opinions:
    """Stands in for the rate of speech: takes of some segments are too slow at so many attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
        self.slow: dict[str, int] = {}
        """Spoken text → how many of its first attempts are against the voice."""
        self.asked = 0
        self._stage = stage
        monkeypatch.setattr(second_look, "rate_verdicts", self._verdicts)

    def _verdicts(self, firsts: list[RateTake], takes: list[RateTake]) -> list[Reason | None]:
        self.asked += 1
        assert len(firsts) == len({take.spoken for take in takes})
        seen: dict[str, int] = {}
        found: list[Reason | None] = []
        for take in takes:
            attempt = seen.setdefault(take.spoken, 0)
            seen[take.spoken] += 1
            found.append(SLOW if attempt < self.slow.get(take.spoken, 0) else None)
        return found


@pytest.fixture
def opinions(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> Opinions:
    return Opinions(monkeypatch, stage)


def submit(stage: Stage, **wishes: Any) -> list[SegmentTask]:
    return stage.submit(BOOK, **wishes)


def speak(stage: Stage, job: str) -> None:
    with running(stage):
        until(lambda: stage.truth.job(job).waiting + stage.truth.job(job).held == 0, "all is spoken")


def work(stage: Stage, job: str) -> list[tuple[str, int | None, int | None]]:
    """All that CPU workers and machine rooms do until the job is over; returns the steps."""
    done: list[tuple[str, int | None, int | None]] = []
    while stage.state(job) not in {JobState.DONE, JobState.DONE_WITH_FAILURES, JobState.FAILED}:
        if stage.truth.job(job).waiting:
            speak(stage, job)
        for step in stage.truth.take_steps("c", limit=9, timeout_s=0):
            if stage.truth.step_started(job, step.kind, step.chapter, step.part):
                run_step(stage.context, step.kind, job, step.chapter, step.part)
                done.append((step.kind, step.chapter, step.part))
            stage.truth.step_sent(step)
        assert len(done) < 60, "the job does not come to its end"
    return done


def report(stage: Stage, job: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(stage.store.get(keys.job_object(job, "report.json")))
    return told


def test_takes_against_the_voice_are_spoken_again_until_one_is_good(stage: Stage, opinions: Opinions) -> None:
    tasks = submit(stage, checks=Checks(takes=4))
    job = tasks[0].job
    opinions.slow = {tasks[1].spoken: 2, tasks[4].spoken: 1}
    done = work(stage, job)
    assert stage.state(job) is JobState.DONE
    assert [step for step in done if step[0] == "assemble" and step[1] == 0] == [("assemble", 0, None)] * 3
    results = stage.results(tasks)
    assert [result.attempt for result in results] == [0, 2, 0, 0, 1, 0, 0, 0][: len(tasks)]
    assert all(result.settled and result.grade is Grade.GOOD for result in results)
    assert stage.truth.job(job).retakes == 3
    told = [event.segment for event in stage.events(job) if event.kind is EventKind.SEGMENT_AGAIN]
    assert sorted(told, key=str) == [1, 1, 4]
    shown = report(stage, job)
    assert (shown["v"], shown["totals"]["retakes"], shown["totals"]["marked"]) == (3, 3, 0)
    segment = shown["segments"][1]
    assert (segment["attempt"], segment["grade"]) == (2, "good")
    assert [take["grade"] for take in segment["takes"]] == ["bad", "bad", "good"]
    assert segment["takes"][0]["reasons"][0]["text"] == "far too slow"
    assert [take["take"] for take in segment["takes"]] == [at_attempt(tasks[1], n).take for n in range(3)]


@pytest.mark.parametrize("on_bad", OnBad)
def test_when_no_take_is_good(stage: Stage, opinions: Opinions, on_bad: OnBad) -> None:
    tasks = submit(stage, checks=Checks(takes=2, on_bad=on_bad))
    job = tasks[0].job
    opinions.slow = {tasks[1].spoken: 99}
    work(stage, job)
    end = {OnBad.KEEP: JobState.DONE}.get(on_bad, JobState.DONE_WITH_FAILURES)
    assert stage.state(job) is end
    result = stage.results(tasks)[1]
    assert result.reason == "none of 2 takes is good; the best one: far too slow"
    assert (result.attempt, result.takes, result.settled) == (0, 2, True)
    assert result.state is (SegmentState.FAILED if on_bad is OnBad.FAIL else SegmentState.DONE)
    record = stage.truth.job(job)
    assert (record.marked, record.failed) == ((0, 1) if on_bad is OnBad.FAIL else (1, 0))
    assert report(stage, job)["totals"]["marked"] == record.marked


def test_steps_may_be_repeated_and_killed_anywhere(stage: Stage, opinions: Opinions) -> None:
    tasks = submit(stage, checks=Checks(takes=3))
    job = tasks[0].job
    opinions.slow = {tasks[0].spoken: 1, tasks[2].spoken: 9, tasks[4].spoken: 2}
    work(stage, job)
    calm = {key: stage.store.get(key) for key in stage.store.list("")}
    for key in calm:
        stage.store.delete(key)
    again = Stage(url=stage.url)  # the same store: the same job
    submit(again, checks=Checks(takes=3))
    deaths = cut_after_each_move(again)
    for _death in range(200):
        try:
            work(again, job)
        except BrokerUnavailable:
            again.truth.reconcile(quiet_s=0)
            continue
        break
    assert next(deaths) > 10
    assert again.state(job) is stage.state(job)
    found = {key: again.store.get(key) for key in again.store.list("")}
    assert found.keys() == calm.keys()
    report_key = keys.job_object(job, "report.json")
    assert {key for key in calm if found[key] != calm[key]} <= {report_key}
    reports = [json.loads(side[report_key]) | {"run": None} for side in (calm, found)]
    assert reports[0] == reports[1]


def cut_after_each_move(stage: Stage) -> Iterator[int]:
    """Dies once before and once after every different move of a step; yields how often."""
    seen: set[tuple[str, str]] = set()
    count = 0

    class Dying:
        def __getattr__(self, name: str) -> Any:
            move = getattr(stage.truth, name)
            if name not in {"rule", "put_checks", "chapter_assembled", "move_job"}:
                return move

            def call(*arguments: Any, **options: Any) -> Any:
                nonlocal count
                for when in ("before", "after"):
                    point = (f"{name} {arguments[:2]} {len(str(arguments))}", when)
                    if when == "after":
                        answer = move(*arguments, **options)
                    if point not in seen:
                        seen.add(point)
                        count += 1
                        raise BrokerUnavailable("killed")
                return answer

            return call

    stage.context.truth = Dying()  # type: ignore[assignment]  # it passes everything on

    def counts() -> Iterator[int]:
        while True:
            yield count

    return counts()


def test_a_chapter_is_settled_in_bites(stage: Stage, opinions: Opinions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_look_step, "RULED_AT_ONCE", 2)
    calls: list[tuple[int, int]] = []
    stage.replace_truth(lambda name, given: calls.append((len(given[2]), len(given[3]))) if name == "rule" else None)
    tasks = stage.submit(lines(6), checks=Checks(takes=2))
    opinions.slow = {tasks[1].spoken: 1}
    work(stage, tasks[0].job)
    assert stage.state(tasks[0].job) is JobState.DONE
    assert calls == [(2, 0), (2, 0), (1, 1), (1, 0)]
    assert [result.attempt for result in stage.results(tasks)] == [0, 1, 0, 0, 0, 0]


def test_a_lost_take_of_a_later_attempt_is_made_again(stage: Stage, opinions: Opinions) -> None:
    tasks = submit(stage, checks=Checks(takes=3))
    job = tasks[0].job
    opinions.slow = {tasks[1].spoken: 1}
    speak(stage, job)
    for chapter in range(2):
        run_step(stage.context, StepKind.ASSEMBLE, job, chapter)
    speak(stage, job)
    lost = at_attempt(tasks[1], 1).take
    audio = stage.store.get(keys.take_audio(lost))
    stage.store.delete(keys.take_audio(lost))
    run_step(stage.context, StepKind.ASSEMBLE, job, 0)  # finds it missing
    assert stage.truth.job(job).waiting == 1
    work(stage, job)
    assert stage.state(job) is JobState.DONE
    assert stage.store.get(keys.take_audio(lost)) == audio
    assert stage.results(tasks)[1].attempt == 1


def test_a_live_take_that_is_taken_back_is_discarded(stage: Stage, opinions: Opinions) -> None:
    tasks = submit(stage, checks=Checks(takes=2), live=True)
    job = tasks[0].job
    opinions.slow = {tasks[1].spoken: 1}
    work(stage, job)
    mine = [chunk for chunk in stage.chunks(job) if chunk.segment == 1]
    first, second = (at_attempt(tasks[1], attempt).take for attempt in range(2))
    told = [(chunk.take, chunk.discard) for chunk in mine]
    assert (first, True) in told
    assert told.index((first, True)) < told.index((second, False))
    assert not [chunk for chunk in mine if chunk.take == second and chunk.discard]
    assert mine[-1].last


class Ears:
    """Stands in for a recogniser: hears other words in takes of so many first attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wrong: set[str] = set()
        self.listened: list[str] = []
        monkeypatch.setattr(second_look_step, "hear_part", self._hear)

    def _hear(self, context: Context, record: JobRecord, chapter: int, part: int) -> None:
        store = context.store(record.spec.store_url)
        results = context.truth.results(record.job)
        segments = [one for one in load_plan(store, record.job).segments if one.chapter == chapter]
        for segment in segments[part * 2 : part * 2 + 2]:
            take = results[segment.segment].take
            self.listened.append(take)
            reasons = (WRONG,) if take in self.wrong else ()
            heard = Heard(
                take=take,
                asr=record.spec.checks.asr,
                language="en",
                transcript="so they said",
                word_error_rate=0.5 if reasons else 0.0,
                reasons=reasons,
                scores={"word_error_rate": 0.5 if reasons else 0.0},
            )
            write_heard(store, heard)


def test_a_recogniser_listens_in_parts_and_is_heard(
    stage: Stage, opinions: Opinions, monkeypatch: pytest.MonkeyPatch
) -> None:
    ears = Ears(monkeypatch)
    monkeypatch.setattr("jobs.checks.hearing.PART_SEGMENTS", 2)
    tasks = submit(stage, checks=Checks(takes=3, asr="base.en"))
    job = tasks[0].job
    ears.wrong = {tasks[1].take}
    done = work(stage, job)
    assert stage.state(job) is JobState.DONE
    of_chapter = [step for step in done if step[1] == 0]
    assert of_chapter[0] == ("assemble", 0, None)
    assert ("check", 0, 0) in of_chapter
    assert ("check", 0, 1) in of_chapter
    assert of_chapter[-1] == ("assemble", 0, None)
    assert stage.results(tasks)[1].attempt == 1
    assert {at_attempt(tasks[1], 0).take, at_attempt(tasks[1], 1).take} <= set(ears.listened)
    segment = report(stage, job)["segments"][1]
    assert [take["transcript"] for take in segment["takes"]] == ["so they said"] * 2
    assert [take["word_error_rate"] for take in segment["takes"]] == [0.5, 0.0]
    assert segment["takes"][0]["reasons"][-1]["text"] == "other words"
    assert read_take(stage.store, tasks[1].take).verdict.good  # the record keeps what the free checks said


def test_tasks_and_segments_are_in_one_order(stage: Stage) -> None:
    """Parts are counted over the plan's segments and over their tasks."""
    tasks = submit(stage)
    plan = load_plan(stage.store, tasks[0].job)
    spec = stage.truth.job(tasks[0].job).spec
    assert [task.segment for task in tasks_of(plan, spec, tasks[0].job)] == [one.segment for one in plan.segments]
