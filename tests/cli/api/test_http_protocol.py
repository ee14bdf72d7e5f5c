"""A connection whose request does not come is closed; one that is at work or between requests is not."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from cli.api import http_protocol
from cli.api.http_protocol import PatientProtocol
from tests.helpers_api import api, running_server
from tests.helpers_cli import wait_until

HEAD = b"GET /v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SHORT_S = 0.3


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setattr(http_protocol, "HEAD_S", SHORT_S)
    with api(works=False) as door, running_server(door.service, http=PatientProtocol, timeout_keep_alive=60) as url:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname, parts.port), timeout=20) as made:
            yield made


def answer(connection: socket.socket) -> bytes:
    """What comes until an answer is whole; nothing if the connection was closed."""
    got = b""
    while not got.endswith(b"}"):
        piece = connection.recv(65_536)
        if not piece:
            return got
        got += piece
    return got


def trickle(connection: socket.socket) -> bool:
    """Send a head byte by byte for much longer than is waited for; whether the server closed the connection."""
    connection.setblocking(False)
    for _ in range(400):
        try:
            connection.send(b"x")
            if connection.recv(1) == b"":
                return True
        except BlockingIOError:
            pass
        except ConnectionError:
            return True
        time.sleep(0.02)
    return False


def test_a_connection_that_says_nothing_is_closed(connection: socket.socket) -> None:
    assert connection.recv(1) == b""


def test_a_head_that_trickles_in_is_cut_off(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"X-Slow: ")
    assert trickle(connection)


def test_the_head_of_a_second_request_too(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"\r\n")
    assert b" 200 OK" in answer(connection)
    connection.sendall(HEAD + b"X-Slow: ")
    assert trickle(connection)


def test_between_requests_the_connection_stays(connection: socket.socket) -> None:
    for _ in range(3):
        connection.sendall(HEAD)
        connection.sendall(b"\r\n")
        assert b" 200 OK" in answer(connection)
        time.sleep(2 * SHORT_S)


def test_who_comes_when_all_places_are_taken_is_told_so_as_everybody_is() -> None:
    with api(works=False) as door, running_server(door.service, limit_concurrency=2) as url:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname, parts.port)), httpx.Client(base_url=url) as client:
            response = client.get("/livez")
            assert response.status_code == 503
            assert response.json()["error"]["code"] == "too_busy"
            assert int(response.headers["Retry-After"]) > 0
        wait_until(lambda: httpx.get(f"{url}/livez").status_code == 200, "there is room again", timeout_s=20)
