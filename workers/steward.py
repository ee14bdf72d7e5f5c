"""The CPU worker: looks after the steps of jobs. A Celery worker process and, around it, the steward's own round:

outbox → Celery (hand over what the truth asks for), sweep (bury silent workers), reconcile (send lost steps again).
All of it is safe to run on many machines at once.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from jobs.errors import BadOption, BrokerUnavailable, IllegalMove, JobsError, MissingExtra, StoreError, UnknownJob
from jobs.protocols import Store
from jobs.purge import ended_before, finish_purges, purge_jobs
from jobs.settings import Settings, child_environment, drop_foreign_environment, load_settings
from workers.celery_app import StepSender
from workers.context import Context, open_context
from workers.process import Member, StopFlag, configure_logging, module_command, stop_together

log = logging.getLogger(__name__)

OUTBOX_WAIT_S = 0.5
OUTBOX_BATCH = 64
SWEEP_EVERY_S = 3.0
RECONCILE_EVERY_S = 20.0
HOUSEKEEPING_EVERY_S = 600.0
UNFINISHED_S = 86_400.0
"""What a writer began this long ago it will not finish."""
STOP_MARGIN_S = 2.0


@dataclass
class Chore:
    """Something to be done every so often."""

    every_s: float
    action: Callable[[], object]
    due_s: float = field(default_factory=time.monotonic)

    def run_if_due(self) -> None:
        """Do it when its time has come."""
        if time.monotonic() >= self.due_s:
            self.due_s = time.monotonic() + self.every_s
            self.action()


class Housekeeping:
    """What takes long and may wait: deletes what is kept too long, finishes deletions, sweeps the store of what dead
    writers left. In a thread of its own, one round at a time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._thread = threading.Thread()

    def begin(self) -> None:
        """Start a round, unless the one before still runs."""
        if not self._thread.is_alive():
            self._thread = threading.Thread(target=self._round, name="housekeeping", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait for the end of a round."""
        if self._thread.is_alive():
            self._thread.join()

    def _round(self) -> None:
        for part in (self._finish_purges, self._delete_old_jobs, self._sweep_store):
            try:
                part()
            except JobsError as error:
                log.warning("housekeeping goes on later: %s", error)

    def _finish_purges(self) -> None:
        finish_purges(self._context.truth, self._store())

    def _delete_old_jobs(self) -> None:
        """One whose store is gone for good must not keep all that ended after it."""
        context, keep_s = self._context, self._context.settings.keep_jobs_s
        for record in ended_before(context.truth, keep_s) if keep_s else []:
            try:
                purge_jobs(context.truth, context.store, [record.job])
            except (UnknownJob, IllegalMove):
                continue  # another worker was quicker, or somebody retries it
            except (StoreError, BadOption, MissingExtra) as error:
                log.warning("job %s is deleted later: %s", record.job, error)
            else:
                log.info("job %s ended more than %.0f s ago and is deleted", record.job, keep_s)

    def _sweep_store(self) -> None:
        store = self._store()
        swept = store.sweep_unfinished(older_than_s=UNFINISHED_S)
        if swept:
            log.info("%d unfinished uploads or files of dead writers are gone from %s", swept, store.url)

    def _store(self) -> Store:
        return self._context.store(self._context.settings.store_url)


class Steward:
    """One round after the other over one broker. A lost broker only delays: everything starts from the truth again."""

    def __init__(self, context: Context, sender: StepSender) -> None:
        self._truth = context.truth
        self._sender = sender
        self._housekeeping = Housekeeping(context)
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._worker_ttl_s = context.settings.worker_ttl_s
        self._trouble_until_s = 0.0
        self._chores = [
            Chore(SWEEP_EVERY_S, self._sweep),
            Chore(RECONCILE_EVERY_S, self._truth.reconcile),
            Chore(HOUSEKEEPING_EVERY_S, self._housekeeping.begin),
        ]

    def round(self) -> None:
        """Hand over waiting steps, then do what is due."""
        try:
            for step in self._truth.take_steps(self._name, limit=OUTBOX_BATCH, timeout_s=OUTBOX_WAIT_S):
                self._sender.send(step)
                self._truth.step_sent(step)
            for chore in self._chores:
                chore.run_if_due()
        except BrokerUnavailable as error:
            log.warning("broker away, steps wait in the truth until it is back: %s", error)
            self._trouble_until_s = time.monotonic() + 1.2 * self._worker_ttl_s
            time.sleep(1.0)

    def send_again(self) -> None:
        """Our step process died: the messages it had would stay hidden for an hour, so their steps go out anew."""
        with suppress(BrokerUnavailable):  # then the reconciler finds them later
            self._truth.reconcile(quiet_s=0)

    def _sweep(self) -> None:
        # After an outage every heartbeat looks old; wait until the living had time to beat again.
        if time.monotonic() >= self._trouble_until_s:
            for worker in self._truth.sweep():
                log.warning("worker %s was silent too long; its segments went back to waiting", worker)


def run(settings: Settings) -> None:
    """Run the CPU worker until it is told to stop.

    Raises:
        BrokerUnavailable: no broker is set, or none answers at the start.
    """
    drop_foreign_environment()
    stop = StopFlag()
    context = open_context(settings)
    broker = settings.broker or ""
    steward = Steward(context, StepSender(broker))
    celery = Member("steps", module_command("workers.celery_app"), child_environment(settings))
    while not stop.stopping:
        status = celery.poll()
        if status is not None:
            log.error("the step process ended with status %d and is started again", status)
            steward.send_again()
        steward.round()
    stop_together([celery], grace_s=settings.grace_s + STOP_MARGIN_S)


def main() -> None:
    """Entry of the process."""
    settings = load_settings()
    configure_logging("cpu-worker", settings.log_level)
    run(settings)


if __name__ == "__main__":
    main()
