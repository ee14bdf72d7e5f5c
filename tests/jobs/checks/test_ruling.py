"""Which take wins and what is spoken again: a clear order, and rounds of attempts that come to an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.attempts import at_attempt
from jobs.checks.ruling import HEAVIEST, Tried, best, done, most_takes, order, outcome, rule_segment, with_reasons
from jobs.kinds import Grade, OnBad
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import TakeInfo, TakeOrigin
from jobs.verdict import Reason, Verdict
from tests.helpers_truth import first_attempt

FIRST = first_attempt(voice_revision="r", numerics="1")
GOOD = Verdict(grade=Grade.GOOD)


def reason(score: float = 2.0, limit: float = 1.0, text: str = "too long") -> Reason:
    return Reason(check="c", score=score, limit=limit, text=text)


def bad(*reasons: Reason) -> Verdict:
    return Verdict(grade=Grade.BAD, reasons=reasons or (reason(),))


UNUSABLE = Verdict(grade=Grade.UNUSABLE, reasons=(reason(text="silent"),))


def tried(attempt: int, verdict: Verdict = GOOD, errors: float | None = None, first: SegmentTask = FIRST) -> Tried:
    task = at_attempt(first, attempt)
    origin = TakeOrigin(
        model="m", voice="v", language="en", spoken=task.spoken, seed=task.seed, speed=1.0, numerics="1"
    )
    usable = verdict.grade is not Grade.UNUSABLE
    info = TakeInfo(
        take=task.take,
        origin=origin,
        samples=1000 + attempt,
        sample_rate_hz=24_000,
        finish="stop",
        peak=0.5,
        clipped_samples=0,
        audio_bytes=100 if usable else 0,
        audio_sha256="x" if usable else "",
        verdict=verdict,
    )
    return Tried(attempt, info, verdict, errors)


def result(attempt: int, takes: int, **changes: object) -> SegmentResult:
    return done(FIRST, tried(attempt), made=takes).model_copy(update=changes)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (tried(1), tried(0, bad())),
        (tried(1, bad(reason(9.0), reason(9.0))), tried(0, UNUSABLE)),
        (tried(1, bad(reason(3.0))), tried(0, bad(reason(2.0), reason(2.0)))),  # fewer
        (tried(1, bad(reason(1.1))), tried(0, bad(reason(1.2)))),  # lighter
        (tried(1, bad(reason(0.5, 0.6))), tried(0, bad(reason(0.1, 0.6)))),  # under a limit
        (tried(1, bad(reason(-20.0, -24.0))), tried(0, bad(reason(-6.0, -24.0)))),
        (tried(1, bad(reason(5.0))), tried(0, bad(reason(1.0, 0.0)))),  # no limit at all
        (tried(1, bad(), 0.1), tried(0, bad(), 0.2)),
        (tried(1, bad(), 0.9), tried(0, bad())),  # nobody listened
        (tried(0, bad()), tried(1, bad())),
    ],
)
def test_the_better_take_stands_before_the_worse(better: Tried, worse: Tried) -> None:
    assert order(better) < order(worse)
    assert best([worse, better]) is better is best([better, worse])


def test_one_reason_weighs_no_more_than_the_heaviest() -> None:
    assert order(tried(0, bad(reason(1e9))))[1] == order(tried(0, bad(reason(0.0, 3.0))))[1] == HEAVIEST


def test_further_reasons_make_a_good_take_bad() -> None:
    assert with_reasons(GOOD, [], {"wer": 0.1}) == Verdict(grade=Grade.GOOD, scores={"wer": 0.1})
    assert with_reasons(GOOD, [reason()], {}).grade is Grade.BAD
    assert with_reasons(bad(), [reason(3.0)], {}).reasons == (reason(), reason(3.0))
    assert with_reasons(UNUSABLE, [reason()], {}).grade is Grade.UNUSABLE


@pytest.mark.parametrize("on_bad", OnBad)
def test_what_is_delivered_of_bad_takes(on_bad: OnBad) -> None:
    task = FIRST.model_copy(update={"on_bad": on_bad})
    found = outcome(task, [tried(0, bad(reason(3.0))), tried(1, bad(reason(2.0))), tried(2, UNUSABLE)], made=3)
    assert found.reason == "none of 3 takes is good; the best one: too long"
    assert (found.attempt, found.takes, found.grade, found.take) == (1, 3, Grade.BAD, at_attempt(FIRST, 1).take)
    failed = on_bad is OnBad.FAIL
    assert (found.state, found.samples) == ((SegmentState.FAILED, 0) if failed else (SegmentState.DONE, 1001))


@pytest.mark.parametrize("on_bad", OnBad)
def test_an_unusable_take_is_never_delivered(on_bad: OnBad) -> None:
    task = FIRST.model_copy(update={"on_bad": on_bad})
    found = outcome(task, [tried(0, UNUSABLE), tried(1, UNUSABLE)], made=3, trouble="it broke")
    assert (found.state, found.reason) == (
        SegmentState.FAILED,
        "none of 3 takes can be used; the best one: silent",
    )
    nothing = outcome(task, [], made=1, trouble="it broke")
    assert (nothing.state, nothing.reason, nothing.take) == (SegmentState.FAILED, "it broke", FIRST.take)


@pytest.mark.parametrize(
    ("made", "in_a_round", "most"), [(0, 3, 3), (1, 3, 3), (3, 3, 3), (4, 3, 6), (7, 3, 9), (2, 1, 2)]
)
def test_a_round_of_takes_is_made_whole(made: int, in_a_round: int, most: int) -> None:
    assert most_takes(made, in_a_round) == most


def test_a_good_take_is_settled() -> None:
    ruled = rule_segment(FIRST, result(1, 2, reused=True, device_s=3.0), [tried(0, bad()), tried(1)])
    assert ruled == result(1, 2, reused=True, device_s=3.0, settled=True)


def test_a_take_that_is_not_good_after_all_is_spoken_again() -> None:
    ruled = rule_segment(FIRST, result(0, 1, device_s=3.0), [tried(0, bad())])
    expected = at_attempt(FIRST, 1).model_copy(update={"takes": 3, "device_s": 3.0})
    assert ruled == expected
    after_retry = rule_segment(FIRST, result(3, 4), [tried(n, bad()) for n in range(4)])
    assert isinstance(after_retry, SegmentTask)
    assert (after_retry.attempt, after_retry.takes) == (4, 6)


def test_at_the_end_the_best_of_all_is_settled() -> None:
    all_tried = [tried(0, bad(reason(2.0))), tried(1, bad(reason(1.5))), tried(2, bad(reason(3.0)))]
    ruled = rule_segment(FIRST, result(2, 3), all_tried)
    assert isinstance(ruled, SegmentResult)
    assert (ruled.attempt, ruled.samples, ruled.grade, ruled.settled) == (1, 1001, Grade.BAD, True)
    failing = FIRST.model_copy(update={"on_bad": OnBad.FAIL})
    ruled = rule_segment(failing, result(2, 3), all_tried)
    assert isinstance(ruled, SegmentResult)
    assert (ruled.state, ruled.samples, ruled.settled) == (SegmentState.FAILED, 0, True)


def test_the_take_of_a_result_must_be_known() -> None:
    with pytest.raises(ValueError, match="is not among those tried"):
        rule_segment(FIRST, result(1, 2), [tried(0)])


VERDICTS = st.sampled_from([GOOD, bad(), bad(reason(3.0)), UNUSABLE])


@given(verdicts=st.lists(VERDICTS, min_size=12, max_size=12), takes=st.integers(1, 5), on_bad=st.sampled_from(OnBad))
def test_rounds_come_to_an_end_with_the_first_good_or_the_best_take(
    verdicts: list[Verdict], takes: int, on_bad: OnBad
) -> None:
    """A worker that takes everything usable, and a second look that has the last word."""
    first = FIRST.model_copy(update={"takes": takes, "on_bad": on_bad})
    made, ruled = 0, None
    for _round in range(takes + 1):
        made += 1
        own = tried(made - 1, verdicts[made - 1])
        reported = done(first, own, made=made)
        ruled = rule_segment(first, reported, [tried(n, verdicts[n]) for n in range(made)])
        if isinstance(ruled, SegmentResult):
            break
        assert (ruled.attempt, ruled.takes) == (made, takes)
    assert isinstance(ruled, SegmentResult)
    assert made <= takes
    goods = [n for n in range(takes) if verdicts[n].good]
    if goods:
        assert (ruled.state, ruled.attempt, ruled.grade) == (SegmentState.DONE, goods[0], Grade.GOOD)
    else:
        assert made == takes
        assert ruled.attempt == best([tried(n, verdicts[n]) for n in range(takes)]).attempt
    if ruled.state is SegmentState.DONE:
        assert verdicts[ruled.attempt].grade is not Grade.UNUSABLE
        assert ruled.grade is Grade.GOOD or on_bad is not OnBad.FAIL
