"""What both back ends of the truth share: limits, the order of classes, checks of arguments, errors. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jobs.errors import Fenced, IllegalMove, UnknownJob
from jobs.spec import JobRecord, Priority, SegmentResult, SegmentTask
from jobs.state import JOB_MOVES, JobState, SegmentState

PRIORITY_CLASS = {Priority.LIVE: 0, Priority.NORMAL: 1, Priority.BULK: 2}
"""Smaller is served first."""
QUANTUM = 8
"""Segments a lane gives up in one turn."""
SPEECH_TURN = 0.25
"""By how many segments a speech request starts after the one before it. So those that wait are begun in the order they
came, and the second turn of a long one comes after the first turns of at most QUANTUM / SPEECH_TURN newer ones."""
SUSPECT_GROUP = 16
"""Suspects that are tried together: few enough to find the culprit in one more crash, many enough to fill slots."""
COUNTED_EVERY_MS = 2500
"""Sweeps look at counts this often at most, however many there are."""
OPEN_BUILT_EVERY_MS = 3_600_000
"""The list of open jobs is built anew this often: scripts of an older version did not keep it."""
HELD_LONGEST_S = 900
"""What is held of a job that ended this long ago is held by nobody: its workers heard of the end or were buried."""
BLAME_LIMIT = 3
"""Blames after which a segment is given up. From the second on they fall on a segment that was alone in its process:
twice, since once may be somebody from outside who kills (a soak gave up an innocent segment with a limit of 2)."""
FRONT_ORDER = -1_000_000_000
"""Added to the order of a segment that was given back: in front of all that wait, still in reading order."""
DEAD_KEPT = 10_000
WAKE_KEPT = 100
WORKER_TTL_S = 15.0
STREAM_TTL_S = 86_400.0
SPEECH_TTL_S = 600.0
"""How long what is kept of a speech request can be looked at after its end."""
SPEECH_WANTED_S = 30.0
"""A speech request that nobody says to wait for (`still_wanted`) for this long is given up: its server died."""
LEFT_REASON = "nobody waits for it any more: the server that took it is gone"
RECONCILE_AFTER_S = 300.0
"""A step is taken for lost when nothing about its job changed for this long."""
CLAIM_AFTER_S = 60.0
"""A step another consumer took and did not confirm for this long is handed out again."""
CRASH_REASON = (
    "the synthesis process died again and again while it spoke this segment, the last two times with nothing else on "
    "board"
)


def check_enqueue(job: str, tasks: Sequence[SegmentTask], finished: Sequence[SegmentResult]) -> None:
    """Raise ValueError unless all belong to `job`, no segment comes twice and all of `finished` are finished."""
    places = [(task.job, task.segment) for task in tasks] + [(result.job, result.segment) for result in finished]
    _check_places("enqueue", job, places)
    check_results(finished)


def check_speak(record: JobRecord, tasks: Sequence[SegmentTask]) -> None:
    """Raise ValueError unless it is a request of class LIVE with segments, all its own, none twice."""
    if record.spec.priority is not Priority.LIVE:
        msg = f"speak of job {record.job} was given class {record.spec.priority}; a speech request is {Priority.LIVE}"
        raise ValueError(msg)
    if not tasks:
        msg = f"speak of job {record.job} was given no segments; a speech request has at least one"
        raise ValueError(msg)
    check_tasks("speak", record.job, tasks)


def as_speech(task: SegmentTask) -> SegmentTask:
    """A task as a worker gets it: it knows that somebody waits for it."""
    return task.model_copy(update={"speech": True})


def check_tasks(move: str, job: str, tasks: Sequence[SegmentTask]) -> None:
    """Raise ValueError unless all tasks of a move belong to `job` and no segment comes twice."""
    _check_places(move, job, [(task.job, task.segment) for task in tasks])


def check_rule(job: str, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> None:
    """Raise ValueError unless all belong to the chapter of `job`, no segment comes twice and `settled` are finished."""
    everything: list[SegmentResult | SegmentTask] = [*settled, *again]
    _check_places("rule", job, [(entry.job, entry.segment) for entry in everything])
    check_results(settled)
    strangers = sorted(entry.segment for entry in everything if entry.chapter != chapter)
    if strangers:
        msg = f"rule of chapter {chapter} of job {job} was given segments of other chapters: {strangers[:10]}"
        raise ValueError(msg)


def _check_places(move: str, job: str, places: list[tuple[str, int]]) -> None:
    strangers = sorted({name for name, _segment in places} - {job})
    if strangers:
        msg = f"{move} of job {job} was given segments of other jobs: {', '.join(strangers)}"
        raise ValueError(msg)
    counts = Counter(segment for _name, segment in places)
    twice = sorted(segment for segment, count in counts.items() if count > 1)
    if twice:
        msg = f"{move} of job {job} was given segments twice: {twice[:10]}; each may come once"
        raise ValueError(msg)


def check_results(results: Sequence[SegmentResult]) -> None:
    """Raise ValueError unless every result is of a done or failed segment."""
    for result in results:
        if result.state not in (SegmentState.DONE, SegmentState.FAILED):
            msg = (
                f"segment {result.segment} of job {result.job} was reported as {result.state}; "
                f"a result is {SegmentState.DONE} or {SegmentState.FAILED}"
            )
            raise ValueError(msg)


def unknown_job(job: str) -> UnknownJob:
    """The error for a job that is not there."""
    return UnknownJob(f"no job has the id {job!r}; `tts-batch jobs` lists them")


def ids_after(ids: Sequence[str], after: str | None) -> Sequence[str]:
    """What stands after one of some ids (None: all of them). Raises UnknownJob."""
    if after is None:
        return ids
    if after not in ids:
        raise unknown_job(after)
    return ids[ids.index(after) + 1 :]


def fenced(worker: str) -> Fenced:
    """The error for a worker that is not known (any more)."""
    return Fenced(
        f"worker {worker} is not registered: it never was, it retired, or it was declared dead and its segments were "
        "given back; it must stop and start anew under a new id"
    )


def illegal_move(old: JobState, new: JobState, unfinished: int) -> IllegalMove:
    """The error for a state change that the table, or the segments of the job, forbid."""
    allowed = ", ".join(sorted(JOB_MOVES[old])) or "nothing (it is final)"
    if new not in JOB_MOVES[old]:
        return IllegalMove(f"a job cannot go from {old} to {new}; from {old} it may go to {allowed}")
    if new in (JobState.DONE, JobState.DONE_WITH_FAILURES):
        return IllegalMove(
            f"a job one of whose chapters is not assembled cannot go from {old} to {new}; its ASSEMBLE step comes first"
        )
    return IllegalMove(
        f"a job with {unfinished} unfinished segments cannot go from {old} to {new}: queued and running need some, "
        "assembling needs a planned job without any, planning needs a job that was not planned"
    )


def not_for_speech(job: str) -> IllegalMove:
    """The error for moves of whole jobs that a speech request does not know."""
    return IllegalMove(
        f"{job} is a speech request: it can be cancelled and nothing else; send the request again, or submit a job"
    )


def not_final(job: str, state: JobState) -> IllegalMove:
    """The error for forgetting a job that is still at work."""
    return IllegalMove(f"job {job} is {state} and cannot be forgotten; cancel it first or wait for its end")
