"""The CPU worker: looks after the steps of jobs. A Celery worker process and, around it, the steward's own round:

outbox → Celery (hand over what the truth asks for), sweep (bury silent workers), reconcile (send lost steps again).
All of it is safe to run on many machines at once.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from jobs.errors import BrokerUnavailable
from jobs.protocols import Truth
from jobs.settings import Settings, child_environment, drop_foreign_environment, load_settings
from workers.celery_app import StepSender
from workers.context import open_context
from workers.process import Member, StopFlag, configure_logging, module_command, stop_together

log = logging.getLogger(__name__)

OUTBOX_WAIT_S = 0.5
OUTBOX_BATCH = 64
SWEEP_EVERY_S = 3.0
RECONCILE_EVERY_S = 20.0
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


class Steward:
    """One round after the other over one broker. A lost broker only delays: everything starts from the truth again."""

    def __init__(self, truth: Truth, sender: StepSender, *, worker_ttl_s: float) -> None:
        self._truth = truth
        self._sender = sender
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._worker_ttl_s = worker_ttl_s
        self._trouble_until_s = 0.0
        self._chores = [Chore(SWEEP_EVERY_S, self._sweep), Chore(RECONCILE_EVERY_S, self._truth.reconcile)]

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
    steward = Steward(context.truth, StepSender(broker), worker_ttl_s=settings.worker_ttl_s)
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
