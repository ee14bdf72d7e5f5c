"""The second look at a chapter whose segments are all spoken: what its takes say together, and what was heard in them.

tried_of(store, firsts, results, asr=…) → every attempt on record with the last word on it, by segment. It depends on
the records alone, never on the order of work. Knows the store; no queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobs.attempts import at_attempt
from jobs.checks.hearing import Heard, read_heard
from jobs.checks.rate import RateTake, rate_verdicts
from jobs.checks.ruling import Tried, rule_segment, with_reasons
from jobs.checks.verdict import Reason
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.kinds import Grade
from jobs.protocols import Store
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import TakeInfo, read_take

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
        segment: [
            _tried(attempt, info, against[segment, attempt], read_heard(store, info.take, asr) if asr else None)
            for attempt, info in attempts
        ]
        for segment, attempts in records.items()
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


def _tried(attempt: int, info: TakeInfo, against: Reason | None, heard: Heard | None) -> Tried:
    if info.verdict.grade is Grade.UNUSABLE:
        return Tried(attempt, info, info.verdict)
    reasons = [] if against is None else [against]
    if heard is None:
        return Tried(attempt, info, with_reasons(info.verdict, reasons, {}))
    verdict = with_reasons(info.verdict, [*reasons, *heard.reasons], heard.scores)
    return Tried(attempt, info, verdict, heard.word_error_rate, heard.transcript)
