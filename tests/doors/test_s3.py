"""Jobs whose store is on S3, by the command line and over HTTP: a server that heeds conditions, and one that signs."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
import soundfile

from tests.doors.test_serve import serving
from tests.helpers_cli import Home, finish, processes_of, wait_until
from tests.helpers_s3 import CREDENTIALS, S3Server, shared_s3

pytestmark = [pytest.mark.services, pytest.mark.slow]

TEXT = "# One\n\nThe first sentence is here. Another one is there.\n\n# Two\n\nThe last chapter says this.\n"


def home_on(server: S3Server, folder: Path) -> tuple[Home, str]:
    """A home whose takes and results go to a new bucket."""
    bucket = server.bucket()
    settings = {"TTS_BATCH_MODEL": "fake", "TTS_BATCH_STORE": f"s3://{bucket}/audio"}
    return Home(folder, server.environment | settings), bucket


def keys_in(server: S3Server, bucket: str) -> list[str]:
    found = server.client().list_objects_v2(Bucket=bucket).get("Contents", [])
    return [entry["Key"] for entry in found]


@pytest.fixture(params=["moto", "nanio"])
def server(request: pytest.FixtureRequest) -> S3Server:
    return shared_s3(request.param)


def test_a_book_is_made_in_a_bucket_and_delivered_to_a_folder(server: S3Server, tmp_path: Path) -> None:
    home, bucket = home_on(server, tmp_path)
    (home.work / "book.md").write_text(TEXT)
    (job,) = home.json("submit", "book.md", "--format", "flac,m4b", "--subtitles", "srt")["jobs"]
    assert job["state"] == "done"
    samples, rate_hz = soundfile.read(home.work / "book" / "book.flac")
    assert samples.size > 3 * rate_hz
    keys = keys_in(server, bucket)
    assert f"audio/jobs/{job['job']}/book.m4b" in keys
    assert sum(key.startswith("audio/takes/") for key in keys) == 2 * job["segments"]
    whole = server.client().get_object(Bucket=bucket, Key=f"audio/jobs/{job['job']}/book.flac")["Body"].read()
    assert whole == (home.work / "book" / "book.flac").read_bytes()
    again = home.json("submit", "book.md", "--format", "flac,m4b", "--subtitles", "srt", "--out", "again")["jobs"][0]
    assert again["job"] == job["job"]
    assert (home.work / "again" / "book.flac").read_bytes() == whole
    assert not server.client().list_multipart_uploads(Bucket=bucket).get("Uploads")


def test_results_stay_in_a_bucket_that_out_names_and_can_be_fetched_and_deleted(tmp_path: Path) -> None:
    server = shared_s3("moto")
    home, _ = home_on(server, tmp_path)
    bucket = server.bucket()
    (home.work / "book.md").write_text(TEXT)
    with home.up():
        (job,) = home.json("submit", "book.md", "--format", "flac", "--out", f"s3://{bucket}/results/")["jobs"]
        assert f"results/jobs/{job['job']}/book.flac" in keys_in(server, bucket)
        home.json("fetch", job["job"], "fetched")
        assert (home.work / "fetched" / "book.flac").exists()
        home.json("purge", job["job"], "--takes")
        assert [key for key in keys_in(server, bucket) if "/takes/" not in key] == []
    assert CREDENTIALS["AWS_SECRET_ACCESS_KEY"] not in "".join(
        path.read_text(errors="replace") for path in home.data.rglob("*") if path.is_file()
    )


def test_a_killed_node_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    server = shared_s3("nanio")
    text = "\n\n".join(f"[[fault:slow:s=0.002]] Sentence {'abcdefghij'[n % 10] * (n + 1)} is here." for n in range(12))
    calm, _ = home_on(server, tmp_path / "calm")
    home, bucket = home_on(server, tmp_path / "killed")
    for one in (calm, home):
        (one.work / "book.txt").write_text(text)
    calm.json("submit", "book.txt", "--format", "flac")
    process = home.start("submit", "book.txt", "--format", "flac")
    wait_until(lambda: sum(key.endswith(".flac") for key in keys_in(server, bucket)) > 2, "takes are made")
    for pid in [*processes_of(home, "workers."), *processes_of(home, "valkey-server"), process.pid]:
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=30)
    job = next(key for key in keys_in(server, bucket) if "/jobs/" in key).split("/")[2]
    assert home.json("resume", job)["jobs"][0]["state"] == "done"
    assert (home.work / "book" / "book.flac").read_bytes() == (calm.work / "book" / "book.flac").read_bytes()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"TTS_BATCH_STORE": "s3://no-such-bucket/a"}, "make the bucket"),
        ({"TTS_BATCH_STORE": "s3://user:secret@bucket/a"}, "credentials come from the AWS environment"),
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "s3://"),
    ],
)
def test_a_bucket_that_cannot_be_used_is_told_before_anything_is_queued(tmp_path: Path, change, told) -> None:
    home, _ = home_on(shared_s3("nanio"), tmp_path)
    home.extra |= change
    (home.work / "book.txt").write_text("One sentence.")
    done = home.run("submit", "book.txt", "--json")
    assert done.returncode in (1, 2), done.stdout
    message = json.loads(done.stdout.splitlines()[-1])["error"]["message"]
    assert told in message
    assert "secret" not in message.replace("AWS_SECRET_ACCESS_KEY", "")


@pytest.fixture
def door(tmp_path: Path) -> Iterator[tuple[Home, str]]:
    home, _ = home_on(shared_s3("moto"), tmp_path)  # nanio does not send the type that an address asks for
    with home.up():
        yield home, ""


def test_over_http_finished_files_are_fetched_from_the_store(door: tuple[Home, str]) -> None:
    home, _ = door
    with serving(home) as server:
        server.until_ok()
        made = httpx.post(f"{server.url}/v1/jobs", json={"text": TEXT, "formats": ["flac"]}, timeout=60)
        job = made.json()["id"]
        wait_until(lambda: server.get(f"/v1/jobs/{job}").json()["state"] == "done", "it is done")
        (book,) = [one for one in server.get(f"/v1/jobs/{job}").json()["files"] if one["name"] == "book.flac"]
        answer = httpx.get(httpx.URL(server.url).join(book["url"]), timeout=60)
        assert answer.status_code == 307
        fetched = httpx.get(answer.headers["location"], timeout=60)
        assert fetched.headers["content-type"] == "audio/flac"
        assert len(fetched.content) == book["size_bytes"]
        assert soundfile.read(io.BytesIO(fetched.content))[0].size
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none") as client:
            check_openai(client)
        assert finish(server.process) == 0


def check_openai(client: openai.OpenAI) -> None:
    """Speech and a batch, as OpenAI's client asks for them."""
    spoken = client.audio.speech.create(model="fake", voice="tone", input="A word.", response_format="pcm")
    assert len(spoken.content) > 1000
    line = {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/audio/speech",
        "body": {"model": "fake", "input": "Hm."},
    }
    file = client.files.create(file=("a.jsonl", json.dumps(line).encode()), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/audio/speech", completion_window="24h")
    wait_until(lambda: client.batches.retrieve(batch.id).status == "completed", "the batch is done")
    told = client.files.content(client.batches.retrieve(batch.id).output_file_id or "").text
    assert json.loads(told)["response"]["status_code"] == 200
