"""Figures of this server's own requests, counted as they pass: by route and status, how long, and to the first byte.

A registry for each application: several in one process (tests) do not mix. Labels are route templates, never paths.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cli.api.errors import ERROR_KIND
from cli.api.service import Service
from jobs.metrics import PREFIX, TruthCollector

SPEECH_ROUTE = "/v1/audio/speech"
NO_ROUTE = "none"
"""What stands for requests that no route takes."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
FIRST_BYTE_SECONDS = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The figures of one server."""

    def __init__(self, service: Service, open_streams: Callable[[], int]) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=False)
        registry.register(TruthCollector(service.broker))
        self.requests = Counter(
            f"{PREFIX}api_requests", "Answered requests.", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            f"{PREFIX}api_request_seconds",
            "From a request to the end of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self.first_byte = Histogram(
            f"{PREFIX}api_speech_first_byte_seconds",
            "From a speech request to the first byte of its audio.",
            buckets=FIRST_BYTE_SECONDS,
            registry=registry,
        )
        self.errors = Counter(
            f"{PREFIX}api_errors", "Answers that are errors, by code.", ["kind", "status"], registry=registry
        )
        self.aborted = Counter(f"{PREFIX}api_aborted", "Answers that broke off.", ["route"], registry=registry)
        self.running = Gauge(
            f"{PREFIX}api_requests_running", "Requests whose answer is not at its end.", registry=registry
        )
        streams = Gauge(
            f"{PREFIX}api_streams_open", "Answers that are being sent while they are made.", registry=registry
        )
        streams.set_function(open_streams)


class Measured:
    """ASGI middleware: counts what passes."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(send)
        self._metrics.running.inc()
        try:
            await self._app(scope, receive, passing.send)
        finally:
            self._metrics.running.dec()
            self._note(scope, passing)

    def _note(self, scope: Scope, passing: _Passing) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in METHODS else "other"
        status = passing.status or 500  # None: a fault of ours; the answer to it is made outside of this
        self._metrics.requests.labels(method, route, status).inc()
        self._metrics.seconds.labels(route).observe(time.monotonic() - passing.began_s)
        if status >= 400:
            kind = scope.get("state", {}).get(ERROR_KIND, "unknown" if passing.status else "internal_error")
            self._metrics.errors.labels(kind, status).inc()
        elif not passing.ended:
            self._metrics.aborted.labels(route).inc()
        elif route == SPEECH_ROUTE and passing.first_byte_s is not None:
            self._metrics.first_byte.observe(passing.first_byte_s)


class _Passing:
    """One answer on its way."""

    def __init__(self, send: Send) -> None:
        self.began_s = time.monotonic()
        self.status: int | None = None
        self.first_byte_s: float | None = None
        self.ended = False
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            if self.first_byte_s is None and message.get("body"):
                self.first_byte_s = time.monotonic() - self.began_s
            self.ended = not message.get("more_body", False)
        await self._send(message)


def route_of(scope: Scope) -> str:
    """The template of the route that took a request."""
    return str(getattr(scope.get("route"), "path", None) or NO_ROUTE)
