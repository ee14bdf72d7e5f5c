"""Energy of a GPU: the driver's counter, power times time where it is refused, and nothing where there is none."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.workers.making import until
from workers import energy
from workers.energy import EnergyCounter, EnergyMeter, PowerCounter, gpu_counter, open_gpu_meter


class NVMLError(Exception):
    pass


class Nvml:
    """A driver with one GPU that draws 100 W: every question finds half a second more on the clock."""

    NVMLError = NVMLError

    def __init__(self, *, refuses: tuple[str, ...] = ()) -> None:
        self.refuses = refuses
        self.now_s = 0.0

    def _answer(self, name: str, value: object) -> object:
        if name in self.refuses:
            raise NVMLError(f"{name} is not supported")
        self.now_s += 0.5
        return value

    def nvmlInit(self) -> object:  # noqa: N802
        return self._answer("init", None)

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> object:  # noqa: N802
        return self._answer("handle", uuid)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: object) -> object:  # noqa: N802
        return self._answer("energy", int(100_000 * self.now_s))

    def nvmlDeviceGetPowerUsage(self, handle: object) -> object:  # noqa: N802
        return self._answer("power", 100_000)


def test_the_counter_is_read_in_joules():
    counter = gpu_counter("GPU-1", nvml=Nvml())
    assert isinstance(counter, EnergyCounter)
    first, second = counter.read_j(), counter.read_j()
    assert second - first == pytest.approx(50.0)


def test_power_times_time_stands_in_for_a_counter_that_is_refused():
    assert isinstance(gpu_counter("GPU-1", nvml=Nvml(refuses=("energy",))), PowerCounter)
    nvml = Nvml()
    counter = PowerCounter(nvml, "GPU-1", clock=lambda: nvml.now_s)
    first = counter.read_j()
    assert counter.read_j() - first == pytest.approx(50.0)


@pytest.mark.parametrize("refuses", [("init",), ("handle",), ("energy", "power")])
def test_without_a_driver_that_tells_there_is_no_counter(refuses: tuple[str, ...]):
    assert gpu_counter("GPU-1", nvml=Nvml(refuses=refuses)) is None


def test_without_the_package_there_is_no_counter(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gpu_counter("GPU-1") is None


def test_a_cpu_is_not_metered():
    assert open_gpu_meter("cpu") is None


def test_a_gpu_is_metered_by_its_uuid(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    monkeypatch.setattr(energy, "_uuid", lambda: "GPU-7")
    monkeypatch.setattr(energy, "gpu_counter", lambda uuid: asked.append(uuid))
    meter = open_gpu_meter("cuda")
    assert meter is not None
    meter.thread.join(20)
    assert (asked, meter.joules) == (["GPU-7"], None)


def test_the_meter_reads_in_its_own_thread_until_it_is_stopped():
    readings = iter(range(1_000_000))
    meter = EnergyMeter(lambda: SimpleNamespace(read_j=lambda: float(next(readings))), every_s=0.001)
    assert meter.joules is None
    meter.start()
    until(lambda: (meter.joules or 0.0) > 5, "some readings are there")
    meter.stop()
    kept = meter.joules
    assert not meter.thread.is_alive()
    assert meter.joules == kept == float(next(readings) - 1)


def test_a_device_that_is_lost_tells_no_more():
    def read_j() -> float:
        raise OSError("NVML: GPU is lost")

    meter = EnergyMeter(lambda: SimpleNamespace(read_j=read_j), every_s=0.001)
    meter.start()
    meter.thread.join(20)
    assert not meter.thread.is_alive()
    assert meter.joules is None
