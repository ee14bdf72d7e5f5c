"""Calls the installed `tts-batch` as a person does, in a data folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = str(Path(sys.executable).parent / "tts-batch")
TIMEOUT_S = 240.0


@dataclass
class Home:
    """A folder with a data folder and a working folder in it, and the environment that points there."""

    root: Path
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TTS_BATCH_")}
        # Workers of tests are few and small: the machine has two cores.
        mine = {"TTS_BATCH_DATA_DIR": str(self.data), "TTS_BATCH_PROCESSES": "1", "COLUMNS": "200"}
        return clean | mine | self.extra

    def run(self, *arguments: str, text: bytes | None = None) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            input=text,
            capture_output=True,
            cwd=self.work,
            env=self.environment,
            timeout=TIMEOUT_S,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, text: bytes | None = None, code: int = 0) -> dict:
        """Run one command with --json, check its exit code and return its last line's document."""
        done = self.run(*arguments, "--json", text=text)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def raw(self, *arguments: str) -> bytes:
        """Run one command and return its stdout as bytes."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            cwd=self.work,
            env=self.environment,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command in the background; its output goes to files in the root."""
        out, err = self.root / "background.out", self.root / "background.err"
        with out.open("ab") as stdout, err.open("ab") as stderr:
            return subprocess.Popen(
                [PROGRAM, *arguments], cwd=self.work, env=self.environment, stdout=stdout, stderr=stderr
            )

    @contextmanager
    def up(self) -> Iterator[subprocess.Popen[bytes]]:
        """A running node (`tts-batch up`) for the time of the block."""
        process = self.start("up")
        try:
            wait_until(lambda: self.run("jobs").returncode == 0, "the node is up")
            yield process
        finally:
            finish(process)


def finish(process: subprocess.Popen[bytes], *, timeout_s: float = 60.0) -> int:
    """Ask a process to end and wait for it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    return process.wait(timeout=timeout_s)


def wait_until(condition: Callable[[], bool], what: str, *, timeout_s: float = 60.0) -> None:
    """Wait until a condition holds; fails with what was waited for."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"waited {timeout_s:.0f} s in vain until {what}"
        time.sleep(0.1)


def processes_of(home: Home, part: str) -> list[int]:
    """Process ids of a node's part (`valkey-server`, `workers.room`, …) that belong to this home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                environment = (entry / "environ").read_bytes().decode(errors="replace")
                folder = (entry / "cwd").readlink()
            except OSError:
                continue
            # Valkey writes its title over its environment, but works in the folder of its files.
            ours = f"TTS_BATCH_DATA_DIR={home.data}\0" in environment or folder.is_relative_to(home.data)
            if part in command and ours:
                found.append(int(entry.name))
    return sorted(found)
