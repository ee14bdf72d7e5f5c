"""`/livez`, `/healthz` and `/metrics`: the truth about this server and what it stands on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from jobs.access.gate import Scope
from jobs.errors import BrokerUnavailable, StoreError
from jobs.stores import MemoryStore
from tests.helpers_api import Door, api, auth, running_server


def broken(kind: type[Exception], text: str):
    def fail(*_: object, **__: object) -> None:
        raise kind(text)

    return fail


@pytest.fixture
def door() -> Iterator[Door]:
    with api(idle=True) as made:
        yield made


def figures(door: Door, **headers: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = door.client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(found: dict, name: str, **labels: str) -> float:
    return found.get((f"tts_batch_{name}", tuple(sorted(labels.items()))), 0.0)


# ── health ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_all_is_well(door: Door):
    answer = door.client.get("/healthz")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "status": "ok",
        "failing": [],
        "details": {
            "problems": {},
            "workers": {"count": 1, "by_device": {"cpu": 1}, "models": ["fake"]},
            "queue": {"live": 0, "normal": 0, "bulk": 0, "held": 0},
        },
    }


def test_without_workers_work_is_taken_but_it_is_told():
    with api(works=False) as door:
        answer = door.client.get("/healthz")
    assert answer.status_code == 200
    found = answer.json()
    assert (found["status"], found["failing"]) == ("degraded", ["workers"])
    assert "jobs wait" in found["details"]["problems"]["workers"]


def test_a_store_that_cannot_be_written(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MemoryStore, "put", broken(StoreError, "no space left on /secret"))
    answer = door.client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["failing"] == ["store"]
    assert answer.json()["details"]["problems"] == {"store": "no space left on /secret"}


def test_a_broker_that_is_away(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(door.truth), "workers", broken(BrokerUnavailable, "nothing at redis://secret"))
    answer = door.client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "failing": ["broker"], "details": None}
    assert door.client.get("/livez").json() == {"status": "ok"}


def test_health_is_told_while_every_other_route_waits(monkeypatch: pytest.MonkeyPatch):
    """More callers than the other routes have threads, all waiting for a broker that hangs."""
    with api(idle=True) as door, running_server(door.service) as url, ThreadPoolExecutor(60) as callers:
        free, depth = threading.Event(), type(door.truth).depth
        monkeypatch.setattr(type(door.truth), "depth", lambda self: (free.wait(60), depth(self))[1])
        waiting = [callers.submit(httpx.get, f"{url}/v1/workers", timeout=60) for _ in range(60)]
        try:
            answer = httpx.get(f"{url}/healthz", timeout=30)
            assert not any(one.done() for one in waiting)
        finally:
            free.set()
        assert (answer.status_code, answer.json()["failing"]) == (503, ["broker"])
        assert {one.result().status_code for one in waiting} == {200}


def test_who_may_not_read_learns_the_state_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MemoryStore, "put", broken(StoreError, "no space left on /secret"))
    with api(idle=True) as door:
        reader, speaker = (auth(door.token(scope)) for scope in (Scope.READ, Scope.SPEAK))
        assert "secret" in door.client.get("/healthz", headers=reader).text
        for headers in ({}, speaker, auth("wrong")):
            answer = door.client.get("/healthz", headers=headers)
            assert answer.status_code == 503
            assert answer.json() == {"status": "unavailable", "failing": ["store"], "details": None}


def test_many_callers_do_not_write_the_store_each(door: Door, monkeypatch: pytest.MonkeyPatch):
    written = []
    put = MemoryStore.put
    monkeypatch.setattr(MemoryStore, "put", lambda self, key, data: (written.append(key), put(self, key, data)))
    for _ in range(20):
        assert door.client.get("/healthz").status_code == 200
    assert len(written) == 1


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_requests_are_counted_by_route_not_by_path(door: Door):
    for path in ("/v1/models/one", "/v1/models/two", "/v1/models", "/v1/audio/voices/x", "/nowhere/1", "/nowhere/2"):
        door.client.get(path)
    found = figures(door)
    count = lambda route, status: value(found, "api_requests_total", method="GET", route=route, status=status)  # noqa: E731
    assert count("/v1/models/{model:path}", "404") == 2
    assert count("/v1/models", "200") == 1
    assert count("/v1/audio/voices/{voice}", "404") == 1
    assert count("none", "404") == 2
    assert value(found, "api_request_seconds_count", route="/v1/models/{model:path}") == 2
    assert value(found, "api_errors_total", kind="model_not_found", status="404") == 2
    assert value(found, "api_errors_total", kind="not_found", status="404") == 2
    assert value(found, "api_requests_running") == 1, "this one"
    assert "nowhere" not in door.client.get("/metrics").text


def test_an_odd_method_is_not_a_label_of_its_own(door: Door):
    door.client.request("BREW", "/v1/models")
    assert value(figures(door), "api_requests_total", method="other", route="none", status="405") <= 1
    assert "BREW" not in door.client.get("/metrics").text


def test_a_fault_of_ours_is_counted(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(door.truth), "workers", broken(ZeroDivisionError, "x"))
    assert door.client.get("/v1/workers").status_code == 500
    monkeypatch.undo()
    found = figures(door)
    assert value(found, "api_requests_total", method="GET", route="/v1/workers", status="500") == 1
    assert value(found, "api_errors_total", kind="internal_error", status="500") == 1


def test_refusals_are_counted_by_their_code(door: Door):
    headers = auth(door.token(Scope.READ, requests_per_minute=1))
    codes = [door.client.get("/v1/models", headers=headers).status_code for _ in range(3)]
    assert codes == [200, 429, 429]
    found = figures(door, **auth(door.token(Scope.READ)))
    assert value(found, "api_errors_total", kind="requests_per_minute", status="429") == 2


def test_queue_and_workers_are_there_too(door: Door):
    found = figures(door)
    assert value(found, "broker_up") == 1
    assert value(found, "worker_slots", worker="idle-1", device="cpu") == 4
    assert ("tts_batch_api_streams_open", ()) in found


def test_without_a_broker_the_figures_of_this_server_are_still_told(door: Door, monkeypatch: pytest.MonkeyPatch):
    door.client.get("/v1/models")
    monkeypatch.setattr(type(door.truth), "jobs", broken(BrokerUnavailable, "away"))
    found = figures(door)
    assert value(found, "broker_up") == 0
    assert value(found, "api_requests_total", method="GET", route="/v1/models", status="200") == 1


def test_two_servers_in_one_process_count_for_themselves(door: Door):
    with api(idle=True) as other:
        other.client.get("/v1/models")
        assert value(figures(other), "api_requests_total", method="GET", route="/v1/models", status="200") == 1
    assert value(figures(door), "api_requests_total", method="GET", route="/v1/models", status="200") == 0


def test_figures_need_the_scope_to_read():
    with api(idle=True, token=(Scope.SPEAK,)) as door:
        assert door.client.get("/metrics").status_code == 403
        assert door.client.get("/metrics", headers={"Authorization": ""}).status_code == 401
        assert value(figures(door, **auth(door.token(Scope.READ))), "broker_up") == 1


def test_every_name_has_our_prefix_and_a_text(door: Door):
    text = door.client.get("/metrics").text
    names = re.findall(r"^# HELP (\S+) (.+)$", text, re.MULTILINE)
    assert len(names) > 12
    assert all(name.startswith("tts_batch_") and help_text.endswith(".") for name, help_text in names)
