"""What the store remembers of the attempts at a segment, and what follows: its result, or the next attempt.

The records of takes are the memory of attempts: whoever gets a segment goes on where another one stopped.

standing(store, task) is a SegmentResult (nothing is left to speak) or the SegmentTask of the attempt to speak next.
"""

from __future__ import annotations

from collections.abc import Callable

from jobs.attempts import at_attempt
from jobs.checks.ruling import Tried, done, most_takes, outcome
from jobs.protocols import Store
from jobs.spec import SegmentResult, SegmentTask
from jobs.takes import Pcm, TakeInfo, has_take, open_samples, write_info
from jobs.verdict import CHECKS_VERSION, Verdict

JudgeAnew = Callable[[TakeInfo, Pcm], Verdict]
"""Judges a stored take by the checks of today: its record and its samples, [S] int16."""


def standing(
    store: Store, task: SegmentTask, *, judge_anew: JudgeAnew | None = None, trouble: str = ""
) -> SegmentResult | SegmentTask:
    """Look through the attempts at a segment from `task.attempt` on: the first good one is its result.

    The first that is not on record is to be spoken. If all are made and none is good, the best of them, and of those
    before, decides. A verdict of other checks is made anew by `judge_anew`; without it, and where no audio is kept, the
    attempt counts as not made. `trouble` is for `outcome`. Raises StoreError.
    """
    for attempt in range(task.attempt, task.takes):
        tried = task if attempt == task.attempt else at_attempt(task, attempt)
        info = has_take(store, tried.take)
        if info is not None and info.verdict.version != CHECKS_VERSION:
            info = _anew(store, info, judge_anew)
        if info is None:
            return tried
        if info.verdict.good:
            return done(tried, Tried(attempt, info, info.verdict), made=attempt + 1).model_copy(update={"reused": True})
    return chosen(store, task, trouble=trouble).model_copy(update={"reused": True})


def chosen(store: Store, task: SegmentTask, *, trouble: str = "") -> SegmentResult:
    """The result of a segment whose attempts are all made and none of them good. Raises StoreError."""
    tried = []
    for attempt in range(task.takes):
        info = has_take(store, task.take if attempt == task.attempt else at_attempt(task, attempt).take)
        if info is not None:
            tried.append(Tried(attempt, info, info.verdict))
    return outcome(task, tried, made=task.takes, trouble=trouble)


def goes_on_at(first: SegmentTask, result: SegmentResult) -> SegmentTask:
    """The task that gives a segment, whose take was lost, that take again. `first` is its task at attempt 0."""
    return _going_on(first, result, result.attempt, most_takes(result.takes, first.takes))


def with_more_takes(first: SegmentTask, result: SegmentResult) -> SegmentTask:
    """The task of a segment that the user wants spoken anew: as many attempts as a round has, beyond those made."""
    return _going_on(first, result, result.takes, result.takes + first.takes)


def _going_on(first: SegmentTask, result: SegmentResult, attempt: int, takes: int) -> SegmentTask:
    spent = {"device_s": result.device_s, "energy_j": result.energy_j}  # a job pays for all its attempts
    return at_attempt(first, attempt).model_copy(update={"takes": takes} | spent)


def _anew(store: Store, info: TakeInfo, judge_anew: JudgeAnew | None) -> TakeInfo | None:
    if judge_anew is None or info.audio_bytes == 0:
        return None
    judged = info.model_copy(update={"verdict": judge_anew(info, open_samples(store, info.take))})
    write_info(store, judged)
    return judged
