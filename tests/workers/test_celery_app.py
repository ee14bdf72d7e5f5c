"""Celery's side of the steps: URLs, handing over, and a task that gives up after its tries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from jobs import keys
from jobs.errors import BrokerUnavailable, StoreAway, StoreError
from jobs.protocols import Step, StepKind
from jobs.settings import Settings
from jobs.state import JobState
from tests.helpers_valkey import ValkeyServer
from tests.workers.making import Stage, lines
from tests.workers.test_steps import planned
from workers import celery_app
from workers.celery_app import MAX_STARTS, MAX_TRIES, QUEUE, TASK, StepSender, build_app, celery_url, register_task

STEP = Step(kind=StepKind.ASSEMBLE, job="book-1", entry="5-0", chapter=3)


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://user:p%40ss@host/2?socket_timeout=3", "redis://user:p%40ss@host/2?socket_timeout=3"),
        ("rediss://host:6380/1", "rediss://host:6380/1?ssl_cert_reqs=required"),
        ("rediss://h/1?ssl_ca_certs=/ca", "rediss://h/1?ssl_ca_certs=/ca&ssl_cert_reqs=required"),
        ("rediss://h/1?ssl_cert_reqs=none", "rediss://h/1?ssl_cert_reqs=none"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
        ("unix:///a folder/ü?timeout=1&db=4", "redis+socket:///a%20folder/%C3%BC?virtual_host=4"),
    ],
)
def test_a_broker_url_in_the_words_of_celery(broker: str, expected: str) -> None:
    assert celery_url(broker) == expected


@pytest.mark.parametrize("url", ["unix://{folder}/nobody", "redis://127.0.0.1:1/0"])
def test_nobody_to_take_a_step(url: str, tmp_path: Path) -> None:
    with pytest.raises(BrokerUnavailable, match="step assemble-book-1-3-5-0 could not be handed over"):
        StepSender(url.format(folder=tmp_path)).send(STEP)


@pytest.mark.services
def test_a_step_is_handed_over_until_the_broker_is_gone_and_again_when_it_is_back() -> None:
    server = ValkeyServer().start()
    try:
        sender = StepSender(server.url)
        sender.send(STEP)
        with redis.Redis.from_url(server.url) as client:
            (message,) = client.lrange(keys.CELERY_PREFIX + QUEUE, 0, -1)
        headers = json.loads(message)["headers"]
        assert (headers["task"], headers["id"]) == (TASK, "assemble-book-1-3-5-0")
        server.kill()
        with pytest.raises(BrokerUnavailable):
            sender.send(STEP)
        server.start()
        sender.send(STEP)
        with redis.Redis.from_url(server.url) as client:
            assert client.llen(keys.CELERY_PREFIX + QUEUE) >= 1
    finally:
        server.close()


def run_task(stage: Stage, monkeypatch: pytest.MonkeyPatch, job: str, step: Callable[..., None]) -> None:
    """Run the PLAN step of a job as a pool process does, with `step` in place of the real one."""
    monkeypatch.setattr(celery_app, "run_step", step)
    monkeypatch.setattr(celery_app, "open_context", lambda _settings: stage.context)
    app = build_app("memory://")
    register_task(app, Settings(broker="memory://"))
    app.tasks[TASK].apply(args=("plan", job, None))


@pytest.mark.parametrize(("failures", "state"), [(MAX_TRIES - 1, JobState.PLANNING), (MAX_TRIES, JobState.FAILED)])
def test_a_step_is_tried_a_few_times_and_then_given_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, failures: int, state: JobState
) -> None:
    job = planned(stage)
    tries: list[tuple[object, ...]] = []

    def fail(_context: object, *arguments: object) -> None:
        tries.append(arguments)
        if len(tries) <= failures:
            raise StoreError("no space left")

    run_task(stage, monkeypatch, job, fail)
    assert tries == [(StepKind.PLAN, job, None, None)] * MAX_TRIES
    assert stage.state(job) is state


@pytest.mark.parametrize("error", [StoreAway, BrokerUnavailable])
def test_while_store_or_broker_are_away_no_try_counts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    job = planned(stage)
    tries: list[tuple[object, ...]] = []

    def fail(_context: object, *arguments: object) -> None:
        tries.append(arguments)
        if len(tries) <= 5 * MAX_TRIES:
            raise error("no answer")
        if len(tries) < 6 * MAX_TRIES:
            raise StoreError("it says no")

    run_task(stage, monkeypatch, job, fail)
    assert tries == [(StepKind.PLAN, job, None, None)] * 6 * MAX_TRIES
    assert stage.state(job) is JobState.PLANNING  # the last try did it: MAX_TRIES - 1 failures are borne
    assert stage.truth.totals()["steps:plan.done"] == 1


def test_a_step_that_meets_a_bug_ends_its_job_at_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned(stage)
    tries: list[str] = []

    def fail(*_arguments: object) -> None:
        tries.append("once")
        raise KeyError("nobody thought of this")

    run_task(stage, monkeypatch, job, fail)
    assert tries == ["once"]
    assert (stage.state(job), stage.truth.job(job).reason) == (JobState.FAILED, "plan: 'nobody thought of this'")


def test_a_step_that_dies_again_and_again_is_given_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned(stage)
    for _death in range(MAX_STARTS):
        assert stage.truth.step_started(job, StepKind.PLAN, None) <= MAX_STARTS
    run_task(stage, monkeypatch, job, lambda *_arguments: pytest.fail("it must not be started again"))
    assert stage.state(job) is JobState.FAILED
    assert f"started {MAX_STARTS} times" in stage.truth.job(job).reason


def test_a_step_that_nobody_calls_for_is_left_undone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    job = stage.submit(lines(1))[0].job
    run_task(stage, monkeypatch, job, lambda *_arguments: pytest.fail("the job is planned already"))
    assert stage.state(job) is JobState.QUEUED
