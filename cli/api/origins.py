"""Where a request comes from: whether a page of ours sent it, and whether the name it was sent to is ours."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""What changes nothing here, whoever sends it."""
_PORTS = {"http": 80, "https": 443}
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address that a server listens on."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_local_name(connection: HTTPConnection, host: str) -> bool:
    """Whether the Host header names this machine, or the address that the server listens on.

    A page of somebody else can let a name of its own point to 127.0.0.1 (DNS rebinding); its requests carry that name.
    """
    found = _split(f"http://{connection.headers.get('host', '')}")
    name = (found and found.hostname) or ""
    return name in {"localhost", "127.0.0.1", "::1", host.strip("[]").lower()}


def was_forwarded(connection: HTTPConnection) -> bool:
    """Whether a proxy says that it passed the request on: then the sender need not be on this machine."""
    return any(name in connection.headers for name in _PROXY_HEADERS)


def foreign_origin(connection: HTTPConnection, allowed: tuple[str, ...] = ()) -> str | None:
    """The origin of the page that sent a request, if the browser says that it is neither ours nor one of `allowed`.

    None also for senders that are no browser: they say nothing.
    """
    origin = connection.headers.get("origin")
    if origin is not None:
        return None if origin in allowed or _is_ours(connection, origin) else origin
    site = connection.headers.get("sec-fetch-site", "none")
    return None if site in {"same-origin", "none"} else f"a {site} page"


def proves_our_page(connection: HTTPConnection) -> bool:
    """Whether the browser says that a page of this very server sent a request."""
    origin = connection.headers.get("origin")
    if origin is not None:
        return _is_ours(connection, origin)
    return connection.headers.get("sec-fetch-site") == "same-origin"


def _is_ours(connection: HTTPConnection, origin: str) -> bool:
    """Whether an origin has the host and port that the request was sent to; and TLS, where the request came by it."""
    page = _split(origin)
    if page is None or page.scheme not in _PORTS or not page.hostname:
        return False
    here = _split(f"{page.scheme}://{connection.headers.get('host', '')}")
    if here is None or (connection.url.scheme == "https" and page.scheme != "https"):
        return False
    return (page.hostname, _port(page)) == (here.hostname, _port(here))


def _port(url: SplitResult) -> int | None:
    return url.port if url.port is not None else _PORTS.get(url.scheme)


def _split(url: str) -> SplitResult | None:
    """The parts of a URL; None if it is none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # looks whether it is a number
    except ValueError:
        return None
    return parts
