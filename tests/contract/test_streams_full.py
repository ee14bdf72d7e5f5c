"""Who gives way when the live audio of all jobs is at its bound, over both back ends."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import keys
from jobs.protocols import Streams, Truth
from jobs.state import JobState
from tests.contract.house_of_streams import (
    BACK_ENDS,
    MAX_BYTES,
    MAX_TOTAL_BYTES,
    build,
    chunk,
    close,
    counted,
    opened,
    redis_of,
)
from tests.helpers_truth import record, tasks


@pytest.fixture(params=BACK_ENDS)
def lasting_house(request: pytest.FixtureRequest) -> Iterator[tuple[Streams, Truth]]:
    """Streams of finished jobs stay for as long as a test takes."""
    yield from opened(request.param, 3600)


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
    if (redis := redis_of(streams)) and writes:
        assert counted(redis) == {job: sum(sizes) for job, sizes in kept.items() if sizes}
    close(streams)


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
    if (redis := redis_of(streams)) and sum(map(len, kept.values())):
        assert {job: size for job, size in counted(redis).items() if size} == {
            job: sum(sizes) for job, sizes in kept.items() if sum(sizes)
        }
    close(streams)


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


def fill_with_ended(streams: Streams, count: int) -> list[str]:
    """Streams of jobs that are over, together at the bound."""
    names = [f"gone-{number:03d}" for number in range(count)]
    for name in names:
        streams.write_audio(name, chunk(0, data=bytes(MAX_TOTAL_BYTES // count)))
    return names


@pytest.mark.services
def test_making_room_looks_only_at_streams_that_give_way() -> None:
    """The broker does nothing else meanwhile, and a busy server is at the bound all day."""
    streams, _truth = build("redis", ttl_s=3600)
    redis = redis_of(streams)
    assert redis is not None
    fill_with_ended(streams, 150)

    def commands() -> int:
        return sum(told["calls"] for told in redis._calls.client.info("commandstats").values())

    before = commands()
    streams.write_audio("a", chunk(0, data=bytes(10)))
    assert commands() - before < 40
    assert sum(counted(redis).values()) == MAX_TOTAL_BYTES
    close(streams)


@pytest.mark.services
def test_streams_that_an_earlier_release_wrote_give_way_too() -> None:
    streams, _truth = build("redis", ttl_s=3600)
    redis = redis_of(streams)
    assert redis is not None
    names = fill_with_ended(streams, 5)
    client = redis._calls.client
    client.delete(keys.AUDIO_ENDED, keys.audio(names[3]))  # that one has expired
    streams.write_audio("a", chunk(0, data=bytes(400)))
    left = counted(redis)
    assert left.pop("a") == 400
    assert len(left) == 3
    assert names[3] not in left
    close(streams)


@pytest.mark.services
def test_what_is_noted_of_an_end_goes_with_it() -> None:
    streams, truth = build("redis", ttl_s=3600)
    redis = redis_of(streams)
    assert redis is not None
    client = redis._calls.client
    for job in "ab":
        truth.create_job(record(job))
        truth.enqueue(job, tasks(job, 1), [])
        streams.write_audio(job, chunk(0))
        assert not client.exists(keys.AUDIO_ENDED)
        truth.move_job(job, JobState.FAILED)
        assert client.zscore(keys.AUDIO_ENDED, job) == pytest.approx(time.time() * 1000 + 3_600_000, abs=60_000)
        if job == "a":
            truth.retry_failed(job)
            assert not client.exists(keys.AUDIO_ENDED)
    truth.forget("b")
    assert not client.exists(keys.AUDIO_ENDED)
    close(streams)
