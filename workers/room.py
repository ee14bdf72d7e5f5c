"""The machine room: one synthesis process that joins the queue to the engines. `python -m workers.room CONFIG`.

Four threads: intake (lease, prepare), the step loop (this file), outlet (store, truth, streams), heartbeat. The step
loop never waits for I/O. On SIGTERM it gives back what is not in a slot, finishes its slots within the grace and
gives back the rest.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from engine.engine import UtteranceEngine
from engine.request import Delta, FinishReason
from jobs.errors import BrokerUnavailable, Fenced
from jobs.protocols import Beat
from jobs.settings import load_settings
from jobs.spec import WorkerInfo
from models import registry
from models.base import SpeechModel
from workers.catalog import installed_offers
from workers.context import Context, open_context
from workers.intake import Intake
from workers.outlet import Outlet, Voicing
from workers.process import StopFlag, configure_logging

log = logging.getLogger(__name__)

EXIT_FENCED = 75
"""Exit status of a process that found itself declared dead (`EX_TEMPFAIL`): its supervisor starts a new one."""
EXIT_BROKEN_THREAD = 70
"""Exit status after an unforeseen error in one of the threads (`EX_SOFTWARE`)."""
IDLE_S = 0.01
STALL_S = 120.0
"""A step loop that did not turn for this long stops its own heartbeat: others take its segments over."""


@dataclass(frozen=True, slots=True)
class RoomConfig:
    """What a supervisor tells its process. `models` are registry names."""

    worker: str
    device: str
    slots: int
    precision: str
    models: tuple[str, ...]

    def dump(self) -> str:
        """One JSON line for the command line."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> RoomConfig:
        """What `dump` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "models": tuple(fields["models"])})


class Room:
    """Runs one process's share of the queue. All engines share one number of slots."""

    def __init__(self, config: RoomConfig, context: Context) -> None:
        self._config = config
        self._context = context
        self._models: dict[str, SpeechModel] = {}
        self._engines: dict[str, UtteranceEngine] = {}
        self._voicings: dict[str, Voicing] = {}
        self._dropping: set[str] = set()
        self._load_lock = threading.Lock()
        self._cancelled: frozenset[str] = frozenset()
        self._turned_s = time.monotonic()
        self.outlet = Outlet(context, config.worker, left=self._left_slot)
        self.intake = Intake(context.truth, config.worker, slots=config.slots, model=self.model, outlet=self.outlet)
        self._beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._ended = threading.Event()

    @property
    def fenced(self) -> bool:
        """Whether this worker was declared dead."""
        return self.intake.fenced.is_set() or self.outlet.fenced.is_set()

    def run(self, stop: StopFlag, *, grace_s: float) -> int:
        """Work until told to stop or fenced; returns the exit status."""
        self._context.truth.register(self._info())
        for thread in (self._beating, self.intake.thread, self.outlet.thread):
            thread.start()
        while not (stop.stopping or self.fenced):
            self._turn()
        if not self.fenced:
            self._wind_down(grace_s)
        self._ended.set()
        return EXIT_FENCED if self.fenced else 0

    def model(self, name: str) -> SpeechModel:
        """A model by registry name, loaded at its first segment. Raises ModelError, DeviceUnavailable."""
        loaded = self._models.get(name)
        if loaded is not None:  # the step loop must not wait while intake loads another one
            return loaded
        with self._load_lock:
            if name not in self._models:
                config = self._config
                self._models[name] = registry.load(name, device=config.device, precision=config.precision)
            return self._models[name]

    def _turn(self) -> None:
        """One turn: drop what was cancelled, fill free slots, step every engine that has work, pass the audio on."""
        self._turned_s = time.monotonic()
        self._drop_cancelled()
        self._fill()
        busy = [engine for engine in self._engines.values() if not engine.idle]
        for engine in busy:
            for delta in engine.step():
                self._emit(delta)
        if not busy:
            time.sleep(IDLE_S)

    def _fill(self) -> None:
        while len(self._voicings) < self._config.slots:
            ready = self.intake.take()
            if ready is None:
                return
            if ready.task.ref in self._voicings:
                # Its job was cancelled and submitted again before we heard of it: the old one leaves the slot first.
                self._drop(ready.task.ref)
                self.intake.put_back(ready)
                return
            model = self.model(ready.task.model)
            engine = self._engines.get(ready.task.model)
            if engine is None:
                engine = UtteranceEngine(model.program, num_slots=self._config.slots)
                self._engines[ready.task.model] = engine
            self._voicings[ready.task.ref] = Voicing(
                task=ready.task, numerics=model.card.numerics, sample_rate_hz=model.program.sample_rate_hz
            )
            engine.add(ready.request)

    def _left_slot(self) -> None:
        self.intake.finished()

    def _emit(self, delta: Delta) -> None:
        voicing = self._voicings[delta.request_id]
        self.outlet.delta(voicing, delta)
        if delta.last:
            del self._voicings[delta.request_id]
            self._dropping.discard(delta.request_id)
            if delta.finish is FinishReason.ERROR:
                log.error("segment %s failed: %s", delta.request_id, delta.error)

    def _drop_cancelled(self) -> None:
        cancelled, self._cancelled = self._cancelled, frozenset()
        if not cancelled:
            return
        dropped = self.intake.drop_jobs(cancelled)
        for ref, voicing in self._voicings.items():
            if voicing.task.job in cancelled:
                self._drop(ref)
                dropped.append(ref)
        self.outlet.release(dropped)

    def _drop(self, ref: str) -> None:
        """Take a segment out of its slot at the next step, once."""
        if ref not in self._dropping:
            self._dropping.add(ref)
            self._engines[self._voicings[ref].task.model].cancel(ref)

    def _wind_down(self, grace_s: float) -> None:
        """Stop in order: no new work, give back what waits, finish the slots within the grace, give back the rest."""
        waiting = self.intake.drain()
        self._tell(lambda: self._context.truth.give_back(self._config.worker, waiting))
        deadline_s = time.monotonic() + grace_s
        while self._voicings and time.monotonic() < deadline_s and not self.fenced:
            self._turn()
        unfinished = len(self._voicings)
        self.outlet.close()
        # No beat after the good-bye: it would find us declared dead.
        self._ended.set()
        self._beating.join()
        self._tell(lambda: self._context.truth.retire(self._config.worker))
        log.info("stopped: %d segments given back unstarted, %d unfinished", len(waiting), unfinished)

    def _tell(self, move: Callable[[], object]) -> None:
        """A move at the end. Without a broker we end too: what we hold is given back when our heartbeat is missed."""
        try:
            move()
        except BrokerUnavailable as error:
            log.warning("stopping while the broker is away: %s", error)

    def _beat(self) -> None:
        """Heartbeat thread: silent while the step loop stands still, so that a frozen process is replaced."""
        every_s = self._context.settings.worker_ttl_s / 5
        while not self._ended.wait(min(every_s, 1.0)):
            if time.monotonic() - self._turned_s > STALL_S:
                log.error("the step loop stands still for over %.0f s; no heartbeat", STALL_S)
                continue
            beat = Beat(len(self._voicings), self.outlet.segments_done, self.outlet.audio_s)
            try:
                cancelled = self._context.truth.beat(self._config.worker, beat)
            except Fenced:
                self.intake.fenced.set()
                return
            except BrokerUnavailable as error:
                log.warning("no heartbeat, broker away: %s", error)
            else:
                self._cancelled |= cancelled

    def _info(self) -> WorkerInfo:
        config = self._config
        offers = tuple(offer for offer in installed_offers(precision=config.precision) if offer.name in config.models)
        return WorkerInfo(
            worker=config.worker,
            host=socket.gethostname(),
            pid=os.getpid(),
            device=config.device,
            slots=config.slots,
            models=tuple(offer.engine for offer in offers),
            started_at_s=time.time(),
            offers=offers,
        )


def main() -> None:
    """Entry of the process: the configuration is its one argument."""
    settings = load_settings()
    config = RoomConfig.parse(sys.argv[1])
    configure_logging(config.worker, settings.log_level)
    threading.excepthook = _end_process
    stop = StopFlag()
    room = Room(config, open_context(settings))
    sys.exit(room.run(stop, grace_s=settings.grace_s))


def _end_process(arguments: threading.ExceptHookArgs) -> None:
    """A thread that fails for a reason nobody foresaw ends the process: the supervisor starts a sound one."""
    exception = (arguments.exc_type, arguments.exc_value or arguments.exc_type(), arguments.exc_traceback)
    log.critical("thread %s failed", arguments.thread, exc_info=exception)
    os._exit(EXIT_BROKEN_THREAD)


if __name__ == "__main__":
    main()
