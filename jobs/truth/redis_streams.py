"""RedisStreams: `jobs.protocols.Streams` on Redis streams. Ids are Redis's own; readers outside use plain XREAD."""

from __future__ import annotations

from collections.abc import Mapping

from jobs import keys
from jobs.events import AudioChunk, Event
from jobs.protocols import News, Seen
from jobs.streams.wire import (
    CHUNKS_PER_READ,
    EVENTS_PER_READ,
    NEWS_PER_READ,
    NO_BOUND,
    chunk_fields,
    read_chunk,
    read_event,
)
from jobs.truth.calls import Calls
from jobs.truth.records import text

_Entries = list[tuple[bytes, dict[bytes, bytes]]]


class RedisStreams:
    """Streams over one connection pool; may be used by many threads.

    `max_audio_bytes` bounds the audio data of one job's stream: its oldest chunks go first, the newest never.
    `max_total_bytes` bounds that of all jobs: finished ones give way first, then the job that writes gives up its own.
    """

    def __init__(self, calls: Calls, *, max_audio_bytes: int, max_total_bytes: int = NO_BOUND) -> None:
        self._calls = calls
        self._bounds = (max_audio_bytes, max_total_bytes)

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, Event]]:
        """Up to EVENTS_PER_READ events after an id, oldest first; waits up to `timeout_s` for the first."""
        entries = self._read(keys.events(job), after=after, count=EVENTS_PER_READ, timeout_s=timeout_s)
        return [(text(entry), read_event(fields)) for entry, fields in entries]

    def write_audio(self, job: str, chunk: AudioChunk) -> str:
        """Append one chunk; returns its id. Repeating it after a lost reply writes it once."""
        entry = self._calls.marked_script("audio", [job, *self._bounds], chunk_fields(chunk))
        return text(entry)

    def audio(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, AudioChunk]]:
        """Up to CHUNKS_PER_READ chunks after an id, oldest first; waits up to `timeout_s` for the first."""
        entries = self._read(keys.audio(job), after=after, count=CHUNKS_PER_READ, timeout_s=timeout_s)
        return [(text(entry), read_chunk(fields)) for entry, fields in entries]

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        """What came in many jobs after what was seen of each, in one XREAD; waits up to `timeout_s` for the first."""
        starts: dict[str, str] = {}
        for job, seen in after.items():
            starts |= {keys.events(job): seen.event} if seen.event is not None else {}
            starts |= {keys.audio(job): seen.chunk} if seen.chunk is not None else {}
        if not starts:
            return {}
        count = max(1, min(CHUNKS_PER_READ, NEWS_PER_READ // len(starts)))
        found = self._new_entries(starts, count=count, timeout_s=timeout_s)
        news = {}
        for job in after:
            events = [(text(entry), read_event(fields)) for entry, fields in found.get(keys.events(job), [])]
            chunks = [(text(entry), read_chunk(fields)) for entry, fields in found.get(keys.audio(job), [])]
            if events or chunks:
                news[job] = News(events, chunks)
        return news

    def _read(self, key: str, *, after: str, count: int, timeout_s: float) -> _Entries:
        return self._new_entries({key: after}, count=count, timeout_s=timeout_s).get(key, [])

    def _new_entries(self, after: Mapping[str, str], *, count: int, timeout_s: float) -> dict[str, _Entries]:
        """New entries by key, up to `count` of each; keys without any are missing."""
        # Fixed once: nothing is missed between two waits.
        starts = {key: self._last_id(key) if start == "$" else start for key, start in after.items()}
        found = self._calls.block(
            timeout_s, lambda block_ms: self._calls.client.xread(starts, count=count, block=block_ms)
        )
        return {text(key): entries for key, entries in found or []}

    def _last_id(self, key: str) -> str:
        newest = self._calls.repeat(lambda _again: self._calls.client.xrevrange(key, count=1))
        return text(newest[0][0]) if newest else "0"
