"""MemoryStreams: `jobs.protocols.Streams` in one process, for tests and demonstrations. Ids are `<n>-0`."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeVar

from jobs.events import AudioChunk, Event
from jobs.protocols import News, Seen
from jobs.streams.wire import CHUNKS_PER_READ, EVENTS_PER_READ, NO_BOUND

T = TypeVar("T")


class MemoryStreams:
    """Streams as lists under one lock. The memory truth writes its events here and says when a job has ended."""

    def __init__(
        self,
        *,
        max_audio_bytes: int,
        max_total_bytes: int = NO_BOUND,
        stream_ttl_s: float = 86_400.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._max_audio_bytes = max_audio_bytes
        self._max_total_bytes = max_total_bytes
        self._stream_ttl_s = stream_ttl_s
        self._clock = clock
        self._changed = threading.Condition()
        self._events: defaultdict[str, list[tuple[int, Event]]] = defaultdict(list)
        self._audio: defaultdict[str, list[tuple[int, AudioChunk]]] = defaultdict(list)
        self._gone_at_s: dict[str, float] = {}
        self._last = 0

    def write_event(self, event: Event) -> None:
        """Append an event (the truth does)."""
        with self._changed:
            self._append(self._events[event.job], event)

    def keep(self, job: str, *, final: bool) -> None:
        """A job has ended: its streams live for the TTL; or it goes on (retry): they stay."""
        with self._changed:
            self._gone_at_s.pop(job, None)
            if final:
                self._gone_at_s[job] = self._clock() + self._stream_ttl_s

    def forget(self, job: str) -> None:
        """Drop the streams of a job."""
        with self._changed:
            for kept in (self._events, self._audio, self._gone_at_s):
                kept.pop(job, None)

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, Event]]:
        """Up to EVENTS_PER_READ events after an id, oldest first; waits up to `timeout_s` for the first."""
        return self._read(self._events, job, after=after, count=EVENTS_PER_READ, timeout_s=timeout_s)

    def write_audio(self, job: str, chunk: AudioChunk) -> str:
        """Append one chunk, keep the job and all jobs within their bounds; returns its id."""
        with self._changed:
            for other in self._gone_at_s:
                self._drop_expired(other)
            log = self._audio[job]
            entry = self._append(log, chunk)
            while len(log) > 1 and _bytes_of(log) > self._max_audio_bytes:
                log.pop(0)
            ended_first = sorted(self._gone_at_s, key=self._gone_at_s.__getitem__)
            for other in (name for name in ended_first if name != job):
                while self._audio[other] and self._is_full():
                    self._audio[other].pop(0)
            while len(log) > 1 and self._is_full():
                log.pop(0)
            return entry

    def audio(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, AudioChunk]]:
        """Up to CHUNKS_PER_READ chunks after an id, oldest first; waits up to `timeout_s` for the first."""
        return self._read(self._audio, job, after=after, count=CHUNKS_PER_READ, timeout_s=timeout_s)

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        """What came in many jobs after what was seen of each; waits up to `timeout_s` for the first."""
        with self._changed:
            starts = {job: (self._start(seen.event), self._start(seen.chunk)) for job, seen in after.items()}

            def found() -> dict[str, News]:
                news = {job: self._news_of(job, event, chunk) for job, (event, chunk) in starts.items()}
                return {job: new for job, new in news.items() if new.events or new.chunks}

            wanted = any(start is not None for both in starts.values() for start in both)
            return self._changed.wait_for(found, timeout_s if wanted else 0.0)

    def _news_of(self, job: str, event: int | None, chunk: int | None) -> News:
        self._drop_expired(job)
        events = [] if event is None else _after(self._events.get(job, []), event, EVENTS_PER_READ)
        chunks = [] if chunk is None else _after(self._audio.get(job, []), chunk, CHUNKS_PER_READ)
        return News(events, chunks)

    def _start(self, after: str | None) -> int | None:
        if after is None:
            return None
        return self._last if after == "$" else int(after.partition("-")[0])

    def _is_full(self) -> bool:
        return sum(map(_bytes_of, self._audio.values())) > self._max_total_bytes

    def _append(self, log: list[tuple[int, T]], entry: T) -> str:
        self._last += 1
        log.append((self._last, entry))
        self._changed.notify_all()
        return f"{self._last}-0"

    def _read(
        self, logs: defaultdict[str, list[tuple[int, T]]], job: str, *, after: str, count: int, timeout_s: float
    ) -> list[tuple[str, T]]:
        with self._changed:
            start = self._start(after) or 0

            def found() -> list[tuple[str, T]]:
                self._drop_expired(job)
                return _after(logs[job], start, count)

            return self._changed.wait_for(found, timeout_s)

    def _drop_expired(self, job: str) -> None:
        if job in self._gone_at_s and self._clock() >= self._gone_at_s[job]:
            self._events.pop(job, None)
            self._audio.pop(job, None)


def _after(log: list[tuple[int, T]], start: int, count: int) -> list[tuple[str, T]]:
    return [(f"{number}-0", entry) for number, entry in log if number > start][:count]


def _bytes_of(log: list[tuple[int, AudioChunk]]) -> int:
    return sum(len(chunk.data) for _id, chunk in log)
