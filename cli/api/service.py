"""What every route works with: settings, the broker, stores and offers, opened once for the process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request

from cli.session import published_offers
from jobs.access.gate import Gate
from jobs.connect import Broker
from jobs.errors import BadOption
from jobs.protocols import Store, Streams, Truth
from jobs.settings import Settings
from jobs.spec import JobRecord, ModelOffer
from jobs.stores import open_store


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes on. A request over a limit is refused with 413, 429 or 503, never half done."""

    upload_bytes: int = 200 * 1024 * 1024
    """Largest request body: what OpenAI takes for a batch file."""
    speech_chars: int = 100_000
    """Longest `input` of one speech request; longer texts are jobs."""
    streams: int = 256
    """Answers that are sent while they are made, at one time: speech, live audio and events together."""
    waiting_segments: int = 1_000_000
    """Segments that may wait in the whole queue before new work is refused (503)."""


@dataclass
class Service:
    """One running server. May be used by many threads.

    `streams` shares one reading connection between all listeners. `aliases` are other names for models and voices that
    the operator chose (`tts-1=piper`); nothing is guessed.
    """

    settings: Settings
    broker: Broker
    streams: Streams
    gate: Gate
    limits: Limits = Limits()
    aliases: Mapping[str, str] = field(default_factory=dict)
    _stores: dict[str, Store] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def truth(self) -> Truth:
        """The queue's truth."""
        return self.broker.truth

    @property
    def home(self) -> Store:
        """The store of this server: new jobs, uploaded files, batches and reference voices are kept there."""
        return self.store(self.settings.store_url)

    def store(self, url: str) -> Store:
        """The store at a URL, opened once. Only for URLs of our own records, never for one that a caller sends."""
        with self._lock:
            if url not in self._stores:
                self._stores[url] = open_store(url)
            return self._stores[url]

    def store_of(self, record: JobRecord) -> Store:
        """The store that a job's audio is in."""
        return self.store(record.spec.store_url)

    def offers(self) -> list[ModelOffer]:
        """What the living workers speak."""
        return published_offers(self.broker)

    def offer(self, model: str) -> ModelOffer:
        """The offer of a model by its name or an alias.

        Raises:
            BadOption: no living worker speaks it.
        """
        offers = self.offers()
        wanted = self.aliases.get(model, model)
        found = next((offer for offer in offers if offer.name == wanted), None)
        if found is None:
            names = ", ".join(offer.name for offer in offers)
            msg = f"no worker speaks model {model!r}; " + (f"they speak {names}" if names else "none is up at present")
            raise BadOption(msg)
        return found

    def voice_name(self, voice: str) -> str:
        """The voice that a name or an alias stands for."""
        return self.aliases.get(voice, voice)


def service_of(request: Request) -> Service:
    """The service of a request: `Annotated[Service, Depends(service_of)]`."""
    found = request.app.state.service
    assert isinstance(found, Service), "make_app sets it"  # noqa: S101  # our own bug otherwise
    return found
