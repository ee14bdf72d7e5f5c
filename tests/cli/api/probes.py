"""Routes of the tests' own, one for each thing that a route may do, added to the app of a door.

Annotations are not put off here: FastAPI could not look up those that name a local variable.
"""

import time
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import allowed, speaking, spend_chars
from cli.api.errors import ApiError
from cli.api.service import service_of
from jobs import errors
from jobs.access.gate import Caller, Scope


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    number: int = Field(default=1, ge=1)
    more: dict[str, object] = {}


RAISED: dict[str, Exception] = {
    "unknown_job": errors.UnknownJob("no job has the id 'x'"),
    "object_missing": errors.ObjectMissing("no object 'a' in file:///home/ann/secret-folder"),
    "object_damaged": errors.ObjectDamaged("file:///home/ann/secret-folder/a is cut off"),
    "bad_output": errors.BadOutput("/home/ann/secret-folder is full"),
    "bad_option": errors.BadOption("voice 'bob\ud800' is not known"),
    "missing_extra": errors.MissingExtra("pip install 'tts-batch[asr]'"),
    "illegal_move": errors.IllegalMove("a done job cannot be paused"),
    "broker_unavailable": errors.BrokerUnavailable("no Redis answers at unix:///home/ann/secret-folder/s"),
    "store_error": errors.StoreError("file:///home/ann/secret-folder refused"),
    "fenced": errors.Fenced("worker secret-folder-1 was declared dead"),
    "bad_source": errors.BadSource(errors.SourceProblem("no_text", "nothing to speak", line=3)),
    "api_error": ApiError(418, "no coffee", code="teapot", param="pot", headers={"Retry-After": "7"}),
    "half": UnicodeEncodeError("utf-8", "a\ud800", 1, 2, "surrogates not allowed"),
    "unforeseen": RuntimeError("the password is secret-folder"),
}


def add_probes(app: FastAPI) -> None:
    """`/v1/probe/<scope>` and others."""
    for scope in Scope:

        def probe(caller: Annotated[Caller, Depends(allowed(scope))]) -> dict[str, str]:
            return {"caller": caller.name}

        app.add_api_route(f"/v1/probe/{scope}", probe, methods=["GET", "POST"])

    @app.get("/v1/raise/{name}")
    def raises(name: str) -> None:
        raise RAISED[name]

    def broken() -> None:
        raise RAISED["illegal_move"]

    @app.get("/v1/broken-dependency", dependencies=[Depends(broken)])
    def depends() -> None: ...

    @app.post("/v1/echo")
    def echo(body: Body) -> JSONResponse:
        return JSONResponse(body.model_dump())

    @app.post("/v1/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    @app.post("/v1/form")
    async def form(request: Request) -> list[str]:
        return list(await request.form())

    @app.get("/v1/own-id")
    def own_id() -> JSONResponse:
        return JSONResponse({}, headers={"X-Request-Id": "job-1", "Cache-Control": "max-age=9"})

    @app.post("/v1/speak/{chars}")
    def speak(chars: int, request: Request, caller: Annotated[Caller, Depends(allowed(Scope.SPEAK))]) -> str:
        service = service_of(request)
        spend_chars(service, caller, chars)
        with speaking(service, caller, "r"):
            return "spoken"

    @app.get("/v1/slowly")
    def slowly() -> StreamingResponse:
        def pieces() -> Iterator[bytes]:
            for number in range(3):
                yield b"%d\n" % number
                time.sleep(0.01)
            raise RAISED["unforeseen"]

        return StreamingResponse(pieces(), media_type="text/plain")
