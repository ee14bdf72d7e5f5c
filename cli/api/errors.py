"""Errors as OpenAI's clients read them: `{"error": {"message", "type", "param", "code"}}` with a fitting status."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from cli.api.wording import first_field, for_http
from jobs import errors

log = logging.getLogger(__name__)


class ErrorProblem(BaseModel):
    """One thing that is wrong with a source; `line` is counted from 1."""

    code: str
    message: str
    line: int | None = None


class ErrorBody(BaseModel):
    """What went wrong. `param` names the field of the request that is at fault, `code` is for programs.

    `problems` is there only for sources: all that is wrong with one; `code` is then that of the first.
    """

    message: str
    type: str
    param: str | None = None
    code: str | None = None
    problems: list[ErrorProblem] | None = None


class ErrorAnswer(BaseModel):
    """The body of every answer that is an error."""

    error: ErrorBody


class ApiError(Exception):
    """An answer that is an error. `headers` may carry Retry-After."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = ErrorBody(message=message, type=type_of(status), param=param, code=code)
        self.headers = dict(headers or {})


class Refused(HTTPException):
    """A body that is not read on. The framework passes its own kind of error on while it reads, and no other."""

    def __init__(self, status: int, message: str, *, code: str) -> None:
        super().__init__(status, message)
        self.code = code


_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_STATUS: dict[type[errors.JobsError], int] = {
    errors.UnknownJob: 404,
    errors.UnknownFile: 404,
    errors.UnknownBatch: 404,
    errors.TooLarge: 413,
    errors.ObjectMissing: 404,
    errors.ObjectDamaged: 500,
    errors.BadOutput: 507,
    errors.BadInput: 400,
    errors.MissingExtra: 400,
    errors.IllegalMove: 409,
    errors.BrokerUnavailable: 503,
    errors.StoreError: 503,
}
"""Looked through in order: the first kind that fits decides; any other error of ours is a 500."""
_TEXTS: dict[type[errors.JobsError], str] = {
    errors.ObjectMissing: "there is no such object",
    errors.ObjectDamaged: "what was kept of this is damaged",
    errors.StoreError: "the server's store does not answer; try again in a moment",
    errors.BrokerUnavailable: "the server's queue does not answer; try again in a moment",
    errors.BadOutput: "the server has no room to keep this",
}
"""What callers read of errors whose own text names addresses and folders: that one is for the log."""
_CODES = {404: "not_found", 405: "method_not_allowed"}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_TOLD = {
    "extra_forbidden": "there is no such field here; leave it out, or see GET /openapi.json for those there are",
    "model_attributes_type": "this takes a JSON object: fields and values in { }",
}
"""What the framework says of these is for those who write Python."""
_UNREADABLE = "There was an error parsing the body"
"""All that the framework says of JSON that is no fault of grammar."""
_FAILED = "the server failed; its log has more under the id of this request"
ERROR_KIND = "error_kind"
"""Where in a request's state the code of its error is noted, for `cli/api/metrics.py`."""
ON_EVERY_ROUTE: dict[int | str, dict[str, Any]] = {
    "default": {"model": ErrorAnswer, "description": "What went wrong, as OpenAI's clients read it."}
}
"""For the API's description: `FastAPI(responses=ON_EVERY_ROUTE)`."""


@contextmanager
def blamed(param: str, code: str) -> Iterator[None]:
    """Say which field of the request an error is about."""
    try:
        yield
    except errors.BadOption as error:
        raise ApiError(400, for_http(str(error)), code=code, param=param) from error


