"""What the slots of a synthesis process do: how long they speak, and how soon a freed one has its next segment.

One thread uses it, the step loop; what is counted goes to the process's figures at most a few times for each segment.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from jobs.figures import Figure, Figures

TOLD_EVERY_S = 0.5


class SlotMeter:
    """The integral of busy slots over time, and the delays of refills. `slots` are those of the process."""

    def __init__(self, figures: Figures, slots: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._figures = figures
        self._slots = slots
        self._clock = clock
        self._since_s = self._told_s = clock()
        self._busy_s = 0.0
        self._busy = 0
        self._freed: deque[float] = deque()

    def turn(self, busy: int, *, dry: bool) -> None:
        """So many slots are taken from now on; `dry`: nothing waits, and who is free waits for nothing."""
        if dry:
            self._freed.clear()
        now_s = self._clock()
        self._busy_s += (now_s - self._since_s) * self._busy
        self._since_s, self._busy = now_s, busy
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._figures.add(Figure.SLOT_S, (now_s - self._told_s) * self._slots)
            self._figures.add(Figure.SLOT_BUSY_S, self._busy_s)
            self._told_s, self._busy_s = now_s, 0.0

    def freed(self) -> None:
        """A segment left its slot."""
        self._freed.append(self._clock())

    def filled(self) -> None:
        """A segment got a slot: the one that is free for longest."""
        if self._freed:
            self._figures.observe(Figure.REFILL_S, self._clock() - self._freed.popleft())
