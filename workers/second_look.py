"""The second look at a complete chapter, before it is assembled: listen (CHECK steps), rule, speak again.

Each part may run twice and be killed anywhere: what is found depends on the records in the store alone, and the truth
moves in one atomic move.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from jobs.checks.hearing import parts_of, unheard
from jobs.checks.ruling import Tried
from jobs.checks.second_look import is_open, rule_chapter, tried_of
from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk
from jobs.plan import Plan
from jobs.planning import tasks_of
from jobs.protocols import Store
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from workers.context import Context
from workers.hearing import hear_part

log = logging.getLogger(__name__)


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
        parts = _unheard_parts(store, asr, firsts, results)
        if parts:
            context.truth.put_checks(record.job, chapter, parts)
            return False
    settled, again = rule_chapter(firsts, results, tried_of(store, firsts, results, asr=asr))
    if record.spec.live:
        _discard(context, results, settled, again)
    left = context.truth.rule(record.job, chapter, settled, again)
    if left:
        log.info("chapter %d of job %s: %d segments are spoken again", chapter, record.job, left)
    return left == 0


def check_step(context: Context, record: JobRecord, plan: Plan, chapter: int, part: int) -> None:
    """Listen to a part of a chapter; when all parts are heard the chapter goes on. Raises as `hear_part`."""
    hear_part(context, record, chapter, part)
    firsts, results = _of_chapter(context, record, plan, chapter)
    store = context.store(record.spec.store_url)
    if not _unheard_parts(store, record.spec.checks.asr, firsts, results):
        context.truth.put_checks(record.job, chapter, [])


def tried_of_job(
    store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]
) -> dict[int, list[Tried]]:
    """Every attempt on record of a job all of whose segments are finished, by segment. Raises StoreError."""
    chapters: dict[int, list[SegmentTask]] = {}
    for task in tasks_of(plan, record.spec, record.job):
        chapters.setdefault(task.chapter, []).append(task)
    tried: dict[int, list[Tried]] = {}
    for firsts in chapters.values():
        tried |= tried_of(store, firsts, results, asr=record.spec.checks.asr)
    return tried


def _of_chapter(
    context: Context, record: JobRecord, plan: Plan, chapter: int
) -> tuple[list[SegmentTask], dict[int, SegmentResult]]:
    """The tasks of a chapter's segments at attempt 0, and all results of the job."""
    firsts = [task for task in tasks_of(plan, record.spec, record.job) if task.chapter == chapter]
    return firsts, context.truth.results(record.job)


def _unheard_parts(
    store: Store, asr: str, firsts: Sequence[SegmentTask], results: dict[int, SegmentResult]
) -> list[int]:
    """Parts of a chapter with a take that the second look needs heard and nobody listened to yet."""
    return [
        number
        for number, part in enumerate(parts_of(firsts))
        if unheard(store, asr, [results[one.segment].take for one in part if _needs_ears(results, one.segment)])
    ]


def _needs_ears(results: dict[int, SegmentResult], segment: int) -> bool:
    return segment in results and is_open(results[segment])


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
            chunk = AudioChunk(
                segment=old.segment,
                take=old.take,
                chunk=0,
                start_sample=0,
                samples=0,
                sample_rate_hz=old.sample_rate_hz,
                discard=True,
            )
            try:
                context.streams.write_audio(old.job, chunk)
            except BrokerUnavailable as error:  # `segment_again` and `segment_settled` say it too
                log.warning("job %s: no discard of segment %d was told: %s", old.job, old.segment, error)
