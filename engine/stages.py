"""The stages of a step, done one after the other, each with the time that it takes this thread."""

from __future__ import annotations

import time
from collections.abc import Callable


class Stages:
    """Runs stages in the order they are given; `seconds` are totals, which other threads may read."""

    def __init__(self, **stages: Callable[[], None]) -> None:
        self._stages = tuple(stages.items())
        self.seconds = dict.fromkeys(stages, 0.0)

    def run(self) -> None:
        """One turn."""
        began_s = time.perf_counter()
        for name, stage in self._stages:
            stage()
            ended_s = time.perf_counter()
            self.seconds[name] += ended_s - began_s
            began_s = ended_s
