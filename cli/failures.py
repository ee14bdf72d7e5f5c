"""Failed segments as commands tell of them: a line for people, and the JSON form."""

from __future__ import annotations

from cli.output import JsonValue
from cli.session import Session
from jobs import failures
from jobs.failures import Reasons
from jobs.spec import JobRecord


def failure_reasons(session: Session, record: JobRecord) -> Reasons:
    """The reasons of a job's failed segments; the truth is asked only if there are any. Raises UnknownJob."""
    if not record.failed:
        return []
    return failures.failure_reasons(session.broker.truth.results(record.job).values())


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
