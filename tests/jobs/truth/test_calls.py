"""Repetition over lost connections, and texts that show no password."""

from __future__ import annotations

import threading
import time

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import BrokerUnavailable
from jobs.truth.calls import Calls, make_client, safe_url
from tests.helpers_valkey import ValkeyServer
from tests.jobs.truth.stub_server import stub_server

LOADING = b"-LOADING Redis is loading the dataset in memory"
NOWHERE = "unix:///nowhere/at/all.sock"


def test_a_call_is_repeated_with_a_mark_until_it_works() -> None:
    calls = Calls(make_client(NOWHERE), retry_for_s=30)
    marks = []

    def call(again: bool) -> str:
        marks.append(again)
        if len(marks) < 4:
            raise redis.exceptions.ConnectionError
        return "done"

    before_s = time.monotonic()
    assert calls.repeat(call) == "done"
    assert marks == [False, True, True, True]
    assert calls.last_error_s >= before_s


def test_patience_ends_with_what_to_do() -> None:
    calls = Calls(make_client(NOWHERE), retry_for_s=0.1)
    began_s = time.monotonic()
    with pytest.raises(
        BrokerUnavailable, match=f"no Redis or Valkey answers at {NOWHERE}.*start it, or set TTS_BATCH_BROKER"
    ):
        calls.repeat(lambda _again: calls.client.ping())
    assert time.monotonic() - began_s < 5


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (redis.exceptions.AuthenticationError("no"), "redis://user:password@host"),
        (redis.exceptions.ReadOnlyError("no"), "name the primary"),
    ],
)
def test_what_repetition_cannot_mend_is_said_at_once(error: Exception, advice: str) -> None:
    calls = Calls(make_client("redis://me:secret@host:1"), retry_for_s=60)
    marks = []

    def call(again: bool) -> None:
        marks.append(again)
        raise error

    with pytest.raises(BrokerUnavailable, match=advice) as caught:
        calls.repeat(call)
    assert marks == [False]
    assert "host:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_server_that_loads_its_data_is_waited_for() -> None:
    with stub_server(LOADING, LOADING, b"+PONG") as url:
        calls = Calls(make_client(url), retry_for_s=30)
        before_s = calls.last_error_s
        assert calls.repeat(lambda _again: calls.client.ping())
        assert calls.last_error_s > before_s  # heartbeats are old now, and nobody is dead
        calls.client.close()
    with stub_server(LOADING) as url:
        calls = Calls(make_client(url), retry_for_s=0.05)
        with pytest.raises(BrokerUnavailable, match=r"the broker at 127\.0\.0\.1:\d+ has started and still loads"):
            calls.repeat(lambda _again: calls.client.ping())
        calls.client.close()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            b"-MISCONF Errors writing to the AOF file: No space left on device",
            r"cannot save its data \(Errors writing to the AOF file: No space left on device\); free space on the",
        ),
        (
            b"-OOM command not allowed when used memory > 'maxmemory'.",
            r"out of memory \(command not allowed when used memory > 'maxmemory'\); raise its maxmemory",
        ),
        (  # as Redis 6.2 tells it of a script
            b"-ERR Error running script (call to f_1): @user_script:12: @user_script: 12: -OOM command not allowed.",
            r"out of memory \(command not allowed\); raise its maxmemory",
        ),
    ],
)
def test_a_full_server_is_waited_for(reply: bytes, told: str) -> None:
    with stub_server(reply, reply, b"+PONG") as url:
        calls = Calls(make_client(url), retry_for_s=30)
        before_s = calls.last_error_s
        assert calls.repeat(lambda _again: calls.client.ping())
        assert calls.last_error_s > before_s
        calls.client.close()
    with stub_server(reply) as url:
        calls = Calls(make_client(url), retry_for_s=0.05)
        with pytest.raises(BrokerUnavailable, match=told):
            calls.repeat(lambda _again: calls.client.ping())
        calls.client.close()


def test_other_errors_of_the_server_are_not_waited_for() -> None:
    with stub_server(b"-BUSYGROUP Consumer Group name already exists", b"+PONG") as url:
        calls = Calls(make_client(url), retry_for_s=30)
        with pytest.raises(redis.exceptions.ResponseError, match="BUSYGROUP"):
            calls.repeat(lambda _again: calls.client.ping())
        calls.client.close()


@pytest.mark.services
def test_a_server_that_is_busy_with_a_script_is_waited_for() -> None:
    server = ValkeyServer("--busy-reply-threshold", "10").start()
    hasty, patient = (Calls(make_client(server.url), retry_for_s=seconds) for seconds in (0.0, 30.0))
    killed: list[str] = []

    def run_for_ever() -> None:
        with make_client(server.url) as client:
            try:
                client.eval("while true do end", 0)
            except redis.exceptions.ResponseError as error:
                killed.append(str(error))

    thread = threading.Thread(target=run_for_ever)
    thread.start()
    try:
        _wait_until_busy(hasty)
        for call in (
            lambda: hasty.script("sweep", 1, 1, 0),
            lambda: hasty.together([("TIME",), ("GET", "x")]),
        ):
            with pytest.raises(BrokerUnavailable, match=r"is busy with a long script; .*SCRIPT KILL"):
                call()
        timer = threading.Timer(0.1, hasty.client.script_kill)
        timer.start()
        assert patient.together([("GET", "x")]) == [None]
        timer.join()
    finally:
        server.close()
        thread.join()
    assert "killed" in killed[0]


def _wait_until_busy(calls: Calls) -> None:
    deadline_s = time.monotonic() + 30
    while True:
        try:
            calls.client.ping()
        except redis.exceptions.ResponseError:
            return
        assert time.monotonic() < deadline_s


@given(st.text("ab:@?/#%", max_size=12))
def test_a_url_is_shown_without_its_password(tail: str) -> None:
    for url in (f"redis://user:S3CRET{tail}@host:1/2", f"user:S3CRET{tail}@host:1"):
        assert "S3CRET" not in safe_url(url)
        assert "host:1" in safe_url(url)


def test_safe_url_keeps_what_helps() -> None:
    assert safe_url("rediss://u:p@host:6380/3?ssl_cert_reqs=none") == "rediss://host:6380/3"
    assert safe_url("unix:///run/v.sock") == "unix:///run/v.sock"
