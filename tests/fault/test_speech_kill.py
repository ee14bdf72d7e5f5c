"""kill -9 of the worker in the middle of a speech request: the answer goes on with the same samples."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.doors.test_serve import Serving, serving
from tests.helpers_cli import Home, processes_of, wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow]

TEXT = " ".join(f"[[fault:slow]] Sentence {word} is spoken in real time." for word in ("one", "two", "three", "four"))
ROOM = "workers.room"


@contextmanager
def answering(server: Serving, **fields: Any) -> Iterator[tuple[httpx.Response, Iterator[bytes]]]:
    asked = {"model": "fake", "input": TEXT, "response_format": "pcm", **fields}
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=asked, timeout=120) as answer:
        assert answer.status_code == 200, answer.read()
        yield answer, answer.iter_raw()


@contextmanager
def server_in(folder: Path) -> Iterator[tuple[Home, Serving]]:
    home = Home(folder, {"TTS_BATCH_MODEL": "fake", "TTS_BATCH_WORKER_TTL_S": "3"})
    with serving(home) as server:
        wait_until(lambda: bool(server.get("/v1/models").json()["data"]), "the voice is up")
        yield home, server


def ended(server: Serving, answer: httpx.Response) -> dict[str, Any]:
    return server.get(f"/v1/audio/speech/{answer.headers['x-request-id']}").json()


def test_the_answer_goes_on_with_the_same_samples(tmp_path: Path) -> None:
    with server_in(tmp_path / "calm") as (_, server), answering(server) as (_, pieces):
        undisturbed = b"".join(pieces)
    with server_in(tmp_path / "killed") as (home, server), answering(server) as (answer, pieces):
        got = b""
        while len(got) < len(undisturbed) // 8:
            got += next(pieces)
        rooms, half = processes_of(home, ROOM), ended(server, answer)
        assert rooms
        assert half["done"] < half["segments"]
        for room in rooms:
            os.kill(room, signal.SIGKILL)
        got += b"".join(pieces)
        assert len(got) == len(undisturbed)
        assert got == undisturbed
        told = ended(server, answer)
        assert (told["finish_reason"], told["failed"]) == ("stop", 0)
        assert processes_of(home, ROOM) != rooms, "another worker went on"
