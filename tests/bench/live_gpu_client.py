"""The listeners of `live_gpu`, in a process of their own: `python -m tests.bench.live_gpu_client`.

Standard input is a list of loads (`live_client.Load`), which come one after the other; standard output is what became
of each request, with the moment when its load began (`at`, time.time()).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict
from typing import Any

import httpx

from tests.bench.live_client import CONNECTIONS, TIMEOUT_S, Load, decode, listen


async def hear(load: Load) -> list[dict[str, Any]]:
    """All requests of a load at once, on connections that nobody used before."""
    limits = httpx.Limits(max_connections=CONNECTIONS)
    async with httpx.AsyncClient(base_url=load.url, timeout=TIMEOUT_S, limits=limits) as client:
        began_at = time.time()
        heard = await asyncio.gather(*(listen(client, load, text) for text in load.texts))
    decode(heard)
    return [{name: value for name, value in asdict(one).items() if name != "data"} | {"at": began_at} for one in heard]


def main() -> None:
    """Read loads, run them, tell."""
    loads = [Load(**one) for one in json.load(sys.stdin)]
    print(json.dumps([one for load in loads for one in asyncio.run(hear(load))]))


if __name__ == "__main__":
    main()
