"""What commands work with: settings, the broker (embedded or by URL), its truth, streams and stores."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.errors import BadOption, BrokerUnavailable
from jobs.settings import Settings, child_environment, load_settings

if TYPE_CHECKING:
    from jobs.connect import Broker
    from jobs.embedded import Embedded
    from jobs.protocols import Store
    from jobs.spec import JobRecord, ModelOffer

NODE_START_S = 40.0
NODE_STOP_S = 60.0
POLL_S = 0.1
SERVED_S = 20.0
"""How long the workers of a node may take to offer a model: for those of a GPU torch is asked first, several times."""
OWNED_GRACE_S = 0.5
"""Grace of a node that one command started: who presses Ctrl-C wants to leave, and what is given back is not lost."""


@dataclass
class Session:
    """One command's connection. `embedded` tells whether the broker is the node in the data folder."""

    settings: Settings
    embedded: bool
    broker: Broker
    stack: contextlib.ExitStack
    owns_node: bool = False

    @property
    def place(self) -> Embedded:
        """Where the embedded node lives."""
        from jobs.embedded import Embedded

        return Embedded(self.settings.data_dir)

    def store(self, url: str) -> Store:
        """The store at a URL."""
        from jobs.stores import open_store

        return open_store(url, self.settings.s3)

    def store_of(self, record: JobRecord) -> Store:
        """The store that a job's audio is in."""
        return self.store(record.spec.store_url)

    def revive(self) -> None:
        """Start the embedded node again when the one we used is gone (its owner ended). Raises BrokerUnavailable."""
        if self.embedded and not self.place.running():
            self.owns_node = self.stack.enter_context(running_node(replace(self.settings, broker=None)))

    def started_for(self, model: str) -> bool:
        """Whether this command started its node, and so that it serves a model."""
        return self.owns_node and (model == self.settings.model or os.sep not in model)

    def check_served(self, model: str, *, command: str) -> None:
        """Make sure that the embedded node speaks a model; `command` is what was typed.

        A node serves what was installed when it started, and the folder of weights that it was started with. Nothing is
        said as long as no worker has come up yet: what it will offer is not known.

        Raises:
            BadOption: its workers offer other models only.
        """
        if not self.embedded or self.started_for(model):
            return
        from jobs.offers import published_offers

        deadline_s = time.monotonic() + SERVED_S
        while model not in (names := [offer.name for offer in published_offers(self.broker.truth.workers())]):
            if time.monotonic() > deadline_s:
                break
            time.sleep(POLL_S)
        if names and model not in names:
            how = f"`TTS_BATCH_MODEL={shlex.quote(model)} {command}`"
            msg = (
                f"the node in {self.settings.data_dir} does not speak model {model!r}, only {', '.join(names)}; "
                f"stop it (Ctrl-C where `tts-batch up` runs), then start one that does: {how}"
            )
            raise BadOption(msg)

    def close(self) -> None:
        """Close the connection."""
        self.broker.close()


def settings_for(broker: str | None) -> Settings:
    """The settings with the command's --broker on top."""
    settings = load_settings()
    return settings if broker is None else replace(settings, broker=broker)


VOICE_FILES = (".onnx", ".txt")
"""Files that name a voice: a Piper voice, or a text that describes one or says how to speak (`ryan@calm.txt`)."""


def is_path(voice: str) -> bool:
    """Whether a voice is named by the path of a file."""
    return voice.endswith(VOICE_FILES)


def with_absolute_path(voice: str) -> str:
    """The same voice, its file named from the root: workers run elsewhere."""
    speaker, at, path = voice.rpartition("@") if voice.endswith(".txt") else ("", "", voice)
    return f"{speaker}{at}{Path(path).expanduser().absolute()}"


def find_offer(model: str, voice: str | None, settings: Settings, broker: Broker | None) -> ModelOffer:
    """The model to plan for. With a broker by URL its workers' word counts; without any worker, this machine's.

    Raises:
        BadOption: nobody knows the model or the voice.
    """
    from jobs.offers import offer_named, published_offers
    from workers.catalog import add_voice, local_device
    from workers.catalog import find_offer as local_offer
    from workers.engines import EngineSettings

    published = published_offers(broker.truth.workers()) if broker is not None else []
    if published:
        offer = offer_named(published, model)
        if offer is not None:
            known = voice is None or offer.voice(voice) is not None
            return offer if known or voice is None or not is_path(voice) else add_voice(offer, voice)
        names = ", ".join(offer.name for offer in published)
        msg = f"no worker of this broker speaks model {model!r}; they speak {names}"
        raise BadOption(msg)
    device = local_device(model, precision=settings.precision)
    run = EngineSettings.of(settings, device)
    return local_offer(model, voice=_by_path(voice), precision=settings.precision, device=device, run=run)


