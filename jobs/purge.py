"""Deleting: finished jobs with all they keep, and takes that no job needs any more.

A deletion that was killed is finished by the next: a mark in the store says which jobs' objects are to go, from before
the truth forgets the job until the last of them is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from jobs import keys
from jobs.attempts import at_attempt
from jobs.errors import IllegalMove, UnknownJob
from jobs.plan_store import load_plan
from jobs.protocols import Store, Truth
from jobs.spec import JobRecord
from jobs.state import FINAL_JOB_STATES
from jobs.stores import FolderStore
from jobs.stores.ahead import side_by_side
from jobs.tasks import tasks_of

StoreAt = Callable[[str], Store]
"""The store at a URL."""


def purge_jobs(truth: Truth, store_at: StoreAt, jobs: Sequence[str]) -> None:
    """Delete finished jobs: first the truth (nobody looks for the objects then), then the objects.

    Raises:
        UnknownJob: one of them is not there; none is deleted then.
        IllegalMove: one of them is not finished; none is deleted then.
    """
    for record in deletable(truth, jobs):
        store = store_at(record.spec.store_url)
        store.put(keys.PURGES + record.job, b"")
        with suppress(UnknownJob):  # somebody else deletes it at this moment
            truth.forget(record.job)
        _delete_objects(store, record.job)


def deletable(truth: Truth, jobs: Sequence[str]) -> list[JobRecord]:
    """The records of finished jobs, each once. Raises UnknownJob and IllegalMove: one is not there, or not finished."""
    records = [truth.job(job) for job in dict.fromkeys(jobs)]
    for record in records:
        if record.state not in FINAL_JOB_STATES:
            msg = f"job {record.job} is {record.state}; only finished jobs are deleted: `tts-batch cancel` it first"
            raise IllegalMove(msg)
    return records


def finish_purges(truth: Truth, store: Store) -> int:
    """Finish the deletions in a store that were killed; returns how many. A job that was submitted anew is left."""
    marks = list(store.list(keys.PURGES))
    for mark in marks:
        job = mark.removeprefix(keys.PURGES)
        try:
            truth.job(job)
        except UnknownJob:
            _delete_objects(store, job)
        else:
            store.delete(mark)
    return len(marks)


def ended_before(truth: Truth, older_than_s: float, *, now_s: float | None = None) -> list[JobRecord]:
    """Finished jobs about which nothing changed for so long, oldest first. `now_s`: seconds since 1970 (None: now)."""
    oldest_s = (time.time() if now_s is None else now_s) - older_than_s
    return [one for one in truth.jobs() if one.state in FINAL_JOB_STATES and one.updated_at_s < oldest_s]


def purge_takes(truth: Truth, store_at: StoreAt, store: Store) -> int:
    """Delete the takes of a store that no job of the truth may use, and what was heard in them; returns how many takes.

    Every attempt a job may make belongs to it: their records say which of them are made.
    """
    used: set[str] = set()
    place = _place(store)
    for record in truth.jobs():
        if _place(store_at(record.spec.store_url)) == place:
            results = truth.results(record.job)
            for task in tasks_of(load_plan(store, record.job), record.spec, record.job):
                made = results[task.segment].takes if task.segment in results else 0
                used |= {at_attempt(task, attempt).take for attempt in range(max(task.takes, made))}
    unused = [key for key in store.list(keys.TAKES) if _take_of(key) not in used]
    for _ in side_by_side(store.delete, unused):
        pass
    return sum(key.endswith(".json") and key.count(".") == 1 for key in unused)


def _delete_objects(store: Store, job: str) -> None:
    for _ in side_by_side(store.delete, store.list(keys.job_object(job, ""))):
        pass
    store.delete(keys.PURGES + job)


def _take_of(key: str) -> str:
    return key.rpartition("/")[2].partition(".")[0]


def _place(store: Store) -> str:
    """What two stores have in common when they are the same one, however their URLs are spelled."""
    return str(store.root.resolve()) if isinstance(store, FolderStore) else store.url
