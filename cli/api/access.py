"""Who may do what: `Depends(allowed(Scope.SPEAK))` on a route. The tokens and their quotas are in `jobs/access/`.

A token comes as `Authorization: Bearer …`, or in the cookie that `/v1/session` sets for the page; nowhere else. Where
no token exists, everybody is let in if the service is `open`; a loopback server is then for this machine alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.requests import HTTPConnection

from cli.api.errors import ApiError
from cli.api.origins import SAFE_METHODS, foreign_origin, is_local_name, is_loopback, proves_our_page, was_forwarded
from cli.api.service import Service, service_of
from jobs.access.gate import Caller, Gate, Rate, Scope, Token

COOKIE = "tts_batch_session"
"""The cookie of `/v1/session`; its value is the token's secret."""
BUSY_RETRY_S = 2
"""What a caller is told to wait when all its places for speech are taken."""
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token of `tts-batch token add`.")
_SESSION = APIKeyCookie(name=COOKIE, auto_error=False, scheme_name="session", description="What `/v1/session` sets.")
UNKNOWN_TOKEN = "this token is not known here, or it has expired or was removed"  # noqa: S105  # what callers read
_ADD = "make a token with `tts-batch token add NAME --scope read,jobs,speak` on the server's machine"


def allowed(scope: Scope) -> Callable[..., Caller]:
    """A dependency that lets a request pass whose token has the scope (any request, where no token is asked for).

    The request is counted against the token's rate.

    Raises:
        ApiError: 401 no or an unknown token, 403 its scopes do not have this one or another site's page sent the
            request, 421 a name that is not this machine's, 429 over its rate.
    """

    def check(
        request: Request, _bearer: Annotated[object, Depends(_BEARER)], _session: Annotated[object, Depends(_SESSION)]
    ) -> Caller:
        caller = caller_of(request, service_of(request))
        check_scope(caller, scope)
        if caller.token is not None:
            _count(request, service_of(request).gate, caller.token)
        return caller

    return check


READ, JOBS, VOICES = (Depends(allowed(scope)) for scope in (Scope.READ, Scope.JOBS, Scope.VOICES))
"""For routes that need not know who asks: `dependencies=[READ]`."""


def check_scope(caller: Caller, scope: Scope) -> None:
    """Raise ApiError 403 where a caller's token does not have a scope."""
    if caller.token is None or scope in caller.token.scopes:
        return
    has = ", ".join(caller.token.scopes)
    msg = f"token {caller.name!r} has no scope {scope.value!r}, only {has}; use a token made with it"
    raise ApiError(403, msg, code="missing_scope")


def caller_of(connection: HTTPConnection, service: Service) -> Caller:
    """Who sent a request; asks the broker once for each request.

    Raises:
        ApiError: as `allowed`, but for scopes and rates.
    """
    known = connection.scope.setdefault("state", {}).get("caller")
    if isinstance(known, Caller):
        return known
    caller = _identify(connection, service)
    connection.scope["state"]["caller"] = caller
    return caller


def token_is_asked_for(service: Service) -> bool:
    """Whether nobody is answered without a token."""
    return not service.open or service.gate.any()


def spend_chars(service: Service, caller: Caller, chars: int) -> None:
    """Count characters to be spoken against the caller's quota of the day.

    Raises:
        ApiError: 429, they are over it; none of them is counted then.
    """
    token = caller.token
    wait_s = 0.0 if token is None else service.gate.count_chars(token, chars)
    if token is None or wait_s <= 0:
        return
    limit = token.quota.chars_per_day
    msg = f"{chars} characters are more than token {token.name!r} has left of its {limit} for today (UTC)"
    if limit is not None and chars > limit:
        msg = f"{chars} characters are more than the {limit} that token {token.name!r} has for a whole day"
    raise ApiError(429, msg, code="chars_per_day", headers={"Retry-After": _whole(wait_s)})


