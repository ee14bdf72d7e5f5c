"""A TCP proxy on loopback that can be told to behave badly: the network between a machine and a server."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from enum import StrEnum

BLOCK_BYTES = 1 << 16
RESET_AFTER_BYTES = 3000
SLOW_S = 1.5
BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Weather(StrEnum):
    """What happens to what passes."""

    FAIR = "fair"
    REFUSE = "refuse"
    """New connections are closed at once, old ones too."""
    HOLE = "hole"
    """Nothing passes and nobody is told."""
    SLOW = "slow"
    """Each block waits SLOW_S."""
    RESET = "reset"
    """A connection is reset after some bytes of an answer."""
    BUSY = "busy"
    """Every request is answered with 503."""


class Proxy:
    """Listens on a port of its own and passes on to `target_port`."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = int(self._server.getsockname()[1])
        self.weather = Weather.FAIR
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, weather: Weather) -> None:
        """Change the weather; REFUSE also ends what is open."""
        self.weather = weather
        if weather is Weather.REFUSE:
            self.cut()

    def cut(self) -> None:
        """Reset all open connections."""
        with self._lock:
            broken = list(self._open)
        for one in broken:
            _reset(one)

    def close(self) -> None:
        """Listen no more."""
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            if self.weather is Weather.REFUSE:
                _reset(client)
            else:
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(client):
            if self.weather is Weather.BUSY:
                client.settimeout(5)
                client.recv(BLOCK_BYTES)
                client.sendall(BUSY)
                return
            self._wait_out_a_hole()
            with socket.create_connection(("127.0.0.1", self._target_port), timeout=5) as server:
                with self._lock:
                    self._open |= {client, server}
                try:
                    self._pass_on(client, server)
                finally:
                    with self._lock:
                        self._open -= {client, server}

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        answered_bytes = 0
        while True:
            ready, _, _ = select.select([client, server], [], [], 0.5)
            self._wait_out_a_hole()
            for source in ready:
                data = source.recv(BLOCK_BYTES)
                if not data:
                    return
                if self.weather is Weather.SLOW:
                    time.sleep(SLOW_S)
                if source is server and self.weather is Weather.RESET:
                    answered_bytes += len(data)
                    if answered_bytes > RESET_AFTER_BYTES:
                        client.sendall(data[: len(data) // 2])
                        _reset(client)
                        return
                if self.weather is Weather.BUSY and source is client:
                    client.sendall(BUSY)
                    return
                (server if source is client else client).sendall(data)

    def _wait_out_a_hole(self) -> None:
        while self.weather is Weather.HOLE:
            time.sleep(0.05)


def _reset(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.shutdown(socket.SHUT_RDWR)
