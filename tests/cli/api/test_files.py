"""`/v1/files`: as OpenAI's clients send and read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.api.service import Limits
from cli.api.stored import Stored
from jobs.access.gate import Scope
from jobs.batches.records import DEFAULT_KEPT_S
from tests.helpers_api import Door, api, auth

DATA = b'{"custom_id": "a"}\n' * 1000


@pytest.fixture
def door() -> Iterator[Door]:
    with api(works=False) as made:
        yield made


def upload(door: Door, data: bytes = DATA, name: str = "lines.jsonl", **fields: str) -> Any:
    form = {"purpose": "batch"} | fields
    return door.client.post("/v1/files", files={"file": (name, data)}, data=form)


def file_of(door: Door, data: bytes = DATA, **fields: str) -> dict[str, Any]:
    answer = upload(door, data, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def error_of(answer: Any) -> tuple[int, str | None, str | None]:
    error = answer.json()["error"]
    assert error["message"]
    return answer.status_code, error["code"], error["param"]


def test_a_file_comes_back_as_it_was_sent(door: Door):
    made = file_of(door)
    assert made["id"].startswith("file-")
    assert (made["object"], made["bytes"], made["filename"]) == ("file", len(DATA), "lines.jsonl")
    assert (made["purpose"], made["status"], made["status_details"]) == ("batch", "processed", None)
    assert made["expires_at"] - made["created_at"] == DEFAULT_KEPT_S
    assert door.client.get(f"/v1/files/{made['id']}").json() == made
    content = door.client.get(f"/v1/files/{made['id']}/content")
    assert content.content == DATA
    assert content.headers["content-type"] == "application/jsonl"
    assert 'filename="lines.jsonl"' in content.headers["content-disposition"]
    head = door.client.head(f"/v1/files/{made['id']}/content")
    assert (head.content, head.headers["content-length"]) == (b"", str(len(DATA)))


def test_a_file_may_be_kept_for_a_shorter_time(door: Door):
    made = file_of(door, **{"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"})
    assert made["expires_at"] - made["created_at"] == 3600


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"purpose": "fine-tune"}, "purpose"),
        ({"expires_after[anchor]": "created_at", "expires_after[seconds]": "3599"}, "expires_after[seconds]"),
        ({"expires_after[anchor]": "created_at", "expires_after[seconds]": "2592001"}, "expires_after[seconds]"),
        ({"expires_after[anchor]": "last_used", "expires_after[seconds]": "3600"}, "expires_after[anchor]"),
        ({"expires_after[seconds]": "3600"}, "expires_after"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_not_taken(door: Door, fields: dict[str, str], param: str):
    status, _, told = error_of(upload(door, **fields))
    assert (status, told) == (400, param)
    assert list(door.store.list("")) == []


def test_a_form_without_a_file_is_refused(door: Door):
    assert error_of(door.client.post("/v1/files", data={"purpose": "batch"}))[::2] == (400, "file")


def test_a_file_over_the_limit_is_refused_and_leaves_nothing():
    with api(works=False, limits=Limits(upload_bytes=100_000)) as door:
        assert upload(door, b"x" * 90_000).status_code == 200
        before = list(door.store.list(""))
        assert upload(door, b"x" * 100_001).status_code == 413
        assert list(door.store.list("")) == before


def test_pages_in_both_orders(door: Door):
    made = [file_of(door, name=f"{n}.jsonl")["id"] for n in range(5)]
    newest = door.client.get("/v1/files", params={"limit": 2}).json()
    assert (newest["object"], newest["has_more"]) == ("list", True)
    listed = [one["id"] for one in newest["data"]]
    assert (newest["first_id"], newest["last_id"]) == (listed[0], listed[1])
    rest = door.client.get("/v1/files", params={"after": newest["last_id"]}).json()
    assert rest["has_more"] is False
    assert sorted(listed + [one["id"] for one in rest["data"]]) == sorted(made)
    oldest = door.client.get("/v1/files", params={"order": "asc"}).json()["data"]
    assert [one["id"] for one in oldest] == list(reversed(listed + [one["id"] for one in rest["data"]]))
    nothing = door.client.get("/v1/files", params={"purpose": "batch_output"}).json()
    assert (nothing["data"], nothing["first_id"], nothing["has_more"]) == ([], None, False)
    assert error_of(door.client.get("/v1/files", params={"after": "file-1"})) == (404, "unknown_file", "after")
    for bad in ({"limit": 0}, {"limit": 10_001}, {"order": "up"}, {"purpose": "x"}):
        assert door.client.get("/v1/files", params=bad).status_code == 400


def test_a_deleted_file_is_gone(door: Door):
    file = file_of(door)["id"]
    assert door.client.delete(f"/v1/files/{file}").json() == {"id": file, "object": "file", "deleted": True}
    for answer in (
        door.client.get(f"/v1/files/{file}"),
        door.client.get(f"/v1/files/{file}/content"),
        door.client.delete(f"/v1/files/{file}"),
    ):
        assert error_of(answer) == (404, "unknown_file", None)


@pytest.mark.parametrize("name", ["..%2f..%2fetc", "file-1", "%00", "file-%2e%2e", "x" * 5000])
def test_names_that_are_none(door: Door, name: str):
    assert door.client.get(f"/v1/files/{name}").status_code in (400, 404)
    assert door.client.get(f"/v1/files/{name}/content").status_code in (400, 404)


@pytest.mark.parametrize(
    ("wanted", "part"),
    [("bytes=0-9", DATA[:10]), ("bytes=100-", DATA[100:]), ("bytes=-7", DATA[-7:]), ("bytes=5-5", DATA[5:6])],
)
def test_ranges(door: Door, wanted: str, part: bytes):
    url = f"/v1/files/{file_of(door)['id']}/content"
    answer = door.client.get(url, headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (206, part)
    assert answer.headers["content-range"].endswith(f"/{len(DATA)}")
    stale = door.client.get(url, headers={"Range": wanted, "If-Range": '"other"'})
    assert (stale.status_code, stale.content) == (200, DATA)
    known = door.client.get(url, headers={"If-None-Match": answer.headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")


def test_a_range_behind_the_end(door: Door):
    answer = door.client.get(f"/v1/files/{file_of(door)['id']}/content", headers={"Range": f"bytes={len(DATA)}-"})
    assert error_of(answer) == (416, "range_not_satisfiable", None)
    assert answer.headers["content-range"] == f"bytes */{len(DATA)}"


def test_an_empty_file_is_empty(door: Door):
    answer = door.client.get(f"/v1/files/{file_of(door, b'')['id']}/content")
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "0")


@given(name=st.text(min_size=1, max_size=300))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_name_can_stand_in_a_header(name: str):
    told = Stored(None, "", "", name, "v").headers["Content-Disposition"]  # type: ignore[arg-type]
    assert told.isascii()
    assert told.isprintable()


def test_scopes():
    with api(works=False, token=(Scope.READ,)) as door:
        assert door.client.get("/v1/files").status_code == 200
        assert upload(door).status_code == 403
        assert door.client.delete("/v1/files/file-1").status_code == 403
        jobs = auth(door.token(Scope.JOBS))
        assert door.client.delete("/v1/files/file-1", headers=jobs).status_code == 404
        assert door.client.get("/v1/files", headers=jobs).status_code == 403
