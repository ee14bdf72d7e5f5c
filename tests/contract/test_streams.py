"""What `jobs.protocols.Streams` promises, over both back ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import keys
from jobs.events import AudioChunk
from jobs.protocols import Streams, Truth
from jobs.state import JobState
from jobs.streams.memory import MemoryStreams
from jobs.streams.redis_streams import RedisStreams
from jobs.streams.wire import CHUNKS_PER_READ
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record
from tests.helpers_valkey import shared_server

MAX_BYTES = 1000
TTL_S = 0.2
BACK_ENDS = ["memory", pytest.param("redis", marks=pytest.mark.services)]


def build(kind: str) -> tuple[Streams, Truth]:
    if kind == "memory":
        streams = MemoryStreams(max_audio_bytes=MAX_BYTES, stream_ttl_s=TTL_S)
        return streams, MemoryTruth(streams)
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url), stream_ttl_s=TTL_S)
    return RedisStreams(calls, max_audio_bytes=MAX_BYTES), RedisTruth(calls)


@pytest.fixture(params=BACK_ENDS)
def house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    streams, truth = build(request.param)
    truth.create_job(record("a"))
    yield streams, truth
    if isinstance(streams, RedisStreams):
        streams._calls.client.close()


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


def test_chunks_come_back_whole_in_order_and_from_any_id(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    written = [chunk(number) for number in range(4)] + [chunk(4, data=b"", discard=True)]
    ids = [streams.write_audio("a", entry) for entry in written]
    assert streams.audio("a") == list(zip(ids, written, strict=True))
    for place, entry in enumerate(ids):
        assert [found for _id, found in streams.audio("a", after=entry)] == written[place + 1 :]
    assert streams.audio("b") == []


def test_a_reader_that_goes_on_after_its_last_id_misses_nothing(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    count = CHUNKS_PER_READ + 30

    def write() -> None:
        for number in range(count):
            streams.write_audio("a", chunk(number, data=b"\x01\x02"))

    writer = threading.Thread(target=write)
    writer.start()
    seen, after = [], "0"
    while len(seen) < count:
        batch = streams.audio("a", after=after, timeout_s=10)
        assert 0 < len(batch) <= CHUNKS_PER_READ
        seen += [entry.chunk for _id, entry in batch]
        after = batch[-1][0]
    writer.join()
    assert seen == list(range(count))


def test_from_now_on(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    streams.write_audio("a", chunk(0))
    assert streams.audio("a", after="$") == []
    timer = threading.Timer(0.2, streams.write_audio, ("a", chunk(1)))
    timer.start()
    assert [entry.chunk for _id, entry in streams.audio("a", after="$", timeout_s=10)] == [1]
    timer.join()


def test_waiting_ends_in_time(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    began_s = time.monotonic()
    assert streams.events("nobody", timeout_s=0.1) == []
    assert 0.1 <= time.monotonic() - began_s < 5


@pytest.mark.parametrize("kind", BACK_ENDS)
@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.integers(0, 700), min_size=1, max_size=25))
def test_the_stream_keeps_the_newest_chunks_that_fit(kind: str, sizes: list[int]) -> None:
    streams, _truth = build(kind)
    for number, size in enumerate(sizes):
        streams.write_audio("a", chunk(number, data=bytes(size)))
    kept = [entry.chunk for _id, entry in streams.audio("a")]
    newest = len(sizes) - 1
    expected = [newest]
    while expected[0] > 0 and sum(sizes[expected[0] - 1 :]) <= MAX_BYTES:
        expected.insert(0, expected[0] - 1)
    assert kept == expected
    if isinstance(streams, RedisStreams):
        client = streams._calls.client
        assert int(client.get(keys.audio_bytes("a"))) == sum(sizes[number] for number in kept)
        client.close()


def test_streams_of_a_finished_job_go_away_and_a_forgotten_jobs_at_once(house: tuple[Streams, Truth]) -> None:
    streams, truth = house
    truth.create_job(record("b"))
    for job in "ab":
        streams.write_audio(job, chunk(0))
    truth.cancel("b")
    assert streams.events("b")
    truth.forget("b")
    assert streams.events("b") == []
    assert streams.audio("b") == []
    truth.move_job("a", JobState.FAILED)
    streams.write_audio("a", chunk(1))
    assert len(streams.audio("a")) == 2
    time.sleep(2 * TTL_S)
    assert streams.audio("a") == []
    assert streams.events("a") == []
    assert truth.job("a").state is JobState.FAILED


@pytest.mark.services
def test_a_stream_without_a_job_or_after_its_end_does_not_stay_for_ever() -> None:
    streams, truth = build("redis")
    assert isinstance(streams, RedisStreams)
    client = streams._calls.client
    streams.write_audio("nobody", chunk(0))
    truth.create_job(record("a"))
    streams.write_audio("a", chunk(0))
    for key in (keys.audio, keys.audio_bytes):
        assert client.pttl(key("nobody")) > 0
        assert client.pttl(key("a")) == -1
    client.close()
