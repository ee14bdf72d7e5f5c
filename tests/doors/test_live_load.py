"""Many listeners of `tts-batch serve` beside a bulk job; `tests/bench/live_load.py` measures the same with more."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from jobs.state import FINAL_JOB_STATES, JobState
from tests.bench.live_client import TIMEOUT_S, Load, listen, run, short_texts
from tests.bench.live_load import Server, serving, speech_requests, submit_bulk
from tests.helpers_cli import Home, wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

LISTENERS = 30
LEAVERS = 5
SLOWLY = "[[fault:slow:s=0.02]] "
"""Half as fast as it is heard: whoever leaves is far from the end."""


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    with serving(home, "fake") as running:
        yield running


def test_all_listeners_are_answered_whole_beside_a_bulk_job_that_ends_complete(server: Server) -> None:
    job = submit_bulk(server, 250)
    truth = server.broker.truth
    assert truth.job(job).state is JobState.RUNNING
    texts = short_texts(LISTENERS, 1)
    heard = asyncio.run(run(Load(server.url, "fake", "tone", texts)))["heard"]
    assert [one["error"] for one in heard] == [""] * LISTENERS
    ends = asyncio.run(ends_of(server, [one["request_id"] for one in heard]))
    for one, end in zip(heard, ends, strict=True):
        assert (end["finish_reason"], end["failed"]) == ("stop", 0)
        assert one["audio_s"] == pytest.approx(end["audio_s"], abs=0.01)
    wait_until(lambda: truth.job(job).state in FINAL_JOB_STATES, "the bulk job is done", timeout_s=400)
    record = truth.job(job)
    assert (record.state, record.done, record.failed) == (JobState.DONE, record.total, 0)


def test_listeners_that_leave_are_cancelled_and_their_slots_are_free(server: Server) -> None:
    texts = [" ".join(SLOWLY + text for text in short_texts(20, salt)) for salt in range(2 * LEAVERS)]
    asyncio.run(leave_unheard(server, texts[:LEAVERS]))
    asyncio.run(run(Load(server.url, "fake", "tone", texts[LEAVERS:], leave="after")))
    truth = server.broker.truth

    def states() -> Counter[JobState]:
        return Counter(truth.job(name).state for name in speech_requests(server))

    wait_until(lambda: states() == {JobState.CANCELLED: 2 * LEAVERS}, "all are cancelled")
    wait_until(lambda: truth.depth().held == 0, "nothing is held")
    told = httpx.get(f"{server.url}/v1/workers").raise_for_status().json()
    assert told["queue"] == {"live": 0, "normal": 0, "bulk": 0, "held": 0}
    wait_until(lambda: not any(worker.slots_busy for worker in truth.workers()), "all slots are free")


async def leave_unheard(server: Server, texts: list[str]) -> None:
    """Listeners that hang up as soon as all of them are queued, whatever they have heard."""
    load = Load(server.url, "fake", "tone", texts)
    async with httpx.AsyncClient(base_url=load.url, timeout=TIMEOUT_S) as client:
        listeners = [asyncio.create_task(listen(client, load, text)) for text in texts]
        while len(await asyncio.to_thread(speech_requests, server)) < len(texts):
            assert not any(listener.done() for listener in listeners)
            await asyncio.sleep(0.05)
        for listener in listeners:
            listener.cancel()
        await asyncio.gather(*listeners, return_exceptions=True)


async def ends_of(server: Server, requests: list[str]) -> list[dict]:
    """How the server says that requests ended, once it says so."""
    async with httpx.AsyncClient(base_url=server.url, timeout=TIMEOUT_S) as client:
        ends = []
        for request in requests:
            end = {"finish_reason": None}
            while end["finish_reason"] is None:  # an answer may be whole a moment before its last segment is told
                end = (await client.get(f"/v1/audio/speech/{request}")).raise_for_status().json()
            ends.append(end)
    return ends
