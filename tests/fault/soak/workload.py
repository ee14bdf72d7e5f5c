"""People at work during a soak: they submit, listen, cancel, pause, retry and delete; every wish is kept in mind."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from jobs import control
from jobs.errors import BrokerUnavailable, IllegalMove, StoreError, UnknownJob
from jobs.offers import offer_named
from jobs.purge import purge_jobs
from jobs.spec import ModelOffer
from jobs.state import FINAL_JOB_STATES, JobState
from jobs.submit import accept
from tests.fault.soak.listeners import Listener
from tests.fault.soak.machines import Cluster
from tests.fault.soak.sources import Sent, make
from workers.catalog import installed_offers

T = TypeVar("T")

KINDS = {"book": 5, "live": 3, "items": 4, "epub": 2, "faulty": 3, "poison": 1, "voice": 2}
"""How often each kind is submitted, beside each other."""
OPEN_JOBS = 7
"""So many jobs are at work at one time."""
CANCEL, PAUSE, PURGE, TWICE = 0.06, 0.10, 0.05, 0.10
"""Shares of jobs that are cancelled, held for a while, deleted after their end, submitted twice."""
PAUSED_S = 6.0


@dataclass
class Workload:
    """Submits until `stop()`. `sent` is everything that was ever asked for."""

    cluster: Cluster
    random: random.Random
    voice: bool
    sent: list[Sent] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._broker = self.cluster.open_broker()
        self._store = self.cluster.open_store()
        offers = installed_offers(precision="auto", device="cpu", models=())
        found = {name: offer_named(offers, name) for name in ("fake", "piper")}
        self._offers: dict[str, ModelOffer] = {name: offer for name, offer in found.items() if offer is not None}
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._submit_all, self._meddle_all)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Submit no more; what is begun is brought to where it can end by itself."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def states(self) -> dict[str, JobState]:
        """The state of every job that was not deleted."""
        records = self._insist(self._broker.truth.jobs)
        return {record.job: record.state for record in records}

    def offer_of(self, sent: Sent) -> ModelOffer:
        """What speaks it."""
        return self._offers["piper" if sent.kind == "voice" and self.voice else "fake"]

    def _submit_all(self) -> None:
        kinds, weights = zip(*KINDS.items(), strict=True)
        for number in itertools.count():
            while not self._ended.is_set() and self._open() >= OPEN_JOBS:
                self._ended.wait(0.5)
            if self._ended.is_set():
                return
            self._submit(make(self.random.choices(kinds, weights)[0], number, self.random))

    def _open(self) -> int:
        return sum(state not in FINAL_JOB_STATES for state in self.states().values())

    def _submit(self, sent: Sent) -> None:
        draft = sent.draft(self.offer_of(sent), self.cluster.store_url)
        sent.job = draft.job
        if sent.kind == "live":
            self.listeners.append(Listener(self.cluster, draft.job))
        for _ in range(1 + (self.random.random() < TWICE)):
            self._insist(lambda: accept(draft, self._broker.truth, self._store))
        self.sent.append(sent)

    def _meddle_all(self) -> None:
        """Each job that is seen for the first time may be held, cancelled; each that has ended may be deleted."""
        seen: set[str] = set()
        while not self._ended.wait(0.5):
            for sent in list(self.sent):
                if sent.job in seen or sent.end:
                    continue
                seen.add(sent.job)
                self._meddle(sent, self.random.random())

    def _meddle(self, sent: Sent, dice: float) -> None:
        truth = self._broker.truth
        if dice < CANCEL:
            self._quietly(lambda: control.cancel(truth, sent.job))
            sent.end = "cancel"
        elif dice < CANCEL + PAUSE:
            self._quietly(lambda: control.pause(truth, sent.job))
            self._ended.wait(PAUSED_S)
            self._quietly(lambda: truth.unpause(sent.job))
            sent.notes.append("paused")
        elif dice < CANCEL + PAUSE + PURGE:
            sent.notes.append("to be purged")

    def purge(self) -> None:
        """Delete the jobs that were meant to be."""
        for sent in self.sent:
            if "to be purged" in sent.notes:
                self._insist(lambda sent=sent: purge_jobs(self._broker.truth, lambda _url: self._store, [sent.job]))
                sent.end = "purge"

    def _quietly(self, move: Callable[[], object]) -> None:
        """A move that may come too late."""

        def tried() -> None:
            with contextlib.suppress(IllegalMove, UnknownJob):
                move()

        self._insist(tried)

    def _insist(self, call: Callable[[], T]) -> T:
        """Do it again until broker and store answer, as a person would."""
        while True:
            try:
                return call()
            except (BrokerUnavailable, StoreError):
                time.sleep(1)
