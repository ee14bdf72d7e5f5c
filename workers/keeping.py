"""Keeps attempts in the store and says what follows, however long the store is away.

A store that says no for good (no space, no permission) ends the job with the reason; one that does not answer is waited
for: what was spoken stays here, and nothing more is leased meanwhile. Knows stores and the truth, no engine.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress

from jobs.errors import BrokerUnavailable, IllegalMove, StoreAway, StoreError, UnknownJob
from jobs.figures import Figure
from jobs.protocols import Store
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import FINAL_JOB_STATES, JobState
from workers.context import Context
from workers.judging import Spoken, conclude
from workers.telling import Teller

log = logging.getLogger(__name__)

STORE_TRIES = 3
STORE_WAIT_S = 1.0


class Keeper:
    """Writes takes. May be used by many threads."""

    def __init__(self, context: Context, teller: Teller) -> None:
        self._context = context
        self._teller = teller
        self._given_up: set[str] = set()

    def store(self, task: SegmentTask) -> Store:
        """Where the takes of a segment's job are."""
        return self._context.store(task.store_url)

    def concluded(self, entry: Spoken) -> SegmentResult | SegmentTask | None:
        """What follows from one attempt. None: nothing does, its job has ended or this process stops."""
        task, refusals = entry.voicing.task, 0
        while task.store_url not in self._given_up:
            began_s = time.monotonic()
            try:
                following = conclude(self.store(task), entry, self._context.figures)
            except StoreError as error:
                self._context.figures.add(Figure.ERRORS, label="store")
                refusals += not isinstance(error, StoreAway)
                log.warning("take of %s not written: %s", task.ref, error)
                if isinstance(error, StoreAway) and self._teller.closing.is_set():
                    # One try may take minutes, and many takes wait: none of the others is tried at this store.
                    self._given_up.add(task.store_url)
                    return None
                if self._over(task.job):
                    self._teller.give_back([task.ref])
                    return None
                if refusals == STORE_TRIES:
                    self._fail_job(task, error)
                    return None
                if self._pause():
                    return None  # it is given back with all that is unfinished, and the next worker speaks it anew
            else:
                self._context.figures.add(Figure.STORE_S, time.monotonic() - began_s)
                return following
        return None

    def _pause(self) -> bool:
        """Wait before the next try; True: this process stops."""
        return self._teller.closing.wait(STORE_WAIT_S) or self._teller.fenced.is_set()

    def _over(self, job: str) -> bool:
        """Whether a job has ended already: what the store refuses of it need not be tried on."""
        try:
            return self._context.truth.job(job).state in FINAL_JOB_STATES
        except UnknownJob:
            return True
        except BrokerUnavailable:
            return False

    def _fail_job(self, task: SegmentTask, error: StoreError) -> None:
        """The job stops, the segment goes back to waiting: `tts-batch retry` goes on once the store is mended."""
        truth = self._context.truth

        def stop_job() -> None:
            if truth.job(task.job).state not in FINAL_JOB_STATES:
                truth.move_job(task.job, JobState.FAILED, reason=str(error))

        with suppress(UnknownJob, IllegalMove):  # somebody ended it before us
            self._teller.insist(stop_job, f"job {task.job} is to be stopped")
        self._teller.give_back([task.ref])
