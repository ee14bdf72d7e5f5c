"""Every error has OpenAI's form and a fitting status, tells nothing of the inside, and is logged where it is ours."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.api.probes import RAISED, add_probes
from tests.helpers_api import Door, api

STATUS = {
    "unknown_job": 404,
    "object_missing": 404,
    "object_damaged": 500,
    "bad_output": 507,
    "bad_option": 400,
    "missing_extra": 400,
    "illegal_move": 409,
    "broker_unavailable": 503,
    "store_error": 503,
    "fenced": 500,
    "bad_source": 400,
    "api_error": 418,
    "unforeseen": 500,
    "half": 400,
}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with api(works=False) as made:
        add_probes(made.app)
        yield made


def error_of(response: object, status: int) -> dict[str, str | None]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    document = response.json()
    assert list(document) == ["error"]
    assert list(document["error"])[:4] == ["message", "type", "param", "code"]
    assert set(document["error"]) <= {"message", "type", "param", "code", "problems"}
    assert document["error"]["message"]
    return document["error"]


@pytest.mark.parametrize("name", list(RAISED))
def test_every_kind_has_its_status_and_shows_nothing_of_the_inside(door: Door, name: str) -> None:
    response = door.client.get(f"/v1/raise/{name}")
    error = error_of(response, STATUS[name])
    assert "secret-folder" not in response.text
    assert "Traceback" not in response.text
    assert error["type"] == (
        "server_error" if STATUS[name] >= 500 else "not_found_error" if STATUS[name] == 404 else "invalid_request_error"
    )


def test_errors_of_ours_keep_their_text_and_get_a_code(door: Door) -> None:
    error = error_of(door.client.get("/v1/raise/illegal_move"), 409)
    assert (error["message"], error["code"]) == ("a done job cannot be paused", "illegal_move")
    error = error_of(door.client.get("/v1/raise/bad_source"), 400)
    assert (error["message"], error["code"]) == ("line 3: nothing to speak", "no_text")
    assert error_of(door.client.get("/v1/broken-dependency"), 409)["code"] == "illegal_move"


def test_an_api_error_keeps_its_headers_and_parameter(door: Door) -> None:
    response = door.client.get("/v1/raise/api_error")
    assert error_of(response, 418) == {
        "message": "no coffee",
        "type": "invalid_request_error",
        "param": "pot",
        "code": "teapot",
    }
    assert response.headers["Retry-After"] == "7"


def test_who_cannot_be_served_now_is_told_when_to_come_back(door: Door) -> None:
    for name in ("broker_unavailable", "store_error"):
        assert int(door.client.get(f"/v1/raise/{name}").headers["Retry-After"]) > 0


def test_what_nobody_foresaw_is_logged_under_the_id_that_the_caller_sees(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    response = door.client.get("/v1/raise/unforeseen", headers={"X-Request-Id": "mine-1"})
    error_of(response, 500)
    assert response.headers["x-request-id"] == "mine-1"
    assert response.headers["x-content-type-options"] == "nosniff"
    (record,) = [one for one in caplog.records if one.exc_info]
    assert "mine-1" in record.getMessage()
    assert record.exc_info[0] is RuntimeError


def test_what_the_operator_must_know_is_logged_too(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    door.client.get("/v1/raise/store_error", headers={"X-Request-Id": "mine-2"})
    assert "request mine-2: StoreError: file:///home/ann/secret-folder refused" in caplog.text


def test_half_a_character_that_comes_by_another_way_is_a_bad_request(door: Door) -> None:
    """Met where text becomes bytes: what the guard of JSON bodies does not see, such as forms."""
    assert error_of(door.client.get("/v1/raise/half"), 400)["code"] == "string_unicode"


def test_an_unknown_path_and_a_wrong_method(door: Door) -> None:
    error = error_of(door.client.get("/v1/nothing"), 404)
    assert (error["type"], error["code"]) == ("not_found_error", "not_found")
    assert "/v1/nothing" in str(error["message"])
    response = door.client.put("/v1/echo")
    assert error_of(response, 405)["code"] == "method_not_allowed"
    assert response.headers["Allow"] == "POST"
    for path, allowed in {"/v1/jobs": "GET, POST", "/v1/jobs/x": "GET, DELETE", "/v1/files": "GET, POST"}.items():
        response = door.client.put(path)
        assert response.headers["Allow"] == allowed
        assert str(error_of(response, 405)["message"]).endswith(f"use {allowed}")


def test_nobody_is_sent_elsewhere(door: Door) -> None:
    """The framework's redirect of a path with one slash more goes to the Host that was sent, and never to https."""
    response = door.client.get("/v1/jobs/", headers={"Host": "evil.example"}, follow_redirects=False)
    assert error_of(response, 404)["code"] == "not_found"


# ── bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (b"{", "json_invalid", None),
        (b"", "missing", None),
        (b"\xff\xfe", "string_unicode", None),
        ('{"text": "a"}'.encode("utf-16"), "string_unicode", None),
        ('{"text": "a"}'.encode("utf-16-le"), "nul_character", None),
        (b'{"text": "\xed\xa0\x80"}', "string_unicode", None),
        (b'{"text": "a\x00"}', "nul_character", None),
        (b'{"text": "a\\u0000"}', "nul_character", None),
        (b'{"text": "\\\\\\u0000"}', "nul_character", None),
        (b"[" * 100_000, "json_invalid", None),
        (b'{"text": "a", "number": ' + b"9" * 5000 + b"}", "json_invalid", None),
        (b"[]", "model_attributes_type", None),
        (b"{}", "missing", "text"),
        (b'{"text": "a", "unknown": 1}', "extra_forbidden", "unknown"),
        (b'{"text": "a", "\\ud800": 1}', "string_unicode", None),
        (b'{"text": 1}', "string_type", "text"),
        (b'{"text": "a", "number": 0}', "greater_than_equal", "number"),
        (b'{"text": "a", "number": NaN}', None, "number"),
        (b'{"text": "a", "number": Infinity}', None, "number"),
        (b'{"text": "\\ud800"}', "string_unicode", None),
        (b'{"text": "\\uDC00\\uD800"}', "string_unicode", None),
        (b'{"text": "\\\\ud83d\\ude00"}', "string_unicode", None),
        (b'{"text": "a", "more": {"deep": ["\\udfff"]}}', "string_unicode", None),
        (b'{"text": "a", "more": {"\\udfff": 1}}', "string_unicode", None),
    ],
)
def test_a_body_that_is_wrong(door: Door, body: bytes, code: str | None, param: str | None) -> None:
    response = door.client.post("/v1/echo", content=body, headers=JSON)
    error = error_of(response, 400)
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert code in {error["code"], None}


@pytest.mark.parametrize(
    ("body", "told"), [({"text": "a", "unknown": 1}, "unknown: there is no such field here"), ([], "a JSON object")]
)
def test_what_a_body_should_be_is_told_in_words_of_json(door: Door, body: object, told: str) -> None:
    assert told in str(error_of(door.client.post("/v1/echo", json=body), 400)["message"])


def test_what_was_sent_is_not_repeated(door: Door) -> None:
    body = {"text": ["ttsb_a-secret-in-the-wrong-place"]}
    assert "ttsb_" not in door.client.post("/v1/echo", json=body).text


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "nonsense"]
)
def test_another_content_type_is_415(door: Door, kind: str) -> None:
    response = door.client.post("/v1/echo", content=b'{"text": "a"}', headers={"Content-Type": kind})
    assert error_of(response, 415)["code"] == "unsupported_media_type"


WHOLE = b'{"text": "\xc3\xa4\xf0\x9f\x98\x80\\ud83d\\uDE00\\\\u0000\\\\ud800"}'
"""Whole characters, raw and escaped, and escaped backslashes that only look like the start of another escape."""


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_is_json(door: Door, kind: str) -> None:
    response = door.client.post("/v1/echo", content=WHOLE, headers={"Content-Type": kind})
    assert response.json() == {"text": "ä😀😀\\u0000\\ud800", "number": 1, "more": {}}


@pytest.mark.parametrize("path", ["/%00", "/v1/jobs/%00", "/v1/jobs/a%00b/files/c", "/v1/files/%00/content"])
def test_a_nul_in_a_path_is_a_bad_request(door: Door, path: str) -> None:
    assert error_of(door.client.get(path), 400)["code"] == "bad_path"


@pytest.mark.parametrize(
    "path", ["/%ff", "/v1/jobs/%ed%a0%80", "/v1/jobs/..%2f..%2fetc%2fpasswd", "/v1/jobs/%0d%0aX:y"]
)
def test_a_path_that_is_no_text_is_not_found(door: Door, path: str) -> None:
    error_of(door.client.get(path), 404)


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(codec=None), max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["text", "number", "more", "\ud800"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_body_makes_the_server_fail(door: Door, body: object) -> None:
    response = door.client.post("/v1/echo", content=json.dumps(body), headers=JSON)
    assert response.status_code in {200, 400}
    assert response.status_code == 200 or response.json()["error"]["message"]


def test_a_form_that_is_broken(door: Door) -> None:
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", 'multipart/form-data; boundary="\xe9"'):
        response = door.client.post("/v1/form", content=b"--y\r\n", headers={"Content-Type": kind.encode("latin-1")})
        assert response.status_code in {200, 400}, response.text
        assert response.status_code == 200 or error_of(response, 400)


def test_the_description_says_how_errors_look() -> None:
    with api(works=False) as door:
        described = door.client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert "422" not in operation["responses"], f"{method} {path}"
            schema = operation["responses"]["default"]["content"]["application/json"]["schema"]
            assert schema["$ref"].endswith("/ErrorAnswer"), f"{method} {path}"
