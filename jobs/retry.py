"""What the user wants spoken anew of a job that ended: its failed and marked segments, or some by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobs.errors import BadOption, IllegalMove
from jobs.kinds import Grade, OnBad
from jobs.plan_store import load_plan
from jobs.protocols import Store
from jobs.retakes import with_more_takes
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.tasks import tasks_of


def tasks_to_retry(
    store: Store, record: JobRecord, results: Mapping[int, SegmentResult], *, failed: bool, segments: Sequence[int]
) -> list[SegmentTask]:
    """Tasks for `Truth.retry_failed`: each gives its segment as many new attempts as a round of the job has.

    `failed`: all that failed, and (if the job marks them) those without a good take. `segments` are others by number.

    Raises:
        BadOption: the job has no segment of such a number.
        IllegalMove: the job has not ended, is done or was cancelled.
        StoreError: its plan cannot be read.
    """
    _check_state(record)
    firsts = {task.segment: task for task in tasks_of(load_plan(store, record.job), record.spec, record.job)}
    strangers = sorted(set(segments) - firsts.keys())
    if strangers:
        msg = f"job {record.job} has no segment {strangers[0]}; they are numbered from 0 to {len(firsts) - 1}"
        raise BadOption(msg)
    chosen = {number for number, result in results.items() if failed and _is_bad(record, result)} | set(segments)
    return [with_more_takes(firsts[number], results[number]) for number in sorted(chosen & results.keys())]


def _check_state(record: JobRecord) -> None:
    """Raise IllegalMove unless `Truth.retry_failed` may take segments of the job back."""
    if record.state in (JobState.DONE_WITH_FAILURES, JobState.FAILED):
        return
    if record.state is JobState.DONE:
        msg = (
            f"job {record.job} is done and cannot be changed, no segment of it failed; to hear other takes submit its "
            "source with another --seed, or edit its plan: what stays the same is not spoken again"
        )
    elif record.state is JobState.CANCELLED:
        msg = f"job {record.job} was cancelled; submit its source again: what was spoken is not spoken again"
    else:
        msg = f"job {record.job} is {record.state}; wait until it has ended: `tts-batch watch {record.job}`"
    raise IllegalMove(msg)


def _is_bad(record: JobRecord, result: SegmentResult) -> bool:
    marked = record.spec.checks.on_bad is OnBad.MARK and result.grade is not Grade.GOOD
    return result.state is SegmentState.FAILED or (marked and record.state is JobState.DONE_WITH_FAILURES)
