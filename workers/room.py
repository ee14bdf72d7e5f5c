"""The machine room: one synthesis process that joins the queue to the engines. `python -m workers.room CONFIG`.

Four threads: intake (lease, prepare), the step loop (this file), outlet (store, truth, streams), heartbeat. The step
loop never waits for I/O. On SIGTERM it gives back what is not in a slot, finishes its slots within the grace and
gives back the rest.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import DeviceUnavailable, is_lost_device
from engine.lane import Engine
from engine.request import Delta, FinishReason
from jobs.errors import BrokerUnavailable
from jobs.figures import Figure
from jobs.protocols import Beat
from jobs.settings import load_settings
from jobs.spec import ModelOffer, WorkerInfo
from models import registry
from models.base import SpeechModel
from workers.catalog import installed_offers
from workers.context import Context, open_context
from workers.costs import Costs
from workers.engines import busy_slots, loading, make_engine, stage_figures
from workers.heartbeat import BEAT_S, Heartbeat
from workers.intake import Intake, failed_result
from workers.outlet import Outlet
from workers.process import Stop, StopFlag, configure_logging
from workers.room_config import EXIT_BROKEN_THREAD, EXIT_FENCED, EXIT_LOST_DEVICE, RoomConfig
from workers.slot_meter import SlotMeter
from workers.voicing import Voicing

log = logging.getLogger(__name__)

IDLE_S = 0.01
STALL_S = 120.0
"""A step loop that did not turn for this long stops its own heartbeat: others take its segments over."""
MAKE_STALL_S = 900.0
"""The same while it makes an engine: kernels that nobody built yet take minutes."""
SWITCH_S = 0.0005
"""How long other threads may keep Python from the step loop: Python's own 5 ms are half a step on a GPU."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that the room need not load, and its engine; `offer` is how the worker presents it."""

    model: SpeechModel
    engine: Engine
    offer: ModelOffer


