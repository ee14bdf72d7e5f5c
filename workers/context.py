"""What every program of the machine room needs: settings, broker and stores, opened once per process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from jobs.benchmarks import Measurements
from jobs.connect import Broker, open_broker
from jobs.errors import BrokerUnavailable
from jobs.figures import Figures
from jobs.protocols import Store, Streams, Truth
from jobs.settings import Settings
from jobs.stores import open_store


@dataclass
class Context:
    """Settings, the broker's truth and streams, and stores by URL (a job says which one is its)."""

    settings: Settings
    truth: Truth
    streams: Streams
    _stores: dict[str, Store] = field(default_factory=dict)
    measurements: Measurements | None = None
    """Where finished jobs are noted; None: nowhere."""
    figures: Figures = field(default_factory=Figures)
    """What this process counts."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def with_store(self, url: str, store: Store) -> Context:
        """The same context with another store at a URL: for one step."""
        return replace(self, _stores={**self._stores, url: store}, _lock=threading.Lock())

    def store(self, url: str) -> Store:
        """The store at a URL; opened once."""
        with self._lock:
            if url not in self._stores:
                self._stores[url] = open_store(url, self.settings.s3)
            return self._stores[url]


def open_context(settings: Settings) -> Context:
    """Connect to the broker that the settings name.

    Raises:
        BrokerUnavailable: no broker is set, or none answers.
    """
    if settings.broker is None:
        msg = "no broker is set; pass --broker URL or set TTS_BATCH_BROKER, or run `tts-batch up` for the embedded one"
        raise BrokerUnavailable(msg)
    broker: Broker = open_broker(settings.broker, settings)
    measurements = Measurements(settings.measurements_dir)
    return Context(settings=settings, truth=broker.truth, streams=broker.streams, measurements=measurements)
