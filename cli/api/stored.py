"""Objects of a store as answers: whole or one range of bytes, not again if the caller has them, or by the store itself.

send(request, Stored(store, key, "audio/mpeg", "a.mp3", version))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from cli.api.byte_ranges import ByteRange, NotThere, byte_range
from cli.api.errors import ApiError, ErrorAnswer
from jobs.errors import ObjectDamaged
from jobs.protocols import Presigns, Store

_BINARY: dict[str, dict[str, str]] = {"*/*": {}}
ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "All of it", "content": _BINARY},
    206: {"description": "The range that was asked for", "content": _BINARY},
    304: {"description": "It is what `If-None-Match` names"},
    307: {"description": "The store sends it, from the address in `Location`"},
    404: {"model": ErrorAnswer},
    416: {"model": ErrorAnswer},
}
"""What such a route answers, for /openapi.json."""
PRESIGNED_S = 3600
"""How long an address that the store gives out is good for."""
_BLOCK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Stored:
    """An object that does not change. `version` is another one for whatever else its address may ever answer with."""

    store: Store
    key: str
    media_type: str
    filename: str
    version: str

    @property
    def etag(self) -> str:
        """What tells contents apart."""
        return f'"{self.version}"'

    @property
    def headers(self) -> dict[str, str]:
        """What every answer with it has."""
        plain = "".join(char if (char.isascii() and char.isalnum()) or char in "._-" else "_" for char in self.filename)
        named = quote(self.filename.encode(errors="replace"), safe="")
        return {
            "Accept-Ranges": "bytes",
            "ETag": self.etag,
            "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{named}",
        }


def has_already(request: Request, etag: str) -> bool:
    """Whether `If-None-Match` says that the caller has what an ETag names (RFC 9110 section 13.1.2)."""
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    return etag in known or "*" in known


def send(request: Request, stored: Stored) -> Response:
    """Answer GET or HEAD with an object: read piece by piece, or (where the store can) sent by the store.

    Raises:
        ApiError: 416, it has no such range.
        ObjectMissing: it is gone.
    """
    if isinstance(stored.store, Presigns):
        filename, media_type = stored.filename, stored.media_type
        address = stored.store.presigned_url(stored.key, PRESIGNED_S, filename=filename, media_type=media_type)
        return RedirectResponse(address, 307)
    size_bytes, headers = stored.store.size_bytes(stored.key), stored.headers
    if has_already(request, stored.etag):
        return Response(status_code=304, headers=headers)
    asked = _asked(request, stored, size_bytes)
    part = asked or ByteRange(0, size_bytes - 1)
    headers["Content-Length"] = str(part.length)
    if asked is not None:
        headers["Content-Range"] = f"bytes {part.first}-{part.last}/{size_bytes}"
    status = 200 if asked is None else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=stored.media_type)
    return StreamingResponse(_pieces(stored, part), status, headers=headers, media_type=stored.media_type)


def _asked(request: Request, stored: Stored, size_bytes: int) -> ByteRange | None:
    if request.headers.get("if-range", stored.etag) != stored.etag:
        return None
    try:
        return byte_range(request.headers.get("range"), size_bytes)
    except NotThere:
        msg = f"{stored.filename} has {size_bytes} bytes; the range begins behind its end"
        headers = {"Content-Range": f"bytes */{size_bytes}", "ETag": stored.etag}
        raise ApiError(416, msg, code="range_not_satisfiable", headers=headers) from None


def _pieces(stored: Stored, part: ByteRange) -> Iterator[bytes]:
    """The bytes of a range, each read in the server's thread pool. Raises ObjectDamaged: it is shorter than it was."""
    with stored.store.open(stored.key) as file:
        file.seek(part.first)
        left_bytes = part.length
        while left_bytes > 0:
            block = file.read(min(_BLOCK_BYTES, left_bytes))
            if not block:
                msg = f"{stored.key} in {stored.store.url} ended {left_bytes} bytes early"
                raise ObjectDamaged(msg)
            left_bytes -= len(block)
            yield block
