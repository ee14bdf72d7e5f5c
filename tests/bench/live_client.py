"""Listeners of `/v1/audio/speech` for the load bench, in a process of their own: `python -m tests.bench.live_client`.

Standard input is one JSON object (`Load`), standard output one too. Times are seconds since a request was begun.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import av
import httpx

from tests.bench.long_text import sentences

WORDS = [
    "alpha",
    "bravo",
    "cedar",
    "delta",
    "ember",
    "falcon",
    "garden",
    "harbour",
    "island",
    "jasper",
    "kettle",
    "lantern",
    "meadow",
    "north",
]
TIMEOUT_S = 300.0
CONNECTIONS = 1000
POLL_S = 0.02


@dataclass(frozen=True)
class Load:
    """What one run does: a request for each text, all at once.

    `leave`: "" stays to the end; "before" goes away `after_s` after the request was sent, "after" with the first bytes
    of audio. Who leaves is followed by a look at `/v1/workers` until no slot is taken and nothing live waits.
    """

    url: str
    model: str
    voice: str
    texts: list[str]
    response_format: str = "wav"
    leave: str = ""
    after_s: float = 0.0


@dataclass
class Heard:
    """How one request went."""

    status: int = 0
    request_id: str = ""
    first_byte_s: float | None = None
    total_s: float = 0.0
    audio_s: float = 0.0
    error: str = ""
    data: bytearray = field(default_factory=bytearray, repr=False)


def short_texts(count: int, salt: int) -> list[str]:
    """Short sentences that no other salt gives, so that no take of another run is reused."""
    chance = random.Random(salt)
    plain = [text for text in sentences(400) if 30 < len(text) < 80]
    names = [" ".join(chance.sample(WORDS, 4)) for _ in range(count)]
    return [f"Call {name}: {chance.choice(plain)}" for name in names]


def decoded_s(data: bytes) -> float:
    """Seconds of audio in the bytes of any format. Raises av.FFmpegError: they are none."""
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.audio[0]
        return sum(frame.samples for frame in container.decode(stream)) / stream.rate


async def listen(client: httpx.AsyncClient, load: Load, text: str) -> Heard:
    """One request, to its end or as far as it shall be heard."""
    heard, began_s = Heard(), time.monotonic()
    body = {"model": load.model, "input": text, "voice": load.voice, "response_format": load.response_format}
    try:
        limit_s = load.after_s if load.leave == "before" else TIMEOUT_S
        async with asyncio.timeout(limit_s), client.stream("POST", "/v1/audio/speech", json=body) as response:
            heard.status, heard.request_id = response.status_code, response.headers.get("x-request-id", "")
            async for piece in response.aiter_raw():
                if heard.first_byte_s is None:
                    heard.first_byte_s = time.monotonic() - began_s
                heard.data += piece
                if load.leave == "after":
                    break
    except TimeoutError:
        heard.error = "" if load.leave == "before" else f"no end within {TIMEOUT_S:.0f} s"
    except httpx.HTTPError as error:
        heard.error = f"{type(error).__name__}: {error}"
    heard.total_s = time.monotonic() - began_s
    return heard


async def until_free(client: httpx.AsyncClient) -> float:
    """How long it takes until no slot is busy and nothing live waits, as `/v1/workers` tells it."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < TIMEOUT_S:
        told = (await client.get("/v1/workers")).raise_for_status().json()
        busy = sum(worker["slots_busy"] for worker in told["data"])
        if busy == told["queue"]["live"] == 0:
            return time.monotonic() - began_s
        await asyncio.sleep(POLL_S)
    msg = f"slots are still busy after {TIMEOUT_S:.0f} s"
    raise TimeoutError(msg)


async def run(load: Load) -> dict[str, Any]:
    """All requests of a load at once; what became of each, and (who leaves) when the slots were free."""
    limits = httpx.Limits(max_connections=CONNECTIONS)
    async with httpx.AsyncClient(base_url=load.url, timeout=TIMEOUT_S, limits=limits) as client:
        began_s = time.monotonic()
        heard = await asyncio.gather(*(listen(client, load, text) for text in load.texts))
        took_s = time.monotonic() - began_s
        free_s = await until_free(client) if load.leave else None
    if not load.leave:
        decode(heard)
    shown = [{name: value for name, value in asdict(one).items() if name != "data"} for one in heard]
    return {"heard": shown, "took_s": took_s, "free_s": free_s}


def decode(heard: list[Heard]) -> None:
    """Note how much audio each answer is, and which is none."""
    for one in heard:
        if one.status != 200:
            one.error = one.error or f"{one.status}: {bytes(one.data[:300])!r}"
            continue
        try:
            one.audio_s = decoded_s(bytes(one.data))
        except av.FFmpegError as error:
            one.error = one.error or f"no audio: {error}"
        if not one.error and one.audio_s < 0.5:
            one.error = f"only {one.audio_s:.2f} s of audio"


def main() -> None:
    """Read a load, run it, tell."""
    print(json.dumps(asyncio.run(run(Load(**json.load(sys.stdin))))))


if __name__ == "__main__":
    main()
