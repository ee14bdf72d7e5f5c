"""RedisTruth: `jobs.protocols.Truth` in one Redis or Valkey. Its outbox part is here, the rest in `redis_jobs` and
`redis_workers`; what is kept where is listed in `jobs/keys.py`.

Connection errors are waited out for a while, then BrokerUnavailable; every call may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import ResponseError

from jobs import keys
from jobs.protocols import Step, StepKind
from jobs.truth.calls import Calls, word_of
from jobs.truth.records import step, text
from jobs.truth.redis_jobs import RedisJobs
from jobs.truth.redis_lists import RedisLists
from jobs.truth.redis_workers import RedisWorkers
from jobs.truth.rules import CLAIM_AFTER_S, RECONCILE_AFTER_S, SPEECH_TTL_S, WORKER_TTL_S

T = TypeVar("T")
_Entries = list[tuple[bytes, dict[bytes, bytes]]]


class RedisTruth(RedisJobs, RedisLists, RedisWorkers):
    """The truth over one connection pool; may be used by many threads.

    `claim_after_s`: a step taken but not confirmed for this long is handed out again. `reconcile_after_s`: a step is
    taken for lost when nothing about its job changed for this long. `speech_ttl_s`: how long what is kept of a speech
    request stays after its end.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        worker_ttl_s: float = WORKER_TTL_S,
        claim_after_s: float = CLAIM_AFTER_S,
        reconcile_after_s: float = RECONCILE_AFTER_S,
        speech_ttl_s: float = SPEECH_TTL_S,
    ) -> None:
        super().__init__(calls, worker_ttl_s=worker_ttl_s)
        self._claim_after_s = claim_after_s
        self._reconcile_after_s = reconcile_after_s
        self._speech_ttl_s = speech_ttl_s

    def take_steps(self, consumer: str, *, limit: int, timeout_s: float) -> list[Step]:
        """Steps to hand over, oldest first: those left unconfirmed for a while, else new ones."""
        left: _Entries | None = self._in_group(lambda: self._claim(consumer, limit))
        if not left:
            left = self._calls.block(
                timeout_s, lambda block_ms: self._in_group(lambda: self._read(consumer, limit, block_ms))
            )
        return [step(entry, fields) for entry, fields in left or []]

    def step_sent(self, step: Step) -> None:
        """Take a step off the outbox."""
        self._calls.together([("XACK", keys.OUTBOX, keys.OUTBOX_GROUP, step.entry), ("XDEL", keys.OUTBOX, step.entry)])

    def reconcile(self, *, quiet_s: float | None = None) -> list[Step]:
        """Put steps back that the truth calls for but that neither wait in the outbox nor were done for a while."""
        wait_s = self._reconcile_after_s if quiet_s is None else quiet_s
        return [
            Step(
                kind=StepKind(text(kind)),
                job=text(job),
                entry=text(entry),
                chapter=int(chapter) if chapter != b"" else None,
                part=int(part) if part != b"" else None,
            )
            for kind, job, entry, chapter, part in self._run("reconcile", wait_s)
        ]

    def _claim(self, consumer: str, limit: int) -> _Entries:
        idle_ms = round(1000 * self._claim_after_s)
        reply = self._calls.repeat(
            lambda _again: self._calls.client.xautoclaim(
                keys.OUTBOX, keys.OUTBOX_GROUP, consumer, min_idle_time=idle_ms, count=limit
            )
        )
        return [(entry, fields) for entry, fields in reply[1] if fields]  # Redis 6.2 names deleted ones, without fields

    def _read(self, consumer: str, limit: int, block_ms: int | None) -> _Entries | None:
        """New entries. If the reply is lost they stay unconfirmed, and `_claim` finds them later."""
        reply = self._calls.client.xreadgroup(
            keys.OUTBOX_GROUP, consumer, {keys.OUTBOX: ">"}, count=limit, block=block_ms
        )
        return reply[0][1] if reply else None

    def _in_group(self, read: Callable[[], T]) -> T:
        """Do `read()`; make the consumer group first if there is none yet (or it was lost with the data)."""
        try:
            return read()
        except ResponseError as error:
            if word_of(error)[0] != "NOGROUP":
                raise
        try:
            self._calls.repeat(
                lambda _again: self._calls.client.xgroup_create(keys.OUTBOX, keys.OUTBOX_GROUP, id="0", mkstream=True)
            )
        except ResponseError as error:
            if word_of(error)[0] != "BUSYGROUP":  # another consumer was faster
                raise
        return read()
