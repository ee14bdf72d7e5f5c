"""A server that only says what it is told to: for replies that a real one gives at bad moments."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def stub_server(*replies: bytes) -> Iterator[str]:
    """Serves at the URL it gives: each PING gets the next of `replies`, the last one ever after; all else gets OK."""
    left = list(replies)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while words := _command(self.rfile):
                told = b"+OK" if words[0] != b"PING" else left.pop(0) if len(left) > 1 else left[0]
                self.wfile.write(told + b"\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"redis://127.0.0.1:{server.server_address[1]}/0"
        finally:
            server.shutdown()
            thread.join()


def _command(stream: BinaryIO) -> list[bytes]:
    """The words of the next command; none at the end."""
    head = stream.readline()
    return [stream.read(int(stream.readline()[1:]) + 2)[:-2] for _word in range(int(head[1:] or 0))]
