"""The two back ends of the truth, for every test that asks for a `house`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jobs.streams.memory import MemoryStreams
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.contract.house_of_truth import TTL_S, House
from tests.helpers_truth import audit
from tests.helpers_valkey import shared_server

BACK_ENDS = ["memory", pytest.param("redis", marks=pytest.mark.services)]
WAITS = {"worker_ttl_s": TTL_S, "claim_after_s": TTL_S, "reconcile_after_s": TTL_S}


@pytest.fixture(params=BACK_ENDS)
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    yield from built(request.param, WAITS)


@pytest.fixture(params=BACK_ENDS)
def forgetful(request: pytest.FixtureRequest) -> Iterator[House]:
    """A house that keeps speech requests for a moment only."""
    yield from built(request.param, {"worker_ttl_s": 60.0, "speech_ttl_s": TTL_S})


def built(kind: str, waits: dict[str, float]) -> Iterator[House]:
    if kind == "memory":
        streams = MemoryStreams(max_audio_bytes=1000)
        yield House(MemoryTruth(streams, **waits), streams)
        return
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url))
    yield House(RedisTruth(calls, **waits), RedisStreams(calls, max_audio_bytes=1000))
    audit(calls.client)
    calls.client.close()
