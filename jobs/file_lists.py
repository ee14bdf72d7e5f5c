"""What jobs have to hand out, kept in memory for those that look at them again and again.

A store is asked for a list and for each size, which over a network takes long. What is kept is made anew when the job's
record says that files may have come.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from jobs import keys
from jobs.deliver import Finished, finished_files, finished_objects, worth_showing
from jobs.protocols import Store
from jobs.spec import JobRecord

KEPT_JOBS = 64


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files of one job: `names` of all, in reading order, and `shown`: of a dataset only its `dataset.json`."""

    job: str
    names: tuple[str, ...]
    shown: tuple[Finished, ...]

    def of_names(self, store: Store, names: Sequence[str]) -> list[Finished]:
        """Some of them with their sizes; one that was deleted meanwhile is left out. Raises StoreError."""
        return finished_files(store, self.job, [keys.job_object(self.job, name) for name in names])


class FileLists:
    """The files of jobs that were looked at lately. May be used by many threads."""

    def __init__(self) -> None:
        self._lists: OrderedDict[str, tuple[object, JobFiles]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, record: JobRecord, store: Store) -> JobFiles:
        """The files of a job. Raises StoreError."""
        seen = (record.created_at_s, record.updated_at_s, record.state, record.chapters_assembled)
        with self._lock:
            kept = self._lists.get(record.job)
        if kept is not None and kept[0] == seen:
            return kept[1]
        files = _files(store, record.job)
        with self._lock:
            self._lists[record.job] = (seen, files)
            self._lists.move_to_end(record.job)
            while len(self._lists) > KEPT_JOBS:
                self._lists.popitem(last=False)
        return files


def _files(store: Store, job: str) -> JobFiles:
    found = finished_objects(store, job)
    prefix = keys.job_object(job, "")
    shown = finished_files(store, job, worth_showing(found))
    return JobFiles(job, tuple(key.removeprefix(prefix) for key in found), tuple(shown))
