"""A broker with TLS and users of few rights: everything works as one of them, nothing else gets in, nobody sees why."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from jobs.connect import open_broker
from jobs.errors import BrokerUnavailable
from jobs.settings import Settings
from tests.helpers_cli import PROGRAM, Home, finish
from tests.helpers_tls import PASSWORD, TlsServer, authority

pytestmark = [pytest.mark.services, pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[TlsServer]:
    made = TlsServer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def home(server: TlsServer, tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("tls")
    settings = {
        "TTS_BATCH_BROKER": server.url(),
        "TTS_BATCH_MODEL": "fake",
        "TTS_BATCH_LOG_LEVEL": "debug",
        "TTS_BATCH_GRACE_S": "1",
    }
    return Home(folder, settings)


@pytest.fixture(scope="module")
def logs(home: Home) -> Iterator[Path]:
    """The cluster's two kinds of workers, as one would start them by hand; all their logs."""
    path = home.root / "workers.log"
    with path.open("ab") as log:
        commands = (("worker", "cpu"), ("worker", "gpu", "--device", "cpu", "--model", "fake"))
        started = [
            subprocess.Popen([PROGRAM, *words], cwd=home.work, env=home.environment, stdout=log, stderr=log)
            for words in commands
        ]
        yield path
        for process in started:
            assert finish(process) == 0


def test_a_job_is_done_over_tls_by_a_user_of_few_rights(server: TlsServer, home: Home, logs: Path) -> None:
    (home.work / "book.txt").write_text("One sentence is here. Another one is there.")
    (job,) = home.json("submit", "book.txt", "--format", "flac")["jobs"]
    assert job["state"] == "done"
    assert (home.work / "book" / "book.flac").exists()
    assert home.run("worker", "check").returncode == 0
    with server.client("worker") as client:
        assert client.acl_whoami() == "worker"
        assert home.json("top", "--once", "--every", "0.5")["warnings"] == []


def test_a_reader_can_follow_jobs_and_nothing_else(server: TlsServer, home: Home, logs: Path) -> None:
    (job,) = [entry["job"] for entry in home.json("jobs")["jobs"]]
    with server.client("reader") as reader:
        events = reader.xread({f"tts:events:{job}": "0"})[0][1]
        assert b"done" in events[-1][1][b"data"]
        for forbidden in (
            lambda: reader.xadd(f"tts:events:{job}", {"a": "b"}),
            lambda: reader.hgetall(f"tts:job:{job}"),
            lambda: reader.xread({"tts:outbox": "0"}),
            lambda: reader.eval("return 1", 0),
            lambda: reader.keys("*"),
        ):
            with pytest.raises(redis.exceptions.NoPermissionError):
                forbidden()


def test_a_worker_cannot_rule_the_server(server: TlsServer) -> None:
    with server.client("worker") as client:
        for forbidden in (client.flushall, client.shutdown, lambda: client.config_set("dir", "/"), client.acl_list):
            with pytest.raises(redis.exceptions.NoPermissionError):
                forbidden()
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.set("other", 1)


def test_what_does_not_fit_is_told_without_the_password(server: TlsServer, tmp_path: Path) -> None:
    stranger, _, _ = authority(tmp_path, "stranger")
    wrong = {
        "wrong authority": server.url(ca=stranger),
        "wrong host name": server.url().replace("127.0.0.1", "localhost"),
        "no TLS": server.url(scheme="redis"),
        "wrong password": server.url().replace(PASSWORD, "wrong"),
        "no user": server.url("nobody"),
    }
    for what, url in wrong.items():
        with pytest.raises(BrokerUnavailable) as caught:
            open_broker(url, Settings(broker=url))
        assert PASSWORD not in str(caught.value), what
        assert "127.0.0.1" in str(caught.value) or "localhost" in str(caught.value), what


def test_no_log_and_no_job_holds_the_password(server: TlsServer, home: Home, logs: Path) -> None:
    text = logs.read_text()
    assert "steps" in text  # Celery's start-up text is among them
    assert PASSWORD not in text
    for words in (("doctor",), ("workers",), ("jobs",), ("doctor", "--json"), ("top", "--once", "--json")):
        done = home.run(*words)
        assert PASSWORD not in done.stdout + done.stderr, words
    files = [path for path in [*home.data.rglob("*"), *home.work.rglob("*")] if path.is_file()]
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
    with server.client("worker") as client:
        for key in client.scan_iter("tts:*"):
            assert PASSWORD.encode() not in (client.dump(key) or b""), key
