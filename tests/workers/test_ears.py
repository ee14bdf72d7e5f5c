"""Which takes a recogniser must hear: that of the result, and all of them before the best one is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jobs import keys
from jobs.attempts import at_attempt
from jobs.checks.hearing import Heard, read_heard, write_heard
from jobs.spec import Checks, SegmentTask
from jobs.state import SegmentState
from jobs.takes import TakeInfo
from jobs.verdict import Reason
from tests.workers.making import Stage
from tests.workers.test_retakes import ALWAYS, HALF, is_spoilt, some_lines
from tests.workers.test_second_look import report, work
from workers import hearing

ASR = "base.en"
BABBLE = Reason(check="heard_added", score=50.0, limit=1.0, text="babble")
A_WORD = Reason(check="heard_added", score=1.2, limit=1.0, text="one word more")


class Ears:
    """Stands in for a recogniser that says of each take what `against` says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.against: Callable[[str], tuple[Reason, ...]] = lambda _take: ()
        self.listened: list[str] = []
        monkeypatch.setattr(hearing, "load_recogniser", lambda asr: asr)
        monkeypatch.setattr(hearing, "hear", self._hear)

    def _hear(self, asr: str, info: TakeInfo, _pcm: object) -> Heard:
        self.listened.append(info.take)
        return self.heard(info.take, asr)

    def heard(self, take: str, asr: str = ASR) -> Heard:
        reasons = self.against(take)
        wrong = 0.5 if reasons else 0.0
        return Heard(take=take, asr=asr, language="en", transcript=take, word_error_rate=wrong, reasons=reasons)


@pytest.fixture
def ears(monkeypatch: pytest.MonkeyPatch) -> Ears:
    return Ears(monkeypatch)


def takes_of(task: SegmentTask, count: int) -> list[str]:
    return [at_attempt(task, attempt).take for attempt in range(count)]


def spoilt(task: SegmentTask, count: int) -> list[bool]:
    return [is_spoilt(at_attempt(task, attempt)) for attempt in range(count)]


def with_spoilt(stage: Stage, *pattern: bool) -> tuple[str, SegmentTask]:
    """A text one of whose segments the fake spoils at just these attempts, and that segment."""
    text = some_lines(HALF, 24)
    task = next(task for task in stage.tasks(text) if spoilt(task, len(pattern)) == list(pattern))
    line = text.split("\n\n")[task.segment]
    return line, stage.tasks(line)[0]


def test_no_take_wins_by_not_being_heard(stage: Stage, ears: Ears) -> None:
    """The first take says a word too many; the later ones have a pause too much, and nobody listened to them yet."""
    line, found = with_spoilt(stage, False, True, True)
    takes = takes_of(found, 3)
    ears.against = lambda take: (A_WORD,) if take == takes[0] else (BABBLE,)
    tasks = stage.submit(line, checks=Checks(takes=3, asr=ASR))
    work(stage, tasks[0].job)
    assert ears.listened == takes
    (result,) = stage.results(tasks)
    assert (result.attempt, result.takes, result.settled) == (0, 3, True)
    (segment,) = report(stage, tasks[0].job)["segments"]
    assert [take["transcript"] for take in segment["takes"]] == takes


def test_a_rejected_take_is_not_listened_to_while_others_may_be_good(stage: Stage, ears: Ears) -> None:
    line, found = with_spoilt(stage, True, False)
    tasks = stage.submit(line, checks=Checks(takes=3, asr=ASR))
    work(stage, tasks[0].job)
    assert ears.listened == [takes_of(found, 2)[1]]
    assert stage.results(tasks)[0].attempt == 1


def test_what_another_job_listened_to_changes_nothing(stage: Stage, ears: Ears) -> None:
    line, found = with_spoilt(stage, True, False)
    told: list[dict[str, Any]] = []
    for side in (stage, Stage(url=stage.url)):  # the same store: the same job
        if side is not stage:
            for key in list(stage.store.list("")):
                stage.store.delete(key)
            write_heard(stage.store, ears.heard(found.take))
        tasks = side.submit(line, checks=Checks(takes=3, asr=ASR))
        work(side, tasks[0].job)
        told.append(report(side, tasks[0].job) | {"run": None})
    assert read_heard(stage.store, found.take, ASR) is not None
    assert json.dumps(told[0]) == json.dumps(told[1])
    assert [take["transcript"] is None for take in told[0]["segments"][0]["takes"]] == [True, False]


def test_unusable_takes_are_not_listened_to(stage: Stage, ears: Ears) -> None:
    text = f"{ALWAYS}A pause stands in this line of a few words.\n\n[[fault:mute]] Nobody hears this one."
    tasks = stage.submit(text, checks=Checks(takes=2, asr=ASR))
    work(stage, tasks[0].job)
    assert ears.listened == takes_of(tasks[0], 2)
    assert [result.state for result in stage.results(tasks)] == [SegmentState.DONE, SegmentState.FAILED]
    assert len([key for key in stage.store.list(keys.TAKES) if key.endswith("heard.json")]) == 2
