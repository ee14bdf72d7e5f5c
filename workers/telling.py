"""Tells the truth what became of segments: results together, in a thread of its own, however long the broker is away.

Knows the truth, no store and no engine.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from jobs.errors import BrokerUnavailable, Fenced
from jobs.figures import Figure, Figures
from jobs.progress import audio_s_of
from jobs.protocols import Truth
from jobs.spec import SegmentResult
from workers.hand import Hand

log = logging.getLogger(__name__)

T = TypeVar("T")

BROKER_WAIT_S = 0.5
TELL_EVERY_S = 0.2
"""Results wait this long at most for company: one call tells the truth of several."""

_Entry = tuple[SegmentResult | None, bool]
"""A result, if there is one, and whether it frees a place among the slots."""


class Teller:
    """The last station of a segment. `left` is called for every attempt that was told with `frees`."""

    def __init__(self, truth: Truth, worker: str, *, left: Callable[[], None], figures: Figures) -> None:
        self._truth = truth
        self._worker = worker
        self._left = left
        self._figures = figures
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self.hand = Hand()
        self.closing = threading.Event()
        self.fenced = threading.Event()
        self.segments_done = 0
        self.audio_s = 0.0
        self._given_up = False
        self.thread = threading.Thread(target=self._run, name="teller", daemon=True)

    def tell(self, result: SegmentResult | None, *, frees: bool) -> None:
        """A segment's result (None: there is none to tell); `frees`: an attempt of it leaves its slot for good."""
        self._queue.put((result, frees))

    def give_back(self, refs: list[str]) -> None:
        """Segments that are not held any more. Waits while the broker is away."""
        self.insist(lambda: self._truth.give_back(self._worker, refs), f"{len(refs)} dropped segments wait")
        self.hand.left(refs)

    def close(self) -> None:
        """Tell all that was given, then end the thread. Without a broker the rest stays untold."""
        self.closing.set()
        self._queue.put(None)
        self.thread.join()

    def insist(self, call: Callable[[], T], what: str) -> T | None:
        """Call the truth, again and again while the broker is away; None when we were declared dead or are closing.

        Each try takes seconds: once one in vain was begun while closing, nothing more is tried.
        """
        while not (self.fenced.is_set() or self._given_up):
            closing = self.closing.is_set()
            try:
                return call()
            except Fenced:
                self.fenced.set()
            except BrokerUnavailable as error:
                log.warning("broker away, %s: %s", what, error)
                self._figures.add(Figure.ERRORS, label="broker")
                self._given_up = self._given_up or closing
                if self.closing.wait(BROKER_WAIT_S):
                    return None
        return None

    def _run(self) -> None:
        ended = False
        while not ended:
            results: list[SegmentResult] = []
            freed = 0
            told_by_s = time.monotonic() + TELL_EVERY_S
            more = True
            while more:
                entry = self._queue.get()
                ended = entry is None
                if entry is not None:
                    results += [entry[0]] if entry[0] is not None else []
                    freed += entry[1]
                more = not (ended or self._queue.empty() or time.monotonic() >= told_by_s)
            self._report(results)
            for _ in range(freed):
                self._left()

    def _report(self, results: list[SegmentResult]) -> None:
        """Tell the truth and count what it took; the takes are safe in the store."""
        if not results:
            return
        accepted = self.insist(lambda: self._truth.finish(self._worker, results), f"{len(results)} results wait")
        self.hand.left(f"{result.job}|{result.segment}" for result in results)
        fresh = [result for result, new in zip(results, accepted or [], strict=False) if new]
        self.segments_done += len(fresh)
        self.audio_s += sum(map(audio_s_of, fresh))
