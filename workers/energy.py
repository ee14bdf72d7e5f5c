"""Energy of a GPU through NVML (package nvidia-ml-py, extra [gpu]): a reading every tenth of a second, in a thread.

meter = open_gpu_meter("cuda")
meter.joules

The driver counts the whole GPU, idle power and other processes' work included. Volta and newer have a counter
(`nvmlDeviceGetTotalEnergyConsumption`, millijoules since the driver was loaded); where it is refused, power
(`nvmlDeviceGetPowerUsage`, milliwatts) times time stands in. A CPU is not metered: RAPL counts whole packages, which
all processes share, and its counters are mostly readable by root alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

log = logging.getLogger(__name__)

EVERY_S = 0.1
"""Time between two readings: the driver itself renews its figures every 20 to 100 ms."""


class Counter(Protocol):
    """Something that counts joules."""

    def read_j(self) -> float:
        """Joules since some moment in the past. Raises OSError: the device tells no more."""
        ...


class EnergyCounter:
    """The driver's own counter of one GPU."""

    def __init__(self, nvml: Any, handle: Any) -> None:  # noqa: ANN401  # a module without types, and its handles
        self._nvml, self._handle = nvml, handle

    def read_j(self) -> float:
        """Joules since the driver was loaded. Raises OSError."""
        return float(_ask(self._nvml, self._nvml.nvmlDeviceGetTotalEnergyConsumption, self._handle)) / 1000


class PowerCounter:
    """Power times time, for a GPU without a counter: the mean of two readings over the time between them."""

    def __init__(self, nvml: Any, handle: Any, *, clock: Callable[[], float] = time.monotonic) -> None:  # noqa: ANN401
        self._nvml, self._handle, self._clock = nvml, handle, clock
        self._joules = 0.0
        self._at_s, self._watts = clock(), self._power_w()

    def read_j(self) -> float:
        """Joules since it was made. Raises OSError."""
        now_s, watts = self._clock(), self._power_w()
        self._joules += (watts + self._watts) / 2 * (now_s - self._at_s)
        self._at_s, self._watts = now_s, watts
        return self._joules

    def _power_w(self) -> float:
        return float(_ask(self._nvml, self._nvml.nvmlDeviceGetPowerUsage, self._handle)) / 1000


class EnergyMeter:
    """Reads a counter in a thread of its own, so that whoever asks for `joules` waits for no driver."""

    def __init__(self, make_counter: Callable[[], Counter | None], *, every_s: float = EVERY_S) -> None:
        """`make_counter` is called in the thread; None: there is nothing to read."""
        self._make_counter = make_counter
        self._every_s = every_s
        self._ended = threading.Event()
        self._joules: float | None = None
        self.thread = threading.Thread(target=self._run, name="energy", daemon=True)

    @property
    def joules(self) -> float | None:
        """The newest reading in joules; None before the first and once the device tells no more."""
        return self._joules

    def start(self) -> None:
        """Begin to read."""
        self.thread.start()

    def stop(self) -> None:
        """Read no more; `joules` keeps what it was."""
        self._ended.set()
        self.thread.join()

    def _run(self) -> None:
        try:
            counter = self._make_counter()
            while counter is not None:
                self._joules = counter.read_j()
                if self._ended.wait(self._every_s):
                    return
        except OSError as error:
            self._joules = None
            log.warning("energy is not measured any more: %s", error)


def open_gpu_meter(device: str) -> EnergyMeter | None:
    """A running meter of the GPU that torch works on; None on a CPU. Without NVML its `joules` stays None."""
    if device != "cuda":
        return None
    meter = EnergyMeter(lambda: gpu_counter(_uuid()))
    meter.start()
    return meter


def gpu_counter(uuid: str, *, nvml: Any = None) -> Counter | None:  # noqa: ANN401  # a module without types
    """The counter of a GPU by its UUID (`GPU-…`); None, with a line in the log, where there is none.

    `nvml`: the module to ask; None: pynvml of nvidia-ml-py, if it is installed.
    """
    try:
        nvml = nvml or _nvml()
    except ModuleNotFoundError:
        log.info("energy is not measured: pip install 'tts-batch[gpu]' brings nvidia-ml-py")
        return None
    try:
        _ask(nvml, nvml.nvmlInit)
        handle = _ask(nvml, nvml.nvmlDeviceGetHandleByUUID, uuid)
    except OSError as error:
        log.info("energy is not measured: %s", error)
        return None
    for kind in (EnergyCounter, PowerCounter):
        try:
            counter: Counter = kind(nvml, handle)
            counter.read_j()
        except OSError as error:
            log.info("%s of %s cannot be had: %s", kind.__name__, uuid, error)
        else:
            return counter
    return None


def _nvml() -> Any:  # noqa: ANN401
    import pynvml

    return pynvml


def _ask(nvml: Any, call: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
    """Call NVML. Raises OSError with its words where it refuses."""
    try:
        return call(*arguments)
    except nvml.NVMLError as error:
        msg = f"NVML: {error}"
        raise OSError(msg) from error


def _uuid() -> str:
    """The UUID of the GPU that this process works on: NVML numbers them otherwise than CUDA does."""
    import torch

    return f"GPU-{torch.cuda.get_device_properties(0).uuid}"
