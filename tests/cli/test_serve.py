"""`tts-batch serve`: what its options say, before anything is started."""

from __future__ import annotations

import importlib.util
import inspect
import socket

import pytest

from cli.api.origins import is_loopback
from cli.api.server import ServeOptions
from cli.api.service import Limits
from cli.serve import serve
from jobs.errors import BadOption
from jobs.settings import Settings
from tests.cli.conftest import Door


def asked(host: str = "127.0.0.1", *, aliases=(), origins=(), open_to_all: bool = False) -> ServeOptions:
    return ServeOptions.of(host, 0, aliases, origins, open_to_all=open_to_all)


def test_the_limits_that_the_command_shows_are_those_of_a_server():
    shown = {name: option.default for name, option in inspect.signature(serve).parameters.items()}
    limits = Limits(
        streams=shown["max_streams"],
        upload_bytes=shown["max_upload"] * 1024 * 1024,
        waiting_segments=Settings().max_waiting_segments,
    )
    assert limits == Limits()


def test_without_its_extra_the_install_line_is_told(door: Door, monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    missing = {"fastapi", "uvicorn"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in missing else found(name, *a))
    error = door.error("serve", code=2)
    assert error["code"] == "missing_extra"
    assert error["message"] == ("serve needs fastapi, uvicorn, not installed here; run: pip install 'tts-batch[api]'")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--alias", "tts-1"), "write NAME=NAME"),
        (("--alias", "=piper"), "write NAME=NAME"),
        (("--alias", "tts-1="), "write NAME=NAME"),
        (("--alias", "a=b", "--alias", "a=c"), "given twice, for 'b' and 'c'"),
        (("--cors-origin", "*"), "is not an origin"),
        (("--cors-origin", "studio.example"), "is not an origin"),
        (("--cors-origin", "https://studio.example/"), "is not an origin"),
        (("--cors-origin", "https://a@studio.example"), "is not an origin"),
        (("--host", "no such host"), "cannot listen on no such host"),
    ],
)
def test_bad_options(door: Door, words, part):
    error = door.error("serve", "--port", "0", *words, code=2)
    assert error["code"] == "bad_option"
    assert part in error["message"]


@pytest.mark.parametrize("words", [("--port", "65536"), ("--max-streams", "0"), ("--max-upload", "0")])
def test_numbers_out_of_range(door: Door, words):
    assert door.error("serve", *words, code=2)["code"] == "usage"


def test_a_port_in_use(door: Door):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port}: Address already in use" in door.error("serve", "--port", port, code=2)["message"]


def test_aliases_are_read():
    assert asked(aliases=["tts-1=piper", "x=/weights/a=b"]).aliases == {"tts-1": "piper", "x": "/weights/a=b"}


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *[(name, True) for name in ("127.0.0.1", "127.9.9.9", "::1", "localhost")],
        *[(name, False) for name in ("0.0.0.0", "::", "192.168.1.2", "studio.example", "localhost.example")],
    ],
)
def test_only_loopback_is_open_by_itself(host, loopback):
    assert is_loopback(host) is loopback
    assert asked(host).open is loopback
    assert asked(host, open_to_all=True).open


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://localhost:"), ("localhost", "http://")]
)
def test_port_0_takes_a_free_one_that_is_told(host, shown):
    made = asked(host)
    with made.listener() as listener:
        url = made.url_of(listener)
        assert url.startswith(shown)
        assert int(url.rpartition(":")[2]) == listener.getsockname()[1] > 0


def test_an_ipv6_address_stands_in_brackets():
    made = asked("::1")
    try:
        with made.listener() as listener:
            assert made.url_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"
    except BadOption:
        pytest.skip("this machine has no IPv6")


def test_small_answers_are_sent_at_once():
    """Accepted connections inherit it from the listener; else Nagle's algorithm holds each answer back."""
    with (
        asked().listener() as listener,
        socket.create_connection(listener.getsockname()),
    ):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
