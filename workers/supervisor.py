"""The supervisor of a machine: keeps one synthesis process per device (or core) running. Loads no model itself.

A process that dies is reported to the truth at once: what it held goes back under the poison rule, and a new process
starts. The supervisor is small and uses no accelerator, so a device fault cannot take it along.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
import uuid
from dataclasses import dataclass

from jobs.errors import BadInput, BadOption, BrokerUnavailable, NoDevice
from jobs.settings import Settings, child_environment, load_settings, one_gpu
from workers.catalog import installed_offers, meant_for_gpu, model_name
from workers.context import Context, open_context
from workers.devices import check_device, cuda_devices, sees_gpu
from workers.engines import EngineSettings
from workers.process import Member, StopFlag, configure_logging, module_command, stop_together
from workers.room_config import EXIT_FENCED, EXIT_LOST_DEVICE, EXIT_NOTHING_TO_RUN, RoomConfig

log = logging.getLogger(__name__)

CPU_ENVIRONMENT = {
    # One thread per process: processes scale over cores better than threads do (docs/performance.md).
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Speech has many lengths, and each is a kernel of its own; the library keeps 1,024 by default.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8192",
}
"""What the numeric libraries of a synthesis process on a CPU are told."""
ENDINGS = {EXIT_FENCED: "it was declared dead", EXIT_LOST_DEVICE: "its device failed"}
"""What an exit status of a synthesis process says; others say nothing that we know."""
POLL_S = 0.1
STOP_MARGIN_S = 5.0


@dataclass
class Bench:
    """One place for a synthesis process: its present configuration and process."""

    config: RoomConfig
    member: Member


class Supervisor:
    """Keeps the processes of one machine running and tells the truth when one dies."""

    def __init__(self, context: Context, *, device: str, processes: int, models: tuple[str, ...]) -> None:
        self._context = context
        self._device = device
        self._models = models
        self._benches = [self._bench(place) for place in range(processes)]
        self._dead: list[str] = []

    def run(self, stop: StopFlag) -> None:
        """Watch until told to stop, then stop the processes together."""
        while not stop.stopping:
            for bench in self._benches:
                self._watch(bench)
            self._report_dead()
            time.sleep(POLL_S)
        self._stop_all()

    def _watch(self, bench: Bench) -> None:
        status = bench.member.poll()
        if status is None:
            return
        why = f" ({ENDINGS[status]})" if status in ENDINGS else ""
        log.error("synthesis process %s ended with status %d%s and is replaced", bench.config.worker, status, why)
        if status != EXIT_FENCED:
            self._dead.append(bench.config.worker)
        # A new name: whatever the old process still sends must not count as the new one's.
        bench.config = self._config()
        bench.member.command = module_command("workers.room", bench.config.dump())

    def _report_dead(self) -> None:
        while self._dead:
            try:
                verdict = self._context.truth.crashed(self._dead[0])
            except BrokerUnavailable as error:
                log.warning("broker away, the death of %s is told when it is back: %s", self._dead[0], error)
                return
            worker = self._dead.pop(0)
            returned, suspects = len(verdict.returned), len(verdict.suspects)
            log.warning(
                "%s held segments: %d given back, %d suspects, dead: %s",
                worker,
                returned,
                suspects,
                ", ".join(verdict.dead) or "none",
            )

    def _stop_all(self) -> None:
        grace_s = self._context.settings.grace_s + STOP_MARGIN_S
        stop_together([bench.member for bench in self._benches], grace_s=grace_s)
        self._report_dead()
        try:
            for bench in self._benches:
                # Nothing to do for one that said good-bye itself; one that had to be killed gives back what it held.
                self._context.truth.retire(bench.config.worker)
        except BrokerUnavailable as error:
            log.warning("stopped while the broker is away: %s", error)

    def _bench(self, place: int) -> Bench:
        config = self._config()
        environment = child_environment(self._context.settings)
        environment |= CPU_ENVIRONMENT if self._device == "cpu" else one_gpu(place)
        return Bench(config, Member("synthesis", module_command("workers.room", config.dump()), environment))

    def _config(self) -> RoomConfig:
        settings = self._context.settings
        return RoomConfig(
            worker=f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}",
            device=self._device,
            precision=settings.precision,
            models=self._models,
            engine=EngineSettings.of(settings, self._device),
        )


def run(settings: Settings, *, device: str, models: tuple[str, ...] = ()) -> None:
    """Run the supervisor until it is told to stop; without `models` it serves all that are installed (`_served`).

    Raises:
        BrokerUnavailable: no broker is set, or none answers at the start.
        BadOption: a model is not installed on this machine, or the folder that the settings name holds none.
        NoDevice: the device is not on this machine.
    """
    check_device(device)
    served = _served(settings, device, models)
    stop = StopFlag()
    context = open_context(settings)
    cores = len(os.sched_getaffinity(0))
    processes = (settings.processes or cores) if device == "cpu" else cuda_devices()
    Supervisor(context, device=device, processes=processes, models=served).run(stop)


def _served(settings: Settings, device: str, models: tuple[str, ...]) -> tuple[str, ...]:
    """What to serve: `models` (a folder by its absolute path), or all that are installed and run on the device.

    On the CPU of a machine with a GPU those that the GPU speaks are left out unless they are named: the same model
    with two arithmetics would be planned for the slow one by chance, and takes of one are none for the other.
    """
    folders = (settings.model, *models)
    offers = installed_offers(precision=settings.precision, device=device, models=folders)
    if device == "cpu" and not models and any(map(meant_for_gpu, offers)) and _gpu_beside():
        offers = [offer for offer in offers if not meant_for_gpu(offer)]
    installed = tuple(offer.name for offer in offers)
    if not installed:
        msg = f"no installed model runs on {device}; see `tts-batch models`, or use --device cpu"
        raise NoDevice(msg)
    asked = tuple(map(model_name, models))
    missing = [name for name in asked if name not in installed]
    if missing:
        msg = (
            f"model {missing[0]!r} does not run here; those that do are {', '.join(installed)}; see `tts-batch models`"
        )
        raise BadOption(msg)
    return asked or installed


def _gpu_beside() -> bool:
    try:
        return sees_gpu()
    except NoDevice as error:
        log.warning("%s; the CPU speaks all models", error)
        return False


def main() -> None:
    """Entry of the process the node starts: the device is its one argument.

    Exit status 69: nothing runs on it, or what the settings ask for cannot be run.
    """
    settings = load_settings()
    configure_logging("supervisor", settings.log_level)
    try:
        run(settings, device=sys.argv[1])
    except NoDevice as error:
        log.warning("%s", error)
        sys.exit(EXIT_NOTHING_TO_RUN)
    except BadInput as error:
        log.error("nothing is spoken on %s: %s", sys.argv[1], error)  # noqa: TRY400  # the text says it all
        sys.exit(EXIT_NOTHING_TO_RUN)


if __name__ == "__main__":
    main()
