"""The cluster of a soak: a broker, an S3 server, and machines that reach both through proxies of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from jobs.connect import Broker, open_broker
from jobs.errors import JobsError
from jobs.s3_options import S3Options
from jobs.settings import Settings
from jobs.stores import open_store
from jobs.stores.s3 import S3Store
from tests.fault.soak.proxy import Proxy
from tests.helpers_s3 import CREDENTIALS, S3Server, free_port
from tests.helpers_valkey import ValkeyServer

PROGRAM = str(Path(sys.executable).parent / "tts-batch")
TTL_S = 4.0
GRACE_S = 3.0
STOP_S = 40.0
RESTART_S = 0.5
"""How soon what died is started again, as a service manager would."""


@dataclass
class Machine:
    """One program of ours with its own way to broker and store; started again whenever it ends."""

    name: str
    command: list[str]
    broker: Proxy
    store: Proxy
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    ended: list[int] = field(default_factory=list)
    wanted: bool = True

    def keep(self) -> None:
        """Start it if it should run and does not."""
        if self.process is not None and self.process.poll() is not None:
            self.ended.append(self.process.returncode)
            self.process = None
        if self.process is None and self.wanted:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    self.command, stdout=log, stderr=log, env=self.environment, start_new_session=True
                )
            self.starts += 1

    def pids(self) -> dict[int, str]:
        """It and all below it: process id → what it is."""
        if self.process is None:
            return {}
        return {pid: _kind(pid) for pid in [self.process.pid, *_descendants(self.process.pid)]}

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self.wanted = False
        if self.process is None or self.process.poll() is not None:
            return
        for pid in self.pids():
            send(pid, signal.SIGCONT)
        send(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.ended.append(-999)
            for pid in self.pids():
                send(pid, signal.SIGKILL)
            self.process.wait()


class Cluster:
    """All of it. `with Cluster(folder) as cluster: …`"""

    def __init__(self, folder: Path, *, voice: bool) -> None:
        self.folder = folder
        self.port = free_port()
        self.valkey = ValkeyServer("--port", str(self.port), "--bind", "127.0.0.1")
        self.s3 = S3Server("nanio")
        self.machines: list[Machine] = []
        self._voice = voice
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self.http_port = free_port()

    def __enter__(self) -> Self:
        os.environ.update(CREDENTIALS)
        self.valkey.start()
        self.s3.start()
        self.bucket = self.s3.bucket()
        gpu = ["worker", "gpu", "--device", "cpu", "--model"]
        self._add("synthesis-1", *gpu, "fake")
        self._add("synthesis-2", *gpu, "fake")
        self._add("synthesis-3", *gpu, "piper" if self._voice else "fake")
        self._add("steps-1", "worker", "cpu")
        self._add("steps-2", "worker", "cpu")
        self._add("door", "serve", "--port", str(self.http_port))
        self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.valkey.close()
        self.s3.close()

    def stop(self) -> None:
        """End the machines in order, as an operator would: doors, synthesis, steps."""
        self._stop.set()
        if self._keeper.is_alive():
            self._keeper.join()
        for machine in reversed(self.machines):
            machine.stop()

    @property
    def settings(self) -> Settings:
        """What the driver itself uses: no proxy between."""
        return Settings(broker=f"redis://127.0.0.1:{self.port}/0", store=self.store_url, worker_ttl_s=TTL_S)

    @property
    def store_url(self) -> str:
        """The store of every job."""
        return f"s3://{self.bucket}/soak"

    def open_broker(self) -> Broker:
        """A connection of the driver's own; waits until there is one."""
        while True:
            try:
                return open_broker(self.settings.broker or "", self.settings)
            except JobsError:
                time.sleep(0.5)

    def open_store(self) -> S3Store:
        """The store, without a proxy between."""
        store = open_store(self.store_url, S3Options(endpoint=self.s3.endpoint, region="us-east-1"))
        assert isinstance(store, S3Store)
        return store

    def _add(self, name: str, *command: str) -> None:
        broker, store = Proxy(self.port), Proxy(self.s3.port)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("TTS_BATCH_")}
        ours = {
            "TTS_BATCH_BROKER": f"redis://127.0.0.1:{broker.port}/0",
            "TTS_BATCH_STORE": self.store_url,
            "TTS_BATCH_S3_ENDPOINT": f"http://127.0.0.1:{store.port}",
            "TTS_BATCH_S3_REGION": "us-east-1",
            "TTS_BATCH_DATA_DIR": str(self.folder / name),
            "TTS_BATCH_WORKER_TTL_S": str(TTL_S),
            "TTS_BATCH_GRACE_S": str(GRACE_S),
            "TTS_BATCH_PROCESSES": "1",
            "OMP_NUM_THREADS": "1",
            "TTS_BATCH_LOG_LEVEL": "info",
        }
        log = self.folder / f"{name}.log"
        self.machines.append(Machine(name, [PROGRAM, *command], broker, store, clean | CREDENTIALS | ours, log))

    def _keep(self) -> None:
        while not self._stop.wait(RESTART_S):
            for machine in self.machines:
                machine.keep()


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; False: nobody is there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def resident_bytes(pid: int) -> int:
    """Memory of a process, 0 for one that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def new_folder() -> Path:
    """Where a soak keeps its logs."""
    return Path(tempfile.mkdtemp(prefix="soak-"))


def drop_folder(folder: Path) -> None:
    """Remove it."""
    shutil.rmtree(folder, ignore_errors=True)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def _kind(pid: int) -> str:
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        for part in ("workers.room", "workers.celery_app", "cli.api.clerk", "jobs.planner", "spawn_main"):
            if part in command:
                return part
        return "main" if "tts-batch" in command else "other"
    return "gone"
