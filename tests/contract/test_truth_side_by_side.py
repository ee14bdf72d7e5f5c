"""Random operations on the memory and the Redis truth side by side: same answers, same records, same events.

After every operation the audit looks into Redis: every unfinished segment is in exactly one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from jobs import keys
from jobs.errors import JobsError
from jobs.protocols import Beat, Step
from jobs.spec import JobRecord, Priority, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.streams.memory import MemoryStreams
from jobs.streams.redis_streams import RedisStreams
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import shared_server

JOBS = st.sampled_from(["a", "b", "c"])
WORKERS = st.sampled_from(["v", "w"])
MODELS = {"v": ("m",), "w": ("m", "other")}
LONG_S = 3600.0


class SideBySide(RuleBasedStateMachine):
    """Both truths get every call; what a worker holds is remembered to report on it."""

    @initialize()
    def build(self) -> None:
        server = shared_server()
        server.flush()
        self.calls = Calls(make_client(server.url))
        waits = {"worker_ttl_s": LONG_S, "claim_after_s": 0.0, "reconcile_after_s": 0.0}
        memory_streams = MemoryStreams(max_audio_bytes=1)
        self.memory = MemoryTruth(memory_streams, **waits)
        self.redis = RedisTruth(self.calls, **waits)
        self.calls.last_error_s -= 10 * LONG_S  # as if connected for long: sweep may bury
        self.streams = (memory_streams, RedisStreams(self.calls, max_audio_bytes=1))
        self.known: list[SegmentTask] = []

    def teardown(self) -> None:
        if hasattr(self, "calls"):
            self.calls.client.close()

    def both(self, call: Callable[[Any], Any]) -> Any:
        answers = [_answer(call, truth) for truth in (self.memory, self.redis)]
        assert answers[0] == answers[1]
        return answers[0]

    @rule(job=JOBS, priority=st.sampled_from(Priority), model=st.sampled_from(["m", "m", "other"]))
    def create(self, job: str, priority: Priority, model: str) -> None:
        self.both(lambda truth: truth.create_job(record(job, priority=priority, model=model)))

    @rule(job=JOBS, count=st.integers(0, 20), known=st.integers(0, 20), per_chapter=st.integers(1, 5))
    def enqueue(self, job: str, count: int, known: int, per_chapter: int) -> None:
        """`known` of the segments were spoken before."""
        all_tasks = tasks(job, count, per_chapter=per_chapter)
        finished = [result(task, reused=True) for task in all_tasks[:known]]
        self.both(lambda truth: truth.enqueue(job, all_tasks[known:], finished))

    @rule(name=WORKERS)
    def register(self, name: str) -> None:
        self.both(lambda truth: truth.register(worker(name, *MODELS[name])))

    @rule(name=WORKERS, want=st.integers(0, 24), live_only=st.booleans())
    def lease(self, name: str, want: int, live_only: bool) -> None:
        answer = self.both(lambda truth: truth.lease(name, want, live_only=live_only))
        if isinstance(answer, list):
            assert len(answer) <= want
            self.known += answer

    @rule(name=WORKERS, data=st.data(), fails=st.sets(st.integers(0, 5)))
    def finish(self, name: str, data: st.DataObject, fails: set[int]) -> None:
        """Reports of what was leased at some time, by anybody: also late, doubled and of jobs that are over."""
        if self.known:
            told = data.draw(st.lists(st.sampled_from(self.known), min_size=1, max_size=12))
            results = [
                result(task, state=SegmentState.FAILED if place in fails else SegmentState.DONE)
                for place, task in enumerate(told)
            ]
            self.both(lambda truth: truth.finish(name, results))

    @rule(name=WORKERS, data=st.data())
    def give_back(self, name: str, data: st.DataObject) -> None:
        refs = data.draw(
            st.none() | st.lists(st.sampled_from([task.ref for task in self.known] or ["x|1"]), max_size=9)
        )
        self.both(lambda truth: truth.give_back(name, refs))

    @rule(name=WORKERS, crumb=st.booleans(), data=st.data())
    def crash(self, name: str, crumb: bool, data: st.DataObject) -> None:
        if crumb and self.known:
            ref = data.draw(st.sampled_from(self.known)).ref
            self.both(lambda truth: truth.admitting(name, ref))
        self.both(lambda truth: truth.crashed(name))

    @rule(name=WORKERS)
    def retire(self, name: str) -> None:
        self.both(lambda truth: truth.retire(name))

    @rule(name=WORKERS)
    def fall_silent(self, name: str) -> None:
        if name in self.memory._state.workers:
            self.memory._state.workers[name].beat_at_s = 0.0
            self.calls.client.zadd(keys.WORKERS, {name: 0.0})
        self.both(lambda truth: truth.sweep())

    @rule(name=WORKERS)
    def beat(self, name: str) -> None:
        self.both(lambda truth: truth.beat(name, Beat(slots_busy=1, segments_done=2, audio_s=0.5)))

    @rule(job=JOBS, what=st.sampled_from(["pause", "unpause", "cancel", "retry_failed", "forget"]))
    def steer(self, job: str, what: str) -> None:
        self.both(lambda truth: getattr(truth, what)(job))

    @rule(job=JOBS, state=st.sampled_from(JobState))
    def move(self, job: str, state: JobState) -> None:
        self.both(lambda truth: truth.move_job(job, state, reason="why"))

    @rule(job=JOBS, chapters=st.lists(st.integers(0, 6), max_size=7))
    def assemble(self, job: str, chapters: list[int]) -> None:
        for chapter in chapters:
            self.both(lambda truth, chapter=chapter: truth.chapter_assembled(job, chapter))

    @rule(limit=st.integers(1, 30))
    def steps(self, limit: int) -> None:
        for truth in (self.memory, self.redis):  # ids differ, so each confirms its own
            for step in truth.take_steps("c", limit=limit, timeout_s=0):
                truth.step_sent(step)

    @rule()
    def reconcile(self) -> None:
        self.both(lambda truth: sorted(map(_name, truth.reconcile())))

    @invariant()
    def same_everywhere(self) -> None:
        if hasattr(self, "calls"):
            audit(self.calls.client)
            self.both(lambda truth: [_stable(entry) for entry in truth.jobs()])
            self.both(lambda truth: [(status.info, status.held) for status in truth.workers()])
            self.both(lambda truth: {job: truth.results(job) for job in "abc"})
            outbox = [_name(entry.step) for entry in self.memory._state.outbox]
            waiting = self.calls.client.xrange(keys.OUTBOX)
            assert outbox == [_outbox_name(fields) for _id, fields in waiting]
            for job in "abc":
                told = [
                    [event.model_copy(update={"at_s": 0.0, "audio_s": round(event.audio_s, 6)}) for _id, event in log]
                    for log in (streams.events(job) for streams in self.streams)
                ]
                assert told[0] == told[1]


def _answer(call: Callable[[Any], Any], truth: MemoryTruth | RedisTruth) -> Any:
    try:
        return call(truth)
    except JobsError as error:
        return (type(error), str(error))


def _name(step: Step) -> tuple[str, str, str]:
    return step.kind, step.job, "" if step.chapter is None else str(step.chapter)


def _outbox_name(fields: dict[bytes, bytes]) -> tuple[str, ...]:
    return tuple(fields.get(name, b"").decode() for name in (b"kind", b"job", b"chapter"))


def _stable(entry: JobRecord) -> JobRecord:
    return entry.model_copy(update={"updated_at_s": 0.0, "audio_s": round(entry.audio_s, 6)})


@pytest.mark.services
def test_memory_and_redis_agree() -> None:
    run_state_machine_as_test(
        SideBySide,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
