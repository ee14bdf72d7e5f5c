"""How queue and workers were over the last hour: samples in memory, of one process.

Nothing is kept in the broker: each server samples for itself and begins anew when it starts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass

from jobs.errors import BrokerUnavailable
from jobs.protocols import Depth, Truth
from jobs.spec import WorkerStatus

log = logging.getLogger(__name__)

SAMPLE_EVERY_S = 5.0
KEPT_S = 3600.0


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker at one time. `audio_s`: what it has spoken since it started."""

    worker: str
    slots: int
    slots_busy: int
    audio_s: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Queue and workers at one time (`at_s`: seconds since 1970)."""

    at_s: float
    depth: Depth
    workers: tuple[WorkerSample, ...]


class History:
    """The last samples, oldest first. May be read by many threads."""

    def __init__(self, *, every_s: float = SAMPLE_EVERY_S, kept_s: float = KEPT_S) -> None:
        self.every_s = every_s
        self._samples: deque[Sample] = deque(maxlen=max(1, round(kept_s / every_s)))
        self._lock = threading.Lock()

    def add(self, sample: Sample) -> None:
        """Keep a sample; the oldest goes."""
        with self._lock:
            self._samples.append(sample)

    def samples(self) -> list[Sample]:
        """All that are kept."""
        with self._lock:
            return list(self._samples)


def take_sample(truth: Truth) -> Sample:
    """How it is now. Raises BrokerUnavailable."""
    return Sample(time.time(), truth.depth(), tuple(map(_worker_sample, truth.workers())))


def run_sampler(truth: Truth, history: History, stop: threading.Event) -> None:
    """Take samples until `stop`. A broker that is away leaves a gap."""
    while not stop.is_set():
        try:
            history.add(take_sample(truth))
        except BrokerUnavailable as error:
            log.warning("no sample of queue and workers: %s", error)
        stop.wait(history.every_s)


def _worker_sample(status: WorkerStatus) -> WorkerSample:
    return WorkerSample(status.info.worker, status.info.slots, status.slots_busy, round(status.audio_s, 3))
