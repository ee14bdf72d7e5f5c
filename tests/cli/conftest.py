"""Commands called inside this process: a runner, and a broker in memory in the place of the real one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli import session
from cli.app import app
from jobs.connect import Broker
from jobs.settings import Settings
from jobs.stores import FolderStore
from tests.helpers_jobs import World


@dataclass
class Door:
    """Runs commands. `world` is what they find behind the broker."""

    world: World
    folder: Path

    def run(self, *words: str, code: int = 0, text: str | None = None) -> Result:
        result = CliRunner().invoke(app, list(words), input=text, prog_name="tts-batch")
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    def json(self, *words: str, code: int = 0) -> dict:
        """A command that must print exactly one JSON document."""
        (line,) = self.run(*words, "--json", code=code).stdout.splitlines()
        return json.loads(line)

    def error(self, *words: str, code: int) -> dict:
        """A command that must fail: one JSON document on stdout, the same in one line on stderr."""
        result = self.run(*words, "--json", code=code)
        (line,) = result.stdout.splitlines()
        (told,) = result.stderr.splitlines()
        error = json.loads(line)["error"]
        assert set(error) == {"code", "message", "problems"}
        assert told == f"error: {error['message']}"
        plain = self.run(*words, code=code)
        assert plain.stdout == ""
        assert "Traceback" not in plain.stderr
        return error


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    """A clean environment and working folder; no broker."""
    for name in [name for name in os.environ if name.startswith("TTS_BATCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TTS_BATCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TTS_BATCH_MODEL", "fake")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Door(World(FolderStore(tmp_path / "data" / "store")), tmp_path / "work")


@pytest.fixture
def open_door(door: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    """The same with a broker: every command finds the world."""

    @contextlib.contextmanager
    def connected(
        broker: str | None, *, needs_node: bool = False, model: str | None = None
    ) -> Iterator[session.Session]:
        found = Broker("memory://", "memory://", door.world.truth, door.world.streams, None)
        with contextlib.ExitStack() as stack:
            settings = Settings(broker="memory://", store=door.world.store.url)
            yield session.Session(settings, embedded=False, broker=found, stack=stack)

    monkeypatch.setattr(session, "connect", connected)
    return door
