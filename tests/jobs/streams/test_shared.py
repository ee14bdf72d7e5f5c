"""SharedStreams: many readers, few calls below; nobody misses an entry or gets one twice."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk, Event, EventKind
from jobs.protocols import News, Seen
from jobs.state import JobState
from jobs.streams.kept import place_of
from jobs.streams.memory import MemoryStreams
from jobs.streams.shared import FORGET_AFTER_S, SharedStreams
from jobs.streams.wire import CHUNKS_PER_READ
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from tests.helpers_valkey import ValkeyServer

LONG_S = 60.0


class Counted(MemoryStreams):
    """Streams that count their calls and fail when they are told to."""

    def __init__(self) -> None:
        super().__init__(max_audio_bytes=2**40)
        self.calls: Counter[str] = Counter()
        self.fault: Exception | None = None
        self.news_fault: Exception | None = None

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, Event]]:
        self._count("events", self.fault)
        return super().events(job, after=after, timeout_s=timeout_s)

    def audio(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, AudioChunk]]:
        self._count("audio", self.fault)
        return super().audio(job, after=after, timeout_s=timeout_s)

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        self._count("news", self.fault or self.news_fault)
        return super().news(after, timeout_s=timeout_s)

    def _count(self, name: str, fault: Exception | None) -> None:
        self.calls[name] += 1
        if fault is not None:
            raise fault


def chunk(number: int, size: int = 20) -> AudioChunk:
    return AudioChunk(
        segment=0,
        take="t",
        chunk=number,
        start_sample=number * size // 2,
        samples=size // 2,
        sample_rate_hz=24_000,
        data=bytes(size),
    )


def event(job: str, done: int) -> Event:
    return Event(
        kind=EventKind.JOB, job=job, at_s=0.0, state=JobState.RUNNING, total=9, done=done, failed=0, audio_s=0.0
    )


@pytest.fixture
def below() -> Counted:
    return Counted()


@pytest.fixture
def shared(below: Counted) -> Iterator[SharedStreams]:
    streams = SharedStreams(below)
    yield streams
    streams.close()


def read_all(streams: SharedStreams, job: str, count: int, *, slow: float = 0.0) -> list[int]:
    """Chunk numbers of a job as one reader gets them; `slow`: chance of a pause after a read."""
    got: list[int] = []
    after = "0"
    deadline_s = time.monotonic() + LONG_S
    while len(got) < count:
        assert time.monotonic() < deadline_s, (job, got)
        if entries := streams.audio(job, after=after, timeout_s=random.choice([0.0, 0.01, 1.0])):
            after = entries[-1][0]
            got += [entry.chunk for _id, entry in entries]
        if random.random() < slow:
            time.sleep(0.05)
    return got


def test_two_hundred_readers_get_every_entry_once_and_in_order_by_few_calls(
    below: Counted, shared: SharedStreams
) -> None:
    jobs, count = [f"job-{number}" for number in range(200)], 20

    def write() -> None:
        left = [job for job in jobs for _ in range(count)]
        random.Random(7).shuffle(left)
        numbers: Counter[str] = Counter()
        for place, job in enumerate(left):
            below.write_audio(job, chunk(numbers[job]))
            numbers[job] += 1
            if place % 400 == 0:
                time.sleep(0.02)

    with ThreadPoolExecutor(len(jobs) + 1) as threads:
        writing = threads.submit(write)
        read = list(threads.map(lambda job: read_all(shared, job, count), jobs))
        writing.result()
    assert read == [list(range(count))] * len(jobs)
    assert below.calls["audio"] <= 3 * len(jobs)  # their first reads
    assert below.calls["news"] < len(jobs) * count / 4


def test_readers_of_one_job_share_its_entries(below: Counted, shared: SharedStreams) -> None:
    shared.audio("a")
    for number in range(5):
        below.write_audio("a", chunk(number))
    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda _place: shared.audio("a", timeout_s=LONG_S), range(8)))
    assert all(entries[0][1] is read[0][0][1] for entries in read)


def test_a_reader_that_comes_late_or_is_slow_reads_by_itself(below: Counted) -> None:
    streams = SharedStreams(below, job_bytes=20_000, all_bytes=25_000)
    count = 3 * CHUNKS_PER_READ
    with ThreadPoolExecutor(6) as threads:
        readers = [threads.submit(read_all, streams, job, count, slow=slow) for job in "ab" for slow in (0.0, 0.9)]
        for number in range(count):
            for job in "ab":
                below.write_audio(job, chunk(number, 500))
            if number % 20 == 0:
                time.sleep(0.01)
        late = [threads.submit(read_all, streams, job, count) for job in "ab"]
        assert [reader.result() for reader in readers + late] == [list(range(count))] * 6
    logs = [*streams._events.logs.values(), *streams._chunks.logs.values()]
    assert sum(log.held_bytes for log in logs) <= 25_000
    assert all(log.held_bytes <= 20_000 for log in logs)
    streams.close()


def test_nobody_waits_until_what_a_late_reader_has_missed_is_read(below: Counted, shared: SharedStreams) -> None:
    """Else a listener at the end of a long job hears nothing while its whole log goes through the thread."""
    for number in range(5 * CHUNKS_PER_READ):
        below.write_audio("a", chunk(number))
    (*_others, (last, newest)) = below.audio("a", after=f"{5 * CHUNKS_PER_READ - 1}-0")
    assert newest.chunk == 5 * CHUNKS_PER_READ - 1
    assert len(shared.audio("a")) == CHUNKS_PER_READ
    assert shared._chunks.logs == {}
    assert shared.audio("a", after=last) == []
    assert shared._chunks.logs["a"].seen == last
    assert read_all(shared, "a", 5 * CHUNKS_PER_READ) == list(range(5 * CHUNKS_PER_READ))
    assert shared._chunks.logs["a"].floor == place_of(last)


def test_events_and_audio_of_a_job_in_one_wait(below: Counted, shared: SharedStreams) -> None:
    assert shared.news({"a": Seen()}, timeout_s=0) == {}
    timer = threading.Timer(0.1, below.write_event, (event("a", 1),))
    timer.start()
    (new,) = shared.news({"a": Seen()}, timeout_s=LONG_S).values()
    assert ([told.done for _id, told in new.events], new.chunks) == ([1], [])
    timer = threading.Timer(0.1, below.write_audio, ("a", chunk(0)))
    timer.start()
    (more,) = shared.news({"a": Seen(new.events[-1][0], "0")}, timeout_s=LONG_S).values()
    assert (more.events, [entry.chunk for _id, entry in more.chunks]) == ([], [0])
    timer.join()


def test_nobody_is_read_for_when_nobody_listens(
    below: Counted, shared: SharedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FORGET_AFTER_S > 0
    monkeypatch.setattr("jobs.streams.shared.FORGET_AFTER_S", 0.1)
    shared.audio("a")
    thread = shared._thread
    assert thread is not None
    thread.join(LONG_S)
    assert not thread.is_alive()
    assert shared._chunks.logs == {}
    calls = below.calls["news"]
    below.write_audio("a", chunk(0))
    assert [entry.chunk for _id, entry in shared.audio("a")] == [0]  # begins again
    assert [entry.chunk for _id, entry in shared.audio("a", after="1-0", timeout_s=0.05)] == []
    assert below.calls["news"] > calls


def test_a_wait_longer_than_a_job_is_remembered(
    below: Counted, shared: SharedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.streams.shared.FORGET_AFTER_S", 0.05)
    timer = threading.Timer(0.5, below.write_audio, ("a", chunk(0)))
    timer.start()
    assert [entry.chunk for _id, entry in shared.audio("a", timeout_s=LONG_S)] == [0]
    timer.join()


def test_from_now_on_of_a_job_that_others_read(below: Counted, shared: SharedStreams) -> None:
    below.write_audio("a", chunk(0))
    assert len(shared.audio("a")) == 1
    assert shared.audio("a", after="$") == []
    timer = threading.Timer(0.1, below.write_audio, ("a", chunk(1)))
    timer.start()
    assert [entry.chunk for _id, entry in shared.audio("a", after="$", timeout_s=LONG_S)] == [1]
    timer.join()


def test_who_waits_hears_that_the_broker_is_away_and_all_goes_on_afterwards(
    below: Counted, shared: SharedStreams
) -> None:
    shared.audio("a")
    with ThreadPoolExecutor(4) as threads:
        waits = [threads.submit(shared.audio, "a", timeout_s=LONG_S) for _ in range(4)]
        while not all(wait.running() for wait in waits):
            time.sleep(0.01)
        below.fault = BrokerUnavailable("no Redis answers")
        for wait in waits:
            with pytest.raises(BrokerUnavailable, match="no Redis answers"):
                wait.result(LONG_S)
    with pytest.raises(BrokerUnavailable):
        shared.audio("a")
    below.fault = None
    below.write_audio("a", chunk(0))
    assert [entry.chunk for _id, entry in shared.audio("a", timeout_s=LONG_S)] == [0]
    deadline_s = time.monotonic() + LONG_S
    while shared._down is not None:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    assert shared.audio("a", after="1-0") == []
    below.write_audio("a", chunk(1))
    assert [entry.chunk for _id, entry in shared.audio("a", after="1-0", timeout_s=LONG_S)] == [1]


def test_an_entry_that_cannot_be_read_stops_no_other_reader(below: Counted, shared: SharedStreams) -> None:
    shared.audio("bad")
    below.news_fault = ValueError("stream entry of version 9")
    timer = threading.Timer(0.1, below.write_audio, ("a", chunk(0)))
    timer.start()
    got: list[tuple[str, AudioChunk]] = []
    while not got:
        got = shared.audio("a", timeout_s=0.02)
    assert got[0][1].chunk == 0
    timer.join()


def test_closing_wakes_who_waits_and_ends_the_thread(below: Counted, shared: SharedStreams) -> None:
    shared.audio("a")
    thread = shared._thread
    assert thread is not None
    with ThreadPoolExecutor(1) as threads:
        wait = threads.submit(shared.audio, "a", timeout_s=LONG_S)
        while not wait.running():
            time.sleep(0.01)
        shared.close()
        assert wait.result(LONG_S / 2) == []
    assert not thread.is_alive()
    below.write_audio("a", chunk(0))
    assert [entry.chunk for _id, entry in shared.audio("a")] == [0]
    assert shared._thread is None


@pytest.mark.services
def test_a_broker_that_dies_in_the_middle() -> None:
    server = ValkeyServer("--appendfsync", "always").start()
    try:
        below = RedisStreams(Calls(make_client(server.url), retry_for_s=LONG_S), max_audio_bytes=2**30)
        streams = SharedStreams(below)
        jobs, count = [f"job-{number}" for number in range(20)], 60
        with ThreadPoolExecutor(len(jobs)) as threads:
            readers = [threads.submit(read_all, streams, job, count) for job in jobs]
            for number in range(count):
                for job in jobs:
                    below.write_audio(job, chunk(number))
                if number in {15, 40}:
                    server.restart()
            assert [reader.result() for reader in readers] == [list(range(count))] * len(jobs)
        streams.close()
        below._calls.client.close()
    finally:
        server.close()