class Room:
    """Runs one process's share of the queue. All engines share one number of slots: a request that left its slot while
    its last audio is decoded does not keep the next one waiting."""

    def __init__(self, config: RoomConfig, context: Context, *, loaded: Sequence[Loaded] = ()) -> None:
        """`loaded` models are served beside those of `config`."""
        self._config = config
        self._context = context
        self._models: dict[str, SpeechModel] = {one.offer.name: one.model for one in loaded}
        self._engines: dict[str, Engine] = {one.offer.name: one.engine for one in loaded}
        self._broken: dict[str, str] = {}
        self._loaded_offers = tuple(one.offer for one in loaded)
        self._stall_s, self._costs = STALL_S, Costs(config.device)
        self._meter = SlotMeter(context.figures, config.engine.slots)
        self._voicings: dict[str, Voicing] = {}
        self._dropping: set[str] = set()
        self._load_lock = threading.Lock()
        self._turned_s = time.monotonic()
        self.outlet = Outlet(
            context,
            config.worker,
            slots=config.engine.slots,
            left=lambda: self.intake.finished(),
            again=lambda task, spoken: self.intake.again(task, spoken),
        )
        slots = config.engine.slots
        self.intake = Intake(context.truth, config.worker, slots=slots, model=self.model, outlet=self.outlet)
        self.heartbeat = Heartbeat(
            context, config.worker, self.outlet.hand, pulse=self._pulse, holds_speech=lambda: self.holds_speech
        )
        self.heartbeat.every_s = min(BEAT_S, context.settings.worker_ttl_s / 5)

    @property
    def fenced(self) -> bool:
        """Whether this worker was declared dead."""
        return any(part.fenced.is_set() for part in (self.intake, self.outlet, self.heartbeat))

    @property
    def slots_busy(self) -> int:
        """How many slots of all engines are taken."""
        return sum(map(busy_slots, list(self._engines.values())))  # a copy: the heartbeat asks too

    @property
    def holds_speech(self) -> bool:
        """Whether segments of speech requests are here, in slots or on their way to one."""
        return self.intake.holds_speech or any(voicing.task.speech for voicing in list(self._voicings.values()))

    def run(self, stop: Stop, *, grace_s: float) -> int:
        """Work until told to stop or fenced; returns the exit status."""
        self._context.truth.register(self._info())
        self.outlet.start()
        for thread in (self.heartbeat.thread, self.intake.thread):
            thread.start()
        while not (stop.stopping or self.fenced):
            self._turn()
        if not self.fenced:
            self._wind_down(grace_s)
        self.heartbeat.stop()
        self.intake.leave()
        return EXIT_FENCED if self.fenced else 0

    def model(self, name: str) -> SpeechModel:
        """A model by registry name, loaded at its first segment; not tried again once device or memory failed it.

        Raises ModelError, DeviceUnavailable.
        """
        loaded = self._models.get(name)
        if loaded is not None:  # the step loop must not wait while intake loads another one
            return loaded
        with self._load_lock:
            if name in self._broken:
                raise DeviceUnavailable(self._broken[name])
            if name not in self._models:
                config = self._config
                try:
                    with loading(name, config.device):
                        self._models[name] = registry.load(name, device=config.device, precision=config.precision)
                except DeviceUnavailable as error:
                    self._give_up(name, error)
                    raise
            return self._models[name]

    def _give_up(self, name: str, error: DeviceUnavailable) -> None:
        log.error("%s; segments of model %s fail until this process is started again", error, name)
        self._broken[name] = str(error)

    def _turn(self) -> None:
        """One turn: drop what was cancelled, fill free slots, step every engine that has work, pass the audio on."""
        self._turned_s = time.monotonic()
        self._drop_cancelled()
        self._fill()
        self._meter.turn(self.slots_busy, dry=self.intake.dry)
        busy = [(name, engine) for name, engine in self._engines.items() if not engine.idle]
        for name, engine in busy:
            self._context.figures.add(Figure.STEPS, label=name)
            for delta in self._costs.step(name, engine):
                self._emit(delta)
        if not busy:
            self._costs.rest()
            time.sleep(IDLE_S)

    def _fill(self) -> None:
        while self.slots_busy < self._config.engine.slots:
            ready = self.intake.take()
            if ready is None:
                return
            if ready.task.ref in self._voicings:
                # Its job was cancelled and submitted again before we heard of it: the old one leaves the slot first.
                self._drop(ready.task.ref)
                self.intake.put_back(ready)
                return
            model, engine = self.model(ready.task.model), self._engine(ready.task.model)
            if engine is None:
                self.outlet.report(failed_result(ready.task, self._broken[ready.task.model]))
                self.intake.finished()
                continue
            if engine.free_slots == 0:
                self.intake.put_back(ready)
                return
            self._voicings[ready.task.ref] = ready.voicing(model, self._config.engine.numerics(model.card))
            self._costs.enter(ready.task.ref, ready.task.model)
            engine.add(ready.request)
            self._meter.filled()

    def _engine(self, name: str) -> Engine | None:
        """The engine of a model, made at its first segment: by the step loop, whose thread owns it. None: it cannot be
        made; `_broken` says why."""
        if name not in self._engines and name not in self._broken:
            self._stall_s = MAKE_STALL_S
            try:
                self._engines[name] = make_engine(self.model(name), self._config.engine)
            except DeviceUnavailable as error:
                self._give_up(name, error)
            self._turned_s, self._stall_s = time.monotonic(), STALL_S
            self._costs.rest()
        return self._engines.get(name)

    def _emit(self, delta: Delta) -> None:
        voicing = self._voicings[delta.request_id]
        if delta.last:
            voicing.cost, voicing.device = self._costs.leave(delta.request_id), self._costs.device
        self.outlet.delta(voicing, delta)
        if delta.last:
            del self._voicings[delta.request_id]
            self._meter.freed()
            self._dropping.discard(delta.request_id)
            if delta.finish is FinishReason.ERROR:
                log.error("segment %s failed: %s", delta.request_id, delta.error)
                self._context.figures.add(Figure.ERRORS, label="model")

    def _drop_cancelled(self) -> None:
        cancelled = self.heartbeat.heard()
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
        deadline_s = time.monotonic() + grace_s  # from here on: who asked us to stop kills us soon after it
        waiting = self.intake.drain()
        self._tell(lambda: self._context.truth.give_back(self._config.worker, waiting))
        while self._voicings and time.monotonic() < deadline_s and not self.fenced:
            self._turn()
        unfinished = len(self._voicings)
        self.outlet.close()
        self.heartbeat.stop()  # no beat after the good-bye: it would find us declared dead
        self._tell(lambda: self._context.truth.retire(self._config.worker))
        log.info("stopped: %d segments given back unstarted, %d unfinished", len(waiting), unfinished)

    def _tell(self, move: Callable[[], object]) -> None:
        """A move at the end. Without a broker we end too: what we hold is given back when our heartbeat is missed."""
        try:
            move()
        except BrokerUnavailable as error:
            log.warning("stopping while the broker is away: %s", error)

    def _pulse(self) -> Beat | None:
        if time.monotonic() - self._turned_s > self._stall_s:
            log.error("the step loop stands still for over %.0f s; no heartbeat", self._stall_s)
            return None
        figures = self._context.figures.read() | stage_figures(self._engines)
        return Beat(self.slots_busy, self.outlet.segments_done, self.outlet.audio_s, figures)

    def _info(self) -> WorkerInfo:
        config = self._config
        installed = installed_offers(
            precision=config.precision, device=config.device, models=config.models, run=config.engine
        )
        offers = (*self._loaded_offers, *(offer for offer in installed if offer.name in config.models))
        return WorkerInfo(
            worker=config.worker,
            host=socket.gethostname(),
            pid=os.getpid(),
            device=config.device,
            slots=config.engine.slots,
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
    sys.setswitchinterval(SWITCH_S)
    stop = StopFlag()
    room = Room(config, open_context(settings))
    try:
        status = room.run(stop, grace_s=settings.grace_s)
    except RuntimeError as error:
        if not is_lost_device(error):
            raise
        log.critical("the device can run nothing more; this process ends", exc_info=error)
        os._exit(EXIT_LOST_DEVICE)  # an orderly end would free graphs and memory of a device that answers no more
    sys.exit(status)


def _end_process(arguments: threading.ExceptHookArgs) -> None:
    """A thread that fails for a reason nobody foresaw ends the process: the supervisor starts a sound one."""
    exception = (arguments.exc_type, arguments.exc_value or arguments.exc_type(), arguments.exc_traceback)
    log.critical("thread %s failed", arguments.thread, exc_info=exception)
    os._exit(EXIT_BROKEN_THREAD)


if __name__ == "__main__":
    main()
