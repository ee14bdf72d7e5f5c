"""What the checks found in a job's takes, for people and as JSON: retakes, and segments without a good take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cli.output import JsonValue
from cli.session import Session
from jobs.kinds import Grade, OnBad
from jobs.spec import JobRecord, SegmentResult
from jobs.state import SegmentState

MAX_SHOWN = 5


def bad_takes(results: Mapping[int, SegmentResult]) -> list[SegmentResult]:
    """Done segments whose take is not good, in order."""
    done = (result for _segment, result in sorted(results.items()) if result.state is SegmentState.DONE)
    return [result for result in done if result.grade is not Grade.GOOD]


def job_bad_takes(session: Session, record: JobRecord) -> list[SegmentResult]:
    """The same of a job; the truth is asked only if there are any. Raises UnknownJob."""
    return bad_takes(session.broker.truth.results(record.job)) if record.marked else []


def take_lines(record: JobRecord, bad: Sequence[SegmentResult]) -> list[str]:
    """Lines for people: how many takes were rejected, which segments have no good one and why, what to do."""
    lines = []
    if record.retakes:
        lines.append(f"{record.retakes} {'take' if record.retakes == 1 else 'takes'} rejected and spoken again")
    if not bad:
        return lines
    lines.append(f"{len(bad)} of {record.total} segments without a good take; the best one stands in the audio:")
    lines += [f"  segment {result.segment} (take {result.attempt}): {result.reason}" for result in bad[:MAX_SHOWN]]
    if len(bad) > MAX_SHOWN:
        lines.append(f"  … and {len(bad) - MAX_SHOWN} more; report.json and `tts-batch status --json` name all")
    if record.spec.checks.on_bad is OnBad.MARK:
        lines.append(f"`tts-batch retry --failed {record.job}` gives them new takes")
    return lines


def take_documents(bad: Sequence[SegmentResult]) -> list[JsonValue]:
    """The JSON form; `attempt` of the take that stands in the audio is counted from 0."""
    return [
        {
            "segment": result.segment,
            "chapter": result.chapter,
            "attempt": result.attempt,
            "takes": result.takes,
            "reason": result.reason,
        }
        for result in bad
    ]
