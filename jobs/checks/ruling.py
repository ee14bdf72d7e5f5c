"""What follows from verdicts: which take of a segment wins, what is spoken again, what is given up. Pure.

best(tried) is the take that is delivered if none is good; rule_segment(...) is the second look at a done segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.attempts import at_attempt
from jobs.kinds import Grade, OnBad
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import TakeInfo
from jobs.verdict import Reason, Verdict

HEAVIEST = 10.0
"""What one reason weighs at most: ten times over (or under) its limit is as bad as it gets."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt at a segment that is on record.

    `verdict` is the last word: what the free checks said, and what its chapter (rate of speech) and the speech
    recogniser say. `word_error_rate` and `transcript` are what the latter heard; None: it did not listen.
    """

    attempt: int
    info: TakeInfo
    verdict: Verdict
    word_error_rate: float | None = None
    transcript: str | None = None


def order(tried: Tried) -> tuple[int, float, float, int]:
    """What the best take has least of: grade (good, bad, unusable), weight of the reasons, word errors, attempts.

    A reason weighs how many times its score is over or under its limit, HEAVIEST at most, so fewer and lighter ones
    weigh less. A take nobody listened to stands behind one that was heard, and the earlier before the later one.
    """
    weight = sum(_weight(reason) for reason in tried.verdict.reasons)
    errors = 1.0 if tried.word_error_rate is None else tried.word_error_rate
    return tried.verdict.grade.rank, round(weight, 6), errors, tried.attempt


def best(tried: Sequence[Tried]) -> Tried | None:
    """The best of some attempts; None if there are none."""
    return min(tried, key=order, default=None)


def with_reasons(verdict: Verdict, reasons: Sequence[Reason], scores: dict[str, float]) -> Verdict:
    """A verdict and what was found later; any further reason makes a good take bad."""
    grade = Grade.BAD if verdict.good and reasons else verdict.grade
    added = {"reasons": (*verdict.reasons, *reasons), "scores": {**verdict.scores, **scores}, "grade": grade}
    return verdict.model_copy(update=added)


def outcome(task: SegmentTask, tried: Sequence[Tried], *, made: int, trouble: str = "") -> SegmentResult:
    """The result of a segment at which no attempt of `made` is good: its best take, or that it failed.

    An unusable take is never delivered, a bad one unless the job says to fail. `trouble` is the error of an attempt
    that left no record.
    """
    winner = best(tried)
    usable = winner is not None and winner.verdict.grade is not Grade.UNUSABLE
    if winner is None or not usable or not (winner.verdict.good or task.on_bad is not OnBad.FAIL):
        text = winner.verdict.text if winner is not None else trouble
        what = "can be used" if not usable else "is good"
        return SegmentResult(
            job=task.job,
            segment=task.segment,
            chapter=task.chapter,
            state=SegmentState.FAILED,
            take=winner.info.take if winner is not None else task.take,
            reason=_of_several(made, what, text),
            attempt=winner.attempt if winner is not None else task.attempt,
            takes=made,
            grade=winner.verdict.grade if winner is not None else Grade.UNUSABLE,
        )
    return done(task, winner, made=made)


def done(task: SegmentTask, tried: Tried, *, made: int) -> SegmentResult:
    """The result of a segment whose take is delivered, the best of `made`."""
    reason = "" if tried.verdict.good else _of_several(made, "is good", tried.verdict.text)
    return SegmentResult(
        job=task.job,
        segment=task.segment,
        chapter=task.chapter,
        state=SegmentState.DONE,
        take=tried.info.take,
        samples=tried.info.samples,
        sample_rate_hz=tried.info.sample_rate_hz,
        reason=reason,
        attempt=tried.attempt,
        takes=made,
        grade=tried.verdict.grade,
    )


def most_takes(made: int, in_a_round: int) -> int:
    """How many attempts a segment may have: a round of them, and another one whenever the user retries it."""
    return in_a_round * max(1, -(-made // in_a_round))


def rule_segment(first: SegmentTask, result: SegmentResult, tried: Sequence[Tried]) -> SegmentResult | SegmentTask:
    """The second look at a done segment: its settled result, or the task to speak it again.

    `first` is its task at attempt 0 (its `takes` are a round), `tried` are all attempts made that are on record. A take
    that is still good wins; else the next attempt is due while there are any; else the best of all is taken.

    Raises:
        ValueError: the take of the result is not among `tried`.
    """
    own = next((entry for entry in tried if entry.info.take == result.take), None)
    if own is None:
        msg = f"segment {first.segment} of job {first.job}: take {result.take} of its result is not among those tried"
        raise ValueError(msg)
    limit = most_takes(result.takes, first.takes)
    if not own.verdict.good and result.takes < limit:
        return at_attempt(first, result.takes).model_copy(
            update={"takes": limit, "device_s": result.device_s, "energy_j": result.energy_j}
        )
    new = done(first, own, made=result.takes) if own.verdict.good else outcome(first, tried, made=result.takes)
    changed = new.model_dump(include={"state", "take", "samples", "sample_rate_hz", "reason", "attempt", "grade"})
    return result.model_copy(update={**changed, "state": new.state, "grade": new.grade, "settled": True})


def _of_several(made: int, what: str, text: str) -> str:
    return text if made == 1 else f"none of {made} takes {what}; the best one: {text}"


def _weight(reason: Reason) -> float:
    """How many times a score is over or under its limit."""
    if reason.score * reason.limit <= 0:
        return HEAVIEST
    ratio = abs(reason.score / reason.limit)
    return min(HEAVIEST, max(ratio, 1 / ratio))
