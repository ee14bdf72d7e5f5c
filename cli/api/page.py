"""The page: static files of `cli/page/`, served as they are. `docs/page.md` says what it shows.

Only files of the package are ever opened: they are read once, and a name that is not among them is not found.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from fastapi import APIRouter, Request, Response

from cli.api.errors import ApiError, ErrorAnswer
from cli.api.stored import has_already

router = APIRouter(tags=["page"])

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""By ending. A file of any other kind in the folder is not served."""
START = "index.html"


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file. `etag` names its content, so that a browser asks again and is sent nothing twice."""

    content: bytes
    media_type: str
    etag: str


@lru_cache(maxsize=1)
def page_files() -> dict[str, PageFile]:
    """Every file of the page by its name."""
    found: dict[str, PageFile] = {}
    for entry in resources.files("cli").joinpath("page").iterdir():
        media_type = MEDIA_TYPES.get(entry.name.rpartition(".")[2])
        if media_type is not None and entry.is_file():
            content = entry.read_bytes()
            found[entry.name] = PageFile(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


@router.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
def start(request: Request) -> Response:
    """The page itself."""
    return _send(request, START)


@router.api_route(
    "/page/{name}", methods=["GET", "HEAD"], include_in_schema=False, responses={404: {"model": ErrorAnswer}}
)
def part(request: Request, name: str) -> Response:
    """A script, a style sheet or a picture of the page."""
    return _send(request, name)


def _send(request: Request, name: str) -> Response:
    file = page_files().get(name)
    if file is None:
        msg = f"the page has no file {name!r}; it begins at /"
        raise ApiError(404, msg)
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if has_already(request, file.etag):
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)
