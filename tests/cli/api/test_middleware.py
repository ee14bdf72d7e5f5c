"""Request ids, security headers, CORS, bodies that are too large or from nobody, the log line."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from cli.api import middleware
from cli.api.app import make_app
from cli.api.middleware import JSON_BYTES
from cli.api.service import Limits, Service
from jobs.access.gate import Scope
from tests.cli.api.probes import add_probes
from tests.helpers_api import Door, api, auth, running_server

SMALL = Limits(upload_bytes=100_000)
OWN_ID = re.compile(r"req_[0-9a-f]{32}")


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    monkeypatch.setattr(middleware, "UPLOADS", middleware.UPLOADS | dict.fromkeys(("/v1/form", "/v1/size"), Scope.READ))
    with api(works=False, limits=SMALL) as made:
        add_probes(made.app)
        yield made


@pytest.fixture
def url(door: Door, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same over HTTP."""
    monkeypatch.setattr("tests.helpers_api.make_app", lambda _service: door.app)
    with running_server(door.service) as base:
        yield base


def raw(url: str, *pieces: bytes, pause_s: float = 0.0) -> bytes:
    """Send bytes as they are; returns all that comes back until the server has said enough for one answer."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause_s)
        answer = b""
        while (piece := connection.recv(65_536)) != b"":
            answer += piece
            head, end, body = answer.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            if end and length and len(body) >= int(length[1]):
                break
    return answer


# ── request ids ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_answer_has_an_id_of_its_own(door: Door) -> None:
    paths = ("/v1/probe/read", "/v1/nothing", "/v1/raise/unforeseen", "/nothing", "/%00")
    ids = [door.client.get(path).headers["x-request-id"] for path in paths * 2]
    assert len(set(ids)) == len(ids)
    assert all(OWN_ID.fullmatch(one) for one in ids)


@pytest.mark.parametrize("sent", ["a", "3f1c-9.B_x", "f" * 64])
def test_a_sane_id_of_the_callers_is_kept(door: Door, sent: str) -> None:
    assert door.client.get("/v1/probe/read", headers={"X-Request-Id": sent}).headers["x-request-id"] == sent


@pytest.mark.parametrize(
    "sent",
    ["", " ", "a b", "f" * 65, "a;b", "<script>", "a%0d%0aX-Evil: 1", "é", "-a", "..", "a\tb", 'a"', "a/b"],
)
def test_any_other_id_is_not(door: Door, sent: str) -> None:
    response = door.client.get("/v1/probe/read", headers={"X-Request-Id": sent.encode("latin-1")})
    assert OWN_ID.fullmatch(response.headers["x-request-id"])
    assert "x-evil" not in response.headers


def test_no_header_can_be_smuggled_in_by_an_id(url: str) -> None:
    head = b"GET /v1/probe/read HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: a%s\r\n\r\n"
    for smuggled in (b"\rX-Evil: 1", b"\nX-Evil: 1", b"\0", b"\x0bX-Evil: 1", b"\xc4\x8d\xc4\x8aX-Evil: 1"):
        answer = raw(url, head % smuggled).partition(b"\r\n\r\n")[0].lower()
        assert b"\nx-evil" not in answer
        assert answer.startswith((b"http/1.1 400", b"http/1.1 200"))


def test_a_routes_own_id_and_headers_stay(door: Door) -> None:
    response = door.client.get("/v1/own-id", headers={"X-Request-Id": "mine"})
    assert response.headers["x-request-id"] == "job-1"
    assert response.headers["cache-control"] == "max-age=9"


# ── headers ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_security_headers_are_on_every_answer(door: Door) -> None:
    for path in ("/v1/probe/read", "/v1/nothing", "/nothing", "/v1/raise/unforeseen", "/openapi.json"):
        headers = door.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]


def test_the_page_runs_its_own_scripts_and_a_file_of_a_job_none(door: Door) -> None:
    page = door.client.get("/nothing").headers["content-security-policy"]
    assert page.startswith("default-src 'self'")
    assert "script-src" not in page
    assert "unsafe" not in page
    of_a_job = door.client.get("/v1/jobs/a/files/book.html").headers["content-security-policy"]
    assert of_a_job.startswith("default-src 'none'")
    assert "; sandbox;" in of_a_job


# ── CORS ────────────────────────────────────────────────────────────────────────────────────────────────────────────
ORIGIN = "https://app.example"
PREFLIGHT = {
    "Origin": ORIGIN,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type",
}


def test_without_origins_no_page_may_read(door: Door) -> None:
    for response in (
        door.client.options("/v1/probe/read", headers=PREFLIGHT),
        door.client.get("/v1/probe/read", headers={"Origin": ORIGIN}),
    ):
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_pages_of_a_named_origin_may_read_and_no_others() -> None:
    with api(works=False, token=(Scope.READ,), cors_origins=(ORIGIN,)) as door:
        add_probes(door.app)
        preflight = door.client.options("/v1/probe/read", headers=PREFLIGHT)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == ORIGIN
        response = door.client.get("/v1/probe/read", headers={"Origin": ORIGIN})
        assert response.headers["access-control-allow-origin"] == ORIGIN
        assert "Retry-After" in response.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in response.headers
        refused = door.client.get("/v1/probe/jobs", headers={"Origin": ORIGIN})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (403, ORIGIN)
        for origin in ("https://evil.example", "https://app.example.evil.example", "null", "http://app.example"):
            assert door.client.options("/v1/probe/read", headers=PREFLIGHT | {"Origin": origin}).status_code == 400
            answer = door.client.get("/v1/probe/read", headers={"Origin": origin})
            assert "access-control-allow-origin" not in answer.headers


# ── bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def pieces_of(total: int, piece: int = 65_536) -> Iterator[bytes]:
    for start in range(0, total, piece):
        yield b"x" * min(piece, total - start)


def too_large(response: httpx.Response, limit: int) -> None:
    assert response.status_code == 413, response.text
    error = response.json()["error"]
    assert error["code"] == "body_too_large"
    assert f"{limit} bytes" in error["message"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_may_be_as_large_as_the_limit_and_no_larger(url: str, chunked: bool) -> None:
    for kind, limit in (
        ("application/json", JSON_BYTES),
        ("", JSON_BYTES),
        ("multipart/form-data; boundary=x", 100_000),
    ):
        headers = {"Content-Type": kind}
        for total in (limit, limit + 1):
            content = pieces_of(total) if chunked else b"x" * total
            response = httpx.post(f"{url}/v1/size", content=content, headers=headers, timeout=60)
            if total > limit:
                too_large(response, limit)
            else:
                assert response.json() == limit


@pytest.mark.parametrize(
    ("path", "kind", "limit"),
    [
        ("/v1/echo", "json", JSON_BYTES),
        ("/v1/jobs", "json", JSON_BYTES),
        ("/v1/audio/speech", "json", JSON_BYTES),
        ("/v1/audio/speech", "form", JSON_BYTES),
        ("/v1/session", "json", middleware.SESSION_BYTES),
        ("/v1/session", "form", middleware.SESSION_BYTES),
        ("/v1/form", "form", 100_000),
        ("/v1/jobs", "form", 100_000),
        ("/v1/plans", "form", 100_000),
        ("/v1/files", "form", 100_000),
        ("/v1/audio/voices", "form", 100_000),
    ],
)
def test_a_chunked_body_is_cut_off_wherever_it_is_read(url: str, path: str, kind: str, limit: int) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="b"\r\n\r\n' if kind == "form" else b'"'
    kind = "multipart/form-data; boundary=x" if kind == "form" else "application/json"

    def body() -> Iterator[bytes]:
        yield head
        yield from pieces_of(limit + 1)

    too_large(httpx.post(url + path, content=body(), headers={"Content-Type": kind}, timeout=60), limit)


def test_what_a_body_says_of_its_length_is_enough_to_refuse_it(url: str) -> None:
    for length in (b"99999999999", b"9" * 300):
        answer = raw(url, b"POST /v1/size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %s\r\n\r\n" % length)
        assert re.match(rb"HTTP/1.1 4(13|00) ", answer)


def test_a_large_body_full_of_escapes_is_looked_through(door: Door) -> None:
    text = "日本語 \\ 😀" * 50_000
    assert door.client.post("/v1/echo", json={"text": text}).json()["text"] == text
    escaped = json.dumps({"text": text + "\udc00"}).encode()
    refused = door.client.post("/v1/echo", content=escaped, headers={"Content-Type": "application/json"})
    assert refused.json()["error"]["code"] == "string_unicode"


def test_nobody_without_a_token_has_a_body_read(door: Door, url: str) -> None:
    secret = door.token(Scope.READ)
    head = b"POST /v1/size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
    refused = raw(url, head + b"\r\n")  # no byte of it was sent
    assert refused.startswith(b"HTTP/1.1 401 ")
    assert b"missing_api_key" in refused
    answer = raw(url, head + f"Authorization: Bearer {secret}\r\n\r\n".encode(), b"x" * 1000)
    assert answer.endswith(b"1000")


def test_a_body_that_stands_still_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BODY_STALL_S", 0.2)
    answer = raw(url, b"POST /v1/size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n", b"x" * 10)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"body_timeout" in answer


def test_an_upload_is_not_read_from_who_may_not_send_it(door: Door, url: str) -> None:
    secret = door.token(Scope.READ)
    head = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000"
    for path in ("/v1/jobs", "/v1/plans", "/v1/files", "/v1/audio/voices"):
        ask = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\nAuthorization: Bearer {secret}\r\n\r\n"
        refused = raw(url, ask.encode())  # no byte of it was sent
        assert refused.startswith(b"HTTP/1.1 403 "), (path, refused)
        assert b"missing_scope" in refused


def test_a_body_that_trickles_in_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BODY_STALL_S", 0.5)
    head = b"POST /v1/size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40\r\n\r\n"
    answer = raw(url, head, *[b"x"] * 20, pause_s=0.05)  # it never stands still for long
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_slowly_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BODY_STALL_S", 5.0)
    head = b"POST /v1/size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 30\r\n\r\n"
    assert raw(url, head, *[b"x" * 10] * 3, pause_s=0.05).endswith(b"30")


def test_huge_headers_are_refused(url: str) -> None:
    head = b"GET /v1/probe/read HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 70_000
    assert re.match(rb"HTTP/1.1 4\d\d ", raw(url, head))


def test_an_answer_that_breaks_off_does_not_end_as_if_it_were_whole(url: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{url}/v1/slowly")


def test_a_reader_that_goes_away_is_noticed(door: Door) -> None:
    """Nothing around the routes keeps the news of a disconnect from them."""
    heard = []

    @door.app.post("/v1/hears")
    async def hears(request: object) -> None: ...

    async def app(scope: object, receive: object, send: object) -> None:
        while True:
            message = await receive()
            heard.append(message["type"])
            if message["type"] == "http.disconnect":
                return

    guard = middleware.Envelope(middleware.BodyGuard(app, door.service), door.service)
    messages = iter(
        [
            {"type": "http.request", "body": b"a", "more_body": True},
            {"type": "http.request", "body": b"b"},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> dict[str, object]:
        return next(messages)

    async def send(_message: object) -> None: ...

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/v1/x", "headers": headers, "scheme": "http", "server": None}
    asyncio.run(guard(scope, receive, send))
    assert heard == ["http.request", "http.request", "http.disconnect"]


# ── the log line ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_request_is_one_line_without_secrets(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = door.token(Scope.READ)
    door.client.get(f"/v1/probe/read?token={secret}", headers=auth(secret) | {"X-Request-Id": "mine"})
    door.client.post("/v1/session", json={"token": secret})
    door.client.get("/v1/probe/read", headers={"Cookie": f"tts_batch_session={secret}"})
    door.client.get("/v1/probe/read", headers=auth(f"{secret}-wrong"))
    ours = [record.getMessage() for record in caplog.records if record.name == middleware.__name__]
    assert re.fullmatch(r"GET /v1/probe/read 200 \d+\.\d ms request=mine token='test'", ours[0])
    assert [line.split()[2] for line in ours] == ["200", "204", "200", "401"]
    mine = [record for record in caplog.records if not record.name.startswith("httpx")]
    assert not [record for record in mine if secret in record.getMessage()]


def test_a_path_cannot_forge_a_line(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger=middleware.__name__)
    door.client.get("/v1/a%0aGET%20/forged%1b[31m%e2%80%a8")
    (line,) = [record.getMessage() for record in caplog.records if record.name == middleware.__name__]
    assert line.isprintable()
    assert line.startswith("GET /v1/a%0AGET%20/forged%1B%5B31m%E2%80%A8 404 ")


def test_an_unforeseen_fault_is_in_the_log_as_500(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger=middleware.__name__)
    door.client.get("/v1/raise/unforeseen")
    assert [r for r in caplog.records if r.name == middleware.__name__ and " 500 " in r.getMessage()]


def test_the_app_is_made_with_all_of_it(door: Door) -> None:
    kinds = [one.cls for one in make_app(door.service).user_middleware]
    assert kinds.index(middleware.Envelope) < kinds.index(middleware.BodyGuard)


@pytest.mark.parametrize("begun", [False, True])
def test_a_server_that_stops_breaks_answers_off_without_a_fault_in_its_log(
    begun: bool,
) -> None:
    """uvicorn cancels what is not at its end when its grace is over, and logs what comes out of it as our failure."""
    sent: list[dict[str, object]] = []

    async def endless(_scope: object, _receive: object, send: Callable[..., Awaitable[None]]) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def stopped(service: Service) -> None:
        scope = {"type": "http", "method": "GET", "path": "/v1/slow", "headers": []}
        task = asyncio.create_task(middleware.Envelope(endless, service)(scope, None, send))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with api(works=False) as door:
        asyncio.run(stopped(door.service))
    assert [one.get("status") for one in sent if one["type"] == "http.response.start"] == [200 if begun else 503]
    ended = any(one["type"] == "http.response.body" and not one.get("more_body") for one in sent)
    assert ended is not begun  # one that was begun never ends as if it were whole
    if not begun:
        assert b"retry-after" in dict(sent[0]["headers"])