def plan_offer(model: str, voice: str | None, settings: Settings) -> ModelOffer:
    """The model to look at a plan for, installed or not: this machine's word, without a broker or a device.

    Raises:
        BadOption: nobody knows the model or the voice.
    """
    from workers.catalog import known_offer

    return known_offer(model, voice=_by_path(voice), precision=settings.precision)


def _by_path(voice: str | None) -> str | None:
    """A voice that is to be added to those of its model; names are looked up (and near ones told) with the plan."""
    return voice if voice is not None and is_path(voice) else None


@contextlib.contextmanager
def connect(broker: str | None, *, needs_node: bool = False, model: str | None = None) -> Iterator[Session]:
    """A session for one command. `needs_node`: start the embedded node when none runs, and stop it at the end.

    A node that is started serves `model` too (by its full name), where that is a folder of weights.

    Raises:
        BrokerUnavailable: no broker answers (and, with the embedded one, no node runs).
    """
    from jobs.connect import open_broker
    from jobs.embedded import Embedded

    settings = settings_for(broker)
    settings = settings if model is None else replace(settings, model=model)
    with contextlib.ExitStack() as stack:
        embedded = settings.broker is None
        owns_node = False
        if embedded:
            place = Embedded(settings.data_dir)
            if needs_node:
                grace_s = min(settings.grace_s, OWNED_GRACE_S)
                owns_node = stack.enter_context(running_node(replace(settings, grace_s=grace_s)))
            elif not place.running():
                msg = (
                    f"no node runs in {settings.data_dir}; start one with `tts-batch up` (or `tts-batch resume JOB`), "
                    "or name a Redis with --broker URL"
                )
                raise BrokerUnavailable(msg)
            settings = replace(settings, broker=place.url)
        session = Session(settings, embedded, open_broker(settings.broker or "", settings), stack, owns_node)
        stack.callback(session.close)
        yield session


@contextlib.contextmanager
def connect_for_job(broker: str | None, job: str, *, needs_node: bool) -> Iterator[Session]:
    """A session to go on with a job that is there already; a node that is started for it serves the job's own model.

    Which model that is stands in the node's own broker: if it is a folder of weights, the node is started once more.

    Raises:
        UnknownJob: no job has that id.
        BadOption: the folder holds no model any more.
        BrokerUnavailable: as `connect`.
    """
    with connect(broker, needs_node=needs_node) as session:
        model = session.broker.truth.job(job).spec.model
        if not session.owns_node or session.started_for(model):
            yield session
            return
    with connect(broker, needs_node=needs_node, model=model) as session:
        yield session


@contextlib.contextmanager
def running_node(settings: Settings) -> Iterator[bool]:
    """Make sure that a node runs in the data folder; one that we started (True) is stopped at the end.

    Raises:
        BrokerUnavailable: it does not start.
        BadOption: it would have to, and the settings' model is a folder that holds none.
        BadOutput: the data folder cannot be used.
    """
    from jobs.embedded import Embedded
    from workers.catalog import check_folder
    from workers.node import EXIT_TAKEN
    from workers.process import module_command, spawn, stop

    place = Embedded(settings.data_dir)
    place.prepare()
    node: subprocess.Popen[bytes] | None = None
    try:
        deadline_s = time.monotonic() + NODE_START_S
        while not _ready(place, settings):
            if node is not None and node.poll() == EXIT_TAKEN:
                node = None
            if node is None and not place.running():
                check_folder(settings.model, precision=settings.precision)
                log_path = place.log_dir / "node.log"
                node = spawn(module_command("workers.node"), environment=child_environment(settings), log_path=log_path)
            if (node is not None and node.poll() is not None) or time.monotonic() > deadline_s:
                msg = f"the embedded node did not start; its logs are in {place.log_dir}"
                raise BrokerUnavailable(msg)
            time.sleep(POLL_S)
        yield node is not None
    finally:
        if node is not None:
            stop(node, grace_s=NODE_STOP_S)


def _ready(place: Embedded, settings: Settings) -> bool:
    """Whether a node runs in the folder and its broker answers."""
    from jobs.connect import open_broker

    if not place.running():
        return False
    try:
        open_broker(place.url, settings).close()
    except BrokerUnavailable:
        return False
    return True
