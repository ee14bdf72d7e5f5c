"""Jobs over HTTP, against a real `tts-batch serve` with its own node: a book from upload to download."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import httpx
import pytest

from tests.doors.test_serve import Serving, serving
from tests.helpers_cli import Home, wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "examples" / "book.txt"
FINAL = {"done", "done_with_failures", "cancelled", "failed"}
LONG = "\n\n".join(f"This is paragraph {number} of a long text. It is here to be spoken." for number in range(1500))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose node speaks the fake: tones, which the checks do not take for speech."""
    with serving(Home(tmp_path_factory.mktemp("jobs"), {"TTS_BATCH_MODEL": "fake"})) as running:
        running.until_ok()
        yield running


@pytest.fixture
def client(server: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as made:
        yield made


def asked(client: httpx.Client, method: str, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = client.request(method, path, **body)
    assert answer.status_code == status, answer.text
    return answer.json()


def book(client: httpx.Client, status: int = 202, **form: str) -> str:
    form = {"on_bad": "keep", "takes": "1", **form}
    return asked(client, "POST", "/v1/jobs", status, files={"file": ("book.txt", BOOK.read_bytes())}, data=form)["id"]


def until(client: httpx.Client, job: str, *states: str) -> dict[str, Any]:
    wait_until(lambda: asked(client, "GET", f"/v1/jobs/{job}")["state"] in states, f"{job} is {states}", timeout_s=120)
    return asked(client, "GET", f"/v1/jobs/{job}")


def events(client: httpx.Client, job: str, last: str | None, at_most: int) -> list[tuple[str, dict[str, Any]]]:
    """Read up to so many events of a job and hang up."""
    headers, found, entry = ({"Last-Event-ID": last} if last else {}), [], ""
    with client.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            if line.startswith("id: "):
                entry = line[4:]
            elif line.startswith("data: "):
                found.append((entry, json.loads(line[6:])))
                if len(found) == at_most:
                    break
    return found


def test_a_book_goes_in_and_finished_files_come_out(client: httpx.Client):
    plan = asked(client, "POST", "/v1/plans", files={"file": ("book.txt", BOOK.read_bytes())})
    job = book(client, formats="m4b,flac", seed="3")
    seen: list[tuple[str, dict[str, Any]]] = []
    while not seen or seen[-1][1]["state"] not in FINAL:  # cut off again and again
        seen += events(client, job, seen[-1][0] if seen else None, at_most=7)
    whole = events(client, job, None, at_most=10**9)
    assert seen == whole
    assert len({entry for entry, _event in whole}) == len(whole)
    done = [event["segment"] for _entry, event in whole if event["kind"] == "segment_done"]
    assert sorted(set(done)) == list(range(plan["segments"]))
    assert whole[-1][1]["state"] == "done"

    shown = asked(client, "GET", f"/v1/jobs/{job}")
    assert (shown["progress"], shown["counts"]["done"]) == (1.0, plan["segments"])
    chapters = asked(client, "GET", f"/v1/jobs/{job}/chapters")["data"]
    assert [chapter["title"] for chapter in chapters] == [chapter["title"] for chapter in plan["chapters"]]
    assert all(chapter["assembled"] and chapter["start_s"] is not None for chapter in chapters)
    starts = [chapter["start_s"] for chapter in chapters]
    assert starts == sorted(starts)

    by_name = {file["name"]: file for file in shown["files"]}
    whole_book = client.get(by_name["book.m4b"]["url"]).content
    with av.open(io.BytesIO(whole_book)) as container:
        assert container.duration is not None
        assert container.duration / 1e6 > shown["audio_s"]
    part_bytes = len(whole_book) // 5 + 1
    parts = [
        client.get(by_name["book.m4b"]["url"], headers={"Range": f"bytes={start}-{start + part_bytes - 1}"})
        for start in range(0, len(whole_book), part_bytes)
    ]
    assert {part.status_code for part in parts} == {206}
    assert b"".join(part.content for part in parts) == whole_book
    with zipfile.ZipFile(io.BytesIO(client.get(f"/v1/jobs/{job}/files.zip").content)) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == set(by_name)
        assert archive.read("book.m4b") == whole_book
    assert book(client, 200, formats="m4b,flac", seed="3") == job


def test_pause_resume_cancel_and_begin_anew(client: httpx.Client):
    body = {"json": {"text": LONG, "name": "long.txt", "takes": 1, "on_bad": "keep", "priority": "bulk"}}
    job = asked(client, "POST", "/v1/jobs", 202, **body)["id"]
    assert asked(client, "POST", f"/v1/jobs/{job}/pause")["state"] == "paused"
    wait_until(lambda: asked(client, "GET", f"/v1/jobs/{job}")["counts"]["held"] == 0, "workers have let go")
    held = asked(client, "GET", f"/v1/jobs/{job}")["counts"]["done"]
    other = book(client, seed="11")  # what is paused is in nobody's way
    assert until(client, other, *FINAL)["state"] == "done"
    assert asked(client, "GET", f"/v1/jobs/{job}")["counts"]["done"] == held
    asked(client, "POST", f"/v1/jobs/{job}/resume")
    wait_until(lambda: asked(client, "GET", f"/v1/jobs/{job}")["counts"]["done"] > held, "it goes on")
    assert asked(client, "DELETE", f"/v1/jobs/{job}")["state"] == "cancelled"
    refused = asked(client, "POST", f"/v1/jobs/{job}/pause", 409)["error"]
    assert refused["message"] == f"job {job} is cancelled; there is nothing left to pause"
    assert asked(client, "POST", "/v1/jobs", 202, **body)["id"] == job
    again = asked(client, "GET", f"/v1/jobs/{job}")["counts"]
    assert again["reused"] >= held
    asked(client, "DELETE", f"/v1/jobs/{job}")
    asked(client, "POST", f"/v1/jobs/{job}/purge")
    asked(client, "GET", f"/v1/jobs/{job}", 404)


def test_bad_segments_are_shown_and_spoken_again(client: httpx.Client):
    text = "One good line to hear.\n\n[[fault:silence]] Nobody hears this.\n\nA line [[fault:error]] that breaks.\n"
    job = asked(client, "POST", "/v1/jobs", 202, json={"text": text, "takes": 2})["id"]
    ended = until(client, job, *FINAL)
    assert (ended["state"], ended["counts"]["failed"], ended["counts"]["marked"]) == ("done_with_failures", 1, 1)
    assert [failure["segments"] for failure in ended["failures"]] == [1]
    marked, failed = asked(client, "GET", f"/v1/jobs/{job}/segments?only=bad")["data"]
    assert (marked["segment"], marked["state"], marked["grade"], marked["takes"]) == (1, "done", "bad", 2)
    assert (failed["segment"], failed["state"], failed["grade"]) == (2, "failed", None)
    assert marked["reason"]
    assert failed["reason"] == ended["failures"][0]["reason"]
    last = events(client, job, None, at_most=10**9)[-1][0]
    asked(client, "POST", f"/v1/jobs/{job}/retry", json={"segments": [1]})
    until(client, job, *FINAL)
    told = events(client, job, last, at_most=10**9)
    assert {event["segment"] for _entry, event in told if event["segment"] is not None} == {1}
    assert asked(client, "GET", f"/v1/jobs/{job}/segments?only=bad")["data"][0]["takes"] == 4
    asked(client, "POST", f"/v1/jobs/{job}/retry", json={"failed": True})
    last, _event = told[-1]
    until(client, job, *FINAL)
    told = events(client, job, last, at_most=10**9)
    assert {event["segment"] for _entry, event in told if event["segment"] is not None} == {1, 2}


def test_the_page_of_the_documents_works_as_it_stands(server: Serving, tmp_path: Path):
    page = (ROOT / "docs" / "api_jobs.md").read_text()
    (script,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    failing = script.replace("curl -s", "curl -sSf")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", failing],
        env=os.environ | {"TTS": server.url},
        cwd=tmp_path,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "book.m4b").read_bytes()[4:8] == b"ftyp"
    assert (tmp_path / "beginning").read_bytes() == (tmp_path / "book.m4b").read_bytes()[:1024]
    assert zipfile.is_zipfile(tmp_path / "all.zip")
    assert b'"event: job' not in done.stdout
    assert b"event: job" in done.stdout