def told(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that one route is known for, for its `responses=`."""
    return {status: {"model": ErrorAnswer} for status in statuses}


class ErrorResponse(JSONResponse):
    """An answer that is an error; its code is noted in the request's state."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        error = json.loads(bytes(self.body))["error"]
        scope.setdefault("state", {})[ERROR_KIND] = error["code"] or error["type"]
        await super().__call__(scope, receive, send)


def type_of(status: int) -> str:
    """The `type` that goes with a status."""
    return _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")


def answer(status: int, body: ErrorBody, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error as a response. What callers sent comes back in texts, so these need not be whole Unicode."""
    told = body.model_dump(exclude={"problems"})
    document: dict[str, Any] = {name: text if text is None else _clean(text) for name, text in told.items()}
    if body.problems is not None:
        document["problems"] = [{**one.model_dump(), "message": _clean(one.message)} for one in body.problems]
    return ErrorResponse({"error": document}, status, headers=dict(headers or {}))


def failed() -> JSONResponse:
    """The answer to a request that met a fault of ours: it tells nothing of the inside."""
    return answer(500, ErrorBody(message=_FAILED, type=type_of(500), code="internal_error"))


def add_to(app: FastAPI) -> None:
    """Let every error of a route become an answer of this form; those unforeseen: `cli/api/middleware.py`."""
    for kind in (ApiError, errors.JobsError, HTTPException):
        app.add_exception_handler(kind, refusal)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(UnicodeEncodeError, _unicode_error)


async def refusal(request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that was refused: by us (ApiError), by the jobs room or by the framework."""
    if isinstance(error, HTTPException):
        return _http_error(request, error)
    if isinstance(error, errors.JobsError):
        made = of_ours(error)
        if made.status >= 500:
            log.warning("request %s: %s: %s", request_id_of(request.scope), type(error).__name__, error)
        error = made
    assert isinstance(error, ApiError), "nothing else is registered"  # noqa: S101  # our own bug otherwise
    return answer(error.status, error.body, error.headers)


def of_ours(error: errors.JobsError) -> ApiError:
    """One of our errors as an answer."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    text = next((text for kind, text in _TEXTS.items() if isinstance(error, kind)), None)
    text = text or (for_http(str(error)) if status < 500 else _FAILED)
    named = error.param if isinstance(error, errors.BadField) else first_field(str(error))
    param = named if status < 500 else None
    headers = {"Retry-After": "5"} if status == 503 else None
    made = ApiError(status, text, code=errors.code_of(error), param=param, headers=headers)
    if isinstance(error, errors.BadSource):
        made.body.problems = [
            ErrorProblem(code=one.code, message=for_http(one.message), line=one.line) for one in error.problems
        ]
    return made


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    """The first thing that is wrong with a request; what it sent is not repeated."""
    assert isinstance(error, RequestValidationError), "registered for it"  # noqa: S101  # our own bug otherwise
    first = error.errors()[0]
    place, kind = [str(part) for part in first["loc"][1:]], str(first["type"])
    if kind == "json_invalid":
        why = first.get("ctx", {}).get("error", "")
        return answer(400, ErrorBody(message=f"the body is not JSON: {why}", type=type_of(400), code=kind))
    if first["loc"] == ("body",) and kind == "missing":
        return answer(400, ErrorBody(message="this takes a body and got none", type=type_of(400), code=kind))
    if first["loc"] == ("body",) and isinstance(first.get("input"), bytes):
        sent = request.headers.get("content-type", "nothing")
        message = f"this takes application/json, not what Content-Type says: {sent[:100]}"
        return answer(415, ErrorBody(message=message, type=type_of(415), code="unsupported_media_type"))
    while place and place[-1].isdecimal():  # which of a list's values it is, nobody looks for
        place.pop()
    param = ".".join(place) or None
    told = _TOLD.get(kind, str(first["msg"]))
    message = f"{param}: {told}" if param else told
    return answer(400, ErrorBody(message=message, type=type_of(400), param=param, code=kind))


def _http_error(request: Request, error: HTTPException) -> JSONResponse:
    """What the framework refuses: an unknown path, a method that a path does not have, a body that is too large."""
    status, headers, message = error.status_code, dict(error.headers or {}), str(error.detail)
    if status == 404 and message == HTTPStatus.NOT_FOUND.phrase:
        message = f"there is no {request.url.path[:200]!r} here; GET /openapi.json lists what there is"
    code = error.code if isinstance(error, Refused) else _CODES.get(status, f"http_{status}")
    if status == 405:
        headers["Allow"] = ", ".join(_methods(request))
        message = f"{request.method} is not allowed here; use {headers['Allow']}"
    if status == 400 and message == _UNREADABLE:
        message, code = "the body cannot be read: nested too deeply, or a number of too many digits", "json_invalid"
    return answer(status, ErrorBody(message=message, type=type_of(status), code=code), headers)


def _methods(request: Request) -> list[str]:
    """What a path takes: the framework itself names only what the first of its routes does, in any order."""
    bare = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}
    routes = request.app.router.routes
    return [one for one in _METHODS if any(route.matches(bare | {"method": one})[0] is Match.FULL for route in routes)]


async def _unicode_error(request: Request, error: Exception) -> JSONResponse:
    """A lone surrogate that was sent as a JSON escape, met where text becomes bytes: nothing of ours holds one."""
    log.warning("request %s: %s", request_id_of(request.scope), error)
    message = "the request holds half a character (a lone surrogate such as \\ud800); send whole Unicode"
    return answer(400, ErrorBody(message=message, type=type_of(400), code="string_unicode"))


def request_id_of(scope: Scope) -> str:
    """The id of a request; see `cli/api/middleware.py`."""
    return str(scope.get("state", {}).get("request_id", "-"))


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
