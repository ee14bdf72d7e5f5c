"""Trouble behind the room: a store that refuses, a broker that is away, a worker that was declared dead."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from engine.request import Delta, FinishReason
from jobs.errors import BrokerUnavailable, StoreAway, StoreError
from jobs.events import AudioChunk
from jobs.figures import Figures
from jobs.kinds import Grade
from jobs.protocols import Store
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.verdict import Verdict
from tests.helpers_truth import result, worker
from tests.workers.making import (
    LONG,
    ONE_TAKE,
    WORKER,
    Gate,
    Outage,
    Stage,
    lines,
    nobody_speaks,
    running,
    until,
    voicing_of,
)
from workers import judging, keeping
from workers.judging import conclude
from workers.keeping import STORE_TRIES
from workers.outlet import Outlet
from workers.room import EXIT_FENCED


class Refusals:
    """A store without space for so many writes: `Tap(store, refusals)`."""

    def __init__(self, count: float) -> None:
        self.left = count
        self.refused = 0

    def __call__(self, name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "put" and self.left > 0:
            self.left -= 1
            self.refused += 1
            raise StoreError("no space left")


@pytest.mark.parametrize("count", [1, 2])
def test_a_store_that_refuses_for_a_moment_is_asked_again(stage: Stage, count: int) -> None:
    refusals = Refusals(count)
    tasks = stage.submit(lines(3))
    stage.replace_store(refusals)
    with running(stage):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "all is spoken")
    assert refusals.refused == count
    assert {entry.state for entry in stage.results(tasks)} == {SegmentState.DONE}
    assert stage.takes() == {task.take for task in tasks}


def test_a_store_that_keeps_refusing_stops_the_job_and_a_retry_finishes_it(stage: Stage) -> None:
    refusals = Refusals(float("inf"))
    tasks = stage.submit(lines(6))
    job = tasks[0].job
    stage.replace_store(refusals)
    with running(stage, slots=2) as run:
        until(lambda: stage.state(job) is JobState.FAILED, "the job is stopped")
        until(lambda: stage.truth.job(job).held == 0, "its segments are given back")
        assert stage.truth.job(job).reason == "no space left"
        assert refusals.refused >= STORE_TRIES
        assert (stage.truth.results(job), stage.takes()) == ({}, set())
        assert not run.over
        refusals.left = 0
        stage.truth.retry_failed(job)
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    assert stage.truth.job(job).done == len(tasks)
    assert [stage.heard(task) for task in tasks]


def test_a_store_that_is_away_is_waited_for_and_no_job_fails(stage: Stage) -> None:
    away, asked = threading.Event(), list[str]()
    away.set()

    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "put" and away.is_set():
            asked.append(name)
            raise StoreAway("no answer")

    tasks = stage.submit(lines(6))
    job = tasks[0].job
    stage.replace_store(refuse)
    with running(stage, slots=2) as run:
        until(lambda: len(asked) > 10 * STORE_TRIES, "it is tried again and again")
        assert stage.state(job) is JobState.RUNNING
        assert stage.truth.job(job).held <= run.room.intake._limit  # nothing more is leased meanwhile
        away.clear()
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    assert stage.takes() == {task.take for task in tasks}
    assert stage.context.figures.read()["errors:store"] >= len(asked)


def test_a_process_that_stops_while_the_store_is_away_gives_its_segments_back(stage: Stage) -> None:
    asked: list[str] = []

    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "put":
            asked.append(name)
            raise StoreAway("no answer")

    tasks = stage.submit(lines(6))
    stage.replace_store(refuse)
    with running(stage, slots=2) as run:
        until(lambda: len(asked) > 3, "a take is to be written")
        run.flag.stopping = True
        assert run.status() == 0
    record = stage.truth.job(tasks[0].job)
    assert (record.state, record.done, record.held, record.waiting) == (JobState.RUNNING, 0, 0, 6)


@pytest.mark.parametrize("move", ["cancel", "forget"])
def test_a_job_that_was_ended_by_somebody_while_the_store_refuses(stage: Stage, move: str) -> None:
    tasks = stage.submit(lines(1))
    job = tasks[0].job
    refused = threading.Event()
    ended = threading.Event()

    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "put":
            refused.set()
            assert ended.wait(20)
            raise StoreError("no space left")

    stage.replace_store(refuse)
    with running(stage) as run:
        until(refused.is_set, "a take is to be written")
        stage.truth.cancel(job)
        if move == "forget":
            stage.truth.forget(job)
        ended.set()
        other = stage.queue("other", stage.tasks(lines(1)))
        until(lambda: stage.state("other") is JobState.FAILED, "the store refuses the other job's take too")
        assert not run.over
    assert stage.truth.results(other[0].job) == {}


def test_results_wait_for_the_broker_and_none_is_lost(stage: Stage, gate: Gate) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    tasks = stage.submit(lines(4))
    with running(stage, slots=4):
        until(lambda: gate.arrived == 1 and stage.truth.job(tasks[0].job).held == 4, "all are in the room")
        outage.away.set()
        gate.free()
        until(lambda: stage.takes() and outage.refused.count("finish") > 3, "takes are in the store, the truth away")
        assert stage.truth.results(tasks[0].job) == {}
        outage.away.clear()
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "the truth is told")
    assert [entry.state for entry in stage.results(tasks)] == [SegmentState.DONE] * 4
    assert sorted(stage.done_order(tasks[0].job)) == [0, 1, 2, 3]


def test_dropped_segments_are_given_back_when_the_broker_is_there_again(stage: Stage) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    outlet, tasks = leased(stage)
    outage.away.set()
    outlet.start()
    outlet.release([task.ref for task in tasks])
    until(lambda: len(outage.refused) > 3, "it is tried again and again")
    assert stage.truth.job(tasks[0].job).held == len(tasks)
    outage.away.clear()
    until(lambda: stage.truth.job(tasks[0].job).held == 0, "nothing is held")
    outlet.close()


def test_only_what_the_truth_took_is_counted(stage: Stage) -> None:
    outlet, tasks = leased(stage)
    outlet.start()
    outlet.report(result(tasks[0]))
    outlet.report(result(tasks[0]))
    outlet.report(result(tasks[1], state=SegmentState.FAILED))
    outlet.close()
    assert (outlet.segments_done, outlet.audio_s) == (2, 0.5)
    assert [entry.state for entry in stage.truth.results(tasks[0].job).values()] == ["done", "failed"]


def test_a_fenced_outlet_tells_nothing_more(stage: Stage) -> None:
    told: list[int] = []

    def note(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "finish":
            told.append(len(told))

    stage.replace_truth(note)
    outlet, tasks = leased(stage)
    stage.truth.retire(WORKER)
    outlet.start()
    outlet.report(result(tasks[0]))
    until(outlet.fenced.is_set, "the truth refuses")
    outlet.report(result(tasks[1]))
    outlet.close()
    assert told == [0]
    assert stage.truth.results(tasks[0].job) == {}


def test_a_room_that_was_declared_dead_ends_and_another_does_its_work(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(lines(5, LONG))
    job = tasks[0].job
    with running(stage, slots=2) as run:
        until(lambda: gate.arrived == 1, "it speaks")
        stage.truth.retire(WORKER)  # what a sweep does to a silent one
        gate.free()
        assert run.status() == EXIT_FENCED
    record = stage.truth.job(job)
    assert (record.done, record.held, record.waiting) == (0, 0, len(tasks))
    with running(stage, slots=2, worker="here-2"):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "all is spoken")
    assert sorted(stage.done_order(job)) == [task.segment for task in tasks]


@pytest.mark.parametrize(
    ("finish", "error", "ends"),
    [
        (FinishReason.STOP, None, [False, True]),
        (FinishReason.ERROR, "out of memory", [False, False]),  # the second is a discard
        (FinishReason.CANCELLED, None, [False]),
    ],
)
def test_an_end_without_samples_says_of_a_whole_take_only_that_it_is_complete(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, finish: FinishReason, error: str | None, ends: list[bool]
) -> None:
    if finish is FinishReason.STOP:
        monkeypatch.setattr(judging, "check_take", lambda _samples, _facts: Verdict(grade=Grade.GOOD))
    outlet, tasks = leased(stage, live=True, checks=ONE_TAKE)
    voicing = voicing_of(tasks[0])
    outlet.delta(voicing, Delta(tasks[0].ref, np.full(100, 0.5, np.float32), 0))
    outlet.delta(voicing, Delta(tasks[0].ref, np.zeros(0, np.float32), 100, finish, error))
    outlet.start()
    outlet.close()
    chunks = stage.chunks(tasks[0].job)
    assert [chunk.last for chunk in chunks] == ends
    assert [chunk.chunk for chunk in chunks] == list(range(len(ends)))
    if finish is FinishReason.STOP:
        assert (chunks[-1].start_sample, chunks[-1].samples, chunks[-1].data) == (100, 0, b"")
        assert not chunks[-1].discard


def test_a_take_without_any_samples_has_no_chunk(stage: Stage) -> None:
    outlet, tasks = leased(stage, live=True, checks=ONE_TAKE)
    outlet.delta(voicing_of(tasks[0]), Delta(tasks[0].ref, np.zeros(0, np.float32), 0, FinishReason.STOP))
    outlet.start()
    outlet.close()
    assert stage.chunks(tasks[0].job) == []
    assert stage.truth.results(tasks[0].job)[0].reason == "the model made no samples"


def test_what_is_heard_does_not_wait_behind_takes_of_other_jobs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    outlet, tasks = leased(stage, checks=ONE_TAKE)
    heard, tone = tasks[2].model_copy(update={"live": True}), np.full(100, 0.5, np.float32)
    for task in tasks[:2]:
        outlet.delta(voicing_of(task), Delta(task.ref, tone, 0, FinishReason.STOP))
    outlet.delta(voicing_of(heard), Delta(heard.ref, tone, 0, None))
    streamed = threading.Event()
    order: list[int] = []
    streams, write = stage.context.streams, stage.context.streams.write_audio

    def write_audio(job: str, chunk: AudioChunk) -> str:
        assert chunk.segment == 2
        streamed.set()
        return write(job, chunk)

    def kept(store: Store, spoken: judging.Spoken, figures: Figures) -> SegmentResult | SegmentTask:
        assert streamed.wait(20)  # every writer is busy with a take until the chunk is out
        order.append(spoken.voicing.task.segment)
        return conclude(store, spoken, figures)

    monkeypatch.setattr(streams, "write_audio", write_audio)
    monkeypatch.setattr(keeping, "conclude", kept)
    outlet.start()
    outlet.close()
    assert sorted(order) == [0, 1]


def test_at_the_end_takes_do_not_wait_for_chunks_that_no_broker_takes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    outlet, tasks = leased(stage, live=True, checks=ONE_TAKE)
    tried: list[int] = []

    def refuse(_job: str, chunk: AudioChunk) -> str:
        tried.append(chunk.chunk)
        assert outlet._teller.closing.wait(20)
        raise BrokerUnavailable("away")

    monkeypatch.setattr(stage.context.streams, "write_audio", refuse)
    voicing, tone = voicing_of(tasks[0]), np.full(100, 0.5, np.float32)
    for place in range(4):
        finish = FinishReason.STOP if place == 3 else None
        outlet.delta(voicing, Delta(tasks[0].ref, tone, 100 * place, finish))
    outlet.start()
    outlet.close()
    assert tried == [0]
    assert set(stage.truth.results(tasks[0].job)) == {0}  # its attempt was written and told


def test_at_the_end_a_store_that_is_away_is_not_asked_for_every_take(stage: Stage) -> None:
    asked: list[str] = []

    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "put":
            asked.append(name)
            assert outlet._teller.closing.wait(20)
            raise StoreAway("no answer")

    outlet, tasks = leased(stage, checks=ONE_TAKE)
    stage.replace_store(refuse)
    for task in tasks:
        outlet.delta(voicing_of(task), Delta(task.ref, np.full(100, 0.5, np.float32), 0, FinishReason.STOP))
    outlet.start()
    outlet.close()
    assert len(asked) <= len(outlet._writers) < len(tasks)
    assert stage.truth.job(tasks[0].job).held == len(tasks)  # the good-bye gives them back


def test_at_the_end_a_broker_that_is_away_is_not_asked_for_every_call(stage: Stage) -> None:
    asked: list[str] = []

    def refuse(name: str, _arguments: tuple[Any, ...]) -> None:
        if name == "give_back":
            asked.append(name)
            assert outlet._teller.closing.wait(20)
            raise BrokerUnavailable("away")

    stage.replace_truth(refuse)
    outlet, tasks = leased(stage)
    for _time in range(8):
        outlet.release([tasks[0].ref])
    outlet.start()
    outlet.close()
    assert len(asked) <= 2 * len(outlet._writers)  # what was under way, and one try more of each


def leased(stage: Stage, **wishes: Any) -> tuple[Outlet, list[SegmentTask]]:
    """An outlet that is not started, and segments its worker holds."""
    tasks = stage.submit(lines(3), **wishes)
    stage.truth.register(worker(WORKER, "fake@fake-1"))
    assert stage.truth.lease(WORKER, len(tasks)) == tasks
    return Outlet(stage.context, WORKER, slots=2, left=lambda: None, again=nobody_speaks), tasks
