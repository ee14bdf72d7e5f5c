"""Streams with their truth, of either kind, and what tests of both do with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jobs import keys
from jobs.events import AudioChunk
from jobs.protocols import Streams, Truth
from jobs.streams.memory import MemoryStreams
from jobs.streams.shared import SharedStreams
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record
from tests.helpers_valkey import shared_server

MAX_BYTES = 1000
MAX_TOTAL_BYTES = 1500
TTL_S = 0.2
BACK_ENDS = [
    *("memory", "shared memory"),
    *(pytest.param(kind, marks=pytest.mark.services) for kind in ("redis", "shared redis")),
]


def build(kind: str, *, ttl_s: float = TTL_S) -> tuple[Streams, Truth]:
    """Streams of one of BACK_ENDS with the truth that writes their events."""
    shared, _, below = kind.rpartition(" ")
    streams, truth = _build(below, ttl_s)
    return (SharedStreams(streams) if shared else streams), truth


def _build(kind: str, ttl_s: float) -> tuple[Streams, Truth]:
    if kind == "memory":
        streams = MemoryStreams(max_audio_bytes=MAX_BYTES, max_total_bytes=MAX_TOTAL_BYTES, stream_ttl_s=ttl_s)
        return streams, MemoryTruth(streams)
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url), stream_ttl_s=ttl_s)
    streams = RedisStreams(calls, max_audio_bytes=MAX_BYTES, max_total_bytes=MAX_TOTAL_BYTES)
    return streams, RedisTruth(calls)


def opened(kind: str, ttl_s: float) -> Iterator[tuple[Streams, Truth]]:
    streams, truth = build(kind, ttl_s=ttl_s)
    truth.create_job(record("a"))
    yield streams, truth
    close(streams)


def redis_of(streams: Streams) -> RedisStreams | None:
    """The streams on Redis, where these are some or share some."""
    below = streams._below if isinstance(streams, SharedStreams) else streams
    return below if isinstance(below, RedisStreams) else None


def close(streams: Streams) -> None:
    if isinstance(streams, SharedStreams):
        streams.close()
    if redis := redis_of(streams):
        redis._calls.client.close()


def chunk(number: int, *, data: bytes = b"\x00\xff\r\n" * 5, discard: bool = False) -> AudioChunk:
    return AudioChunk(
        segment=7,
        take="ab" * 16,
        chunk=number,
        start_sample=10 * number,
        samples=len(data) // 2,
        sample_rate_hz=24_000,
        last=number == 3,
        discard=discard,
        data=data,
    )


def counted(streams: RedisStreams) -> dict[str, int]:
    """What Redis holds of the bytes of each stream; they add up to the total."""
    client = streams._calls.client
    held = {job.decode(): int(size) for job, size in client.hgetall(keys.AUDIO_BYTES).items()}
    assert int(client.get(keys.AUDIO_TOTAL)) == sum(held.values())
    return held
