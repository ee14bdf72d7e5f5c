"""The steps of a job that CPU workers do: plan, check, assemble a chapter, finish. Plain functions, each may run twice.

A broker may lose or repeat a message, so a step looks at the truth first, writes the same bytes whenever it is
repeated, and only then moves the truth on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from jobs import keys
from jobs.assembly.book import assemble_book, book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.assembly.master_report import mastering_report
from jobs.assembly.report import build_report, with_mastering, with_price, with_takes, write_report
from jobs.datasets.of_job import write_job_datasets
from jobs.deliver import finished_objects, worth_showing
from jobs.errors import ObjectDamaged, ObjectMissing, UnknownJob
from jobs.kinds import Grade, OnBad
from jobs.marks.read_along import write_read_along
from jobs.marks.write import write_book_marks, write_chapter_marks
from jobs.plan import Plan
from jobs.plan_store import load_plan
from jobs.protocols import StepKind
from jobs.retakes import goes_on_at
from jobs.spec import JobRecord, SegmentResult
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.stores.ahead import reading_ahead, side_by_side
from jobs.submit import queue_segments
from jobs.takes import has_take
from jobs.tasks import tasks_of
from workers.context import Context
from workers.second_look import check_step, settle_chapter, takes_of_job

log = logging.getLogger(__name__)


def run_step(context: Context, kind: StepKind, job: str, chapter: int | None, part: int | None = None) -> None:
    """Do one step of a job. A job that is gone or over is left alone.

    Raises:
        JobsError: the step cannot be done now (store full, broker away); it may be tried again.
    """
    try:
        record = context.truth.job(job)
    except UnknownJob:
        log.info("step %s of job %s: the job is gone, nothing to do", kind, job)
        return
    if record.state in FINAL_JOB_STATES:
        log.info("step %s of job %s: the job is %s, nothing to do", kind, job, record.state)
        return
    if kind is StepKind.PLAN and record.state is JobState.PLANNING:
        queue_segments(context.truth, context.store(record.spec.store_url), record)
        return
    try:
        with reading_ahead(context.store(record.spec.store_url), _takes_of(context, record, chapter)) as store:
            near = context.with_store(record.spec.store_url, store)
            if kind is StepKind.ASSEMBLE and chapter is not None:
                chapter_step(near, record, chapter)
            elif kind is StepKind.CHECK and chapter is not None and part is not None:
                check_step(near, record, load_plan(store, job), chapter, part)
            elif kind is StepKind.FINISH:
                finish_step(near, record)
    except (ObjectMissing, ObjectDamaged) as error:
        if not _speak_lost_takes(context, record):
            raise
        log.warning("job %s: %s; the segments without a sound take are spoken again", job, error)


def give_up(context: Context, kind: StepKind, job: str, error: Exception) -> None:
    """Move a job to FAILED because one of its steps cannot be done; the reason is kept and shown."""
    log.error("step %s of job %s failed for good: %s", kind, job, error)
    try:
        if context.truth.job(job).state not in FINAL_JOB_STATES:
            context.truth.move_job(job, JobState.FAILED, reason=f"{kind}: {error}")
    except UnknownJob:
        log.info("job %s is gone", job)


def chapter_step(context: Context, record: JobRecord, chapter: int) -> None:
    """Take the second look at one chapter; if nothing is to be spoken again, make its audio and note it."""
    store = context.store(record.spec.store_url)
    plan = load_plan(store, record.job)
    if not settle_chapter(context, record, plan, chapter):
        return
    results = context.truth.results(record.job)
    if not _all_finished(plan, results, chapter):
        return
    assemble_chapter(store, record, plan, chapter, results)
    write_chapter_marks(store, record, plan, chapter, results)
    context.truth.chapter_assembled(record.job, chapter)


def finish_step(context: Context, record: JobRecord) -> None:
    """Make the whole book and the report, then end the job."""
    if record.state is not JobState.ASSEMBLING:
        return
    store = context.store(record.spec.store_url)
    plan, results = load_plan(store, record.job), context.truth.results(record.job)
    if not _all_finished(plan, results):
        return
    assemble_book(store, record, plan, results)
    write_book_marks(store, record, plan, results)
    write_read_along(store, record, plan, results)
    write_job_datasets(store, record, plan, results)
    # Without the report itself: a repeated step must write the same bytes.
    made = [key for key in finished_objects(store, record.job) if key != keys.job_object(record.job, "report.json")]
    timeline = book_timeline(record, plan, results)
    report = build_report(record, plan, results, objects=worth_showing(made), timeline=timeline)
    report = with_takes(report, takes_of_job(store, record, plan, results))
    report = with_price(report, context.settings.tariff)
    write_report(store, with_mastering(report, mastering_report(store, record, timeline)))
    _note_speed(context, record, plan, results)
    failed = any(result.state is SegmentState.FAILED for result in results.values())
    marks = record.spec.checks.on_bad is OnBad.MARK
    marked = marks and any(result.grade is not Grade.GOOD for result in results.values())
    context.truth.move_job(record.job, JobState.DONE_WITH_FAILURES if failed or marked else JobState.DONE)


def _all_finished(plan: Plan, results: Mapping[int, SegmentResult], chapter: int | None = None) -> bool:
    """Whether there is a result for every segment (of a chapter). Another step may have found that a take is lost and
    put its segment back since this one looked at the job; then this step comes again after it."""
    return all(one.segment in results for one in plan.segments if chapter in (None, one.chapter))


def _takes_of(context: Context, record: JobRecord, chapter: int | None) -> list[str]:
    """The objects of the takes of a job (of one chapter), in the order in which they are heard."""
    results = context.truth.results(record.job).values()
    takes = [one.take for one in results if one.state is SegmentState.DONE and chapter in (None, one.chapter)]
    return [key for take in takes for key in (keys.take_info(take), keys.take_audio(take))]


def _note_speed(context: Context, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> None:
    """Remember how fast the job was, for the next one's estimate; a full disk is no reason to fail it."""
    if context.measurements is None:
        return
    try:
        context.measurements.note_job(record, plan, results)
    except OSError as error:
        log.warning("job %s: its speed could not be noted: %s", record.job, error)


def _speak_lost_takes(context: Context, record: JobRecord) -> bool:
    """Put done segments whose take is missing or damaged back to waiting; False when there are none."""
    store = context.store(record.spec.store_url)
    results = context.truth.results(record.job)
    done = {segment for segment, result in results.items() if result.state is SegmentState.DONE}
    plan = load_plan(store, record.job)
    tasks = [task for task in tasks_of(plan, record.spec, record.job) if task.segment in done]
    found = side_by_side(lambda task: has_take(store, results[task.segment].take), tasks)
    lost = [goes_on_at(task, results[task.segment]) for task, info in zip(tasks, found, strict=True) if info is None]
    return bool(lost) and context.truth.speak_again(record.job, lost) > 0
