"""`/v1/batches`: as OpenAI's clients send and read them; what becomes of lines is tested in `tests/jobs/batches`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cli.api.service import Limits, Service
from jobs.access.gate import Scope
from jobs.batches import clerk
from jobs.stores.memory import MemoryStore
from tests.helpers_api import Door, api, auth
from tests.jobs.batches.office import jsonl, request

ORDER = {"endpoint": "/v1/audio/speech", "completion_window": "24h"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clerk.run_clerk, "__kwdefaults__", {"every_s": 0.02})


@pytest.fixture
def door() -> Iterator[Door]:
    with api() as made:
        yield made


@pytest.fixture
def idle() -> Iterator[Door]:
    with api(idle=True) as made:
        yield made


def upload(door: Door, *lines: Any, **options: Any) -> str:
    files = {"file": ("lines.jsonl", jsonl(lines))}
    answer = door.client.post("/v1/files", files=files, data={"purpose": "batch"}, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def create(door: Door, *lines: Any, **order: Any) -> dict[str, Any]:
    answer = door.client.post("/v1/batches", json=ORDER | {"input_file_id": upload(door, *lines)} | order)
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(door: Door, batch: dict[str, Any], *statuses: str) -> dict[str, Any]:
    deadline_s = time.monotonic() + 30
    while (now := door.client.get(f"/v1/batches/{batch['id']}").json())["status"] not in statuses:
        assert time.monotonic() < deadline_s, now
        time.sleep(0.01)
    return now


def lines_of(door: Door, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in door.client.get(f"/v1/files/{file}/content").text.splitlines()]


def error_of(answer: Any) -> tuple[int, str | None, str | None]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["param"]


def test_a_batch_from_beginning_to_end(door: Door):
    asked = [request(f"line/{n} ä", f"Line {'abc'[n]} is here.", response_format="mp3") for n in range(3)]
    made = create(door, *asked, request("bad", voice="nobody"), metadata={"book": "one"})
    assert (made["object"], made["status"], made["endpoint"]) == ("batch", "validating", "/v1/audio/speech")
    assert (made["completion_window"], made["expires_at"] - made["created_at"]) == ("24h", 86_400)
    assert (made["errors"], made["output_file_id"], made["usage"], made["model"]) == (None, None, None, None)
    done = until(door, made, "completed")
    assert done["metadata"] == {"book": "one"}
    assert done["request_counts"] == {"total": 4, "completed": 3, "failed": 1}
    times = [done[name] for name in ("created_at", "in_progress_at", "finalizing_at", "completed_at")]
    assert times == sorted(times)
    assert (done["failed_at"], done["expired_at"], done["cancelling_at"], done["cancelled_at"]) == (None,) * 4
    outputs = lines_of(door, done["output_file_id"])
    assert [line["custom_id"] for line in outputs] == [line["custom_id"] for line in asked]
    for line in outputs:
        body = line["response"]["body"]
        audio = door.client.get(body["audio_url"])
        assert (audio.status_code, audio.headers["content-type"]) == (200, "audio/mpeg")
        assert hashlib.sha256(audio.content).hexdigest() == body["sha256"]
        part = door.client.get(body["audio_url"], headers={"Range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, audio.content[10:20])
        head = door.client.head(body["audio_url"])
        assert (head.content, head.headers["content-length"]) == (b"", str(len(audio.content)))
    (bad,) = lines_of(door, done["error_file_id"])
    assert (bad["custom_id"], bad["response"]["status_code"]) == ("bad", 400)
    error = bad["response"]["body"]["error"]
    assert (error["code"], error["param"], error["type"]) == ("voice_not_found", "voice", "invalid_request_error")
    assert "tts-batch" not in error["message"]
    files = door.client.get("/v1/files", params={"purpose": "batch_output"}).json()["data"]
    assert {file["id"] for file in files} == {done["output_file_id"], done["error_file_id"]}
    for file in files:
        assert file["bytes"] == len(door.client.get(f"/v1/files/{file['id']}/content").content)


def test_a_refused_file(idle: Door):
    done = until(idle, create(idle, request("a"), request("a"), b"x"), "failed")
    assert done["errors"]["object"] == "list"
    assert [(error["code"], error["line"]) for error in done["errors"]["data"]] == [
        ("duplicate_custom_id", 2),
        ("invalid_json_line", 3),
    ]
    assert done["failed_at"] >= done["created_at"]
    assert done["output_file_id"] is None


def test_a_cancelled_batch(idle: Door):
    made = until(idle, create(idle, request("a")), "in_progress")
    cancelled = idle.client.post(f"/v1/batches/{made['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"] in ("cancelling", "cancelled")) == (200, True)
    done = until(idle, made, "cancelled")
    assert done["request_counts"] == {"total": 1, "completed": 0, "failed": 1}
    assert done["cancelled_at"] >= done["cancelling_at"] >= done["in_progress_at"]
    assert [line["error"]["code"] for line in lines_of(idle, done["error_file_id"])] == ["batch_cancelled"]
    again = idle.client.post(f"/v1/batches/{made['id']}/cancel")
    assert error_of(again) == (409, "illegal_move", None)


@pytest.mark.parametrize(
    ("order", "param"),
    [
        ({"endpoint": "/v1/chat/completions"}, "endpoint"),
        ({"completion_window": "tomorrow"}, "completion_window"),
        ({"completion_window": None}, "completion_window"),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata"),
        ({"metadata": {"k" * 65: ""}}, f"metadata.{'k' * 65}.[key]"),
        ({"metadata": {"k": "v" * 513}}, "metadata.k"),
        ({"metadata": {"k": 1}}, "metadata.k"),
        ({"output_expires_after": {"anchor": "created_at", "seconds": 60}}, "output_expires_after.seconds"),
        ({"audio": "both"}, "audio"),
        ({"priority": "high"}, "priority"),
    ],
)
def test_orders_that_are_not_taken(idle: Door, order: dict[str, Any], param: str):
    answer = idle.client.post("/v1/batches", json=ORDER | {"input_file_id": upload(idle, request("a"))} | order)
    status, _, told = error_of(answer)
    assert (status, told) == (400, param)
    assert idle.client.get("/v1/batches").json()["data"] == []


def test_a_window_that_is_too_long(idle: Door):
    answer = idle.client.post(
        "/v1/batches", json=ORDER | {"input_file_id": upload(idle, request("a")), "completion_window": "31d"}
    )
    assert error_of(answer)[0] == 400


def test_files_that_are_none(idle: Door):
    for file in ("file-1", "../x", ""):
        answer = idle.client.post("/v1/batches", json=ORDER | {"input_file_id": file})
        assert error_of(answer)[:2] == (404, "unknown_file")


def test_the_output_of_a_batch_is_no_input(door: Door):
    done = until(door, create(door, request("a")), "completed")
    answer = door.client.post("/v1/batches", json=ORDER | {"input_file_id": done["output_file_id"]})
    assert error_of(answer)[0] == 400


def test_pages(idle: Door):
    made = [create(idle, request("a"))["id"] for _ in range(3)]
    page = idle.client.get("/v1/batches", params={"limit": 2}).json()
    rest = idle.client.get("/v1/batches", params={"after": page["last_id"]}).json()
    listed = [batch["id"] for batch in [*page["data"], *rest["data"]]]
    assert (sorted(listed), page["has_more"], rest["has_more"]) == (sorted(made), True, False)
    assert listed == sorted(made, reverse=True)
    assert error_of(idle.client.get("/v1/batches", params={"after": "x"}))[:2] == (404, "unknown_batch")
    assert idle.client.get("/v1/batches", params={"limit": 101}).status_code == 400


@pytest.mark.parametrize("name", ["batch_1", "..%2f..%2fetc", "batch_%00", "x" * 5000])
def test_names_that_are_none(idle: Door, name: str):
    for answer in (
        idle.client.get(f"/v1/batches/{name}"),
        idle.client.post(f"/v1/batches/{name}/cancel"),
        idle.client.get(f"/v1/batches/{name}/audio/a"),
    ):
        assert answer.status_code in (400, 404)


def test_audio_that_is_not_there(idle: Door):
    made = until(idle, create(idle, request("a")), "in_progress")
    for custom_id in ("a", "b", "../a", "%00"):
        assert idle.client.get(f"/v1/batches/{made['id']}/audio/{custom_id}").status_code in (400, 404)


def test_a_store_that_sends_by_itself_is_asked_to(door: Door, monkeypatch: pytest.MonkeyPatch):
    done = until(door, create(door, request("a")), "completed")
    (line,) = lines_of(door, done["output_file_id"])

    def presigned_url(_store: MemoryStore, key: str, ttl_s: int, *, filename: str, media_type: str) -> str:
        return f"https://bucket.example/{key}?for={ttl_s}"

    monkeypatch.setattr(MemoryStore, "presigned_url", presigned_url, raising=False)
    answer = door.client.get(line["response"]["body"]["audio_url"], follow_redirects=False)
    assert answer.status_code == 307
    assert answer.headers["location"].startswith("https://bucket.example/jobs/batch-")


def test_scopes_and_quota(monkeypatch: pytest.MonkeyPatch):
    with api(idle=True, token=(Scope.READ,)) as door:
        assert door.client.get("/v1/batches").status_code == 200
        assert door.client.post("/v1/batches", json=ORDER | {"input_file_id": "file-1"}).status_code == 403
        assert door.client.post("/v1/batches/batch_1/cancel").status_code == 403
        few = auth(door.token(Scope.JOBS, chars_per_day=20))
        file = upload(door, request("a", "x" * 15), headers=few)
        order = ORDER | {"input_file_id": file}
        assert door.client.post("/v1/batches", json=order, headers=few).status_code == 200
        over = door.client.post("/v1/batches", json=order, headers=few)
        assert error_of(over)[:2] == (429, "chars_per_day")
        assert int(over.headers["retry-after"]) > 0


def test_a_full_queue_takes_no_batch():
    with api(idle=True, limits=Limits(waiting_segments=1)) as door:
        until(door, create(door, request("a")), "in_progress")
        answer = door.client.post("/v1/batches", json=ORDER | {"input_file_id": upload(door, request("a"))})
        assert error_of(answer)[:2] == (503, "queue_full")
        assert "retry-after" in answer.headers


def test_the_input_of_a_line_has_the_servers_limit():
    with api(idle=True, limits=Limits(speech_chars=10)) as door:
        done = until(door, create(door, request("a", "eleven char")), "completed")
        (line,) = lines_of(door, done["error_file_id"])
        assert line["response"]["body"]["error"]["code"] == "string_above_max_length"


def test_a_service_works_on_batches_with_what_it_was_made_of():
    with api(works=False, aliases={"tts-1": "fake"}) as door:
        service: Service = door.service
        assert (service.desk.store, service.desk.truth) == (service.home, service.truth)
        assert service.desk.aliases == {"tts-1": "fake"}
