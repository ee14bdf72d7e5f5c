"""Why segments of a job failed, counted: what a person is told of a job that lost some."""

from __future__ import annotations

from collections import Counter

from cli.output import JsonValue
from cli.session import Session
from jobs.spec import JobRecord
from jobs.state import SegmentState

Reasons = list[tuple[str, int]]
"""Reasons and how many segments failed for each, the commonest first."""


def failure_reasons(session: Session, record: JobRecord) -> Reasons:
    """The reasons of a job's failed segments; the truth is asked only if there are any. Raises UnknownJob."""
    if not record.failed:
        return []
    results = session.broker.truth.results(record.job).values()
    return Counter(result.reason for result in results if result.state is SegmentState.FAILED).most_common()


def failure_line(record: JobRecord, reasons: Reasons) -> str:
    """`4 of 9 segments failed; most (3): …`: one line for people."""
    line = f"{record.failed} of {record.total} segments failed"
    if not reasons:
        return line
    reason, count = reasons[0]
    return f"{line}{'' if count == record.failed else f'; most ({count})'}: {reason}"


def failure_documents(reasons: Reasons) -> list[JsonValue]:
    """The JSON form."""
    return [{"reason": reason, "segments": count} for reason, count in reasons]
