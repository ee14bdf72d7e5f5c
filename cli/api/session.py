"""`/v1/session`: a browser's token in a cookie that scripts cannot read."""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import COOKIE, UNKNOWN_TOKEN, caller_of, check_local, token_is_asked_for, unauthorized
from cli.api.errors import ApiError
from cli.api.origins import foreign_origin
from cli.api.service import Served, Service
from jobs.access.gate import Scope
from jobs.access.tokens import LONGEST_SECRET

COOKIE_S = 30 * 86_400
"""How long a browser keeps the token; less if the token ends before."""

router = APIRouter(tags=["session"])


class Login(BaseModel):
    """The token of a page's user."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=1, max_length=LONGEST_SECRET)


class Session(BaseModel):
    """Whether a token is asked for, and what the sender of this request may do."""

    object: Literal["session"] = "session"
    token_needed: bool
    name: str | None
    """The token's; None: none was shown, or one that is not known."""
    scopes: list[Scope]


@router.post("/v1/session", status_code=204)
def log_in(body: Login, request: Request, response: Response, service: Served) -> None:
    """Keep a token in a cookie of this browser, from now on sent with each of its requests to this server."""
    _check_page(request, service)
    token = service.gate.find(body.token)
    if token is None:
        raise unauthorized(UNKNOWN_TOKEN, given=True)
    left_s = COOKIE_S if token.expires_at_s is None else min(COOKIE_S, int(token.expires_at_s - time.time()))
    response.set_cookie(
        COOKIE, body.token, max_age=left_s, path="/", httponly=True, samesite="strict", secure=_is_tls(request)
    )


@router.delete("/v1/session", status_code=204)
def log_out(request: Request, response: Response, service: Served) -> None:
    """Take the cookie back. The token itself stays good; `tts-batch token remove` ends it."""
    _check_page(request, service)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=_is_tls(request))


@router.get("/v1/session")
def session(request: Request, service: Served) -> Session:
    """Whether a token is asked for, and what the sender of this request may do."""
    needed = token_is_asked_for(service)
    try:
        caller = caller_of(request, service)
    except ApiError as error:
        if error.status != 401:
            raise
        return Session(token_needed=needed, name=None, scopes=[])
    token = caller.token
    if token is None:
        return Session(token_needed=needed, name=None, scopes=list(Scope))
    return Session(token_needed=needed, name=token.name, scopes=list(token.scopes))


def _check_page(request: Request, service: Service) -> None:
    """Refuse other sites' pages: they must neither log somebody in as somebody else, nor out."""
    if not token_is_asked_for(service):
        check_local(request, service)
    origin = foreign_origin(request)
    if origin is not None:
        message = f"{origin[:200]} is not this server's own page; only that one logs in and out"
        raise ApiError(403, message, code="foreign_origin")


def _is_tls(request: Request) -> bool:
    """Whether the page came by TLS: its origin says so too where a proxy ends that before us."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