@contextmanager
def speaking(service: Service, caller: Caller, request_id: str) -> Iterator[None]:
    """Hold one of the caller's places for speech while the block runs.

    Raises:
        ApiError: 429, all of them are taken.
    """
    if caller.token is None:
        yield
        return
    with service.gate.speaking(caller.token, request_id) as admitted:
        if not admitted:
            limit = caller.token.quota.concurrent
            msg = f"token {caller.name!r} has {limit} speech requests at work, as many as it may; wait for one to end"
            raise ApiError(429, msg, code="concurrent_requests", headers={"Retry-After": str(BUSY_RETRY_S)})
        yield


def check_local(connection: HTTPConnection, service: Service) -> None:
    """For a server that answers everybody: refuse what other sites' pages send, and other machines by a detour.

    Raises:
        ApiError: 401, 403 or 421.
    """
    if is_loopback(service.host):
        if not is_local_name(connection, service.host):
            msg = f"this server answers to localhost only, not to {connection.headers.get('host', '')[:100]!r}; {_ADD}"
            raise ApiError(421, msg, code="foreign_host")
        if was_forwarded(connection):
            msg = f"a proxy passes this request on, and no token exists; {_ADD}"
            raise unauthorized(msg, given=False)
    origin = foreign_origin(connection, service.cors_origins)
    if origin is not None and connection.scope["method"] not in SAFE_METHODS:
        raise _foreign(origin)


def _identify(connection: HTTPConnection, service: Service) -> Caller:
    secret = _bearer_secret(connection)
    by_cookie = secret is None
    secret = connection.cookies.get(COOKIE) if secret is None else secret
    token = service.gate.find(secret) if secret else None
    if token is not None:
        if by_cookie and connection.scope["method"] not in SAFE_METHODS and not proves_our_page(connection):
            raise _foreign(connection.headers.get("origin", "an unknown page"))
        return Caller(token=token)
    if not token_is_asked_for(service):
        check_local(connection, service)
        return Caller()
    msg = f"no token exists yet, and this server answers nobody without one; {_ADD}"
    if secret:
        msg = UNKNOWN_TOKEN
    elif service.gate.any():
        msg = "this server asks for a token: send it as `Authorization: Bearer …`"
    raise unauthorized(msg, given=bool(secret))


def _bearer_secret(connection: HTTPConnection) -> str | None:
    """The secret in Authorization; None: there is none. Another scheme's is no secret of ours."""
    header = connection.headers.get("authorization")
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _count(connection: HTTPConnection, gate: Gate, token: Token) -> None:
    rate = gate.count_request(token)
    if rate is None:
        return
    connection.scope["state"]["rate"] = rate
    if rate.wait_s > 0:
        msg = f"token {token.name!r} may send {rate.limit} requests per minute; try again in {_whole(rate.wait_s)} s"
        raise ApiError(429, msg, code="requests_per_minute", headers={"Retry-After": _whole(rate.wait_s)})


def rate_headers(rate: Rate) -> dict[str, str]:
    """What is left of a rate, in the headers that OpenAI's clients know."""
    return {
        "x-ratelimit-limit-requests": str(rate.limit),
        "x-ratelimit-remaining-requests": str(rate.remaining),
        "x-ratelimit-reset-requests": f"{rate.reset_s:.3f}s",
    }


def _whole(seconds: float) -> str:
    return str(max(1, math.ceil(seconds)))


def unauthorized(message: str, *, given: bool) -> ApiError:
    """401; `given`: a token was shown."""
    challenge = 'Bearer realm="tts-batch"' + (', error="invalid_token"' if given else "")
    code = "invalid_api_key" if given else "missing_api_key"
    return ApiError(401, message, code=code, headers={"WWW-Authenticate": challenge})


def _foreign(origin: str) -> ApiError:
    msg = f"{origin[:200]} is not this server's own page; it may not act for whoever looks at it"
    return ApiError(403, msg, code="foreign_origin")
