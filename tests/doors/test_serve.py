"""`tts-batch serve` as a process: a node of its own or somebody else's, signals, ports, and the official client."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import httpx
import openai
import pytest

from tests.helpers_cli import PROGRAM, Home, finish, processes_of, wait_until
from tests.helpers_clips import sound_file, voice


class Serving:
    """A running server and what it printed."""

    def __init__(self, home: Home, *words: str) -> None:
        self.errors: IO[bytes] = (home.root / f"serve-{os.urandom(4).hex()}.err").open("w+b")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--json", *words],
            cwd=home.work,
            env=home.environment,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:  # it ended: its words are the error, and nothing stays open
            finish(self.process)
            talk = self.talk
            self.close()
            raise AssertionError(talk)
        self.told = json.loads(line)
        self.url: str = self.told["url"]

    def close(self) -> None:
        self.process.stdout.close()
        self.errors.close()

    @property
    def talk(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode()

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=30)

    def health(self) -> str:
        return self.get("/healthz").json()["status"]

    def until_ok(self) -> None:
        wait_until(lambda: self.health() == "ok", "broker, store and workers are up")


@contextmanager
def serving(home: Home, *words: str) -> Iterator[Serving]:
    made = Serving(home, *words)
    try:
        yield made
    finally:
        finish(made.process)
        made.close()


@pytest.fixture
def fake_home(home: Home) -> Home:
    home.extra["TTS_BATCH_MODEL"] = "fake"
    return home


@pytest.fixture(scope="module")
def node_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home in which somebody else's node runs."""
    made = Home(tmp_path_factory.mktemp("node"), {"TTS_BATCH_MODEL": "fake"})
    with made.up():
        yield made


def test_one_command_gives_a_server_with_a_node(fake_home: Home) -> None:
    home = fake_home
    with serving(home, "--alias", "tts-1=fake", "--max-upload", "1") as server:
        assert server.told == {
            "url": server.url,
            "broker": f"unix://{home.data}/broker/valkey.sock",
            "data_dir": str(home.data),
        }
        server.until_ok()
        assert server.get("/livez").json() == {"status": "ok"}
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
        assert "tts-1" in [model.id for model in client.models.list()]
        assert client.models.retrieve("tts-1").id == "tts-1"
        with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
            client.models.retrieve("gpt")
        assert "Server" not in server.get("/livez").headers
        assert home.json("jobs") == {"jobs": []}, "other terminals use its node"
        assert "tts_batch_broker_up 1.0" in server.get("/metrics").text
        large = httpx.post(f"{server.url}/v1/audio/voices", files={"audio_sample": bytes(2 << 20)})
        assert large.status_code == 413
    assert server.process.returncode == 0
    assert processes_of(home, "valkey-server") == []
    assert processes_of(home, "workers.") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(node_home: Home, number: signal.Signals) -> None:
    with serving(node_home) as server:
        server.until_ok()
        with httpx.Client(base_url=server.url) as kept_alive:
            assert kept_alive.get("/livez").status_code == 200
            server.process.send_signal(number)
            assert server.process.wait(timeout=30) == 0
        with pytest.raises(httpx.ConnectError):
            server.get("/livez")
        assert "stopping" in server.talk
        assert "Traceback" not in server.talk
        assert node_home.run("jobs").returncode == 0, "the node was not its own and goes on"


def test_an_answer_on_its_way_is_finished_before_the_server_ends(node_home: Home) -> None:
    slow = " ".join(f"Line {chr(97 + i)} goes slowly by [[fault:slow:s=0.004]]." for i in range(3))
    request = {"model": "fake", "input": slow, "response_format": "pcm"}
    with serving(node_home) as server, serving(node_home) as other:
        server.until_ok()
        with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=request, timeout=60) as answer:
            pieces = answer.iter_raw()
            heard = next(pieces)
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: "stopping" in server.talk, "the server has seen the signal")
            heard += b"".join(pieces)
        assert server.process.wait(timeout=30) == 0
        again = httpx.post(f"{other.url}/v1/audio/speech", json=request, timeout=60)
        assert again.status_code == 200
        assert heard == again.content, "all of it came"


def test_a_port_in_use_is_told_before_anything_is_started(fake_home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = fake_home.run("serve", "--port", port)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another --port or --host"
    )
    assert not fake_home.data.exists()


def test_with_a_broker_that_is_away_it_does_not_start(fake_home: Home) -> None:
    assert fake_home.run("serve", "--port", "0", "--broker", "redis://127.0.0.1:1/0").returncode == 3
    assert not fake_home.data.exists()


def test_when_the_owner_of_the_node_ends_another_node_is_started(fake_home: Home) -> None:
    home = fake_home
    with home.up() as owner, serving(home) as server:
        server.until_ok()
        first = processes_of(home, "valkey-server")
        assert len(first) == 1
        finish(owner)
        wait_until(lambda: processes_of(home, "valkey-server") not in ([], first), "another broker runs")
        server.until_ok()
        assert "another one is started" in server.talk
    assert server.process.returncode == 0
    assert processes_of(home, "valkey-server") == []


def test_health_is_told_while_the_broker_hangs(node_home: Home) -> None:
    """Stopped, not gone: connections stay open and nothing answers on them."""
    (broker,) = processes_of(node_home, "valkey-server")
    with serving(node_home) as server:
        server.until_ok()
        os.kill(broker, signal.SIGSTOP)
        try:
            wait_until(lambda: server.health() != "ok", "the kept answer is too old")
            answer = server.get("/healthz")
            assert (answer.status_code, answer.json()["failing"]) == (503, ["broker"])
            assert server.get("/livez").status_code == 200
        finally:
            os.kill(broker, signal.SIGCONT)
        server.until_ok()


def test_two_servers_beside_each_other_share_what_there_is(node_home: Home) -> None:
    with serving(node_home) as one, serving(node_home) as other:
        form = {"name": "Ann", "consent": "Ann agreed"}
        made = httpx.post(f"{one.url}/v1/audio/voices", data=form, files={"audio_sample": sound_file(voice())})
        assert made.status_code == 201, made.text
        assert other.get(f"/v1/audio/voices/{made.json()['id']}").json() == made.json()
        one.process.kill()
        one.process.wait(timeout=30)
        assert other.get("/v1/audio/voices/Ann").json() == made.json()


def test_a_server_others_can_reach_answers_nobody_without_a_token(node_home: Home) -> None:
    with serving(node_home, "--host", "0.0.0.0") as server:
        assert server.url.startswith("http://localhost:")
        assert server.get("/v1/models").status_code == 401
        assert server.get("/metrics").status_code == 401
        server.until_ok()
        assert server.get("/healthz").json()["details"] is None
        assert "with a token" in server.talk


def test_unless_it_is_told_to_be_open(node_home: Home) -> None:
    origin = {"Origin": "https://studio.example"}
    with serving(node_home, "--host", "0.0.0.0", "--open", "--cors-origin", origin["Origin"]) as server:
        answer = httpx.get(f"{server.url}/v1/models", headers=origin)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin["Origin"]
        answer = httpx.get(f"{server.url}/v1/models", headers={"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in answer.headers
