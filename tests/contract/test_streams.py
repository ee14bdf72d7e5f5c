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
from tests.helpers_truth import record, tasks
from tests.helpers_valkey import shared_server

MAX_BYTES = 1000
MAX_TOTAL_BYTES = 1500
TTL_S = 0.2
BACK_ENDS = ["memory", pytest.param("redis", marks=pytest.mark.services)]


def build(kind: str, *, ttl_s: float = TTL_S) -> tuple[Streams, Truth]:
    if kind == "memory":
        streams = MemoryStreams(max_audio_bytes=MAX_BYTES, max_total_bytes=MAX_TOTAL_BYTES, stream_ttl_s=ttl_s)
        return streams, MemoryTruth(streams)
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url), stream_ttl_s=ttl_s)
    streams = RedisStreams(calls, max_audio_bytes=MAX_BYTES, max_total_bytes=MAX_TOTAL_BYTES)
    return streams, RedisTruth(calls)


@pytest.fixture(params=BACK_ENDS)
def house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    yield from opened(request.param, TTL_S)


@pytest.fixture(params=BACK_ENDS)
def lasting_house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    """Streams of finished jobs stay for as long as a test takes."""
    yield from opened(request.param, 3600)


def opened(kind: str, ttl_s: float) -> Iterator[tuple[Streams, Truth]]:
    streams, truth = build(kind, ttl_s=ttl_s)
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
        assert counted(streams) == {"a": sum(sizes[number] for number in kept)}
        streams._calls.client.close()


def counted(streams: RedisStreams) -> dict[str, int]:
    """What Redis holds of the bytes of each stream; they add up to the total."""
    client = streams._calls.client
    held = {job.decode(): int(size) for job, size in client.hgetall(keys.AUDIO_BYTES).items()}
    assert int(client.get(keys.AUDIO_TOTAL)) == sum(held.values())
    return held


@pytest.mark.parametrize("kind", BACK_ENDS)
@settings(max_examples=40, deadline=None)
@given(writes=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 700)), max_size=40))
def test_a_full_house_costs_the_writers_own_oldest_chunks(kind: str, writes: list[tuple[str, int]]) -> None:
    streams, truth = build(kind)
    kept: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    for job in kept:
        truth.create_job(record(job))
    for job, size in writes:
        streams.write_audio(job, chunk(0, data=bytes(size)))
        mine = kept[job]
        mine.append(size)
        while len(mine) > 1 and (sum(mine) > MAX_BYTES or sum(map(sum, kept.values())) > MAX_TOTAL_BYTES):
            del mine[0]
    assert {job: [len(entry.data) for _id, entry in streams.audio(job)] for job in kept} == kept
    if isinstance(streams, RedisStreams) and writes:
        assert counted(streams) == {job: sum(sizes) for job, sizes in kept.items() if sizes}
        streams._calls.client.close()


@pytest.mark.parametrize("kind", BACK_ENDS)
@settings(max_examples=60, deadline=None)
@given(writes=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 700) | st.none()), max_size=40))
def test_in_a_full_house_finished_jobs_give_way_first(kind: str, writes: list[tuple[str, int | None]]) -> None:
    """None instead of a size: the next job of a, b, c ends (in this order: ends in one millisecond go by name)."""
    streams, truth = build(kind, ttl_s=3600)
    kept: dict[str, list[int]] = {job: [] for job in "abcd"}
    ended: list[str] = []
    for job in kept:
        truth.create_job(record(job))
    for job, size in writes:
        if size is None:
            if len(ended) < 3:
                ended.append("abc"[len(ended)])
                truth.move_job(ended[-1], JobState.FAILED)
        elif job not in ended:
            streams.write_audio(job, chunk(0, data=bytes(size)))
            write_to_model(kept, ended, job, size)
    assert {job: [len(entry.data) for _id, entry in streams.audio(job)] for job in kept} == kept
    if isinstance(streams, RedisStreams):
        if sum(map(len, kept.values())):
            assert {job: size for job, size in counted(streams).items() if size} == {
                job: sum(sizes) for job, sizes in kept.items() if sum(sizes)
            }
        streams._calls.client.close()


def write_to_model(kept: dict[str, list[int]], ended: list[str], job: str, size: int) -> None:
    """What `write_audio` keeps, told another way: one entry after the other goes until all fits."""
    kept[job].append(size)
    while len(kept[job]) > 1 and sum(kept[job]) > MAX_BYTES:
        del kept[job][0]
    while sum(map(sum, kept.values())) > MAX_TOTAL_BYTES:
        giver = next((name for name in ended if kept[name]), job)
        if giver == job and len(kept[job]) == 1:
            return
        del kept[giver][0]


def test_who_ended_first_gives_way_first(lasting_house: tuple[Streams, Truth]) -> None:
    streams, truth = lasting_house
    for job in "bcd":
        truth.create_job(record(job))
    for job in "bc":
        for number in range(3):
            streams.write_audio(job, chunk(number, data=bytes(200)))
    for job in "cb":  # not by name
        truth.move_job(job, JobState.FAILED)
        wait_for_another_millisecond(streams, truth, job)
    for number in range(3):
        streams.write_audio("d", chunk(number, data=bytes(200)))
    assert [len(streams.audio(job)) for job in "bcd"] == [3, 1, 3]
    streams.write_audio("d", chunk(3, data=bytes(400)))
    assert [len(streams.audio(job)) for job in "bcd"] == [2, 0, 4]


def wait_for_another_millisecond(streams: Streams, truth: Truth, job: str) -> None:
    """Streams expire by milliseconds of the server."""
    ended_at_s = streams.events(job)[-1][1].at_s
    deadline_s, number = time.monotonic() + 30, 0
    while True:
        truth.create_job(record(f"clock-{job}-{number}"))
        if streams.events(f"clock-{job}-{number}")[0][1].at_s > ended_at_s:
            return
        assert time.monotonic() < deadline_s
        number += 1


def test_a_job_that_goes_on_after_its_end_does_not_give_way(lasting_house: tuple[Streams, Truth]) -> None:
    streams, truth = lasting_house
    truth.create_job(record("b"))
    truth.enqueue("b", tasks("b", 1), [])
    for number in range(4):
        streams.write_audio("b", chunk(number, data=bytes(200)))
    truth.move_job("b", JobState.FAILED)
    truth.retry_failed("b")
    for number in range(6):
        streams.write_audio("a", chunk(number, data=bytes(200)))
    assert [len(streams.audio(job)) for job in "ab"] == [3, 4]
    truth.move_job("b", JobState.FAILED)
    streams.write_audio("a", chunk(6, data=bytes(200)))
    assert [entry.chunk for _id, entry in streams.audio("b")] == [1, 2, 3]
    assert [entry.chunk for _id, entry in streams.audio("a")] == [3, 4, 5, 6]


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
    if isinstance(streams, RedisStreams):
        for number in range(6, 12):  # full again: whoever expired is met by now
            streams.write_audio("c", chunk(number, data=bytes(200)))
        assert counted(streams) == {"a": 1000, "c": 400}


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
