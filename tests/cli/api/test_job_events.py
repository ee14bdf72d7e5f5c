"""`/v1/jobs/{id}/events`: server-sent events, whole, in order, from any of them on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from cli.api import job_events
from jobs.errors import BrokerUnavailable
from jobs.events import Event
from tests.helpers_api import Door, api, running_server
from tests.helpers_cli import wait_until

BOOK = "# One\n\nHello there. It is late.\n\n# Two\n\nGood night.\n"


def submitted(door: Door) -> str:
    answer = door.client.post("/v1/jobs", json={"text": BOOK, "name": "book.md", "model": "fake"})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def parsed(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """The fields of each message; a comment is the field ""."""
    message: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            message[name] = value.strip()
        elif message:
            yield message
            message = {}


def messages(answer: httpx.Response) -> list[dict[str, str]]:
    return list(parsed(iter(answer.text.split("\n"))))


def test_a_finished_job_is_told_whole_and_ends():
    with api() as door:
        job = submitted(door)
        door.wait(job)
        answer = door.client.get(f"/v1/jobs/{job}/events")
        kept = door.streams.events(job)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    first, *told = messages(answer)
    assert first == {"retry": "2000"}
    assert [message["id"] for message in told] == [entry for entry, _event in kept]
    for message, (_entry, event) in zip(told, kept, strict=True):
        assert message["event"] == event.kind
        assert Event.model_validate_json(message["data"]) == event
    assert json.loads(told[-1]["data"])["state"] == "done"


@pytest.mark.parametrize("how", ["header", "query"])
def test_a_reader_goes_on_after_the_last_event_it_saw(how: str):
    with api() as door:
        job = submitted(door)
        door.wait(job)
        ids = [entry for entry, _event in door.streams.events(job)]
        for seen in (0, len(ids) // 2, len(ids) - 1):
            sent: dict[str, Any] = {"headers": {"Last-Event-ID": ids[seen]}}
            if how == "query":
                sent = {"params": {"after": ids[seen]}}
            _retry, *told = messages(door.client.get(f"/v1/jobs/{job}/events", **sent))
            assert [message["id"] for message in told] == ids[seen + 1 :]
        # A browser keeps the address that it was given and tells better where it is.
        both = {"headers": {"Last-Event-ID": ids[-2]}, "params": {"after": "0"}}
        assert [m.get("id") for m in messages(door.client.get(f"/v1/jobs/{job}/events", **both))] == [None, ids[-1]]


@pytest.mark.parametrize("named", ["x", "1", "-1", "1-", "$", "1-0-0", "9" * 30 + "-0", "１-0"])
def test_what_is_no_id_is_refused(named: str):
    with api(idle=True) as door:
        job = submitted(door)
        error = door.client.get(f"/v1/jobs/{job}/events", params={"after": named})
        assert (error.status_code, error.json()["error"]["code"]) == (400, "bad_event_id")
        assert error.json()["error"]["param"] == "after"
        if named.isascii():
            error = door.client.get(f"/v1/jobs/{job}/events", headers={"Last-Event-ID": named})
            assert (error.status_code, error.json()["error"]["param"]) == (400, "Last-Event-ID")


def test_events_come_as_they_happen_and_a_reader_that_leaves_frees_its_place():
    with api(idle=True) as door, running_server(door.service) as url, httpx.Client(timeout=30) as client:
        job = submitted(door)
        with client.stream("GET", f"{url}/v1/jobs/{job}/events") as answer:
            told = parsed(answer.iter_lines())
            assert next(told) == {"retry": "2000"}
            assert [json.loads(next(told)["data"])["state"] for _ in range(2)] == ["planning", "queued"]
            door.truth.pause(job)
            paused = next(told)
            assert json.loads(paused["data"])["state"] == "paused"
        door.truth.cancel(job)
        again = client.get(f"{url}/v1/jobs/{job}/events", headers={"Last-Event-ID": paused["id"]})
        states = [json.loads(message["data"])["state"] for message in messages(again)[1:]]
    assert states == ["cancelled"]


def test_a_silent_stream_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(job_events, "KEEP_ALIVE_S", 0.01)
    with api(idle=True) as door, running_server(door.service) as url, httpx.Client(timeout=30) as client:
        job = submitted(door)
        with client.stream("GET", f"{url}/v1/jobs/{job}/events", params={"after": "0"}) as answer:
            told = parsed(answer.iter_lines())
            assert [next(told).get("event") for _ in range(3)] == [None, "job", "job"]
            assert next(told) == {"": "still here"}
            door.truth.cancel(job)
            assert [message.get("event") for message in told if "" not in message] == ["job"]


def test_a_server_that_is_to_end_lets_its_readers_go():
    with api(idle=True) as door, running_server(door.service) as url, httpx.Client(timeout=30) as client:
        job = submitted(door)
        with client.stream("GET", f"{url}/v1/jobs/{job}/events") as answer:
            told = parsed(answer.iter_lines())
            assert [next(told).get("event") for _ in range(3)] == [None, "job", "job"]
            door.service.stopping.set()
            assert list(told) == []


def test_a_job_that_is_purged_ends_its_readers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(job_events, "KEEP_ALIVE_S", 0.01)
    with api(idle=True) as door, running_server(door.service) as url, httpx.Client(timeout=30) as client:
        job = submitted(door)
        with client.stream("GET", f"{url}/v1/jobs/{job}/events") as answer:
            told = parsed(answer.iter_lines())
            next(told)
            door.truth.cancel(job)
            door.truth.forget(job)
            wait_until(lambda: all("data" in message or "" in message for message in told), "it ends")


def test_a_broker_that_goes_away_breaks_the_stream_off_and_is_one_line_of_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    with api(idle=True) as door, running_server(door.service) as url, httpx.Client(timeout=30) as client:
        job = submitted(door)

        def away(*_args: object, **_more: object) -> None:
            raise BrokerUnavailable("no Redis or Valkey answers at queue:6379; start it")

        with client.stream("GET", f"{url}/v1/jobs/{job}/events") as answer:
            told = parsed(answer.iter_lines())
            assert [next(told).get("event") for _ in range(3)] == [None, "job", "job"]
            monkeypatch.setattr(door.service.streams, "events", away)
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
                next(told)
        (line,) = [one for one in caplog.records if one.name.startswith("cli.")]
        assert (line.levelname, line.exc_info) == ("WARNING", None)
        assert "was broken off: no Redis" in line.message
        assert not [one for one in caplog.records if one.exc_info]
        monkeypatch.undo()


def test_a_retry_goes_on_in_the_same_stream():
    with api(idle=True) as door:
        job = submitted(door)
        door.truth.move_job(job, door.truth.job(job).state.FAILED, reason="the disk was full")
        ended = messages(door.client.get(f"/v1/jobs/{job}/events"))[-1]
        assert json.loads(ended["data"])["state"] == "failed"
        assert json.loads(ended["data"])["reason"] == "the disk was full"
        assert door.client.post(f"/v1/jobs/{job}/retry", json={"failed": True}).json()["state"] == "queued"
        door.truth.cancel(job)
        _retry, *more = messages(door.client.get(f"/v1/jobs/{job}/events", params={"after": ended["id"]}))
        assert [json.loads(message["data"])["state"] for message in more] == ["queued", "cancelled"]
