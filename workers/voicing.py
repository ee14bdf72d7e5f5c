"""One attempt at a segment while it is in a slot: what room and outlet pass on to each other."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from engine.request import Request, Samples
from jobs.spec import SegmentTask
from models.card import ModelCard
from workers.costs import NOTHING, Cost


@dataclass
class Voicing:
    """One segment in a slot: what it is and the audio so far. `started_s` is when it got its slot; `cost` (of this
    attempt) and `device` (its name) are known once its last audio is there. `request` is what the engine got,
    `earlier_s` how long attempts before this one were in slots of this process.
    """

    task: SegmentTask
    request: Request
    card: ModelCard
    numerics: str
    sample_rate_hz: int
    earlier_s: float = 0.0
    started_s: float = field(default_factory=time.monotonic)
    pieces: list[Samples] = field(default_factory=list)
    chunks: int = 0
    cost: Cost = NOTHING
    device: str = ""

    @property
    def spent(self) -> Cost:
        """What all attempts at the segment took so far, this one included."""
        return Cost(self.task.device_s, self.task.energy_j) + self.cost
