"""The process of `tts-batch serve`: a socket, uvicorn in a thread of its own, a node that is looked after.

The main thread keeps the embedded node (a process dies with the thread that started it) and waits for signals.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import math
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import uvicorn

from cli.api.app import make_app
from cli.api.http_protocol import PatientProtocol
from cli.api.origins import is_loopback
from cli.api.service import Limits, Service, open_service
from cli.output import JsonValue, Output
from cli.session import Session
from jobs.errors import BadOption, JobsError

POLL_S = 0.2
KEEP_ALIVE_S = 75
"""How long an idle connection is kept. Longer than clients keep theirs, so that none is closed as it is used again."""
CONNECTIONS_MORE = 1024
"""Connections beside those that carry streams; further ones are refused with 503."""
_ORIGIN = re.compile(r"https?://[^/?#@\s*]+")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line asked for."""

    host: str
    port: int
    aliases: Mapping[str, str]
    cors_origins: tuple[str, ...]
    open: bool

    @classmethod
    def of(
        cls, host: str, port: int, aliases: Sequence[str], cors_origins: Sequence[str], *, open_to_all: bool
    ) -> ServeOptions:
        """The same, checked.

        Raises:
            BadOption: an alias that is not NAME=NAME or comes twice, an origin that is none.
        """
        known: dict[str, str] = {}
        for text in aliases:
            name, separator, stands_for = text.partition("=")
            if not (name and separator and stands_for):
                msg = f"--alias {text!r} is not allowed; write NAME=NAME, such as tts-1=piper"
                raise BadOption(msg)
            if name in known:
                msg = f"--alias {name!r} is given twice, for {known[name]!r} and {stands_for!r}; leave one of them out"
                raise BadOption(msg)
            known[name] = stands_for
        for origin in cors_origins:
            if not _ORIGIN.fullmatch(origin):
                msg = f"--cors-origin {origin!r} is not an origin; write it as https://host or https://host:port"
                raise BadOption(msg)
        return cls(host, port, known, tuple(cors_origins), open=open_to_all or is_loopback(host))

    @contextlib.contextmanager
    def listener(self) -> Iterator[socket.socket]:
        """A bound socket, so that a port in use is told before anything is started.

        Raises:
            BadOption: the address or the port cannot be used.
        """
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, _, _, _, address = found[0]
            listener = socket.create_server(address[:2], family=family)
            # asyncio does so only for sockets it made itself; without it each small answer waits 40 ms for an ACK.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
            msg = f"cannot listen on {self.host} port {self.port}: {why}; choose another --port or --host"
            raise BadOption(msg) from error
        with listener:
            yield listener

    def url_of(self, listener: socket.socket) -> str:
        """Where a browser on this machine finds the server."""
        host, port = listener.getsockname()[:2]
        if ipaddress.ip_address(host).is_unspecified:
            host = "localhost"
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve_until_stopped(
    session: Session, output: Output, listener: socket.socket, asked: ServeOptions, limits: Limits
) -> None:
    """Answer requests until SIGINT or SIGTERM; streams then get the settings' grace_s to end.

    Raises:
        BrokerUnavailable: the embedded node is gone and cannot be started again.
        JobsError: the server does not start.
    """
    from workers.process import StopFlag, configure_logging

    settings = session.settings
    configure_logging("serve", settings.log_level)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    service = open_service(session, limits, asked.aliases)
    service.open, service.host, service.cors_origins = asked.open, asked.host, asked.cors_origins
    server = uvicorn.Server(_configuration(service))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="http")
    stop = StopFlag()
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        if server.started:
            _announce(session, output, asked.url_of(listener), asked)
        while not stop.stopping and thread.is_alive():
            _look_after_node(session, output)
            time.sleep(POLL_S)
        if not stop.stopping:
            msg = "the HTTP server ended by itself; its log above says why"
            raise JobsError(msg)
        output.say("stopping: no more requests are taken, answers on their way are finished")
    finally:
        service.stopping.set()
        server.should_exit = True
        thread.join()


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn says what ours do not: an answer that was broken off on purpose is told with its id."""
    return "returned without completing response" not in record.getMessage()


def _configuration(service: Service) -> uvicorn.Config:
    settings = service.settings
    return uvicorn.Config(
        make_app(service),
        http=PatientProtocol,
        log_config=None,  # the process's own logging
        access_log=False,  # written by cli/api/middleware.py, with the request's id
        lifespan="on",
        ws="none",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(settings.grace_s),
        limit_concurrency=service.limits.streams + CONNECTIONS_MORE,
    )


def _announce(session: Session, output: Output, url: str, asked: ServeOptions) -> None:
    settings, broker = session.settings, session.broker.safe_url
    document: dict[str, JsonValue] = {"url": url, "broker": broker, "data_dir": str(settings.data_dir)}
    output.result(document, f"serving {url}; broker {broker}; Ctrl-C stops it")
    if not is_loopback(asked.host):
        others = "everybody who reaches it is answered (--open) until a token exists" if asked.open else "with a token"
        output.say(f"listening on {asked.host}, which others can reach: {others}; see `tts-batch token add --help`")


def _look_after_node(session: Session, output: Output) -> None:
    """Start the embedded node again if its owner ended. Raises BrokerUnavailable."""
    if session.embedded and not session.place.running():
        output.say("the node is gone; another one is started")
        session.revive()
