"""SharedStreams: `jobs.protocols.Streams` for many readers in one process over one reading connection.

Two hundred listeners that each ask the broker twenty times a second are four thousand calls; one thread that reads
for all of them is some tens. What it reads is kept for each job as long as somebody listens to it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk, Event
from jobs.protocols import News, Seen, Streams
from jobs.streams.kept import Kind, Log, Want, bound
from jobs.streams.wire import CHUNKS_PER_READ, EVENTS_PER_READ

FORGET_AFTER_S = 5.0
"""A stream nobody asked for this long is not read any more."""
JOB_BYTES = 4 * 1024 * 1024
ALL_BYTES = 64 * 1024 * 1024
"""Bounds of what is kept of one stream and of all; whoever is farther behind reads by itself."""
SHORTEST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.05
"""Between two reads: short while there is news. Reading does not block in the broker, so a new listener is read for at
once (a server looks for reads whose time is up only ten times a second)."""
SHARE_OF_TIME = 0.25
"""Most of its time that the thread shall read: beyond, it makes longer pauses, up to LONGEST_PAUSE_S."""


class SharedStreams:
    """Streams over other streams; may be used by many threads.

    An answer holds what was written until some hundredths of a second ago (what this object wrote: all). Entries are
    the same objects for all readers. Errors are those of the streams below. `close()` ends the sharing: every call goes
    straight to the streams below then.
    """

    def __init__(self, streams: Streams, *, job_bytes: int = JOB_BYTES, all_bytes: int = ALL_BYTES) -> None:
        self._below = streams
        self._job_bytes = job_bytes
        self._all_bytes = all_bytes
        self._events: Kind[Event] = Kind(streams.events, EVENTS_PER_READ, lambda _event: 0)
        self._chunks: Kind[AudioChunk] = Kind(streams.audio, CHUNKS_PER_READ, lambda chunk: len(chunk.data))
        self._lock = threading.Lock()
        self._hurry = threading.Condition(self._lock)
        self._hurried = False
        self._changed: dict[str, threading.Condition] = {}
        self._thread: threading.Thread | None = None
        self._down: str | None = None
        self._closed = False

    def close(self) -> None:
        """End the reading thread and wake whoever waits; the streams below stay open."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._hurry.notify_all()
            self._wake_all()
        if thread is not None:
            thread.join()

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, Event]]:
        """Up to EVENTS_PER_READ events after an id, oldest first; waits up to `timeout_s` for the first."""
        with self._lock:
            want, straight = Want(self._events, job, after), self._is_straight
        if straight or want.after == "$":
            return self._below.events(job, after=after, timeout_s=timeout_s)
        self._answer(job, [want], timeout_s)
        return want.found

    def audio(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, AudioChunk]]:
        """Up to CHUNKS_PER_READ chunks after an id, oldest first; waits up to `timeout_s` for the first."""
        with self._lock:
            want, straight = Want(self._chunks, job, after), self._is_straight
        if straight or want.after == "$":
            return self._below.audio(job, after=after, timeout_s=timeout_s)
        self._answer(job, [want], timeout_s)
        return want.found

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        """What came after what was seen. Of one job it is shared; for many this is one call below already."""
        if len(after) != 1:
            return self._below.news(after, timeout_s=timeout_s)
        ((job, seen),) = after.items()
        with self._lock:
            events = None if seen.event is None else Want(self._events, job, seen.event)
            chunks = None if seen.chunk is None else Want(self._chunks, job, seen.chunk)
            straight = self._is_straight
        wants: list[Want[Any]] = [want for want in (events, chunks) if want is not None]
        if straight or any(want.after == "$" for want in wants):
            return self._below.news(after, timeout_s=timeout_s)
        if wants:
            self._answer(job, wants, timeout_s)
        found = News(events.found if events else [], chunks.found if chunks else [])
        return {job: found} if found.events or found.chunks else {}

    def write_audio(self, job: str, chunk: AudioChunk) -> str:
        """Append one chunk; returns its id. The next answer has it."""
        entry = self._below.write_audio(job, chunk)
        with self._lock:
            self._chunks.logs.pop(job, None)  # readers begin again with a read of their own
            self._wake(job)
        return entry

    # ── readers ──────────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _is_straight(self) -> bool:
        """Whether calls go straight below: sharing has ended, or the broker is away (they fail as they do there)."""
        return self._closed or self._down is not None

    def _answer(self, job: str, wants: Sequence[Want[Any]], timeout_s: float) -> None:
        """Fill `found` of one or more, or of none when the time is up.

        Raises:
            BrokerUnavailable: the broker went away while this waited.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            for want in wants:
                self._look(want)
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or any(want.found for want in wants):
                return
            with self._lock:
                if all(want.has_all for want in wants) and not self._is_straight:
                    self._changed[job].wait(left_s)
                if self._closed:
                    return
                if self._down is not None:
                    raise BrokerUnavailable(self._down)

    def _look(self, want: Want[Any]) -> None:
        """What there is for one reader: of what is kept, or by a read of its own where that begins too late."""
        kind = want.kind
        with self._lock:
            if log := want.log:
                log.asked_at_s = time.monotonic()
                want.found = log.after(want.place, kind.per_read)
                return
            kept = kind.logs.get(want.job)
            floor = want.place if kept is None else kept.floor
        want.found = kind.direct(want.job, after=want.after, timeout_s=0.0)
        with self._lock:
            if want.job not in kind.logs:
                if len(want.found) < kind.per_read:  # who has more to read is not waited for by those at the end
                    self._follow(want)
            elif not want.found:  # up to `floor` there is nothing any more
                want.place = max(want.place, floor)

    def _follow(self, want: Want[Any]) -> None:
        """Let the thread read this stream too, after what its first reader has just read."""
        if self._is_straight:
            return
        seen = want.found[-1][0] if want.found else want.after
        want.kind.logs[want.job] = Log(seen, asked_at_s=time.monotonic())
        self._changed.setdefault(want.job, threading.Condition(self._lock))
        self._hurried = True
        self._hurry.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="shared-streams", daemon=True)
            self._thread.start()

    # ── the thread ───────────────────────────────────────────────────────────────────────────────────────────────
    def _run(self) -> None:
        """Read for all until nobody listens."""
        pause_s = 0.0
        try:
            while wanted := self._wanted(pause_s):
                began_s = time.monotonic()
                try:
                    news = self._below.news(wanted, timeout_s=0.0)
                except BrokerUnavailable as error:
                    self._fail(str(error))
                    pause_s = LONGEST_PAUSE_S
                    continue
                except ValueError:  # an entry of another version: its own reader meets it, and the others begin again
                    return
                self._keep(wanted, news)
                took_s = time.monotonic() - began_s
                pause_s = max(SHORTEST_PAUSE_S, took_s / SHARE_OF_TIME) if news else 2 * pause_s
                pause_s = min(max(pause_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        finally:
            self._end()

    def _wanted(self, pause_s: float) -> dict[str, Seen]:
        """Wait, then what to read; nothing: it is over.

        A new listener ends the wait, but not the first SHORTEST_PAUSE_S of it: they may come by hundreds.
        """
        time.sleep(min(pause_s, SHORTEST_PAUSE_S))
        with self._lock:
            self._hurry.wait_for(lambda: self._hurried or self._closed, max(0.0, pause_s - SHORTEST_PAUSE_S))
            self._hurried = False
            for kind in (self._events, self._chunks):
                kind.forget_unasked(time.monotonic() - FORGET_AFTER_S)
            jobs = self._events.logs.keys() | self._chunks.logs.keys()
            for job in self._changed.keys() - jobs:
                self._wake(job)
                del self._changed[job]
            if self._closed or not jobs:
                return self._over()
            return {job: Seen(self._events.seen(job), self._chunks.seen(job)) for job in jobs}

    def _keep(self, wanted: Mapping[str, Seen], news: Mapping[str, News]) -> None:
        with self._lock:
            self._down = None
            for job, new in news.items():
                seen, most_bytes = wanted[job], self._job_bytes
                came = self._events.add(job, seen.event, new.events, most_bytes)
                if self._chunks.add(job, seen.chunk, new.chunks, most_bytes) or came:
                    self._wake(job)
            if news:
                bound([*self._events.logs.values(), *self._chunks.logs.values()], self._all_bytes)

    def _fail(self, why: str) -> None:
        with self._lock:
            self._down = why
            self._wake_all()

    def _end(self) -> None:
        with self._lock:
            if self._thread is threading.current_thread():  # else `_wanted` ended it, and there may be another already
                self._over()

    def _over(self) -> dict[str, Seen]:
        """Nothing is read any more: whoever waits goes on with a read of its own. Returns what is wanted then."""
        self._thread = self._down = None
        self._events.logs.clear()
        self._chunks.logs.clear()
        self._wake_all()
        return {}

    def _wake(self, job: str) -> None:
        if job in self._changed:
            self._changed[job].notify_all()

    def _wake_all(self) -> None:
        for job in self._changed:
            self._wake(job)
