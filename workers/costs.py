"""What the turns of a step loop cost in device time and energy, shared out equally over the segments in work.

    costs.enter(ref, model)      a segment got its slot
    costs.step(model, engine)    what has passed since the step before is borne by the segments of that engine
    cost = costs.leave(ref)      its last audio is there
    costs.rest()                 nothing to do, or an engine is being made: time does not count

Counted is all of a turn while there is work: launching, waiting for the device, the codec, filling slots, handing out
audio. Not counted: loading a model, making an engine, text front ends, writing takes, waiting for segments. One thread
uses it, in constant time for a step however many slots there are: each engine has one running sum of equal shares, and
a segment pays the difference between its end and its start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.lane import Engine
from engine.request import Delta
from workers.energy import open_gpu_meter
from workers.engines import device_name


@dataclass(frozen=True, slots=True)
class Cost:
    """Device time and, where the device tells, energy."""

    device_s: float = 0.0
    energy_j: float | None = None

    def __add__(self, other: Cost) -> Cost:
        """Both together, to the microsecond and millijoule; energy is known if all that took time tells it."""
        known = [one.energy_j for one in (self, other) if one.device_s or one.energy_j is not None]
        energy_j = sum(one for one in known if one is not None) if known and None not in known else None
        return Cost(round(self.device_s + other.device_s, 6), None if energy_j is None else round(energy_j, 3))


NOTHING = Cost()


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the running sums of an engine stood when a segment came."""

    model: str
    device_s: float
    energy_j: float


class EnergySource(Protocol):
    """Tells what a device has used since some moment in the past; answers at once."""

    @property
    def joules(self) -> float | None:
        """The newest reading in joules; None: not known (yet, or any more)."""
        ...


class Costs:
    """The running sums of one step loop."""

    def __init__(
        self,
        device: str,
        *,
        clock: Callable[[], float] = time.perf_counter,
        energy: Callable[[str], EnergySource | None] = open_gpu_meter,
    ) -> None:
        """`device`: cpu or cuda; `energy` makes its meter when the first segment comes: the device is awake then."""
        self._kind = device
        self._clock = clock
        self._open_energy = energy
        self._meter: EnergySource | None = None
        self._name = ""
        self._starts: dict[str, _Start] = {}
        self._in_work: dict[str, int] = {}
        self._shares_s: dict[str, float] = {}
        self._shares_j: dict[str, float] = {}
        self._since_s: float | None = None
        self._since_j: float | None = None

    @property
    def device(self) -> str:
        """The device's name, as results have it; empty before the first segment."""
        return self._name

    @property
    def energy_known(self) -> bool:
        """Whether the device tells what it uses."""
        return self._joules() is not None

    def enter(self, ref: str, model: str) -> None:
        """A segment got a slot of a model's engine."""
        if not self._name:
            self._name = device_name(self._kind)
            self._meter = self._open_energy(self._kind)
        self._in_work[model] = self._in_work.get(model, 0) + 1
        shares_s, shares_j = self._shares_s.setdefault(model, 0.0), self._shares_j.setdefault(model, 0.0)
        self._starts[ref] = _Start(model, shares_s, shares_j)

    def leave(self, ref: str) -> Cost:
        """What a segment that ends now has to bear; also for one that was cancelled, whose cost is dropped then."""
        start = self._starts.pop(ref)
        self._in_work[start.model] -= 1
        energy_j = self._shares_j[start.model] - start.energy_j if self.energy_known else None
        return Cost(self._shares_s[start.model] - start.device_s, energy_j)

    def step(self, model: str, engine: Engine) -> list[Delta]:
        """One step of a model's engine; time counts from here on, or from the step before if there was work since."""
        if self._since_s is None:
            self._since_s, self._since_j = self._clock(), self._joules()
        deltas = engine.step()
        now_s, now_j = self._clock(), self._joules()
        used_j = 0.0 if now_j is None or self._since_j is None else max(0.0, now_j - self._since_j)
        in_work = self._in_work.get(model, 0)
        if in_work:
            self._shares_s[model] += max(0.0, now_s - self._since_s) / in_work
            self._shares_j[model] += used_j / in_work
        self._since_s, self._since_j = now_s, now_j
        return deltas

    def rest(self) -> None:
        """What passes from now on counts to nobody."""
        self._since_s = self._since_j = None

    def _joules(self) -> float | None:
        return None if self._meter is None else self._meter.joules
