"""The part of RedisTruth that shows jobs to people: pages of a long list, chapters. Only reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from jobs import keys
from jobs.spec import JobRecord
from jobs.state import JobState
from jobs.truth.records import job_record, texts
from jobs.truth.redis_base import RedisPart
from jobs.truth.rules import ids_after

STATES_PER_CALL = 500
"""Jobs whose state is asked for at one time while jobs of some states are looked for."""


class RedisLists(RedisPart):
    """Lists. `jobs.protocols.Truth` says what each method promises."""

    def newest_jobs(
        self, limit: int, *, after: str | None = None, states: Collection[JobState] = ()
    ) -> list[JobRecord]:
        """A page of the jobs, newest first. Raises UnknownJob."""
        ids = texts(self._calls.repeat(lambda _again: self._calls.client.zrevrange(keys.JOBS, 0, -1)))
        chosen = self._in_states(ids_after(ids, after), limit, states)
        stored = self._calls.together(("HGETALL", keys.job(job)) for job in chosen) if chosen else []
        return [job_record(fields) for fields in stored if fields]

    def _in_states(self, ids: Sequence[str], limit: int, states: Collection[JobState]) -> list[str]:
        """The first `limit` of some jobs that are in one of the states (none named: in any)."""
        if not states:
            return list(ids[:limit])
        found = (job for job, state in self._states(ids) if state and state.decode() in states)
        return list(islice(found, limit))

    def _states(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Some jobs with their states, asked for as far as they are wanted (None: the job is gone)."""
        for start in range(0, len(ids), STATES_PER_CALL):
            block = ids[start : start + STATES_PER_CALL]
            yield from zip(block, self._calls.together(("HGET", keys.job(job), "state") for job in block), strict=True)

    def job_states(self) -> Counter[JobState]:
        """How many jobs are in each state."""
        ids = texts(self._calls.repeat(lambda _again: self._calls.client.zrange(keys.JOBS, 0, -1)))
        return Counter(JobState(state.decode()) for _job, state in self._states(ids) if state)

    def assembled(self, job: str) -> frozenset[int]:
        """The chapters of a job whose audio is in the store."""
        members = self._calls.repeat(lambda _again: self._calls.client.smembers(keys.assembled(job)))
        return frozenset(int(chapter) for chapter in members)
