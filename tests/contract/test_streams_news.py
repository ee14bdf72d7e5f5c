"""What `Streams.news` promises: what is new in many jobs by one call."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.protocols import News, Seen, Streams, Truth
from jobs.streams.wire import CHUNKS_PER_READ
from tests.contract.house_of_streams import BACK_ENDS, TTL_S, build, chunk, close, opened, redis_of
from tests.helpers_truth import record


@pytest.fixture(params=BACK_ENDS)
def house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    yield from opened(request.param, TTL_S)


def test_news_are_what_events_and_audio_say(house: tuple[Streams, Truth]) -> None:
    streams, truth = house
    for job in "bc":
        truth.create_job(record(job))
    for number in range(4):
        streams.write_audio("a", chunk(number))
    streams.write_audio("b", chunk(9))
    news = streams.news({job: Seen() for job in "abcd"}, timeout_s=0)
    assert set(news) == {"a", "b", "c"}
    for job, new in news.items():
        assert new.events == streams.events(job)
        assert new.chunks == streams.audio(job)
    second = news["a"].chunks[1][0]
    later = streams.news({"a": Seen(news["a"].events[-1][0], second), "b": Seen(None, None)}, timeout_s=0)
    assert later == {"a": later["a"]}
    assert later["a"].events == []
    assert [entry.chunk for _id, entry in later["a"].chunks] == [2, 3]


def test_what_is_not_wanted_does_not_come(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    streams.write_audio("a", chunk(0))
    (events,) = streams.news({"a": Seen(chunk=None)}, timeout_s=0).values()
    assert (len(events.events), events.chunks) == (1, [])
    (chunks,) = streams.news({"a": Seen(event=None)}, timeout_s=0).values()
    assert (chunks.events, len(chunks.chunks)) == ([], 1)
    assert streams.news({"a": Seen(None, None)}, timeout_s=60) == {}
    assert streams.news({}, timeout_s=60) == {}


def test_the_first_news_of_any_job_ends_the_wait(house: tuple[Streams, Truth]) -> None:
    streams, truth = house
    truth.create_job(record("b"))
    seen = {job: Seen(streams.events(job)[-1][0]) for job in "ab"}
    (chunks,) = after(lambda: streams.write_audio("b", chunk(0)), streams, seen).items()
    assert (chunks[0], chunks[1].events, len(chunks[1].chunks)) == ("b", [], 1)
    seen["b"] = Seen(seen["b"].event, chunks[1].chunks[-1][0])
    (events,) = after(lambda: truth.cancel("a"), streams, seen).items()
    assert (events[0], len(events[1].events), events[1].chunks) == ("a", 1, [])
    seen["a"] = Seen(events[1].events[-1][0])
    assert streams.news(seen, timeout_s=0.05) == {}


def after(write: Callable[[], object], streams: Streams, seen: dict[str, Seen]) -> dict[str, News]:
    """The news that come while somebody waits for them."""
    timer = threading.Timer(0.1, write)
    timer.start()
    news = streams.news(seen, timeout_s=60)
    timer.join()
    return news


def test_from_now_on(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    streams.write_audio("a", chunk(0))
    assert streams.news({"a": Seen("$", "$")}, timeout_s=0) == {}
    timer = threading.Timer(0.2, streams.write_audio, ("a", chunk(1)))
    timer.start()
    (new,) = streams.news({"a": Seen("$", "$")}, timeout_s=60).values()
    timer.join()
    assert (new.events, [entry.chunk for _id, entry in new.chunks]) == ([], [1])


@pytest.mark.parametrize("kind", BACK_ENDS)
@settings(max_examples=15, deadline=None)
@given(writes=st.lists(st.integers(0, 400), max_size=60))
def test_hundreds_of_jobs_are_read_in_order_by_going_on(kind: str, writes: list[int]) -> None:
    streams, _truth = build(kind, ttl_s=3600)  # streams of jobs that are not there expire
    jobs = [f"job-{number}" for number in range(401)]
    written: defaultdict[str, list[int]] = defaultdict(list)
    seen = {job: Seen() for job in jobs}
    got: defaultdict[str, list[int]] = defaultdict(list)

    def read() -> bool:
        news = streams.news(seen, timeout_s=0)
        for job, new in news.items():
            assert 0 < len(new.chunks) <= CHUNKS_PER_READ
            got[job] += [entry.chunk for _id, entry in new.chunks]
            seen[job] = Seen("0", new.chunks[-1][0])
        return bool(news)

    for number, place in enumerate(writes):
        streams.write_audio(jobs[place], chunk(number, data=b"\x01\x02"))
        written[jobs[place]].append(number)
        if number % 7 == 0:
            read()
    while read():
        pass
    assert got == written
    close(streams)


@pytest.mark.services
def test_one_call_asks_for_all() -> None:
    streams, _truth = build("redis")
    redis = redis_of(streams)
    assert redis is not None
    client = redis._calls.client

    def reads() -> int:
        return int(client.info("commandstats")["cmdstat_xread"]["calls"])

    streams.audio("a")
    before = reads()
    streams.news({f"job-{number}": Seen() for number in range(500)}, timeout_s=0)
    assert reads() == before + 1
    close(streams)


def test_waiting_ends_in_time(house: tuple[Streams, Truth]) -> None:
    streams, _truth = house
    began_s = time.monotonic()
    assert streams.news({"nobody": Seen(), "nor this one": Seen()}, timeout_s=0.1) == {}
    assert 0.1 <= time.monotonic() - began_s < 5
