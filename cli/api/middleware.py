"""Around every route: request ids, security headers, CORS, who may send a body and how large, one log line.

Plain ASGI, so that answers go out as they are made and a reader that goes away is noticed. From outside to inside:
`Envelope` → CORS → `BodyGuard` → the routes.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from urllib.parse import quote
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cli.api.access import caller_of, check_scope, rate_headers
from cli.api.errors import ApiError, Refused, answer, failed, refusal, request_id_of
from cli.api.origins import SAFE_METHODS
from cli.api.service import Service
from jobs.access import gate
from jobs.access.gate import Caller, Rate
from jobs.errors import JobsError

log = logging.getLogger(__name__)

JSON_BYTES = 8 * 1024 * 1024
"""Largest body that is no upload: it is read into memory."""
SESSION_BYTES = 16 * 1024
"""Largest body of who has shown no token yet."""
UPLOADS = {
    "/v1/jobs": gate.Scope.JOBS,
    "/v1/plans": gate.Scope.JOBS,
    "/v1/files": gate.Scope.JOBS,
    "/v1/audio/voices": gate.Scope.VOICES,
}
"""Routes that take files: multipart bodies, which go to disk as they come. Only from who may send them."""
BODY_STALL_S = 30.0
"""How long a body may stand still while it is read."""
BODY_BYTES_PER_S = 1024
"""How fast it must come beside that: a byte now and then would hold a connection for days."""
STOPPING_RETRY_S = 5
API = "/v1/"
_SESSION = "/v1/session"
_FORM = "multipart/form-data"
_SANE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<nul>\\u0000)|\\.",
    re.DOTALL,
)
"""Escapes of JSON, a pair of surrogates as one."""
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""What a body without which need not be looked through escape by escape."""
_PAGE_POLICY = (
    "default-src 'self'; media-src 'self' blob:; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_API_POLICY = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
"""Files of a job may hold somebody's HTML: opened in a browser, they are no page of ours and run no script."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a form of our own page would come without an origin
    "Cross-Origin-Opener-Policy": "same-origin",
}
_SHOWN_TO_OTHERS = (
    *("X-Request-Id", "Retry-After", "Content-Range", "Content-Disposition", "ETag"),
    *("X-Sample-Rate", "X-Start-Segment", "X-Start-Sample"),
    *("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
)


def add_to(app: FastAPI, service: Service) -> None:
    """Put these around an application; also its answer to what nobody foresaw, which is made outside of them."""
    app.add_middleware(BodyGuard, service=service)
    if service.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=service.cors_origins,
            allow_methods=("GET", "HEAD", "POST", "DELETE"),
            allow_headers=("Authorization", "Content-Type", "Range", "If-Range", "Last-Event-ID", "X-Request-Id"),
            expose_headers=_SHOWN_TO_OTHERS,
        )
    app.add_middleware(Envelope, service=service)

    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("request %s failed", request_id_of(request.scope), exc_info=error)
        made = failed()
        add_headers(made.headers, request.scope, service)
        return made

    app.add_exception_handler(Exception, unexpected)


class Envelope:
    """Request id, headers and log line of every answer."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("x-request-id", "")
        state = scope.setdefault("state", {})
        state["request_id"] = asked if _SANE_ID.fullmatch(asked) else f"req_{uuid4().hex}"
        started_s, status, request_id, started = time.perf_counter(), 500, state["request_id"], False

        async def sending(message: Message) -> None:
            nonlocal status, request_id, started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                add_headers(headers, scope, self._service)
                status, request_id = message["status"], headers["X-Request-Id"]
            await send(message)

        try:
            if "\0" in scope["path"]:
                nothing = ApiError(400, "a path cannot hold a NUL character", code="bad_path")
                await answer(400, nothing.body)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            # The server stops and its grace is over. It closes the connection of what is not at its end.
            if not started:
                late = ApiError(503, "this server stops; send it again", headers={"Retry-After": str(STOPPING_RETRY_S)})
                await answer(503, late.body, late.headers)(scope, receive, sending)
        finally:
            _log(scope, status, request_id, time.perf_counter() - started_s)


def add_headers(headers: MutableHeaders, scope: Scope, service: Service) -> None:
    """What every answer has; a header that the route set stays as it is."""
    in_api, state = scope["path"].startswith(API), scope.get("state", {})
    headers.setdefault("X-Request-Id", request_id_of(scope))
    headers.setdefault("Content-Security-Policy", _API_POLICY if in_api else _PAGE_POLICY)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cross-Origin-Resource-Policy", "cross-origin" if service.cors_origins else "same-origin")
    if in_api:
        headers.setdefault("Cache-Control", "private, no-cache")
    if isinstance(rate := state.get("rate"), Rate):
        for name, value in rate_headers(rate).items():
            headers.setdefault(name, value)


class BodyGuard:
    """Takes a body only from who may send one, only so much of it, and only while it comes.

    The framework reads a body before it asks the routes' own dependencies: without this, anybody could fill the disk.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        limit_bytes = self._limit_bytes(scope["path"], kind)
        announced = headers.get("content-length", "")
        try:
            if announced.isdecimal() and int(announced[:20]) > limit_bytes:
                raise _too_large(limit_bytes)
            if scope["path"].startswith(API) and scope["path"] != _SESSION:
                await run_in_threadpool(self._check, HTTPConnection(scope))
        except (ApiError, Refused, JobsError) as error:
            await (await refusal(Request(scope), error))(scope, receive, send)
        else:
            await self._app(scope, _Reading(receive, limit_bytes, kind), send)

    def _check(self, connection: HTTPConnection) -> None:
        caller, needed = caller_of(connection, self._service), UPLOADS.get(connection.scope["path"])
        if needed is not None:
            check_scope(caller, needed)

    def _limit_bytes(self, path: str, kind: str) -> int:
        if path == _SESSION:
            return SESSION_BYTES
        return self._service.limits.upload_bytes if kind == _FORM and path in UPLOADS else JSON_BYTES


class _Reading:
    """`receive` of one request: a body up to a limit; JSON that is no whole Unicode, or holds a NUL, is refused."""

    def __init__(self, receive: Receive, limit_bytes: int, kind: str) -> None:
        self._receive = receive
        self._limit_bytes = limit_bytes
        self._json: bytearray | None = bytearray() if kind.rpartition("/")[2].rpartition("+")[2] == "json" else None
        self._seen_bytes = 0
        self._waited_s = 0.0
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is that the reader went away
            return await self._receive()
        began_s, behind_s = time.monotonic(), self._waited_s - self._seen_bytes / BODY_BYTES_PER_S
        try:
            message = await asyncio.wait_for(self._receive(), BODY_STALL_S - max(0.0, behind_s))
        except TimeoutError:
            pace = f"stood still for {BODY_STALL_S:.0f} s or came at less than {BODY_BYTES_PER_S} bytes a second"
            raise Refused(408, f"the body {pace}; send it again", code="body_timeout") from None
        self._waited_s += time.monotonic() - began_s
        piece = message.get("body", b"")
        self._seen_bytes += len(piece)
        self._whole = not message.get("more_body", False)
        if self._seen_bytes > self._limit_bytes:
            raise _too_large(self._limit_bytes)
        if self._json is not None:
            self._json += piece
            if self._whole:
                await run_in_threadpool(check_json_text, bytes(self._json))
        return message


def check_json_text(body: bytes) -> None:
    """Refuse what Python's JSON reader takes and no file, key or other reader does.

    Raises:
        Refused: 400, for text that is not UTF-8, a lone surrogate, a NUL; escaped ones too.
    """
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(400, f"the body is not UTF-8 from byte {error.start} on", code="string_unicode") from None
    if b"\0" in body:
        raise Refused(400, "the body holds a NUL byte", code="nul_character")
    for found in _ESCAPES.finditer(body) if _SUSPECT.search(body) else ():
        if found["half"]:
            message = f"{found['half'].decode()} is half a character (a lone surrogate); send whole Unicode"
            raise Refused(400, message, code="string_unicode")
        if found["nul"]:
            raise Refused(400, "a text holds the NUL character; leave it out", code="nul_character")


def _too_large(limit_bytes: int) -> Refused:
    return Refused(413, f"the body is larger than the {limit_bytes} bytes that are taken here", code="body_too_large")


def _log(scope: Scope, status: int, request_id: str, took_s: float) -> None:
    """One line; the query stays out of it, people put secrets there."""
    if not log.isEnabledFor(logging.INFO):
        return
    caller = scope.get("state", {}).get("caller")
    name = caller.name if isinstance(caller, Caller) else "-"
    path = quote(scope["path"], safe="/:@!$&'()*+,;=~")
    method, took_ms = scope["method"], 1000 * took_s
    log.info("%s %s %d %.1f ms request=%s token=%r", method, path, status, took_ms, request_id, name)
