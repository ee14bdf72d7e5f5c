"""The part of MemoryTruth that shows jobs to people: the mirror of `redis_lists`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from jobs.spec import JobRecord
from jobs.state import JobState
from jobs.truth.memory_jobs import MemoryJobs
from jobs.truth.memory_kept import ref_name
from jobs.truth.rules import ids_after


class MemoryLists(MemoryJobs):
    """Lists. `jobs.protocols.Truth` says what each method promises."""

    def newest_jobs(
        self, limit: int, *, after: str | None = None, states: Collection[JobState] = ()
    ) -> list[JobRecord]:
        """A page of the jobs, newest first. Raises UnknownJob."""
        records = {record.job: record for record in reversed(self.jobs())}
        listed = [records[job] for job in ids_after(list(records), after)]
        return [record for record in listed if not states or record.state in states][:limit]

    def job_states(self) -> Counter[JobState]:
        """How many jobs are in each state."""
        return Counter(record.state for record in self.jobs())

    def holding(self, worker: str) -> frozenset[str]:
        """What a worker holds."""
        with self._changed:
            known = self._state.workers.get(worker)
            return frozenset(map(ref_name, known.held)) if known else frozenset()

    def totals(self) -> Counter[str]:
        """What was counted since the truth began."""
        with self._changed:
            return Counter(self._state.totals)

    def count(self, totals: Mapping[str, int]) -> None:
        """Add to them."""
        with self._changed:
            self._state.totals.update(totals)

    def assembled(self, job: str) -> frozenset[int]:
        """The chapters of a job whose audio is in the store."""
        with self._changed:
            entry = self._state.jobs.get(job)
            return frozenset() if entry is None else frozenset(entry.assembled)
