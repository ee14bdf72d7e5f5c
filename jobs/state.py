"""The lives of a job and of a segment: one enum and one transition table each. Pure.

planning ─▶ queued ─▶ running ─▶ assembling ─▶ done | done_with_failures
`paused` can be entered from planning, queued and running, and left back to planning or queued; to assembling if its
last segments were finished meanwhile.
`cancelled` and `failed` can be entered from every state that is not final. A job whose takes were lost in the store
goes from assembling (or failed) back to queued.
"""

from __future__ import annotations

from enum import StrEnum

from jobs.errors import IllegalMove


class JobState(StrEnum):
    """Where a job is in its life."""

    PLANNING = "planning"
    """Accepted; the source is in the store, its segments are not queued yet."""
    QUEUED = "queued"
    """All segments are queued; no worker holds one yet."""
    RUNNING = "running"
    """At least one segment was leased."""
    PAUSED = "paused"
    """The user holds the job; workers get none of its segments."""
    ASSEMBLING = "assembling"
    """Every segment is done or failed; chapters and the book are being made."""
    DONE = "done"
    """Everything was spoken and delivered to the store."""
    DONE_WITH_FAILURES = "done_with_failures"
    """Delivered, but some segments could not be spoken; the report names them."""
    CANCELLED = "cancelled"
    """The user took it back."""
    FAILED = "failed"
    """A step of the job itself failed for good; the reason is in the job record."""


class SegmentState(StrEnum):
    """Where a segment is: always in exactly one of these places."""

    WAITING = "waiting"
    HELD = "held"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


_J = JobState
FINAL_JOB_STATES = frozenset({_J.DONE, _J.DONE_WITH_FAILURES, _J.CANCELLED, _J.FAILED})
"""A job in one of these does nothing more by itself."""

JOB_MOVES: dict[JobState, frozenset[JobState]] = {
    _J.PLANNING: frozenset({_J.QUEUED, _J.ASSEMBLING, _J.PAUSED, _J.CANCELLED, _J.FAILED}),
    _J.QUEUED: frozenset({_J.RUNNING, _J.ASSEMBLING, _J.PAUSED, _J.CANCELLED, _J.FAILED}),
    _J.RUNNING: frozenset({_J.ASSEMBLING, _J.PAUSED, _J.CANCELLED, _J.FAILED}),
    _J.PAUSED: frozenset({_J.PLANNING, _J.QUEUED, _J.ASSEMBLING, _J.CANCELLED, _J.FAILED}),
    _J.ASSEMBLING: frozenset({_J.QUEUED, _J.DONE, _J.DONE_WITH_FAILURES, _J.CANCELLED, _J.FAILED}),  # lost takes
    _J.DONE: frozenset(),
    _J.DONE_WITH_FAILURES: frozenset({_J.QUEUED}),  # retry --failed
    _J.CANCELLED: frozenset(),
    _J.FAILED: frozenset({_J.QUEUED, _J.ASSEMBLING}),  # retry after the cause was mended
}

_S = SegmentState
SEGMENT_MOVES: dict[SegmentState, frozenset[SegmentState]] = {
    _S.WAITING: frozenset({_S.HELD, _S.FAILED, _S.SKIPPED, _S.DONE}),
    _S.HELD: frozenset({_S.WAITING, _S.DONE, _S.FAILED, _S.SKIPPED}),
    _S.DONE: frozenset({_S.WAITING, _S.FAILED}),  # its take was lost, or the checks of its chapter are against it
    _S.FAILED: frozenset({_S.WAITING}),  # retry --failed
    _S.SKIPPED: frozenset(),
}


def check_job_move(old: JobState, new: JobState) -> None:
    """Raise IllegalMove unless a job may go from `old` to `new`."""
    if new not in JOB_MOVES[old]:
        msg = f"a job cannot go from {old} to {new}; from {old} it may go to {_names(JOB_MOVES[old])}"
        raise IllegalMove(msg)


def check_segment_move(old: SegmentState, new: SegmentState) -> None:
    """Raise IllegalMove unless a segment may go from `old` to `new`."""
    if new not in SEGMENT_MOVES[old]:
        msg = f"a segment cannot go from {old} to {new}; from {old} it may go to {_names(SEGMENT_MOVES[old])}"
        raise IllegalMove(msg)


def _names(states: frozenset[JobState] | frozenset[SegmentState]) -> str:
    return ", ".join(sorted(states)) or "nothing (it is final)"
