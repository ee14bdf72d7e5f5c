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
class Row:
    """The files of one job: `names` of all, in reading order, and `shown`: of a dataset only its `dataset.json`."""

    job: str
    names: tuple[str, ...]
    shown: tuple[Finished, ...]


class Shelf:
    """The rows of jobs that were looked at lately. May be used by many threads."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, tuple[object, Row]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, record: JobRecord, store: Store) -> Row:
        """The files of a job. Raises StoreError."""
        seen = (record.created_at_s, record.updated_at_s, record.state, record.chapters_assembled)
        with self._lock:
            kept = self._rows.get(record.job)
        if kept is not None and kept[0] == seen:
            return kept[1]
        row = _row(store, record.job)
        with self._lock:
            self._rows[record.job] = (seen, row)
            self._rows.move_to_end(record.job)
            while len(self._rows) > KEPT_JOBS:
                self._rows.popitem(last=False)
        return row


def _row(store: Store, job: str) -> Row:
    found = finished_objects(store, job)
    prefix = keys.job_object(job, "")
    shown = finished_files(store, job, worth_showing(found))
    return Row(job, tuple(key.removeprefix(prefix) for key in found), tuple(shown))


def files_of(row: Row, store: Store, names: Sequence[str]) -> list[Finished]:
    """Some of a job's files with their sizes. Raises StoreError."""
    return finished_files(store, row.job, [keys.job_object(row.job, name) for name in names])
