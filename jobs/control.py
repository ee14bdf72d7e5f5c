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
        raise IllegalMove(_why_not(job, truth.job(job).state, move)) from error


def _why_not(job: str, state: JobState, move: Move) -> str:
    """Why a job in some state cannot be paused or cancelled."""
    if state in FINAL_JOB_STATES:
        ended = f"job {job} is {_WORDS.get(state, state)}; there is nothing left to {move}"
        return f"{ended} (retry it, or submit its source again)" if state is JobState.FAILED else ended
    if state is JobState.ASSEMBLING:
        return f"job {job} is assembling: all of it is spoken, and writing its files cannot be held; wait for its end"
    return f"job {job} is {state}, and this cannot be: {move} it now; try again"


_WORDS = {JobState.DONE_WITH_FAILURES: "done (with failures)"}
