"""The truth under failures, against a real server: killed brokers, killed workers, lost replies, fenced workers."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
import redis

from jobs import keys
from jobs.errors import BrokerUnavailable, Fenced
from jobs.events import AudioChunk, EventKind
from jobs.kinds import Grade
from jobs.protocols import Beat, StepKind
from jobs.spec import Priority
from jobs.state import JobState, SegmentState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer

pytestmark = pytest.mark.services
BEAT = Beat(slots_busy=1, segments_done=0, audio_s=0.0)
CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture
def server() -> Iterator[ValkeyServer]:
    """Confirms only what is on disk.

    With `everysec` writes are put off for up to 2 s while an fsync runs, as on a busy disk, and a killed broker then
    forgets what it confirmed: tests/fault/test_forgotten.py has that case.
    """
    server = ValkeyServer("--appendfsync", "always").start()
    yield server
    server.close()


def connect(server: ValkeyServer, *, retry_for_s: float = 20.0, worker_ttl_s: float = 60.0) -> RedisTruth:
    return RedisTruth(Calls(make_client(server.url), retry_for_s=retry_for_s), worker_ttl_s=worker_ttl_s)


def queue(truth: RedisTruth, job: str, count: int) -> None:
    truth.create_job(record(job))
    truth.enqueue(job, tasks(job, count, per_chapter=25), [])


def check_counted_once(truth: RedisTruth, job: str, count: int) -> None:
    """All segments are finished, each was counted and told once, each chapter's step was put out once."""
    now = truth.job(job)
    assert (now.state, now.done + now.failed, now.held) == (JobState.ASSEMBLING, count, 0)
    assert set(truth.results(job)) == set(range(count))
    told: Counter[int | None] = Counter()
    after = "0"
    streams = RedisStreams(truth._calls, max_audio_bytes=1)
    while batch := streams.events(job, after=after):
        after = batch[-1][0]
        told.update(
            event.segment for _id, event in batch if event.kind in (EventKind.SEGMENT_DONE, EventKind.SEGMENT_FAILED)
        )
    assert set(told.values()) == {1}
    assert len(told) == count
    steps = truth.take_steps("c", limit=10_000, timeout_s=0)
    chapters = Counter(step.chapter for step in steps if step.job == job and step.chapter is not None)
    assert chapters == dict.fromkeys(range((count + 24) // 25), 1)


def speak(truth: RedisTruth, name: str, stop: threading.Event, *, refused: list[str] | None = None) -> None:
    truth.register(worker(name))
    while not stop.is_set():
        held = truth.lease(name, 16)
        if not held:
            truth.wait_for_work(0.05)
        accepted = truth.finish(name, [result(task) for task in held])
        if refused is not None:
            refused += [task.ref for task, flag in zip(held, accepted, strict=True) if not flag]


def test_kill_9_of_the_broker_loses_and_doubles_nothing(server: ValkeyServer) -> None:
    """What was confirmed is kept, and lost replies are told again."""
    truth = connect(server)
    queue(truth, "a", 3000)
    stop, refused = threading.Event(), list[str]()
    speakers = [
        threading.Thread(target=speak, args=(connect(server), f"w{number}", stop), kwargs={"refused": refused})
        for number in range(3)
    ]
    for thread in speakers:
        thread.start()
    for _kill in range(3):
        time.sleep(random.uniform(0.05, 0.2))
        server.kill()
        time.sleep(0.2)
        server.start()
    deadline_s = time.monotonic() + 60
    while truth.job("a").state is not JobState.ASSEMBLING and time.monotonic() < deadline_s:
        time.sleep(0.05)
    stop.set()
    for thread in speakers:
        thread.join()
    assert refused == []  # a report whose reply was lost is known again
    check_counted_once(truth, "a", 3000)
    audit(truth._calls.client)


def test_a_lost_reply_of_a_lease_hides_no_segments(server: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = connect(server, retry_for_s=0.0)
    queue(truth, "a", 10)
    truth.register(worker("w"))
    lose_next_reply(truth, "lease", monkeypatch)
    with pytest.raises(BrokerUnavailable):
        truth.lease("w", 4)
    assert truth.job("a").held == 4  # given, but nobody knows
    assert [task.segment for task in truth.lease("w", 2)] == [0, 1]  # the next lease gets the same, the rest goes back
    assert truth.job("a").held == 2
    assert [task.segment for task in truth.lease("w", 4)] == [2, 3, 4, 5]
    audit(truth._calls.client)


def test_lost_replies_are_repeated_without_doing_it_twice(
    server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = connect(server)
    queue(truth, "a", 10)
    truth.register(worker("w"))
    lose_next_reply(truth, "lease", monkeypatch)
    held = truth.lease("w", 4)
    assert [task.segment for task in held] == [0, 1, 2, 3]
    lose_next_reply(truth, "finish", monkeypatch)
    assert truth.finish("w", [result(task) for task in held]) == [True] * 4
    assert truth.finish("w", [result(task) for task in held]) == [False] * 4
    streams = RedisStreams(truth._calls, max_audio_bytes=1000)
    chunk = AudioChunk(segment=0, take="t", chunk=0, start_sample=0, samples=1, sample_rate_hz=8000, data=b"\x01\x02")
    truth.move_job("a", JobState.FAILED)
    lose_next_reply(truth, "retry", monkeypatch)
    assert truth.retry_failed("a") == 0
    assert truth.job("a").state is JobState.QUEUED
    lose_next_reply(truth, "create", monkeypatch)
    assert truth.create_job(record("b"))
    assert not truth.create_job(record("b"))
    truth.cancel("b")
    lose_next_reply(truth, "forget", monkeypatch)
    truth.forget("b")
    assert [entry.job for entry in truth.jobs()] == ["a"]
    lose_next_reply(truth, "audio", monkeypatch)
    entry = streams.write_audio("a", chunk)
    assert streams.audio("a") == [(entry, chunk)]
    assert (truth.job("a").done, truth.job("a").held) == (4, 0)
    lose_next_reply(truth, "speak_again", monkeypatch)
    assert truth.speak_again("a", held[:2]) == 2
    assert (truth.job("a").done, truth.speak_again("a", held[:2])) == (2, 0)
    truth.create_job(record("c"))
    lose_next_reply(truth, "started", monkeypatch)
    assert [truth.step_started("c", StepKind.PLAN, None) for _time in range(2)] == [1, 2]


def test_a_ruling_whose_reply_is_lost_is_applied_once(server: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = connect(server)
    queue(truth, "a", 4)
    truth.register(worker("w"))
    held = truth.lease("w", 4)
    truth.finish("w", [result(task) for task in held])
    settled = [result(held[0]).model_copy(update={"settled": True, "grade": Grade.BAD, "takes": 3})]
    again = [held[1].model_copy(update={"attempt": 1, "takes": 3})]
    lose_next_reply(truth, "rule", monkeypatch)
    assert truth.rule("a", 0, settled, again) == 1
    now = truth.job("a")
    assert (now.state, now.done, now.waiting, now.marked, now.retakes) == (JobState.QUEUED, 3, 1, 1, 2)
    assert truth.lease("w", 4) == again
    truth.finish("w", [result(again[0])])
    lose_next_reply(truth, "checks", monkeypatch)
    truth.put_checks("a", 0, [0])  # twice in the outbox: a CHECK may run twice
    assert {step.part for step in truth.take_steps("c", limit=9, timeout_s=0)} == {None, 0}
    audit(truth._calls.client)


def test_a_speech_request_whose_reply_is_lost_is_queued_once(
    server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = connect(server)
    truth.register(worker("w"))
    request = record("s", priority=Priority.LIVE)
    lose_next_reply(truth, "speak", monkeypatch)
    assert truth.speak(request, tasks("s", 3))
    assert not truth.speak(request, tasks("s", 3))
    assert truth.depth().waiting[Priority.LIVE] == 3
    lose_next_reply(truth, "finish", monkeypatch)
    assert truth.finish("w", [result(task) for task in truth.lease("w", 9)]) == [True] * 3
    assert truth.job("s").state is JobState.DONE
    audit(truth._calls.client)


def lose_next_reply(truth: RedisTruth, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does the script, but its reply never arrives."""
    run = truth._calls._script(script)
    pending = [True]

    def once(**arguments: object) -> object:
        reply = run(**arguments)
        if pending:
            pending.clear()
            raise redis.exceptions.ConnectionError("cut")
        return reply

    monkeypatch.setitem(truth._calls._scripts, script, once)


def _doomed_worker(url: str, name: str, poison: set[int]) -> None:
    """A process that speaks until it meets poison: then it kills itself, as a CUDA fault would."""
    truth = RedisTruth(Calls(make_client(url)), worker_ttl_s=60)
    truth.register(worker(name))
    while truth.job("a").state is not JobState.ASSEMBLING:
        held = truth.lease(name, 16)
        for task in held:
            if task.segment in poison:
                os.kill(os.getpid(), signal.SIGKILL)
        truth.finish(name, [result(task) for task in held])
        truth.wait_for_work(0.05)


def test_a_segment_that_kills_its_process_is_given_up_alone(server: ValkeyServer) -> None:
    truth = connect(server)
    queue(truth, "a", 300)
    poison, crashes = {100}, 0
    while truth.job("a").state is not JobState.ASSEMBLING:
        child = CONTEXT.Process(target=_doomed_worker, args=(server.url, f"w{crashes}", poison))
        child.start()
        child.join()
        if child.exitcode == -signal.SIGKILL:
            truth.crashed(f"w{crashes}")
            crashes += 1
            assert crashes <= 5
        else:
            assert child.exitcode == 0
    failed = {segment for segment, entry in truth.results("a").items() if entry.state is SegmentState.FAILED}
    assert failed == poison
    assert crashes == 5  # all suspected, the group, alone among others, alone, alone
    check_counted_once(truth, "a", 300)


def _steady_worker(url: str, name: str) -> None:
    truth = RedisTruth(Calls(make_client(url)), worker_ttl_s=60)
    truth.register(worker(name))
    while True:
        truth.beat(name, BEAT)
        held = truth.lease(name, 16)
        time.sleep(0.02)
        truth.finish(name, [result(task) for task in held])
        if not held:
            truth.wait_for_work(0.05)


def test_workers_killed_under_load_lose_nothing(server: ValkeyServer) -> None:
    """Half of the deaths are seen by a supervisor, half only by the silent heartbeat."""
    truth = connect(server, worker_ttl_s=0.5)
    queue(truth, "a", 4000)
    children = {
        f"w{number}": CONTEXT.Process(target=_steady_worker, args=(server.url, f"w{number}")) for number in range(2)
    }
    for child in children.values():
        child.start()
    number, deadline_s = len(children), time.monotonic() + 90
    while truth.job("a").state is not JobState.ASSEMBLING and time.monotonic() < deadline_s:
        time.sleep(0.03)
        truth.sweep()
        if number < 6 and truth.job("a").done > 300 * (number - 1):
            name, child = children.popitem()
            child.kill()
            child.join()
            if number % 2:
                truth.give_back(name)
                truth.retire(name)
            name = f"w{number}"
            children[name] = CONTEXT.Process(target=_steady_worker, args=(server.url, name))
            children[name].start()
            number += 1
    for child in children.values():
        child.kill()
        child.join()
    assert number == 6
    check_counted_once(truth, "a", 4000)


def test_a_frozen_worker_is_fenced_when_it_thaws(server: ValkeyServer) -> None:
    truth = connect(server, worker_ttl_s=0.2)
    queue(truth, "a", 4)
    truth.register(worker("frozen"))
    held = truth.lease("frozen", 4)
    time.sleep(0.5)
    assert truth.sweep() == ["frozen"]
    truth.register(worker("other"))
    other = truth.lease("other", 4)
    assert other == held
    for call in (
        lambda: truth.finish("frozen", [result(held[0])]),
        lambda: truth.beat("frozen", BEAT),
        lambda: truth.lease("frozen", 1),
    ):
        with pytest.raises(Fenced):
            call()
    assert truth.finish("other", [result(task) for task in other]) == [True] * 4
    check_counted_once(truth, "a", 4)


def test_nobody_is_buried_right_after_an_outage(server: ValkeyServer) -> None:
    truth = connect(server, worker_ttl_s=0.5)
    truth.register(worker("w"))
    time.sleep(0.7)
    server.kill()
    timer = threading.Timer(0.3, server.start)
    timer.start()
    assert truth.sweep() == []  # the heartbeat is old, but so is everybody's
    timer.join()
    truth.beat("w", BEAT)
    time.sleep(0.7)
    assert truth.sweep() == ["w"]


def test_a_broker_that_stays_away_is_named(server: ValkeyServer) -> None:
    truth = connect(server, retry_for_s=0.1)
    server.kill()
    with pytest.raises(
        BrokerUnavailable, match=f"no Redis or Valkey answers at unix://{server.socket}.*TTS_BATCH_BROKER"
    ):
        truth.jobs()


def test_what_an_older_version_forgot_and_ended_leaves_the_list_of_open_jobs(server: ValkeyServer) -> None:
    truth = connect(server)
    truth.create_job(record("b"))
    client = truth._calls.client
    client.sadd(keys.OPEN, "forgotten")  # scripts that do not know the list delete the job's keys alone
    assert truth.reconcile(quiet_s=0) == []  # the step of the other waits in the outbox
    assert truth.sweep() == []
    client.delete(keys.OPEN_BUILT)
    truth.reconcile(quiet_s=0)
    assert client.smembers(keys.OPEN) == {b"b"}


def test_a_quiet_job_of_many_chapters_costs_the_reconciler_a_few_commands(server: ValkeyServer) -> None:
    truth = connect(server)
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 2000, per_chapter=1), [])
    client = truth._calls.client
    for step in truth.take_steps("steward", limit=10, timeout_s=0.0):
        truth.step_sent(step)
    truth.reconcile(quiet_s=0)
    client.config_resetstat()
    assert truth.reconcile(quiet_s=0) == []
    assert sum(command["calls"] for command in client.info("commandstats").values()) < 100
