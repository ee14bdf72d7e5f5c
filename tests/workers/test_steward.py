"""The steward's round: outbox to Celery, sweep, reconcile; a lost broker or sender only delays."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from jobs import keys
from jobs.errors import BrokerUnavailable
from jobs.protocols import Step, StepKind
from jobs.settings import Settings
from jobs.state import JobState
from jobs.stores import open_store
from jobs.streams.memory import MemoryStreams
from jobs.truth.memory import MemoryTruth
from jobs.truth.rules import CLAIM_AFTER_S, RECONCILE_AFTER_S
from tests.helpers_truth import record, tasks, worker
from tests.workers.making import Outage, Tap
from workers import steward as steward_module
from workers.context import Context
from workers.steward import RECONCILE_EVERY_S, SWEEP_EVERY_S, Housekeeping, Steward

TTL_S = 10.0
KEEP_S = 3600.0


class Sender:
    """Takes steps like `StepSender`; refuses while `refuse` names the job."""

    def __init__(self) -> None:
        self.sent: list[Step] = []
        self.refuse: set[str] = set()

    def send(self, step: Step) -> None:
        if step.job in self.refuse:
            raise BrokerUnavailable(f"step of {step.job} could not be handed over")
        self.sent.append(step)

    @property
    def jobs(self) -> list[str]:
        return [step.job for step in self.sent]


class World:
    """A truth and a steward on one clock that stands still; `pass_s` lets time pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = time.monotonic()
        monkeypatch.setattr(
            steward_module, "time", SimpleNamespace(monotonic=lambda: self.now_s, sleep=lambda _seconds: None)
        )
        monkeypatch.setattr(steward_module, "OUTBOX_WAIT_S", 0.0)
        streams = MemoryStreams(max_audio_bytes=1000)
        self.truth = MemoryTruth(streams, worker_ttl_s=TTL_S, clock=lambda: self.now_s)
        self.outage = Outage()
        self.sender = Sender()
        settings = Settings(worker_ttl_s=TTL_S, store="memory://steward", keep_jobs_s=KEEP_S)
        self.context = Context(settings, Tap(self.truth, self.outage), streams)
        self.steward = Steward(self.context, self.sender)
        self.pass_s(1)

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds

    def workers(self) -> list[str]:
        return [status.info.worker for status in self.truth.workers()]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_steps_go_to_the_sender_once_and_in_order(world: World) -> None:
    for job in ("a", "b"):
        world.truth.create_job(record(job))
    world.steward.round()
    world.pass_s(2 * CLAIM_AFTER_S)
    world.steward.round()
    assert [(step.kind, step.job) for step in world.sender.sent] == [(StepKind.PLAN, "a"), (StepKind.PLAN, "b")]


def test_steps_wait_while_the_broker_is_away(world: World) -> None:
    world.truth.create_job(record("a"))
    world.outage.away.set()
    world.steward.round()
    assert (world.sender.sent, world.outage.refused) == ([], ["take_steps"])
    world.outage.away.clear()
    world.steward.round()
    assert world.sender.jobs == ["a"]


def test_steps_that_cannot_be_sent_stay_in_the_outbox(world: World) -> None:
    for job in ("a", "b", "c"):
        world.truth.create_job(record(job))
    world.sender.refuse = {"b"}
    world.steward.round()
    assert world.sender.jobs == ["a"]
    world.sender.refuse = set()
    world.steward.round()
    assert world.sender.jobs == ["a"]  # they are taken, and claimed again only after a while
    world.pass_s(CLAIM_AFTER_S)
    world.steward.round()
    assert world.sender.jobs == ["a", "b", "c"]
    world.pass_s(CLAIM_AFTER_S)
    world.steward.round()
    assert world.sender.jobs == ["a", "b", "c"]


def test_silent_workers_are_buried_and_their_segments_wait_again(world: World) -> None:
    world.truth.create_job(record("a"))
    world.truth.enqueue("a", tasks("a", 4), [])
    world.truth.register(worker("silent"))
    assert len(world.truth.lease("silent", 4)) == 4
    world.steward.round()
    assert world.workers() == ["silent"]
    world.pass_s(TTL_S + SWEEP_EVERY_S)
    world.truth.register(worker("living"))
    world.steward.round()
    assert world.workers() == ["living"]
    assert (world.truth.job("a").held, world.truth.job("a").waiting) == (0, 4)


