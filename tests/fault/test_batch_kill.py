"""kill -9 of the server while it begins or ends a batch: the next one goes on, with the same result, no line twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from jobs.batches.clerk import LARGE_LINES
from tests.doors.test_serve import Serving, serving
from tests.helpers_cli import Home, wait_until
from tests.jobs.batches.office import jsonl, request

pytestmark = [pytest.mark.services, pytest.mark.slow]

SPEEDS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.3)
COUNT = LARGE_LINES + 4
ORDER = {"endpoint": "/v1/audio/speech", "completion_window": "24h"}


def lines() -> list[dict[str, Any]]:
    """Lines of several speeds, so of several jobs that are made one after the other."""
    formats = ("aac", "pcm", "aac", "flac")
    texts = [f"Line {'abcdefghij'[n % 10]} is {'very ' * (n % 5)}near." for n in range(COUNT)]
    return [
        request(f"{n}", text, response_format=formats[n % 4], speed=SPEEDS[n % len(SPEEDS)])
        for n, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A node that lives on when a server dies."""
    made = Home(tmp_path_factory.mktemp("batches"), {"TTS_BATCH_MODEL": "fake"})
    with made.up():
        yield made


def store_of(home: Home) -> Path:
    return home.data / "store"


def create(server: Serving) -> str:
    server.until_ok()
    file = httpx.post(
        f"{server.url}/v1/files", files={"file": ("a.jsonl", jsonl(lines()))}, data={"purpose": "batch"}, timeout=60
    ).json()["id"]
    made = httpx.post(f"{server.url}/v1/batches", json=ORDER | {"input_file_id": file}, timeout=60)
    assert made.status_code == 200, made.text
    return made.json()["id"]


def completed(server: Serving, batch: str) -> dict[str, Any]:
    wait_until(
        lambda: server.get(f"/v1/batches/{batch}").json()["status"] == "completed", "the batch ends", timeout_s=200
    )
    return server.get(f"/v1/batches/{batch}").json()


def outputs(server: Serving, batch: str) -> list[dict[str, Any]]:
    done = completed(server, batch)
    assert done["request_counts"] == {"total": COUNT, "completed": COUNT, "failed": 0}
    assert done["error_file_id"] is None
    return [json.loads(line) for line in server.get(f"/v1/files/{done['output_file_id']}/content").text.splitlines()]


def facts(line: dict[str, Any]) -> tuple[object, ...]:
    """What a line says that does not name its batch; audio without tags is the same in every batch."""
    body = line["response"]["body"]
    digest = body["sha256"] if body["format"] in ("pcm", "aac") else ""
    return line["custom_id"], body["format"], body["seconds"], body["grade"], digest


def jobs_of(home: Home, batch: str) -> list[str]:
    return sorted(path.name for path in (store_of(home) / "jobs").glob(f"{batch.replace('_', '-')}*"))


class Door:
    """Servers one after the other: one that was killed is followed by the next."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.stack = ExitStack()
        self.server = self.stack.enter_context(serving(home))

    def kill(self) -> None:
        self.server.process.kill()
        self.server.process.wait(timeout=20)

    def open_again(self) -> None:
        self.server = self.stack.enter_context(serving(self.home))


@pytest.fixture(scope="module")
def door(home: Home) -> Iterator[Door]:
    made = Door(home)
    with made.stack:
        yield made


@pytest.fixture(scope="module")
def undisturbed(door: Door) -> list[tuple[object, ...]]:
    return [facts(line) for line in outputs(door.server, create(door.server))]


def killed_when(door: Door, moment: Callable[[str], bool], what: str) -> str:
    """A batch whose server is killed at a moment; returns its id."""
    batch = create(door.server)
    wait_until(lambda: moment(batch), what, timeout_s=120)
    door.kill()
    return batch


def check_went_on(door: Door, batch: str, wanted: list[tuple[object, ...]]) -> None:
    door.open_again()
    server, home = door.server, door.home
    made = outputs(server, batch)
    assert [line["custom_id"] for line in made] == [line["custom_id"] for line in lines()]
    assert [facts(line) for line in made] == wanted
    assert len({line["id"] for line in made}) == COUNT
    listed = server.get("/v1/files?purpose=batch_output").json()["data"]
    assert len([file for file in listed if batch in file["filename"]]) == 1
    submitted = json.loads((store_of(home) / "batches" / batch / "jobs.json").read_text())
    assert jobs_of(home, batch) == sorted(part["job"] for part in submitted["jobs"])
    assert list((store_of(home) / "batches-open").glob("*")) == []


def test_killed_while_its_jobs_are_made(door: Door, undisturbed: list[tuple[object, ...]]) -> None:
    def between(batch: str) -> bool:
        return len(jobs_of(home, batch)) >= 2

    home = door.home
    batch = killed_when(door, between, "two of its jobs are made")
    assert not (store_of(home) / "batches" / batch / "jobs.json").exists()
    assert len(jobs_of(home, batch)) < len(SPEEDS) * 2
    check_went_on(door, batch, undisturbed)


def test_killed_while_its_files_are_written(door: Door, undisturbed: list[tuple[object, ...]]) -> None:
    def between(batch: str) -> bool:
        return len(list((store_of(home) / "batch-audio" / batch).glob("*.*"))) >= 10

    home = door.home
    batch = killed_when(door, between, "some audio is converted")
    assert not (store_of(home) / "batches" / batch / "end.json").exists()
    check_went_on(door, batch, undisturbed)
