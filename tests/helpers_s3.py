"""Real S3 servers for tests: moto (conditional writes, multipart) and nanio (signatures, files on disk)."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jobs.s3_options import S3Options

KEY, SECRET = "AKIATESTKEY", "test-secret-of-no-worth"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    "AWS_CONFIG_FILE": "/nowhere",
}
"""The environment of whoever uses these servers."""


class S3Server:
    """One server process on a port of its own. nanio keeps its files over `kill` and `start`; moto keeps nothing."""

    def __init__(self, kind: str) -> None:
        if find_spec(kind) is None:
            reason = f"no S3 server: pip install {'moto[server]' if kind == 'moto' else kind}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        self.kind = kind
        self.folder = Path(tempfile.mkdtemp(prefix="s3-"))
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def options(self) -> S3Options:
        return S3Options(endpoint=self.endpoint, public_endpoint=self.endpoint, region="us-east-1")

    @property
    def environment(self) -> dict[str, str]:
        """What a program of ours needs to use this server."""
        return CREDENTIALS | {"TTS_BATCH_S3_ENDPOINT": self.endpoint, "TTS_BATCH_S3_REGION": "us-east-1"}

    def start(self) -> S3Server:
        scripts = Path(sys.executable).parent
        command = [str(scripts / "moto_server"), "-H", "127.0.0.1", "-p", str(self.port)]
        if self.kind == "nanio":
            command = [str(scripts / "nanio"), "serve", "--host", "127.0.0.1", "--port", str(self.port)]
            command += ["--data-dir", str(self.folder), "--log-level", "warning", "--no-access-log"]
        with (self.folder / "server.log").open("ab") as log:
            environment = os.environ | {"NANIO_ACCESS_KEY": KEY, "NANIO_SECRET_KEY": SECRET}
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        deadline_s = time.monotonic() + 30
        while not _answers(self.port):
            if time.monotonic() > deadline_s or self._process.poll() is not None:
                pytest.fail(f"{self.kind} does not start: {(self.folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.05)
        return self

    def client(self) -> Any:
        """A plain boto3 client with the right credentials, to look from outside."""
        import boto3
        from botocore.config import Config

        return boto3.session.Session(KEY, SECRET).client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
        )

    def bucket(self) -> str:
        """A new bucket."""
        name = f"b-{uuid.uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


_shared: dict[str, S3Server] = {}


def shared_s3(kind: str) -> S3Server:
    """The one server of that kind of this test process (it ends with it)."""
    if kind not in _shared:
        import atexit

        _shared[kind] = S3Server(kind).start()
        atexit.register(_shared[kind].close)
    return _shared[kind]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
