"""How fast jobs go just now: from counters that were seen a while ago in this process and those of this moment.

A display only: a process that has just begun to look knows nothing yet, and says so (None).
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from jobs.progress import Counters, Progress, progress
from jobs.spec import JobRecord
from jobs.state import JobState

WINDOW_S = 60.0
"""What was seen longer ago says nothing about now."""
EVERY_S = 1.0
"""Counters are kept so often at most."""
KEPT_JOBS = 1000
_AT_WORK = frozenset({JobState.QUEUED, JobState.RUNNING})


class Paces:
    """The pace of the jobs that somebody looks at. May be used by many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: OrderedDict[str, deque[tuple[float, Counters]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, record: JobRecord) -> Progress:
        """Note a record's counters and compare them with those of up to WINDOW_S ago; a job that rests has no pace."""
        counters = Counters.of(record)
        with self._lock:
            if record.state not in _AT_WORK:
                self._seen.pop(record.job, None)
                return Progress(counters, 0.0, None, None)
            now_s = self._clock()
            seen = self._seen.setdefault(record.job, deque())
            self._seen.move_to_end(record.job)
            if seen and counters.finished < seen[-1][1].finished:
                seen.clear()  # segments went back: what was seen before compares no more
            if not seen or now_s >= seen[-1][0] + EVERY_S:
                seen.append((now_s, counters))
            while len(seen) > 1 and seen[0][0] < now_s - WINDOW_S:
                seen.popleft()
            while len(self._seen) > KEPT_JOBS:
                self._seen.popitem(last=False)
            began_s, start = seen[0]
        return progress(start, counters, now_s - began_s)
