"""The second look at a chapter whose segments are all spoken: what its takes say together, and what was heard in them.

tried_of(store, firsts, results, asr=…) → every attempt on record with the last word on it, by segment. It depends on
the records alone, never on the order of work, nor on what other jobs had listened to. Knows the store; no queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobs.attempts import at_attempt
from jobs.checks.hearing import Heard, read_heard
from jobs.checks.rate import RateTake, rate_verdicts
from jobs.checks.ruling import Tried, most_takes, rule_segment, with_reasons
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.kinds import Grade
from jobs.protocols import Store
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import TakeInfo, read_take
from jobs.verdict import Reason

Attempts = dict[int, list[tuple[int, TakeInfo]]]
"""Segment → (attempt, its record) of every attempt on record, in order."""


def tried_of(
    store: Store, firsts: Sequence[SegmentTask], results: Mapping[int, SegmentResult], *, asr: str
) -> dict[int, list[Tried]]:
    """Every attempt at the segments of one chapter that is on record, with its last verdict, by segment.

    `firsts` are the tasks of all segments of the chapter at attempt 0; `results` has a result for each. `asr` names the
    speech recogniser ("": none listened). Raises StoreError.
    """
    records = {first.segment: _records(store, first, results[first.segment]) for first in firsts}
    against = _against_the_voice(firsts, records)
    return {
        first.segment: _all_tried(store, first, results[first.segment], records[first.segment], against, asr=asr)
        for first in firsts
    }


def rule_chapter(
    firsts: Sequence[SegmentTask], results: Mapping[int, SegmentResult], tried: Mapping[int, Sequence[Tried]]
) -> tuple[list[SegmentResult], list[SegmentTask]]:
    """What `Truth.rule` is told of a chapter: results that are settled, and tasks of segments to speak again."""
    settled: list[SegmentResult] = []
    again: list[SegmentTask] = []
    for first in firsts:
        result = results[first.segment]
        if is_open(result):
            ruled = rule_segment(first, result, tried[first.segment])
            if isinstance(ruled, SegmentTask):
                again.append(ruled)
            else:
                settled.append(ruled)
    return settled, again


def is_open(result: SegmentResult) -> bool:
    """Whether a segment still waits for the second look: it is done, and not settled."""
    return result.state is SegmentState.DONE and not result.settled


def takes_to_hear(store: Store, first: SegmentTask, result: SegmentResult) -> list[str]:
    """Takes of a segment that a recogniser must hear before the second look can rule on it.

    That of its result; and once no attempt is left all that can be used, since the best of them is delivered. Raises
    StoreError.
    """
    if not is_open(result):
        return []
    if result.takes == 1 or not _is_last(first, result):
        return [result.take]
    return [info.take for _attempt, info in _records(store, first, result) if _is_usable(info)]


def _is_last(first: SegmentTask, result: SegmentResult) -> bool:
    """Whether a segment had all its attempts."""
    return result.takes >= most_takes(result.takes, first.takes)


def _is_usable(info: TakeInfo) -> bool:
    return info.verdict.grade is not Grade.UNUSABLE


def _records(store: Store, first: SegmentTask, result: SegmentResult) -> list[tuple[int, TakeInfo]]:
    """(attempt, record) of the attempts made. One that ended by an error of the engine left none."""
    found = []
    for attempt in range(max(1, result.takes)):
        take = first.take if attempt == 0 else at_attempt(first, attempt).take
        try:
            found.append((attempt, read_take(store, take)))
        except (ObjectMissing, ObjectDamaged):
            if result.state is SegmentState.DONE and take == result.take:
                raise  # the take that is to be delivered was lost
    return found


def _against_the_voice(firsts: Sequence[SegmentTask], records: Attempts) -> dict[tuple[int, int], Reason | None]:
    """By segment and attempt what speaks against a take beside the first attempts of its chapter."""
    takes = {
        (first.segment, attempt): _rate_take(first, info)
        for first in firsts
        for attempt, info in records[first.segment]
    }
    company = [take for (_segment, attempt), take in takes.items() if attempt == 0]
    return dict(zip(takes, rate_verdicts(company, list(takes.values())), strict=True))


def _rate_take(task: SegmentTask, info: TakeInfo) -> RateTake:
    return RateTake(
        voice=task.voice, language=task.language, speed=task.speed, spoken=task.spoken, verdict=info.verdict
    )


def _all_tried(
    store: Store,
    first: SegmentTask,
    result: SegmentResult,
    attempts: Sequence[tuple[int, TakeInfo]],
    against: Mapping[tuple[int, int], Reason | None],
    *,
    asr: str,
) -> list[Tried]:
    """The attempts at one segment, each with what was heard in it if this job had it listened to.

    That is what `takes_to_hear` named at any of its second looks: every take that the free checks call good once was
    the result. Of the others something may be on record because another job listened.
    """
    all_heard = _is_last(first, result) and (result.settled or result.state is SegmentState.DONE)
    tried = []
    for attempt, info in attempts:
        counts = asr and (all_heard or info.verdict.good or info.take == result.take)
        heard = read_heard(store, info.take, asr) if counts else None
        tried.append(_tried(attempt, info, against[first.segment, attempt], heard))
    return tried


def _tried(attempt: int, info: TakeInfo, against: Reason | None, heard: Heard | None) -> Tried:
    if not _is_usable(info):
        return Tried(attempt, info, info.verdict)
    reasons = [] if against is None else [against]
    if heard is None:
        return Tried(attempt, info, with_reasons(info.verdict, reasons, {}))
    verdict = with_reasons(info.verdict, [*reasons, *heard.reasons], heard.scores)
    return Tried(attempt, info, verdict, heard.word_error_rate, heard.transcript)
