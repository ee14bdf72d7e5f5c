"""Speech requests in a room: done with their last take, and their slots are free soon after somebody hung up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jobs.state import JobState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_valkey import shared_server
from tests.workers.making import LONG, ONE_TAKE, Stage, Tap, lines, running, until
from workers.heartbeat import BEAT_S

SLOW = "[[fault:slow:s=0.002]]"
"""Five times real time: a sentence with LONG takes some seconds."""


@pytest.fixture
def redis_stage(stage: Stage) -> Iterator[Stage]:
    """The stage over a real server."""
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url))
    whole: Any = stage
    whole.truth, whole.streams = RedisTruth(calls), RedisStreams(calls, max_audio_bytes=2**26)
    stage.context.truth, stage.context.streams = stage.truth, stage.streams
    stage.context.settings = stage.settings.__class__(broker=server.url)
    yield stage
    calls.client.close()


@pytest.mark.services
def test_a_request_that_was_given_up_frees_its_slots(redis_stage: Stage) -> None:
    stage = redis_stage
    calls: list[str] = []
    stage.context.truth = Tap(stage.truth, lambda name, _arguments: calls.append(name))
    with running(stage, slots=2) as run:
        stage.speak("s", lines(30, f"{LONG} {SLOW}"), live=True, checks=ONE_TAKE)
        until(lambda: run.room.slots_busy == 2, "its slots are taken")
        stage.truth.cancel("s")
        before = calls.count("beat")
        until(lambda: run.room.slots_busy == 0, "its slots are free")
        # One beat may have been under way, the next one hears of it; the third comes while a step ends.
        assert calls.count("beat") - before <= 3
        assert run.room.heartbeat.every_s == BEAT_S
        until(lambda: [worker.held for worker in stage.truth.workers()] == [0], "nothing is held")
        told = stage.submit(lines(2), checks=ONE_TAKE)
        until(lambda: stage.state(told[0].job) is JobState.ASSEMBLING, "another job is spoken")
    assert stage.truth.job("s").state is JobState.CANCELLED
    assert stage.truth.results("s") == {}


@pytest.mark.services
def test_a_request_is_done_with_its_last_take(redis_stage: Stage) -> None:
    stage = redis_stage
    with running(stage, slots=2) as run:
        tasks = stage.speak("s", lines(5), live=True, checks=ONE_TAKE)
        until(lambda: stage.state("s") is JobState.DONE, "it is done")
        until(lambda: not run.room.holds_speech, "nothing of it is here")
    assert stage.takes() == {task.take for task in tasks}
    assert stage.truth.take_steps("c", limit=9, timeout_s=0) == []
    assert sum(chunk.last for chunk in stage.chunks("s")) == 5
