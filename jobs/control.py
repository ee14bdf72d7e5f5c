"""What people do to jobs by hand, for every door: pause, resume, cancel; a refusal says why in words for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from jobs.errors import IllegalMove
from jobs.protocols import Truth
from jobs.spec import JobRecord
from jobs.state import FINAL_JOB_STATES, JobState


class Move(StrEnum):
    """What is done to a job."""

    PAUSE = "pause"
    CANCEL = "cancel"


def pause(truth: Truth, job: str) -> JobRecord:
    """Hold a job; one that is held already stays so. Raises UnknownJob, IllegalMove."""
    with _told(truth, job, Move.PAUSE):
        truth.pause(job)
    return truth.job(job)


def resume(truth: Truth, job: str) -> JobRecord:
    """Let a held job go on; one that is not held is left alone. Raises UnknownJob."""
    truth.unpause(job)
    return truth.job(job)


def cancel(truth: Truth, job: str) -> int:
    """Take a job back; returns how many waiting segments vanished, 0 for one that was cancelled before.

    Raises:
        UnknownJob: there is none.
        IllegalMove: it has come to its end.
    """
    with _told(truth, job, Move.CANCEL):
        return truth.cancel(job)


@contextmanager
def _told(truth: Truth, job: str, move: Move) -> Iterator[None]:
    try:
        yield
    except IllegalMove as error:
        why = _why_not(job, truth.job(job).state, move)
        if why is None:
            raise
        raise IllegalMove(why) from error


def _why_not(job: str, state: JobState, move: Move) -> str | None:
    """Why a job in some state cannot be paused or cancelled; None: its state is not the reason."""
    if state in FINAL_JOB_STATES:
        return f"job {job} is {state}; there is nothing left to {move}"
    if state is JobState.ASSEMBLING:
        return f"job {job} is assembling: all of it is spoken, and writing its files cannot be held; wait for its end"
    return None
