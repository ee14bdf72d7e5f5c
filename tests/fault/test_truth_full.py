"""A broker that refuses to change anything: its disk is full (MISCONF) or its memory is (OOM). Real servers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from jobs.connect import Broker
from jobs.errors import BrokerUnavailable
from jobs.events import AudioChunk
from jobs.state import JobState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer
from tests.jobs.stores.small_disk import small_disk

pytestmark = pytest.mark.services
_ = small_disk  # the fixture
CHUNK = AudioChunk(segment=0, take="t", chunk=0, start_sample=0, samples=1, sample_rate_hz=8000, data=b"\x01\x02")


def connect(server: ValkeyServer, *, retry_for_s: float) -> Broker:
    calls = Calls(make_client(server.url), retry_for_s=retry_for_s)
    streams = RedisStreams(calls, max_audio_bytes=1000)
    return Broker(server.url, server.url, RedisTruth(calls), streams, calls)


def begin(broker: Broker) -> None:
    """A job of eight segments, four of them held by `w`."""
    broker.truth.create_job(record("a"))
    broker.truth.enqueue("a", tasks("a", 8), [])
    broker.truth.register(worker("w"))
    broker.truth.lease("w", 4)


def growth(broker: Broker) -> list[Callable[[], object]]:
    """What enlarges the data, as scripts and in a transaction."""
    assert broker.calls is not None
    calls = broker.calls
    return [
        lambda: broker.truth.create_job(record("b")),
        lambda: broker.streams.write_audio("a", CHUNK),
        lambda: calls.together([("SET", "x", b"y" * 100), ("TIME",)]),
    ]


def go_on(broker: Broker, mend: Callable[[], object]) -> None:
    """A move that began before the trouble was mended goes through, and nothing was half done."""
    timer = threading.Timer(0.2, mend)
    timer.start()
    assert broker.truth.create_job(record("b"))
    timer.join()
    held = tasks("a", 4)
    assert broker.truth.finish("w", [result(task) for task in held]) == [True] * 4
    assert broker.calls is not None
    assert audit(broker.calls.client) == {"a": 4, "b": 0}
    assert [task.segment for task in broker.truth.lease("w", 9)] == [4, 5, 6, 7]


def test_a_full_disk_of_the_broker_is_named_and_waited_for(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    server = ValkeyServer("--dir", str(small_disk), "--auto-aof-rewrite-percentage", "0").start()
    hasty, patient = connect(server, retry_for_s=0.0), connect(server, retry_for_s=60.0)
    try:
        begin(hasty)
        ballast.write_bytes(bytes(700_000))
        _write_until_refused(hasty)
        for call in (hasty.ping, lambda: hasty.truth.lease("w", 4), *growth(hasty)):
            with pytest.raises(
                BrokerUnavailable, match=r"cannot save its data \(.+\); free space on the broker's disk"
            ):
                call()
        assert hasty.truth.job("a").held == 4  # reading goes on
        go_on(patient, ballast.unlink)
        server.restart()
        assert (patient.truth.job("a").state, patient.truth.job("a").done) == (JobState.RUNNING, 4)
    finally:
        server.close()


def _write_until_refused(broker: Broker) -> None:
    assert broker.calls is not None
    client, deadline_s = broker.calls.client, time.monotonic() + 60

    def fill() -> None:
        while time.monotonic() < deadline_s:
            client.set("filler", bytes(400_000))
            time.sleep(0.01)

    with pytest.raises(redis.exceptions.ResponseError, match=r"^MISCONF "):
        fill()


def test_full_memory_of_the_broker_is_named_and_waited_for() -> None:
    server = ValkeyServer().start()
    hasty, patient = connect(server, retry_for_s=0.0), connect(server, retry_for_s=60.0)
    assert hasty.calls is not None
    admin = hasty.calls.client
    try:
        begin(hasty)
        admin.config_set("maxmemory", 1)
        before_s = hasty.calls.last_error_s
        for call in growth(hasty):
            with pytest.raises(BrokerUnavailable, match=r"is out of memory \(.+\); raise its maxmemory"):
                call()
        assert hasty.calls.last_error_s > before_s  # heartbeats may be old now, and nobody is dead
        hasty.ping()
        go_on(patient, lambda: admin.config_set("maxmemory", 0))
    finally:
        server.close()