def test_nobody_is_buried_right_after_trouble(world: World) -> None:
    world.truth.register(worker("silent"))
    world.pass_s(TTL_S + SWEEP_EVERY_S)
    world.outage.away.set()
    world.steward.round()
    world.outage.away.clear()
    world.pass_s(TTL_S)
    world.steward.round()
    assert world.workers() == ["silent"]  # the living could not beat either
    world.pass_s(0.2 * TTL_S + SWEEP_EVERY_S)
    world.steward.round()
    assert world.workers() == []


def test_chores_are_done_every_so_often_only(world: World) -> None:
    world.steward.round()
    world.truth.register(worker("silent"))
    world.pass_s(SWEEP_EVERY_S)
    for chore in world.steward._chores:
        chore.due_s = world.now_s + chore.every_s
    world.pass_s(2 * TTL_S)
    for chore in world.steward._chores:
        chore.due_s = world.now_s + 1
    world.steward.round()
    assert world.workers() == ["silent"]
    world.pass_s(1)
    world.steward.round()
    assert world.workers() == []


def test_a_step_that_celery_lost_is_sent_again(world: World) -> None:
    world.truth.create_job(record("a"))
    world.steward.round()
    world.pass_s(RECONCILE_AFTER_S / 2)
    world.steward.round()
    assert world.sender.jobs == ["a"]
    world.pass_s(max(RECONCILE_AFTER_S / 2, RECONCILE_EVERY_S))
    world.steward.round()  # finds it lost
    world.steward.round()  # sends it
    assert [(step.kind, step.job) for step in world.sender.sent] == [(StepKind.PLAN, "a")] * 2


def test_what_ended_too_long_ago_is_deleted_with_its_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    store = open_store("memory://steward-objects")
    for job, ended_s in (("old", KEEP_S + 60), ("young", KEEP_S - 60)):
        world.now_s = time.time() - ended_s
        about = record(job)
        spec = about.spec.model_copy(update={"store_url": store.url})
        assert world.truth.create_job(about.model_copy(update={"spec": spec}))
        world.truth.move_job(job, JobState.FAILED)
        store.put(keys.job_object(job, "source"), b"text")
    store.put(f"{keys.PURGES}killed", b"")
    store.put(keys.job_object("killed", "report.json"), b"{}")
    settings = Settings(store=store.url, keep_jobs_s=KEEP_S)
    housekeeping = Housekeeping(Context(settings, world.truth, MemoryStreams(max_audio_bytes=1)))
    housekeeping.begin()
    housekeeping.wait()
    assert [one.job for one in world.truth.jobs()] == ["young"]
    assert list(store.list("")) == [keys.job_object("young", "source")]


def test_without_a_time_nothing_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    world.now_s = time.time() - 1e9
    world.truth.create_job(record("old"))
    world.truth.move_job("old", JobState.FAILED)
    settings = Settings(store="memory://steward-nothing")
    housekeeping = Housekeeping(Context(settings, world.truth, MemoryStreams(max_audio_bytes=1)))
    housekeeping.begin()
    housekeeping.wait()
    assert [one.job for one in world.truth.jobs()] == ["old"]


def test_a_job_whose_store_refuses_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest is asked for first, in every round."""
    world = World(monkeypatch)
    store = open_store("memory://steward-refused")
    for age_s, (job, url) in enumerate({"unknown": "gone://bucket", "good": store.url}.items()):
        world.now_s = time.time() - 2 * KEEP_S + age_s
        about = record(job)
        assert world.truth.create_job(
            about.model_copy(update={"spec": about.spec.model_copy(update={"store_url": url})})
        )
        world.truth.move_job(job, JobState.FAILED)
    settings = Settings(store=store.url, keep_jobs_s=KEEP_S)
    housekeeping = Housekeeping(Context(settings, world.truth, MemoryStreams(max_audio_bytes=1)))
    housekeeping.begin()
    housekeeping.wait()
    assert [one.job for one in world.truth.jobs()] == ["unknown"]
