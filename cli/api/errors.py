"""Errors as OpenAI's clients read them: `{"error": {"message", "type", "param", "code"}}` with a fitting status."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from jobs import errors


class ErrorBody(BaseModel):
    """What went wrong. `param` names the field of the request that is at fault, `code` is for programs."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


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


_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_STATUS: dict[type[errors.JobsError], int] = {
    errors.UnknownJob: 404,
    errors.ObjectMissing: 404,
    errors.BadOutput: 507,
    errors.BadInput: 400,
    errors.MissingExtra: 400,
    errors.IllegalMove: 409,
    errors.BrokerUnavailable: 503,
    errors.StoreError: 503,
}
"""Looked through in order: the first kind that fits decides; any other error of ours is a 500."""


def type_of(status: int) -> str:
    """The `type` that goes with a status."""
    return _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")


def answer(status: int, body: ErrorBody, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error as a response."""
    return JSONResponse(ErrorAnswer(error=body).model_dump(), status, headers=dict(headers or {}))


def add_to(app: FastAPI) -> None:
    """Let every error of a route become an answer of this form."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(errors.JobsError, _jobs_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


def of_ours(error: errors.JobsError) -> ApiError:
    """One of our errors as an answer."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    code = error.problems[0].code if isinstance(error, errors.BadSource) else _snake(type(error).__name__)
    return ApiError(status, str(error), code=code, headers={"Retry-After": "5"} if status == 503 else None)


async def _api_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError), "registered for it"  # noqa: S101  # our own bug otherwise
    return answer(error.status, error.body, error.headers)


async def _jobs_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.JobsError), "registered for it"  # noqa: S101  # our own bug otherwise
    return await _api_error(request, of_ours(error))


async def _validation_error(_request: Request, error: Exception) -> JSONResponse:
    """The first thing that is wrong with a request."""
    assert isinstance(error, RequestValidationError), "registered for it"  # noqa: S101  # our own bug otherwise
    first = error.errors()[0]
    place = [str(part) for part in first["loc"][1:]]
    param = ".".join(place) or None
    message = f"{param}: {first['msg']}" if param else str(first["msg"])
    return answer(400, ErrorBody(message=message, type=type_of(400), param=param, code=str(first["type"])))


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    """What the framework refuses: an unknown path, a method that a path does not have."""
    assert isinstance(error, HTTPException), "registered for it"  # noqa: S101  # our own bug otherwise
    body = ErrorBody(message=str(error.detail), type=type_of(error.status_code))
    return answer(error.status_code, body, error.headers)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
