"""The second look at a complete chapter, before it is assembled: listen (CHECK steps), rule, speak again.

Each part may run twice and be killed anywhere: what is found depends on the records in the store alone, and the truth
moves in one atomic move.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from jobs.assembly.take_report import TakeReport, take_reports
from jobs.checks.hearing import parts_of, unheard
from jobs.checks.second_look import is_open, rule_chapter, takes_to_hear, tried_of
from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk
from jobs.plan import Plan
from jobs.protocols import Store, Truth
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.tasks import tasks_of
from workers.context import Context
from workers.hearing import hear_part

log = logging.getLogger(__name__)

RULED_AT_ONCE = 2000
"""Segments of one call at most: 50,000 hold a broker for over three seconds, and everybody waits."""


def settle_chapter(context: Context, record: JobRecord, plan: Plan, chapter: int) -> bool:
    """Whether a chapter can be assembled now: all its segments are settled.

    If not, what is missing is on its way: CHECK steps that listen first, or segments that are spoken again; the
    chapter's ASSEMBLE step comes again after them.

    Raises:
        ObjectMissing, ObjectDamaged: a take that is to be delivered was lost.
        StoreError: the store refused.
    """
    firsts, results = _of_chapter(context, record, plan, chapter)
    if any(first.segment not in results for first in firsts):
        log.info("chapter %d of job %s has segments to speak again", chapter, record.job)
        return False
    if not any(is_open(results[first.segment]) for first in firsts):
        return True
    store, asr = context.store(record.spec.store_url), record.spec.checks.asr
    if asr:
        parts = list(_unheard_parts(store, asr, firsts, results))
        if parts:
            context.truth.put_checks(record.job, chapter, parts)
            return False
    settled, again = rule_chapter(firsts, results, tried_of(store, firsts, results, asr=asr))
    if record.spec.live:
        _discard(context, results, settled, again)
    left = _rule(context.truth, record.job, chapter, settled, again)
    if left:
        log.info("chapter %d of job %s: %d segments are spoken again", chapter, record.job, left)
    return left == 0


def check_step(context: Context, record: JobRecord, plan: Plan, chapter: int, part: int) -> None:
    """Listen to a part of a chapter; when all parts are heard the chapter goes on. Raises as `hear_part`."""
    hear_part(context, record, chapter, part)
    firsts, results = _of_chapter(context, record, plan, chapter)
    store = context.store(record.spec.store_url)
    # The part after this one is the likeliest to be unheard: so the others need not be looked at.
    if next(_unheard_parts(store, record.spec.checks.asr, firsts, results, start=part + 1), None) is None:
        context.truth.put_checks(record.job, chapter, [])


def takes_of_job(
    store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]
) -> dict[int, tuple[TakeReport, ...]]:
    """Every attempt on record of a job all of whose segments are finished, by segment. Raises StoreError.

    Whole records (8 kB each) are in memory for one chapter at a time.
    """
    chapters: dict[int, list[SegmentTask]] = {}
    for task in tasks_of(plan, record.spec, record.job):
        chapters.setdefault(task.chapter, []).append(task)
    takes: dict[int, tuple[TakeReport, ...]] = {}
    for firsts in chapters.values():
        tried = tried_of(store, firsts, results, asr=record.spec.checks.asr)
        takes |= {segment: take_reports(attempts) for segment, attempts in tried.items()}
    return takes


def _rule(truth: Truth, job: str, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> int:
    """`Truth.rule` in several calls. What is spoken again comes last: a chapter that waits for it is not ruled on."""
    while len(settled) > RULED_AT_ONCE:
        truth.rule(job, chapter, settled[:RULED_AT_ONCE], [])
        settled = settled[RULED_AT_ONCE:]
    return truth.rule(job, chapter, settled, again)


def _of_chapter(
    context: Context, record: JobRecord, plan: Plan, chapter: int
) -> tuple[list[SegmentTask], dict[int, SegmentResult]]:
    """The tasks of a chapter's segments at attempt 0, and all results of the job."""
    return tasks_of(plan, record.spec, record.job, chapter=chapter), context.truth.results(record.job)


def _unheard_parts(
    store: Store, asr: str, firsts: Sequence[SegmentTask], results: Mapping[int, SegmentResult], *, start: int = 0
) -> Iterator[int]:
    """Parts of a chapter with a take that the second look needs heard and nobody listened to yet, from one part on
    and then those before it."""
    parts = parts_of(firsts)
    for number in (*range(start, len(parts)), *range(min(start, len(parts)))):
        spoken = [(first, results[first.segment]) for first in parts[number] if first.segment in results]
        if any(unheard(store, asr, takes_to_hear(store, first, result)) for first, result in spoken):
            yield number


def _discard(
    context: Context,
    results: dict[int, SegmentResult],
    settled: Sequence[SegmentResult],
    again: Sequence[SegmentTask],
) -> None:
    """Tell live subscribers to drop takes that are not delivered after all. A repeated step tells them twice."""
    kept = {result.segment: result.take for result in settled}
    for segment in [*kept, *(task.segment for task in again)]:
        old = results[segment]
        if kept.get(segment) != old.take:
            chunk = AudioChunk.discarding(old.segment, old.take, chunk=0, sample_rate_hz=old.sample_rate_hz)
            try:
                context.streams.write_audio(old.job, chunk)
            except BrokerUnavailable as error:  # `segment_again` and `segment_settled` say it too
                log.warning("job %s: no discard of segment %d was told: %s", old.job, old.segment, error)
