"""Moves batches on: looks at new ones, watches their jobs, ends them, and clears away files whose time is up.

thread = Thread(target=run_clerk, args=(Desk(truth, store, offers), stop, spawn, claims))

A large batch is begun and ended by a process of its own, where `spawn` starts one: planning thousands of texts would
take the processor from all other threads of a server.

All it knows is in the store and in the queue: it may be killed anywhere and started again, and several may work side by
side: each comes to the same then, and `claims` save them from doing what is much twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from jobs import keys
from jobs.batches.batches import Batches
from jobs.batches.claims import Claims
from jobs.batches.desk import BrokenOff, Desk
from jobs.batches.ending import end_batch
from jobs.batches.ids import BATCH, is_id, made_at_s
from jobs.batches.opening import begin_batch, cancel_jobs
from jobs.batches.outcomes import jobs_over
from jobs.batches.records import (
    BatchRecord,
    Counts,
    End,
    FileRecord,
    Pinned,
    Status,
    Stop,
    Submitted,
    Why,
    read,
    read_of,
    write_of,
)
from jobs.errors import JobsError

EVERY_S = 2.0
CLEAR_EVERY_S = 300.0
"""How often files and batches whose time is up are looked for; nobody is given such a file meanwhile."""
LOST_AFTER_S = 3600.0
"""The sign of a batch that was never written is what a server left that died in between, if it is older than this."""
log = logging.getLogger(__name__)


LARGE_FILE_BYTES = 32 * 1024
LARGE_LINES = 200
"""A batch with more has processes of its own: they need a second to start, as such a batch does to be planned."""
MAX_PROCESSES = 2
"""Such processes of one clerk at one time; further batches wait for them."""


class Process(Protocol):
    """A process that moves one batch on, once (`subprocess.Popen`)."""

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        ...

    def terminate(self) -> None:
        """Let it end. What it did not do is done again."""
        ...

    def wait(self) -> int:
        """Wait for its end."""
        ...


Spawn = Callable[[str], Process]
"""Start `Clerk(desk).advance(batch)` in a process of its own."""


def _never() -> bool:
    return False


@dataclass
class Clerk:
    """Does rounds. `stopped` is asked in long work: it is broken off then, and done again by the next clerk."""

    desk: Desk
    stopped: Callable[[], bool] = _never
    spawn: Spawn | None = None
    claims: Claims | None = None
    _processes: dict[str, Process] = field(default_factory=dict)
    _cleared_s: float = 0.0
    _told: dict[str, str] = field(default_factory=dict)

    def round(self) -> None:
        """Move every batch on that has not ended, as far as it goes now; one that cannot be moved holds up no other."""
        self._processes = {batch: process for batch, process in self._processes.items() if process.poll() is None}
        for key in list(self.desk.store.list(keys.OPEN_BATCHES)):
            batch = key.removeprefix(keys.OPEN_BATCHES)
            try:
                if not self._is_elsewhere(batch):
                    self.advance(batch)
            except BrokenOff:
                if self.stopped():
                    return
            except JobsError as error:
                self._tell(batch, str(error))
        now_s = self.desk.clock()
        if now_s >= self._cleared_s + CLEAR_EVERY_S:
            self._cleared_s = now_s  # first: what cannot be cleared away must not be tried in every round
            self.desk.files.expire()
            Batches(self.desk).expire()

    def close(self) -> None:
        """End the processes that are at work."""
        for process in self._processes.values():
            process.terminate()
        for batch, process in self._processes.items():
            process.wait()
            self._leave(batch)
        self._processes.clear()

    def advance(self, batch: str) -> None:
        """Move one batch on. May be repeated, by many at once; does nothing to one that has ended.

        Raises:
            BrokenOff: the clerk is stopped, or the batch changed meanwhile.
            StoreError, BrokerUnavailable: it can be tried again.
        """
        store = self.desk.store
        record = read_of(store, batch, BatchRecord) if is_id(BATCH, batch) else None
        if record is None:
            if not is_id(BATCH, batch) or made_at_s(batch) < self.desk.clock() - LOST_AFTER_S:
                store.delete(keys.open_batch(batch))
            return
        end = read_of(store, batch, End) or self._end_of(record)
        if end is not None:
            store.delete(keys.open_batch(batch))
            self._told.pop(batch, None)

    def _is_elsewhere(self, batch: str) -> bool:
        """Whether a batch is, or is to be, in the hands of a process of its own."""
        if batch in self._processes:
            self._is_ours(batch)
            return True
        if self.spawn is None or not self._is_much_work(batch):
            return False
        if len(self._processes) < MAX_PROCESSES and self._is_ours(batch):
            try:
                self._processes[batch] = self.spawn(batch)
            except JobsError:
                self._leave(batch)  # another server may have the room for it
                raise
        return True

    def _is_ours(self, batch: str) -> bool:
        """Have a batch to ourselves, from now on for some rounds; False: another server has a process for it."""
        return self.claims is None or self.claims.hold(batch)

    def _leave(self, batch: str) -> None:
        """Let other servers have a batch."""
        if self.claims is not None:
            self.claims.leave(batch)

    def _is_much_work(self, batch: str) -> bool:
        """Whether what is to be done now for a batch takes long."""
        store = self.desk.store
        record = read_of(store, batch, BatchRecord) if is_id(BATCH, batch) else None
        if record is None or read_of(store, batch, End) is not None:
            return False
        stop, submitted = read_of(store, batch, Stop), read_of(store, batch, Submitted)
        stopped = stop is not None or self.desk.clock() >= record.expires_at
        if submitted is not None:
            return submitted.total > LARGE_LINES and (stopped or jobs_over(self.desk, submitted))
        if stopped or not (self.desk.offers() or read_of(store, batch, Pinned)):
            return False
        file = read(store, keys.file_record(record.input_file_id), FileRecord)
        return file is not None and file.bytes > LARGE_FILE_BYTES

    def _end_of(self, record: BatchRecord) -> End | None:
        """Do what is to be done for a batch; its end, written, if it came to it."""
        stop, submitted = self._stop_of(record), read_of(self.desk.store, record.id, Submitted)
        if submitted is not None:
            end = self._watch(record, submitted, stop)
        elif stop is not None:
            status = Status.CANCELLED if stop.why is Why.CANCELLED else Status.EXPIRED
            end = End(status=status, at=int(self.desk.clock()), counts=Counts())
        else:
            end = begin_batch(self.desk, record, self.stopped)
        if end is None:
            return None
        if submitted is None:
            cancel_jobs(self.desk, record.id, None)
        write_of(self.desk.store, record.id, end)
        log.info("batch %s is %s: %d done, %d failed", record.id, end.status, end.counts.completed, end.counts.failed)
        return end

    def _watch(self, record: BatchRecord, submitted: Submitted, stop: Stop | None) -> End | None:
        """End a batch whose jobs are over, or are stopped now."""
        if stop is not None:
            cancel_jobs(self.desk, record.id, submitted)
        if not jobs_over(self.desk, submitted):
            return None
        return end_batch(self.desk, record, submitted, stop, self.stopped)

    def _stop_of(self, record: BatchRecord) -> Stop | None:
        """Why a batch is not to go on; that its time is up is written down when it is first seen."""
        stop = read_of(self.desk.store, record.id, Stop)
        now_s = self.desk.clock()
        if stop is None and now_s >= record.expires_at and not self._all_done(record):
            stop = Stop(why=Why.EXPIRED, at=int(now_s))
            write_of(self.desk.store, record.id, stop)
        return stop

    def _all_done(self, record: BatchRecord) -> bool:
        """Whether nothing of a batch is left to speak, so that only its files are to be written."""
        submitted = read_of(self.desk.store, record.id, Submitted)
        return submitted is not None and jobs_over(self.desk, submitted)

    def _tell(self, batch: str, problem: str) -> None:
        """Log a problem once, not in every round."""
        if self._told.get(batch) != problem:
            self._told[batch] = problem
            log.warning("batch %s cannot be moved on now: %s", batch, problem)


def run_clerk(
    desk: Desk,
    stop: threading.Event,
    spawn: Spawn | None = None,
    claims: Claims | None = None,
    *,
    every_s: float = EVERY_S,
) -> None:
    """Do rounds until `stop` is set; a broker or store that is away is waited for."""
    clerk = Clerk(desk, stop.is_set, spawn, claims)
    try:
        while not stop.is_set():
            try:
                clerk.round()
            except JobsError as error:
                log.warning("batches are not moved on now: %s", error)
            stop.wait(every_s)
    finally:
        clerk.close()
