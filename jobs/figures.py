"""What is counted of a deployment, by name: totals of the truth, and figures of workers that come with heartbeats.

Every figure is a total that only grows (until the worker, or the truth, begins anew), so that whoever reads it now and
then sees rates. A name may have a label: `retakes:tail` are retakes for one reason.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from enum import StrEnum

LABEL = ":"
"""Between a figure's name and its label."""
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the classes of a time that is counted as a distribution."""
MORE = "more"
"""The class above the last bound."""


class Total(StrEnum):
    """What the truth counts as it moves segments; the label is in the comment."""

    SEGMENTS = "segments"  # done, failed
    GRADES = "grades"  # a grade of jobs.kinds.Grade
    GIVEN_BACK = "given_back"  # asked (by the worker itself), retired, crashed, silent
    SUSPECTS = "suspects"
    DEAD_LETTERS = "dead_letters"
    STEPS = "steps"  # by `<kind>.<done or failed>`: steps of jobs
    STEP_MS = "step_ms"  # by kind
    SPOKEN_AGAIN = "spoken_again"  # rule (second look), missing (take lost), retry (by a user)


class Figure(StrEnum):
    """What a synthesis process counts; the label is in the comment."""

    SLOT_S = "slot_s"  # time of all its slots
    SLOT_BUSY_S = "slot_busy_s"  # of those that spoke: divided by the former it is the occupancy
    REFILL_S = "refill_s"  # distribution: from a slot's end to its next segment, while segments wait
    STEP_S = "step_s"  # by `<model>.<stage>`
    STEPS = "steps"  # by model
    RETAKES = "retakes"  # by the reason
    VERDICTS = "verdicts"  # by the name of the check that a take failed
    STORE_BYTES = "store_bytes"
    STORE_S = "store_s"
    STREAM_BYTES = "stream_bytes"
    ERRORS = "errors"  # store, broker, chunk (lost), model, forgotten (held by the broker's word alone)


class Figures:
    """Totals of one process. May be used by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, float] = defaultdict(float)

    def add(self, figure: Figure, value: float = 1.0, *, label: str = "") -> None:
        """Add to a total."""
        with self._lock:
            self._totals[named(figure, label)] += value

    def observe(self, figure: Figure, seconds: float) -> None:
        """Add to a distribution: its sum, its count, and the class that the time falls in."""
        place = bisect_left(SECONDS, seconds)
        bound = f"{SECONDS[place]:g}" if place < len(SECONDS) else MORE
        with self._lock:
            for label, value in (("sum", seconds), ("count", 1.0), (bound, 1.0)):
                self._totals[named(figure, label)] += value

    def read(self) -> dict[str, float]:
        """All totals, as they are now."""
        with self._lock:
            return dict(self._totals)


def named(figure: Figure | Total, label: str = "") -> str:
    """The name under which a total is kept."""
    return f"{figure}{LABEL}{label}" if label else str(figure)
