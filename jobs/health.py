"""Whether broker and store work right now, and who is there to work: each look bounded in time, and kept a moment.

`Checkup(broker, store).look()` may be called by anybody as often as they like: a part is asked once at a time, and a
part that does not answer is not waited for twice.
"""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from jobs import keys
from jobs.connect import Broker
from jobs.errors import JobsError
from jobs.protocols import Depth, Store
from jobs.spec import WorkerStatus

log = logging.getLogger(__name__)

T = TypeVar("T")
Part = Literal["broker", "store", "workers"]
BROKER_WAIT_S = 2.0
"""How long the broker may take to answer before it counts as away."""
BROKER_KEPT_S = 1.0
STORE_WAIT_S = 5.0
STORE_KEPT_S = 10.0


class PartDown(JobsError):
    """A part of the deployment does not work; the text says why."""


class Watch(Generic[T]):
    """One check, asked in a thread of its own, whose answer is kept for `kept_s` and waited for `wait_s` at most."""

    def __init__(self, name: str, check: Callable[[], T], *, wait_s: float, kept_s: float) -> None:
        self._name = name
        self._check = check
        self._wait_s = wait_s
        self._kept_s = kept_s
        self._changed = threading.Condition()
        self._asked_s: float | None = None
        self._answered_s = float("-inf")
        self._answer: T | None = None
        self._error: JobsError | None = None

    def look(self) -> T:
        """The answer. Raises PartDown: the check failed, or gives no answer."""
        with self._changed:
            if self._asked_s is None and time.monotonic() >= self._answered_s + self._kept_s:
                self._asked_s = time.monotonic()
                threading.Thread(target=self._ask, name=f"check-{self._name}", daemon=True).start()
            if self._asked_s is not None:
                left_s = self._asked_s + self._wait_s - time.monotonic()
                self._changed.wait_for(lambda: self._asked_s is None, timeout=max(0.0, left_s))
            if self._asked_s is not None:
                msg = f"the {self._name} gives no answer within {self._wait_s:.0f} s"
                raise PartDown(msg)
            if self._error is not None:
                raise PartDown(str(self._error)) from self._error
            assert self._answer is not None, "an answer or an error is there"  # noqa: S101  # our own bug otherwise
            return self._answer

    def _ask(self) -> None:
        answer: T | None = None
        error: JobsError | None = JobsError(f"the check of the {self._name} ended unforeseen; see the log")
        try:
            answer, error = self._check(), None
        except JobsError as found:
            error = found
            log.warning("the %s does not work: %s", self._name, found)
        finally:
            with self._changed:
                self._answer, self._error = answer, error
                self._asked_s, self._answered_s = None, time.monotonic()
                self._changed.notify_all()


def in_time(ask: Callable[[], T], *, wait_s: float) -> T | None:
    """The answer of a function that may hang; None: it gave none within `wait_s` (it ends by itself, unheard)."""
    answers: queue.SimpleQueue[T] = queue.SimpleQueue()
    threading.Thread(target=lambda: answers.put(ask()), name="ask", daemon=True).start()
    try:
        return answers.get(timeout=wait_s)
    except queue.Empty:
        return None


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works, and on how much."""

    workers: tuple[WorkerStatus, ...]
    depth: Depth

    @property
    def by_device(self) -> dict[str, int]:
        """Workers on each kind of device."""
        return dict(sorted(Counter(status.info.device for status in self.workers).items()))

    @property
    def models(self) -> list[str]:
        """What they speak."""
        return sorted({offer.name for status in self.workers for offer in status.info.offers})


@dataclass(frozen=True, slots=True)
class Health:
    """How it is: what is wrong with each part that does not work. `crew` None: not known."""

    problems: dict[Part, str]
    crew: Crew | None

    @property
    def works(self) -> bool:
        """Whether requests can be answered. Without workers they can: jobs wait then."""
        return not self.problems.keys() & {"broker", "store"}


class Checkup:
    """Looks after one broker and one store. May be used by many threads."""

    def __init__(self, broker: Broker, store: Callable[[], Store]) -> None:
        self._broker = broker
        self._store = store
        self._probe_key = keys.probe(secrets.token_hex(8))
        self._crew = Watch("broker", self._ask_broker, wait_s=BROKER_WAIT_S, kept_s=BROKER_KEPT_S)
        self._written = Watch("store", self._ask_store, wait_s=STORE_WAIT_S, kept_s=STORE_KEPT_S)

    def look(self) -> Health:
        """How it is now, or was a moment ago."""
        problems: dict[Part, str] = {}
        crew: Crew | None = None
        try:
            crew = self._crew.look()
        except PartDown as error:
            problems["broker"] = str(error)
        try:
            self._written.look()
        except PartDown as error:
            problems["store"] = str(error)
        if crew is not None and not crew.models:
            problems["workers"] = "no worker that speaks is up: jobs wait, speech requests are refused"
        return Health(problems, crew)

    def _ask_broker(self) -> Crew:
        self._broker.ping()
        truth = self._broker.truth
        return Crew(tuple(truth.workers()), truth.depth())

    def _ask_store(self) -> bool:
        """Write, read and delete a small object."""
        store, data = self._store(), secrets.token_bytes(16)
        store.put(self._probe_key, data)
        if store.get(self._probe_key) != data:
            msg = f"the store {store.url} gives back other bytes than were written"
            raise PartDown(msg)
        store.delete(self._probe_key)
        return True
