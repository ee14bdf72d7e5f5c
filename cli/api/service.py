"""What every route works with: settings, the broker, stores and offers, opened once for the process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from cli.api.clerk import spawner
from cli.api.planning_turns import Turns
from cli.api.wording import for_http
from cli.session import Session
from jobs.access.gate import Gate
from jobs.batches.claims import Claims
from jobs.batches.clerk import run_clerk
from jobs.batches.desk import Desk
from jobs.board import Boards
from jobs.connect import Broker
from jobs.errors import BadOption
from jobs.file_lists import FileLists
from jobs.fresh import Fresh
from jobs.health import Checkup
from jobs.history import History, run_sampler
from jobs.offers import offer_named, published_offers
from jobs.pace import Paces
from jobs.protocols import Store, Streams, Truth
from jobs.settings import Settings
from jobs.spec import JobRecord, ModelOffer, WorkerStatus
from jobs.speech_body import MAX_INPUT_CHARS
from jobs.stores import open_store
from jobs.streams.shared import SharedStreams
from jobs.waiting import Waiting

STOP_S = 10.0
"""How long the service's threads may take to end: one call that waits for a lost broker."""


WORKERS_KEPT_S = 1.0
"""Every request asks who speaks here, and again while it waits; of many workers reading that takes longer than all the
rest of it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes on. A request over a limit is refused with 413, 429 or 503, never half done."""

    upload_bytes: int = 200 * 1024 * 1024
    """Largest request body: what OpenAI takes for a batch file."""
    speech_chars: int = MAX_INPUT_CHARS
    """Longest `input` of one speech request; longer texts are jobs."""
    streams: int = 256
    """Answers that are sent while they are made, at one time: speech, live audio and events together."""
    waiting_segments: int | None = 1_000_000
    """Segments that may wait in the whole queue before new work is refused (503); None: any number."""


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
    open: bool = True
    """Whether requests without a token are answered as long as no token exists."""
    host: str = "127.0.0.1"
    """The address that the server listens on."""
    cors_origins: tuple[str, ...] = ()
    """Origins whose pages may read our answers."""
    history: History = field(default_factory=History)
    """Queue and workers over the last hour, as this server saw them."""
    checkup: Checkup = field(init=False)
    desk: Desk = field(init=False)
    """What batches are worked on with."""
    boards: Boards = field(default_factory=Boards)
    paces: Paces = field(default_factory=Paces)
    file_lists: FileLists = field(default_factory=FileLists)
    """Copies of what is looked at again and again: plans and results, speeds, files."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server is to end: streams that clients take up again elsewhere end at once."""
    waiting: Waiting = field(init=False)
    """The speech requests that are answered here."""
    planning: Turns = field(default_factory=Turns)
    _workers: Fresh[list[WorkerStatus]] = field(init=False)
    _stores: dict[str, Store] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._workers = Fresh(self.truth.workers, kept_s=WORKERS_KEPT_S)
        self.waiting = Waiting(self.truth)
        self.checkup = Checkup(self.broker, lambda: self.home)
        self.desk = Desk(
            self.truth, self.home, self.offers, self.aliases, max_chars=self.limits.speech_chars, wording=for_http
        )

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
                self._stores[url] = open_store(url, self.settings.s3)
            return self._stores[url]

    def store_of(self, record: JobRecord) -> Store:
        """The store that a job's audio is in."""
        return self.store(record.spec.store_url)

    def workers(self) -> list[WorkerStatus]:
        """The living workers: now, or a second ago."""
        return self._workers.get()

    def offers(self) -> list[ModelOffer]:
        """What they speak."""
        return published_offers(self.workers())

    def offer(self, model: str) -> ModelOffer:
        """The offer of a model by its name or an alias.

        Raises:
            BadOption: no living worker speaks it.
        """
        wanted = self.aliases.get(model, model)
        found = offer_named(self.offers(), wanted)
        if found is None:
            offers = published_offers(self._workers.get(no_older_than_s=0))  # one may have come up this moment
            found = offer_named(offers, wanted)
        if found is None:
            names = ", ".join(offer.name for offer in offers)
            msg = f"no worker speaks model {model!r}; " + (f"they speak {names}" if names else "none is up at present")
            raise BadOption(msg)
        return found

    def voice_name(self, voice: str) -> str:
        """The voice that a name or an alias stands for."""
        return self.aliases.get(voice, voice)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The service's own threads, for as long as the server runs: samples for the history, the clerk of batches, the
        word that somebody waits for the speech requests."""
        stop = threading.Event()
        spawn = spawner(self.settings, self.aliases, self.limits.speech_chars)
        claims = None if self.broker.calls is None else Claims(self.broker.calls)
        threads = [
            threading.Thread(target=self.waiting.run, args=(stop,), name="waiting", daemon=True),
            threading.Thread(target=run_sampler, args=(self.truth, self.history, stop), name="sampler", daemon=True),
            threading.Thread(target=run_clerk, args=(self.desk, stop, spawn, claims), name="clerk", daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join(STOP_S)
            if isinstance(self.streams, SharedStreams):
                self.streams.close()


def open_service(session: Session, limits: Limits, aliases: Mapping[str, str]) -> Service:
    """The service over a command's session."""
    broker = session.broker
    return Service(session.settings, broker, SharedStreams(broker.streams), broker.gate, limits, aliases)


def service_of(request: Request) -> Service:
    """The service of a request; routes ask for it with `Served`."""
    found = request.app.state.service
    assert isinstance(found, Service), "make_app sets it"  # noqa: S101  # our own bug otherwise
    return found


Served = Annotated[Service, Depends(service_of)]
"""The type of a route's parameter that is given the service."""
