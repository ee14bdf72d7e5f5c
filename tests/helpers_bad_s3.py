"""An HTTP proxy before an S3 server that answers, cuts or loses as a test says: one plan entry for each request."""

from __future__ import annotations

import http.client
import socketserver
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socket import SO_LINGER, SOL_SOCKET
from typing import Any
from urllib.parse import urlsplit

ERROR = '<?xml version="1.0"?><Error><Code>{code}</Code><Message>said so</Message></Error>'


@dataclass(frozen=True)
class Fault:
    """What happens to a request: `status` and `code` instead of an answer, `reset` before it is passed on, `lost` after
    it was done, or `cut` in the middle of the answer's body."""

    kind: str
    status: int = 503
    code: str = "SlowDown"


@dataclass
class Plan:
    """Which requests meet a fault: those that `wanted` names, as many as there are in `faults`, in order."""

    wanted: Callable[[str, str], bool]
    faults: list[Fault]
    seen: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, method: str, path: str) -> Fault | None:
        with self.lock:
            self.seen.append(f"{method} {path}")
            return self.faults.pop(0) if self.faults and self.wanted(method, path) else None


class BadS3:
    """Listens on a port of its own. `plan` may be changed at any time."""

    def __init__(self, endpoint: str) -> None:
        self.plan = Plan(lambda _method, _path: False, [])
        target = urlsplit(endpoint)
        bad = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Nothing."""

            def handle_any(self) -> None:
                bad.handle(self, target.hostname or "", target.port or 80)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815  # the names of the base class

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, handler: BaseHTTPRequestHandler, host: str, port: int) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        fault = self.plan.next(handler.command, handler.path)
        if fault is not None and fault.kind == "status":
            self._send(handler, fault.status, ERROR.format(code=fault.code).encode())
            return
        if fault is not None and fault.kind == "reset":
            _reset(handler)
            return
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request(handler.command, handler.path, body, dict(handler.headers.items()))
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if fault is not None and fault.kind == "lost":
            _reset(handler)
            return
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _OURS}
        if handler.command == "HEAD":
            headers["Content-Length"] = answer.getheader("Content-Length", "0")
        self._send(handler, answer.status, data, headers, cut=fault is not None and fault.kind == "cut")

    @staticmethod
    def _send(
        handler: BaseHTTPRequestHandler,
        status: int,
        data: bytes,
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
    ) -> None:
        handler.send_response_only(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        if "Content-Length" not in (headers or {}):
            handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if handler.command == "HEAD":
            return
        handler.wfile.write(data[: len(data) // 2] if cut else data)
        handler.wfile.flush()
        if cut:
            _reset(handler)


_OURS = {"content-length", "transfer-encoding", "connection", "server", "date"}


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
