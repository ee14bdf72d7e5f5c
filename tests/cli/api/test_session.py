"""`/v1/session`: the page's user logs in and out; what the page is told; who cannot."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie

import pytest
from starlette.testclient import TestClient

from cli.api.access import COOKIE
from cli.api.session import COOKIE_S
from jobs.access.gate import Scope
from tests.cli.api.probes import add_probes
from tests.helpers_api import Door, api, auth

HERE = "http://127.0.0.1"


@pytest.fixture
def door() -> Iterator[Door]:
    with api(works=False) as made:
        add_probes(made.app)
        yield made


def cookie_of(response: object) -> SimpleCookie:
    return SimpleCookie(response.headers["set-cookie"])


def test_a_page_logs_in_acts_and_logs_out(door: Door) -> None:
    secret = door.token(Scope.READ, Scope.JOBS)
    page = TestClient(door.app, base_url=HERE, headers={"Origin": HERE})
    assert page.get("/v1/session").json() == {"object": "session", "token_needed": True, "name": None, "scopes": []}
    response = page.post("/v1/session", json={"token": secret})
    assert (response.status_code, response.content) == (204, b"")
    told = page.get("/v1/session").json()
    assert told == {"object": "session", "token_needed": True, "name": "test", "scopes": ["read", "jobs"]}
    assert page.post("/v1/probe/jobs").status_code == 200
    assert page.delete("/v1/session").status_code == 204
    assert page.get("/v1/probe/read").status_code == 401
    assert door.client.get("/v1/probe/read", headers=auth(secret)).status_code == 200, "the token itself stays good"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(door: Door) -> None:
    secret = door.token(Scope.READ)
    for base, secure in ((HERE, False), ("https://tts.example", True)):
        page = TestClient(door.app, base_url=base)
        for response in (page.post("/v1/session", json={"token": secret}), page.delete("/v1/session")):
            cookie = cookie_of(response)[COOKIE]
            assert cookie["httponly"] is True
            assert cookie["samesite"] == "strict"
            assert cookie["path"] == "/"
            assert cookie["domain"] == ""
            assert bool(cookie["secure"]) is secure


def test_the_cookie_is_for_tls_alone_behind_a_proxy_that_ends_it(door: Door) -> None:
    secret = door.token(Scope.READ)
    page = TestClient(door.app, base_url="http://tts.example", headers={"Origin": "https://tts.example"})
    assert cookie_of(page.post("/v1/session", json={"token": secret}))[COOKIE]["secure"]


def test_the_cookie_ends_with_the_token(door: Door) -> None:
    forever, soon = door.token(Scope.READ), door.token(Scope.READ, expires_at_s=time.time() + 100)
    ages = [
        int(cookie_of(door.client.post("/v1/session", json={"token": secret}))[COOKIE]["max-age"])
        for secret in (forever, soon)
    ]
    assert ages[0] == COOKIE_S
    assert 0 < ages[1] <= 100


@pytest.mark.parametrize("token", ["wrong", "ttsb_", "x" * 200, "é", "\ud800", "a\nSet-Cookie: b=c"])
def test_a_wrong_token_sets_no_cookie(door: Door, token: str) -> None:
    door.token(Scope.READ)
    body, headers = json.dumps({"token": token}), {"Content-Type": "application/json"}
    response = door.client.post("/v1/session", content=body, headers=headers)
    assert response.status_code in {400, 401}
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "body", [{}, {"token": ""}, {"token": 1}, {"token": "x" * 201}, {"token": "x", "scope": "all"}]
)
def test_a_body_of_another_form_is_refused(door: Door, body: dict[str, object]) -> None:
    response = door.client.post("/v1/session", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_another_site_can_log_nobody_in_or_out(door: Door, headers: dict[str, str]) -> None:
    secret = door.token(Scope.READ)
    for response in (
        door.client.post("/v1/session", json={"token": secret}, headers=headers),
        door.client.delete("/v1/session", headers=headers),
    ):
        assert response.status_code == 403
        assert "set-cookie" not in response.headers


def test_without_tokens_the_page_may_do_everything(door: Door) -> None:
    told = door.client.get("/v1/session").json()
    assert told == {"object": "session", "token_needed": False, "name": None, "scopes": [s.value for s in Scope]}


def test_a_server_for_others_asks_for_a_token_before_one_exists() -> None:
    with api(works=False, open=False, host="0.0.0.0") as door:
        assert door.client.get("/v1/session").json()["token_needed"] is True
        assert door.client.get("/v1/session").json()["scopes"] == []


def test_a_cookie_of_a_removed_token_is_as_none(door: Door) -> None:
    door.client.cookies.set(COOKIE, "ttsb_gone")
    door.token(Scope.READ)
    assert door.client.get("/v1/session").json()["scopes"] == []
