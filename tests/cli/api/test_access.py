"""Who is let in: tokens, scopes, rates and quotas; the cookie; a server without tokens; other sites' pages."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from starlette.testclient import TestClient

from cli.api.access import COOKIE
from cli.api.app import make_app
from jobs.access.gate import Quota, Scope
from jobs.access.tokens import digest_of, new_token
from jobs.settings import Settings
from tests.cli.api.probes import add_probes
from tests.helpers_api import Door, add_token, api, auth, running_server, service_over
from tests.helpers_valkey import ValkeyServer, shared_server

HERE = "http://127.0.0.1"
EVIL = "https://evil.example"


@pytest.fixture
def door() -> Iterator[Door]:
    """A server without tokens, for this machine alone."""
    with api(works=False) as made:
        add_probes(made.app)
        yield made


@pytest.fixture
def closed() -> Iterator[Door]:
    """A server with a token that nobody here has."""
    with api(works=False) as made:
        add_probes(made.app)
        made.token(Scope.READ)
        yield made


def denied(response: Any, status: int, code: str) -> str:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == code
    return str(error["message"])


# ── tokens and scopes ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("scope", list(Scope))
def test_a_token_opens_the_routes_of_its_scopes_and_no_others(closed: Door, scope: Scope) -> None:
    headers = auth(closed.token(scope))
    for other in Scope:
        response = closed.client.get(f"/v1/probe/{other}", headers=headers)
        if other is scope:
            assert response.json() == {"caller": "test"}
        else:
            message = denied(response, 403, "missing_scope")
            assert repr(other.value) in message
            assert f"only {scope.value}" in message
            assert response.json()["error"]["type"] == "permission_error"


def test_without_a_token_the_answer_says_how_to_show_one(closed: Door) -> None:
    response = closed.client.get("/v1/probe/read")
    assert "Authorization: Bearer" in denied(response, 401, "missing_api_key")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="tts-batch"'
    assert response.json()["error"]["type"] == "authentication_error"


OPEN_TO_ALL = {"/livez", "/healthz", "/v1/session"}


def operations(door: Door) -> list[tuple[str, str]]:
    """Every (method, path) of the API, with a name in the place of each parameter."""
    described = door.app.openapi()["paths"]
    return [
        (method.upper(), re.sub(r"{\w+(:path)?}", "x", path))
        for path, methods in described.items()
        for method in methods
        if path not in OPEN_TO_ALL
    ]


def test_every_route_of_the_api_asks_for_a_token_first() -> None:
    with api(works=False) as door:
        door.token(Scope.READ)
        asked = operations(door)
        assert len(asked) > 30
        for method, path in asked:
            response = door.client.request(method, path, content=b"{" if method == "POST" else None)
            assert response.status_code == 401, (method, path)
            assert response.json()["error"]["code"] == "missing_api_key"


def test_no_route_changes_anything_for_a_token_that_only_reads() -> None:
    with api(works=False, token=(Scope.READ,)) as door:
        forms = {"file": ("a.txt", b"One.", "text/plain")}
        for method, path in operations(door):
            if method != "GET" and path != "/v1/plans":
                files, body = (forms, None) if path == "/v1/files" else (None, {})
                response = door.client.request(method, path, json=body, files=files)
                assert response.status_code == 403, (method, path, response.text)


@pytest.mark.parametrize(
    "name",
    ["%0d%0aSet-Cookie:a=b", "%ed%a0%80", "..%2f..%2f..%2fetc%2fpasswd", "x" * 5000, "%7f%1b[0m", "*", "file:%2f%2fx"],
)
def test_no_name_makes_a_route_fail(name: str) -> None:
    with api(works=False) as door:
        described = door.app.openapi()["paths"]
        for path in (path for path in described if "{" in path):
            for method in described[path]:
                response = door.client.request(method.upper(), re.sub(r"{[^}]*}", name, path), follow_redirects=False)
                assert response.status_code < 500, (method, path, response.text)
                assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic {secret}",
        "{secret}",
        "Token {secret}",
        "Bearer {secret}x",
        "Bearer {secret} {secret}",
        "Bearer {secret},Bearer x",
        'Bearer "{secret}"',
        "Bearer " + "x" * 50_000,
        "Bearer é\xff",
    ],
)
def test_what_is_no_bearer_token_is_refused(closed: Door, header: str) -> None:
    value = header.format(secret=closed.token(Scope.READ)).encode("latin-1")
    response = closed.client.get("/v1/probe/read", headers={"Authorization": value})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_the_scheme_may_be_in_any_case(closed: Door) -> None:
    secret = closed.token(Scope.READ)
    for scheme in ("bearer", "BEARER"):
        assert closed.client.get("/v1/probe/read", headers={"Authorization": f"{scheme} {secret}"}).status_code == 200


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "key", "authorization", COOKIE])
def test_a_token_in_the_query_or_a_body_is_no_token(closed: Door, name: str) -> None:
    secret = closed.token(Scope.READ)
    denied(closed.client.get(f"/v1/probe/read?{name}={secret}"), 401, "missing_api_key")
    denied(closed.client.post("/v1/probe/read", data={name: secret}), 401, "missing_api_key")


def test_a_removed_or_expired_token_opens_nothing(closed: Door) -> None:
    over = closed.token(Scope.READ, expires_at_s=time.time() - 1)
    message = denied(closed.client.get("/v1/probe/read", headers=auth(over)), 401, "invalid_api_key")
    assert "expired" in message
    gone = closed.token(Scope.READ)
    assert closed.client.get("/v1/probe/read", headers=auth(gone)).status_code == 200
    (token,) = [token for token in closed.service.gate.tokens() if token.digest == digest_of(gone)]
    closed.service.gate.remove(token.token)
    denied(closed.client.get("/v1/probe/read", headers=auth(gone)), 401, "invalid_api_key")


def test_the_broker_is_asked_once_for_each_request(closed: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, gate, asked = closed.token(Scope.READ), closed.service.gate, []
    find = gate.find
    monkeypatch.setattr(gate, "find", lambda text: (asked.append(text), find(text))[1])
    assert closed.client.post("/v1/probe/read", headers=auth(secret)).status_code == 200
    assert asked == [secret]


@pytest.mark.services
def test_two_servers_of_one_redis_know_the_same_tokens_and_share_their_rates() -> None:
    server = shared_server()
    server.flush()
    settings = Settings(broker=server.url, store=f"memory://{uuid4().hex}")
    services = [service_over(settings) for _ in range(2)]
    try:
        secret = add_token(services[0], Scope.READ, requests_per_minute=4)
        with running_server(services[0]) as first, running_server(services[1]) as second:
            answers = [httpx.get(f"{url}/v1/models", headers=auth(secret)) for url in (first, second) * 3]
            assert [response.status_code for response in answers] == [200] * 4 + [429] * 2
            assert all(int(response.headers["Retry-After"]) >= 1 for response in answers[4:])
            services[1].gate.remove(services[0].gate.tokens()[0].token)
            assert httpx.get(f"{first}/v1/models").status_code == 200, "no token is left, and this is this machine"
    finally:
        for service in services:
            service.broker.close()


@pytest.mark.services
def test_without_a_broker_nobody_is_let_in() -> None:
    server = ValkeyServer().start()
    settings = Settings(broker=server.url, store=f"memory://{uuid4().hex}")
    service = service_over(settings)
    try:
        secret = add_token(service, Scope.READ)
        client = TestClient(make_app(service), base_url=HERE)
        assert client.get("/v1/models", headers=auth(secret)).status_code == 200
        service.broker.calls._retry_for_s = 0.0
        server.kill()
        for headers in ({}, auth(secret), auth("wrong")):
            response = client.get("/v1/models", headers=headers)
            assert response.status_code == 503
            assert str(server.folder) not in response.text
            assert int(response.headers["Retry-After"]) >= 1
    finally:
        service.broker.close()
        server.close()


# ── rates and quotas ────────────────────────────────────────────────────────────────────────────────────────────────
def test_over_its_rate_a_token_waits_as_the_headers_say(closed: Door) -> None:
    headers = auth(closed.token(Scope.READ, requests_per_minute=3))
    left = [closed.client.get("/v1/probe/read", headers=headers) for _ in range(3)]
    assert [r.headers["x-ratelimit-remaining-requests"] for r in left] == ["2", "1", "0"]
    assert {r.headers["x-ratelimit-limit-requests"] for r in left} == {"3"}
    refused = closed.client.get("/v1/probe/read", headers=headers)
    assert "3 requests per minute" in denied(refused, 429, "requests_per_minute")
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert 1 <= int(refused.headers["Retry-After"]) <= 20
    assert refused.headers["x-ratelimit-remaining-requests"] == "0"
    assert closed.client.get("/v1/probe/read", headers=auth(closed.token(Scope.READ))).status_code == 200


def test_what_a_scope_forbids_costs_no_request(closed: Door) -> None:
    headers = auth(closed.token(Scope.READ, requests_per_minute=1))
    for _ in range(3):
        denied(closed.client.get("/v1/probe/jobs", headers=headers), 403, "missing_scope")
    assert closed.client.get("/v1/probe/read", headers=headers).status_code == 200


def test_characters_are_counted_until_midnight(closed: Door) -> None:
    headers = auth(closed.token(Scope.SPEAK, chars_per_day=100))
    assert closed.client.post("/v1/speak/60", headers=headers).status_code == 200
    refused = closed.client.post("/v1/speak/41", headers=headers)
    assert "left of its 100 for today" in denied(refused, 429, "chars_per_day")
    assert 1 <= int(refused.headers["Retry-After"]) <= 86_400
    assert "for a whole day" in denied(closed.client.post("/v1/speak/101", headers=headers), 429, "chars_per_day")
    assert closed.client.post("/v1/speak/40", headers=headers).status_code == 200


def test_only_so_many_speak_at_one_time(closed: Door) -> None:
    secret = closed.token(Scope.SPEAK, concurrent=1)
    token = closed.service.gate.find(secret)
    assert token is not None
    with closed.service.gate.speaking(token, "another"):
        refused = closed.client.post("/v1/speak/1", headers=auth(secret))
        denied(refused, 429, "concurrent_requests")
        assert int(refused.headers["Retry-After"]) >= 1
    assert closed.client.post("/v1/speak/1", headers=auth(secret)).status_code == 200


# ── a server without tokens ─────────────────────────────────────────────────────────────────────────────────────────
def test_without_tokens_this_machine_is_answered_whatever_key_its_client_sends(door: Door) -> None:
    assert door.client.get("/v1/probe/jobs").json() == {"caller": "anyone"}
    assert door.client.get("/v1/probe/jobs", headers=auth("sk-whatever")).json() == {"caller": "anyone"}
    door.token(Scope.READ)
    denied(door.client.get("/v1/probe/jobs"), 401, "missing_api_key")


def test_a_server_for_others_answers_nobody_without_tokens() -> None:
    with api(works=False, open=False, host="0.0.0.0") as door:
        add_probes(door.app)
        for headers in ({}, auth("sk-whatever")):
            response = door.client.get("/v1/probe/read", headers=headers)
            assert response.status_code == 401
        assert "tts-batch token add" in door.client.get("/v1/probe/read").json()["error"]["message"]
        assert door.client.get("/v1/probe/read", headers=auth(door.token(Scope.READ))).status_code == 200


def test_an_open_server_for_others_answers_under_any_name() -> None:
    with api(works=False, open=True, host="0.0.0.0") as door:
        add_probes(door.app)
        response = door.client.get("/v1/probe/read", headers={"Host": "tts.lan:8000", "X-Forwarded-For": "10.0.0.7"})
        assert response.json() == {"caller": "anyone"}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]", "[::1]:8000", "127.0.0.1"])
def test_names_of_this_machine_are_answered(door: Door, host: str) -> None:
    assert door.client.get("/v1/probe/read", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "", "[", "a@b", "::1"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_name_that_somebody_pointed_here_is_not_answered(door: Door, host: str, method: str) -> None:
    denied(door.client.request(method, "/v1/probe/read", headers={"Host": host}), 421, "foreign_host")
    assert door.client.get("/v1/session", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "X-Forwarded-Proto", "Forwarded", "Via"])
def test_what_a_proxy_brings_from_elsewhere_is_not_from_this_machine(door: Door, header: str) -> None:
    denied(door.client.get("/v1/probe/read", headers={header: "10.0.0.7"}), 401, "missing_api_key")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://localhost"},
        {"Origin": "file://"},
        {"Origin": "http://127.0.0.1:99999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_sites_page_cannot_act_on_an_open_server(door: Door, headers: dict[str, str]) -> None:
    denied(door.client.post("/v1/probe/jobs", headers=headers, data={"text": "x"}), 403, "foreign_origin")
    assert "access-control-allow-origin" not in door.client.get("/v1/probe/read", headers=headers).headers


@pytest.mark.parametrize("headers", [{"Origin": HERE}, {"Origin": f"{HERE}:80"}, {"Sec-Fetch-Site": "same-origin"}, {}])
def test_our_own_page_and_programs_can(door: Door, headers: dict[str, str]) -> None:
    assert door.client.post("/v1/probe/jobs", headers=headers).status_code == 200


def test_an_origin_that_was_allowed_can() -> None:
    with api(works=False, cors_origins=("https://app.example",)) as door:
        add_probes(door.app)
        assert door.client.post("/v1/probe/jobs", headers={"Origin": "https://app.example"}).status_code == 200
        denied(door.client.post("/v1/probe/jobs", headers={"Origin": EVIL}), 403, "foreign_origin")


# ── the cookie ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def browser(closed: Door) -> TestClient:
    """A browser of somebody who has logged in."""
    closed.client.cookies.set(COOKIE, closed.token(Scope.READ, Scope.JOBS))
    return closed.client


def test_a_cookie_reads(browser: TestClient) -> None:
    assert browser.get("/v1/probe/read").json() == {"caller": "test"}
    denied(browser.get("/v1/probe/speak"), 403, "missing_scope")


@pytest.mark.parametrize("headers", [{"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}])
def test_a_cookie_acts_for_our_own_page(browser: TestClient, headers: dict[str, str]) -> None:
    assert browser.post("/v1/probe/jobs", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": f"{HERE}.evil.example"},
        {"Origin": f"{HERE}@evil.example"},
        {"Origin": f"{HERE}:8001"},
        {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Referer": f"{HERE}/"},
        {"Origin": EVIL, "X-Forwarded-Host": "evil.example"},
    ],
)
def test_a_cookie_does_not_act_for_anybody_else(browser: TestClient, headers: dict[str, str]) -> None:
    denied(browser.post("/v1/probe/jobs", headers=headers), 403, "foreign_origin")


def test_over_tls_a_page_without_is_not_ours(closed: Door) -> None:
    client = TestClient(closed.app, base_url="https://tts.example", cookies={COOKIE: closed.token(Scope.JOBS)})
    assert client.post("/v1/probe/jobs", headers={"Origin": "https://tts.example"}).status_code == 200
    assert client.post("/v1/probe/jobs", headers={"Origin": "https://tts.example:443"}).status_code == 200
    denied(client.post("/v1/probe/jobs", headers={"Origin": "http://tts.example"}), 403, "foreign_origin")


def test_a_shown_token_goes_before_the_cookie(browser: TestClient) -> None:
    denied(browser.get("/v1/probe/read", headers=auth("wrong")), 401, "invalid_api_key")


# ── looking a secret up ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_secret_is_only_ever_compared_as_a_digest(closed: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked up is the digest: how much of a guess is right cannot show in the time that it takes."""
    token, secret = new_token("ann", (Scope.READ,), Quota())
    closed.service.gate.add(token)
    seen: list[str] = []

    class Watched(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            seen.append(key)
            return super().get(key, default)

    gate = closed.service.gate
    monkeypatch.setattr(gate, "_tokens", Watched(gate._tokens))
    for guess in (secret, secret[:-1] + "~", "ttsb_"):
        gate.find(guess)
    assert seen == [digest_of(guess) for guess in (secret, secret[:-1] + "~", "ttsb_")]
    assert not any(secret[5:] in text for text in seen)


def test_many_at_one_time_are_each_themselves(closed: Door) -> None:
    secrets = {name: new_token(name, (Scope.READ,)) for name in ("ann", "bob", "eva", "tim")}
    for token, _ in secrets.values():
        closed.service.gate.add(token)
    wrong: list[str] = []

    def ask(name: str) -> None:
        for _ in range(10):
            found = closed.client.get("/v1/probe/read", headers=auth(secrets[name][1])).json()["caller"]
            if found != name:
                wrong.append(found)

    threads = [threading.Thread(target=ask, args=(name,)) for name in secrets for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
