"""Heartbeat of a synthesis process: tells the truth that it lives, and hears which of the jobs it holds are over.

Somebody who hung up must not keep a slot: while the process holds segments of speech requests it beats five times a
second, else once. Knows the truth, no engine.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from jobs.errors import BrokerUnavailable, Fenced
from jobs.figures import Figure
from jobs.protocols import Beat
from workers.context import Context
from workers.hand import Hand

log = logging.getLogger(__name__)

BEAT_S = 1.0
SPEECH_BEAT_S = 0.2
"""A beat costs the broker about 30 µs (100 µs of a worker that holds 256 segments)."""

COMPARE_S = 5.0
"""How often what is held is compared. Longer than a lease or a report may be on its way, with its repetitions."""


class Heartbeat:
    """Beats in a thread of its own until `stop()`.

    `hand` is what the process has. `pulse` gives what to tell; None: the step loop stands still, and no beat is sent,
    so that a frozen process is replaced. `holds_speech`: whether segments of speech requests are in this process.
    `fenced` is set when the truth does not know the worker any more.
    """

    def __init__(
        self,
        context: Context,
        worker: str,
        hand: Hand,
        *,
        pulse: Callable[[], Beat | None],
        holds_speech: Callable[[], bool],
    ) -> None:
        self._truth = context.truth
        self._figures = context.figures
        self._worker = worker
        self._hand = hand
        self._pulse = pulse
        self._holds_speech = holds_speech
        self._over: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.every_s = BEAT_S
        """Longest time between two beats."""
        self.compare_every_s = COMPARE_S
        self.fenced = threading.Event()
        self.thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def heard(self) -> frozenset[str]:
        """Jobs of which it was heard since the last call that they are over."""
        with self._lock:
            over, self._over = self._over, frozenset()
        return over

    def stop(self) -> None:
        """No beat comes after this."""
        self._ended.set()
        if self.thread.is_alive():
            self.thread.join()

    def _run(self) -> None:
        due_s, spoke = time.monotonic() + self.every_s, False
        compare_s = time.monotonic() + self.compare_every_s
        while not (self.fenced.is_set() or self._ended.wait(min(self.every_s, SPEECH_BEAT_S))):
            speaks = self._holds_speech()
            if time.monotonic() >= due_s or speaks or spoke:  # once more at its end: that slots are free is told soon
                due_s = time.monotonic() + self.every_s
                self._beat()
            if time.monotonic() >= compare_s:
                compare_s = time.monotonic() + self.compare_every_s
                self._compare()
            spoke = speaks

    def _compare(self) -> None:
        """Give back what the truth says is here and is not (`workers.hand`)."""
        try:
            refs = self._hand.forgotten(self._truth.holding(self._worker))
            if refs:
                log.error(
                    "the broker says that %d segments are here, and they are not; given back: %s", len(refs), refs
                )
                self._truth.give_back(self._worker, refs)
                self._figures.add(Figure.ERRORS, len(refs), label="forgotten")
        except BrokerUnavailable as error:
            log.warning("what is held was not compared, broker away: %s", error)

    def _beat(self) -> None:
        beat = self._pulse()
        if beat is None:
            return
        try:
            over = self._truth.beat(self._worker, beat)
        except Fenced:
            self.fenced.set()
        except BrokerUnavailable as error:
            log.warning("no heartbeat, broker away: %s", error)
        else:
            with self._lock:
                self._over |= over
