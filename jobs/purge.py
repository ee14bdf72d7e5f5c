"""Deleting: finished jobs with all they keep, and takes that no job needs any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs import keys
from jobs.attempts import at_attempt
from jobs.errors import IllegalMove
from jobs.plan_store import load_plan
from jobs.protocols import Store, Truth
from jobs.state import FINAL_JOB_STATES
from jobs.stores import FolderStore, open_store
from jobs.tasks import tasks_of


def purge_jobs(truth: Truth, store_at: Callable[[str], Store], jobs: Sequence[str]) -> None:
    """Delete finished jobs: first the truth (nobody looks for the objects then), then the objects.

    Raises:
        UnknownJob: one of them is not there; none is deleted then.
        IllegalMove: one of them is not finished; none is deleted then.
    """
    records = [truth.job(job) for job in dict.fromkeys(jobs)]
    for record in records:
        if record.state not in FINAL_JOB_STATES:
            msg = f"job {record.job} is {record.state}; only finished jobs are deleted: `tts-batch cancel` it first"
            raise IllegalMove(msg)
    for record in records:
        truth.forget(record.job)
        store = store_at(record.spec.store_url)
        for key in list(store.list(keys.job_object(record.job, ""))):
            store.delete(key)


def purge_takes(truth: Truth, store: Store) -> int:
    """Delete the takes of a store that no job of the truth may use, and what was heard in them; returns how many takes.

    Every attempt a job may make belongs to it: their records say which of them are made.
    """
    used: set[str] = set()
    place = _place(store)
    for record in truth.jobs():
        if _place(open_store(record.spec.store_url)) == place:
            results = truth.results(record.job)
            for task in tasks_of(load_plan(store, record.job), record.spec, record.job):
                made = results[task.segment].takes if task.segment in results else 0
                used |= {at_attempt(task, attempt).take for attempt in range(max(task.takes, made))}
    dropped = 0
    for key in list(store.list(keys.TAKES)):
        take, _, ending = key.rpartition("/")[2].partition(".")
        if take not in used:
            store.delete(key)
            dropped += ending == "json"
    return dropped


def _place(store: Store) -> str:
    """What two stores have in common when they are the same one, however their URLs are spelled."""
    return str(store.root.resolve()) if isinstance(store, FolderStore) else store.url
