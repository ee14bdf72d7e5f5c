"""The store as the memory of attempts: what is due, what is chosen, what other checks have judged."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.attempts import at_attempt
from jobs.kinds import Grade, OnBad
from jobs.retakes import goes_on_at, standing, with_more_takes
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.stores import MemoryStore
from jobs.takes import Judged, TakeOrigin, read_take, write_take
from jobs.verdict import CHECKS_VERSION, Reason, Verdict
from tests.helpers_truth import first_attempt

FIRST = first_attempt()
GOOD = Verdict(grade=Grade.GOOD)
LONG = Verdict(grade=Grade.BAD, reasons=(Reason(check="pause", score=3.0, limit=1.0, text="a long pause"),))
LONGER = Verdict(grade=Grade.BAD, reasons=(Reason(check="pause", score=4.0, limit=1.0, text="a longer pause"),))
MUTE = Verdict(grade=Grade.UNUSABLE, reasons=(Reason(check="silent", score=0.0, limit=0.1, text="silent"),))


def made(*verdicts: Verdict | None) -> MemoryStore:
    """A store with these attempts on record (None: not this one)."""
    store = MemoryStore()
    for attempt, verdict in enumerate(verdicts):
        if verdict is not None:
            task = at_attempt(FIRST, attempt)
            origin = TakeOrigin(
                model="m", voice="v", language="en", spoken="A line.", seed=task.seed, speed=1.0, numerics=""
            )
            samples = np.full(100 + attempt, 0.5, np.float32)
            write_take(store, task.take, samples, sample_rate_hz=1000, origin=origin, judged=Judged(verdict=verdict))
    return store


def result(standing: SegmentResult | SegmentTask) -> SegmentResult:
    assert isinstance(standing, SegmentResult)
    return standing


@pytest.mark.parametrize(
    ("verdicts", "due"),
    [((), 0), ((LONG,), 1), ((MUTE, LONG), 2), ((None, GOOD), 0), ((LONG, None, GOOD), 1)],
)
def test_the_first_attempt_that_is_not_on_record_is_due(verdicts: tuple[Verdict | None, ...], due: int) -> None:
    assert standing(made(*verdicts), FIRST) == at_attempt(FIRST, due)


@pytest.mark.parametrize(("verdicts", "won"), [((GOOD,), 0), ((LONG, GOOD), 1), ((MUTE, LONG, GOOD), 2)])
def test_the_first_good_take_is_the_result(verdicts: tuple[Verdict, ...], won: int) -> None:
    found = result(standing(made(*verdicts), FIRST))
    assert (found.state, found.attempt, found.takes) == (SegmentState.DONE, won, won + 1)
    assert (found.take, found.samples, found.grade, found.reused) == (
        at_attempt(FIRST, won).take,
        100 + won,
        "good",
        True,
    )


def test_when_all_are_made_the_best_one_is_the_result() -> None:
    found = result(standing(made(LONGER, LONG, MUTE), FIRST))
    assert (found.state, found.attempt, found.takes, found.grade) == (SegmentState.DONE, 1, 3, Grade.BAD)
    later = at_attempt(FIRST, 2)  # those before count too
    assert result(standing(made(LONGER, LONG, MUTE), later)).attempt == 1
    failing = FIRST.model_copy(update={"on_bad": OnBad.FAIL})
    assert result(standing(made(LONGER, LONG, MUTE), failing)).state is SegmentState.FAILED
    assert result(standing(made(MUTE, MUTE, MUTE), FIRST)).state is SegmentState.FAILED


def test_a_verdict_of_other_checks_is_made_anew_from_the_audio() -> None:
    store = made(LONG.model_copy(update={"version": CHECKS_VERSION + 1}))
    assert standing(store, FIRST) == FIRST  # without a judge the attempt is due
    heard = []

    def judge(info: object, pcm: np.ndarray) -> Verdict:
        heard.append(pcm)
        return GOOD

    assert result(standing(store, FIRST, judge_anew=judge)).grade is Grade.GOOD
    assert [pcm.tolist() for pcm in heard] == [[16384] * 100]
    assert read_take(store, FIRST.take).verdict == GOOD  # for all who come after
    assert result(standing(store, FIRST)).take == FIRST.take


def test_an_unusable_take_of_other_checks_is_spoken_again() -> None:
    store = made(MUTE.model_copy(update={"version": CHECKS_VERSION + 1}))
    assert standing(store, FIRST, judge_anew=lambda _info, _pcm: GOOD) == FIRST


def test_tasks_that_go_on_and_tasks_that_begin_a_new_round() -> None:
    done = SegmentResult(
        job="j", segment=3, chapter=1, state=SegmentState.DONE, take=at_attempt(FIRST, 1).take, attempt=1, takes=3
    )
    assert goes_on_at(FIRST, done) == at_attempt(FIRST, 1)
    assert with_more_takes(FIRST, done) == at_attempt(FIRST, 3).model_copy(update={"takes": 6})
    retried = done.model_copy(update={"attempt": 3, "takes": 4})
    assert goes_on_at(FIRST, retried) == at_attempt(FIRST, 3).model_copy(update={"takes": 6})
    spent = {"device_s": 1.5, "energy_j": 20.0}
    for again in (goes_on_at, with_more_takes):  # what the attempts before took stays the job's
        assert again(FIRST, done.model_copy(update=spent)).model_dump(include=set(spent)) == spent
