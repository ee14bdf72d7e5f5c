"""Says for a whole process that somebody waits for its speech requests. If it dies they are given up by themselves.

with waiting.for_request(speech.job): ...   (and `waiting.run(stop)` in a thread)
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.errors import BrokerUnavailable
from jobs.protocols import Truth
from jobs.truth.rules import SPEECH_WANTED_S

log = logging.getLogger(__name__)

SAY_EVERY_S = SPEECH_WANTED_S / 6


class Waiting:
    """The requests that somebody waits for here. May be used by many threads."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._requests: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def for_request(self, job: str) -> Iterator[None]:
        """Somebody waits for a request while the block runs."""
        with self._lock:
            self._requests.add(job)
        try:
            yield
        finally:
            with self._lock:
                self._requests.discard(job)

    def say(self) -> None:
        """Tell the truth of all of them, in one call. Raises BrokerUnavailable."""
        with self._lock:
            requests = sorted(self._requests)
        if requests:
            self._truth.still_wanted(requests)

    def run(self, stop: threading.Event, *, every_s: float = SAY_EVERY_S) -> None:
        """Do so again and again, until `stop`."""
        while not stop.wait(every_s):
            try:
                self.say()
            except BrokerUnavailable as error:  # nothing is given up while the broker is away
                log.warning("speech requests are not renewed: %s", error)
