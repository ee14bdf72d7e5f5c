"""What `jobs.protocols.Streams` promises, over all back ends; of a full house: `test_streams_full.py`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import keys
from jobs.protocols import Streams, Truth
from jobs.state import JobState
from jobs.streams.wire import CHUNKS_PER_READ
from jobs.truth.redis_streams import RedisStreams
from tests.contract.house_of_streams import BACK_ENDS, MAX_BYTES, TTL_S, build, chunk, close, counted, opened, redis_of
from tests.helpers_truth import record


@pytest.fixture(params=BACK_ENDS)
def house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    yield from opened(request.param, TTL_S)


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
    if redis := redis_of(streams):
        assert counted(redis) == {"a": sum(sizes[number] for number in kept)}
    close(streams)


@pytest.mark.parametrize("end", ["forgotten", "expired"])
def test_streams_that_are_gone_give_their_bytes_back(house: tuple[Streams, Truth], end: str) -> None:
    streams, truth = house
    truth.create_job(record("b"))
    for number in range(5):
        streams.write_audio("b", chunk(number, data=bytes(200)))
    for number in range(3):
        streams.write_audio("a", chunk(number, data=bytes(200)))
    assert [len(streams.audio(job)) for job in "ab"] == [2, 5]
    truth.cancel("b")
    if end == "forgotten":
        truth.forget("b")
    wait_until_gone(streams, "b")
    for number in range(3, 6):
        streams.write_audio("a", chunk(number, data=bytes(200)))
    assert [entry.chunk for _id, entry in streams.audio("a")] == [1, 2, 3, 4, 5]
    if redis := redis_of(streams):
        for number in range(6, 12):  # full again: whoever expired is met by now
            streams.write_audio("c", chunk(number, data=bytes(200)))
        assert counted(redis) == {"a": 1000, "c": 400}


def wait_until_gone(streams: Streams, job: str) -> None:
    deadline_s = time.monotonic() + 30
    while streams.audio(job):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


@pytest.mark.services
def test_a_stream_that_begins_again_counts_from_nothing() -> None:
    streams, truth = build("redis")
    assert isinstance(streams, RedisStreams)
    truth.create_job(record("a"))
    streams.write_audio("a", chunk(0, data=bytes(700)))
    truth.move_job("a", JobState.FAILED)
    wait_until_gone(streams, "a")
    streams.write_audio("a", chunk(1, data=bytes(300)))
    assert counted(streams) == {"a": 300}
    streams._calls.client.close()


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
    assert client.pttl(keys.audio("nobody")) > 0
    assert client.pttl(keys.audio("a")) == -1
    client.close()
