"""Random operations on the memory and the Redis truth side by side: same answers, same records, same events.

After every operation the audit looks into Redis: every unfinished segment is in exactly one place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from jobs import keys
from jobs.errors import JobsError
from jobs.kinds import Grade
from jobs.protocols import Beat, Step
from jobs.spec import JobRecord, Priority, SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.streams.memory import MemoryStreams
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import shared_server

NAMES = "abcst"
JOBS = st.sampled_from(NAMES)
REQUESTS = st.sampled_from("st")
WORKERS = st.sampled_from(["v", "w"])
MODELS = {"v": ("m",), "w": ("m", "other")}
LONG_S = 3600.0
EXPIRING = (keys.job, keys.segments, keys.waiting, keys.done, keys.results, keys.events, keys.audio)


class SideBySide(RuleBasedStateMachine):
    """Both truths get every call; what a worker holds is remembered to report on it."""

    @initialize(counts=st.lists(st.integers(0, 40), min_size=3, max_size=3), per_chapter=st.integers(1, 9))
    def build(self, counts: list[int], per_chapter: int) -> None:
        """Begins with queued jobs and known workers: what comes later starts in the middle of the work."""
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
        for job, count, model in zip("abc", counts, ("m", "m", "other"), strict=True):
            self.create(job, Priority.BULK if job == "a" else Priority.NORMAL, model)
            self.both(
                lambda truth, job=job, count=count: truth.enqueue(job, tasks(job, count, per_chapter=per_chapter), [])
            )
        for place, job in enumerate("st"):
            self.speak(job, "m", counts[place] // 3 + 1, forget=False)
        for name in MODELS:
            self.register(name)

    def teardown(self) -> None:
        if hasattr(self, "calls"):
            self.calls.client.close()

    def both(self, call: Callable[[Any], Any]) -> Any:
        answers = [_answer(call, truth) for truth in (self.memory, self.redis)]
        assert answers[0] == answers[1]
        return answers[0]

    def let_go(self, job: str) -> None:
        """An id comes again only in this test: by then workers have heard that the request of that name has expired."""
        if job not in self.memory._state.jobs:
            for name, me in self.memory._state.workers.items():
                refs = [f"{ref[0]}|{ref[1]}" for ref in sorted(me.held) if ref[0] == job]
                self.both(lambda truth, name=name, refs=refs: truth.give_back(name, refs))

    def create(self, job: str, priority: Priority, model: str) -> None:
        self.let_go(job)
        self.both(lambda truth: truth.create_job(record(job, priority=priority, model=model)))

    @rule(job=JOBS, priority=st.sampled_from(Priority), model=st.sampled_from(["m", "other"]), data=st.data())
    def renew(self, job: str, priority: Priority, model: str, data: st.DataObject) -> None:
        """Forget a job that is over and begin it anew; `finished` of its segments were spoken before."""
        self.both(lambda truth: truth.forget(job))
        self.create(job, priority, model)
        all_tasks = tasks(job, data.draw(st.integers(0, 30)), per_chapter=data.draw(st.integers(1, 5)))
        known = data.draw(st.integers(0, 30))
        finished = [result(task, reused=True) for task in all_tasks[:known]]
        if data.draw(st.booleans()):
            self.both(lambda truth: truth.enqueue(job, all_tasks[known:], finished))

    @rule(job=REQUESTS, model=st.sampled_from(["m", "other"]), count=st.integers(1, 12), forget=st.booleans())
    def speak(self, job: str, model: str, count: int, forget: bool) -> None:
        """A speech request, in vain if a job of its name is there."""
        if forget:
            self.both(lambda truth: truth.forget(job))
        self.let_go(job)
        request = record(job, priority=Priority.LIVE, model=model)
        self.both(lambda truth: truth.speak(request, tasks(job, count)))

    @rule(job=REQUESTS, failed=st.booleans(), name=WORKERS, back=st.booleans())
    def give_up(self, job: str, failed: bool, name: str, back: bool) -> None:
        """Whoever asked has gone, or the store refuses its takes; a worker that has just begun may give them back."""
        self.lease(name, 2, live_only=True)
        self.both(lambda truth: truth.move_job(job, JobState.FAILED) if failed else truth.cancel(job))
        if back:
            self.both(lambda truth: truth.give_back(name))

    @rule(job=REQUESTS)
    def nobody_waits(self, job: str) -> None:
        """Nobody said for too long that they wait for a speech request."""
        entry = self.memory._state.jobs.get(job)
        if entry and entry.speech and self.memory._state.goes_on(job):
            entry.wanted_at_s = 0.0
            self.calls.client.hset(keys.job(job), "wanted_at_s", "0.0")
            self.calls.last_error_s = -math.inf  # the broker was there all the time
        self.both(lambda truth: truth.sweep())

    @rule(job=REQUESTS)
    def expire(self, job: str) -> None:
        """The time of a speech request that is over has passed; somebody may hold segments of it."""
        entry = self.memory._state.jobs.get(job)
        if entry and entry.speech and not self.memory._state.goes_on(job):
            entry.gone_at_s = 0.0
            self.calls.client.delete(*(key(job) for key in EXPIRING))

    @rule(name=WORKERS)
    def register(self, name: str) -> None:
        self.both(lambda truth: truth.register(worker(name, *MODELS[name])))

    @rule(name=WORKERS, want=st.integers(0, 24), live_only=st.booleans())
    def lease(self, name: str, want: int, live_only: bool) -> None:
        answer = self.both(lambda truth: truth.lease(name, want, live_only=live_only))
        if isinstance(answer, list):
            assert len(answer) <= want
            self.known += answer

    @rule(name=WORKERS, fails=st.sets(st.integers(0, 9)), keeps=st.integers(0, 2))
    def finish(self, name: str, fails: set[int], keeps: int) -> None:
        """Reports on all a worker holds but a few."""
        held = self.held(name)
        self.report(name, held[: len(held) - keeps], fails)

    @rule(name=WORKERS, data=st.data())
    def finish_late(self, name: str, data: st.DataObject) -> None:
        """Reports of what was leased at some time, by anybody: late, doubled, of jobs that are over."""
        if self.known:
            self.report(name, data.draw(st.lists(st.sampled_from(self.known), max_size=6)), {1})

    def report(self, name: str, told: list[SegmentTask], fails: set[int]) -> None:
        results = [
            result(task, state=SegmentState.FAILED if place in fails else SegmentState.DONE).model_copy(
                update={"takes": 1 + place % 3, "grade": Grade.BAD if place % 4 == 1 else Grade.GOOD}
            )
            for place, task in enumerate(told)
        ]
        self.both(lambda truth: truth.finish(name, results))

    def held(self, name: str) -> list[SegmentTask]:
        """What a worker holds now (a cancelled job's segments have no task any more)."""
        me = self.memory._state.workers.get(name)
        by_ref = {(task.job, task.segment): task for task in self.known}
        return [by_ref[ref] for ref in sorted(me.held)] if me else []

    @rule(name=WORKERS, data=st.data())
    def give_back(self, name: str, data: st.DataObject) -> None:
        refs = data.draw(
            st.none() | st.lists(st.sampled_from([task.ref for task in self.known] or ["x|1"]), max_size=9)
        )
        self.both(lambda truth: truth.give_back(name, refs))

    @rule(name=WORKERS, want=st.integers(0, 40))
    def crash(self, name: str, want: int) -> None:
        """A new process leases and dies; the next one starts under the same name."""
        self.lease(name, want, live_only=False)
        self.both(lambda truth: truth.crashed(name))
        self.register(name)

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

    @rule(job=JOBS, what=st.sampled_from(["pause", "unpause", "unpause", "cancel", "retry_failed"]))
    def steer(self, job: str, what: str) -> None:
        self.both(lambda truth: getattr(truth, what)(job))

    @rule(job=JOBS, state=st.sampled_from(JobState))
    def move(self, job: str, state: JobState) -> None:
        self.both(lambda truth: truth.move_job(job, state, reason="why"))

    @rule(job=JOBS, leave=st.integers(0, 2))
    def close(self, job: str, leave: int) -> None:
        """What CPU workers do with a job whose segments are finished, maybe not to the end; then the retry."""
        left = self.memory._state.jobs[job].left if job in self.memory._state.jobs else {}
        for chapter in sorted(left)[: len(left) - leave]:
            self.both(lambda truth, chapter=chapter: truth.chapter_assembled(job, chapter))
        if leave != 1:
            self.both(lambda truth: truth.move_job(job, JobState.DONE_WITH_FAILURES))
            self.both(lambda truth: truth.retry_failed(job))

    @rule(limit=st.integers(1, 30), confirm=st.booleans(), start=st.booleans())
    def steps(self, limit: int, confirm: bool, start: bool) -> None:
        told = []
        for truth in (self.memory, self.redis):  # ids differ, so each confirms its own
            taken = truth.take_steps("c", limit=limit, timeout_s=0)
            starts = [
                _answer(
                    lambda truth, step=step: truth.step_started(step.job, step.kind, step.chapter, step.part), truth
                )
                for step in taken
                if start
            ]
            told.append((list(map(_name, taken)), starts))
            for step in taken if confirm else []:
                truth.step_sent(step)
        assert told[0] == told[1]

    @rule(quiet_s=st.sampled_from([None, 0.0, LONG_S]))
    def reconcile(self, quiet_s: float | None) -> None:
        self.both(lambda truth: list(map(_name, truth.reconcile(quiet_s=quiet_s))))

    @rule(job=JOBS, numbers=st.sets(st.integers(0, 39), max_size=6), per_chapter=st.integers(1, 9))
    def lose_takes(self, job: str, numbers: set[int], per_chapter: int) -> None:
        """Takes of some segments are gone; those that are not done are named in vain."""
        entry = self.memory._state.jobs.get(job)
        chapters = {number: result.chapter for number, result in entry.results.items()} if entry else {}
        model = entry.record.spec.model if entry else "m"
        lost = [
            task.model_copy(update={"chapter": chapters.get(task.segment, task.chapter)})
            for task in tasks(job, 40, per_chapter=per_chapter, model=model)
            if task.segment in numbers
        ]
        self.both(lambda truth: truth.speak_again(job, lost))

    @rule(
        job=JOBS,
        chapter=st.integers(0, 3),
        settle=st.sets(st.integers(0, 9), max_size=6),
        send_back=st.sets(st.integers(0, 9), max_size=4),
    )
    def rule_chapter(self, job: str, chapter: int, settle: set[int], send_back: set[int]) -> None:
        """The second look at a chapter; some of what it says is about segments that are not done, or settled."""
        known = [found for found in self.finished(job) if found.chapter == chapter]
        settled = [
            found.model_copy(update=_RULINGS[place % len(_RULINGS)])
            for place, found in enumerate(known)
            if place in settle
        ]
        again = [self.task_of(found) for place, found in enumerate(known) if place in send_back - settle]
        self.both(lambda truth: truth.rule(job, chapter, settled, again))

    @rule(job=JOBS, chapter=st.integers(0, 3), parts=st.lists(st.integers(0, 2), max_size=3, unique=True))
    def put_checks(self, job: str, chapter: int, parts: list[int]) -> None:
        self.both(lambda truth: truth.put_checks(job, chapter, parts))

    @rule(job=JOBS, places=st.sets(st.integers(0, 12), max_size=5), others=st.booleans())
    def retry_some(self, job: str, places: set[int], others: bool) -> None:
        """Failed segments go back, or not, and some others with tasks of their own."""
        again = [self.task_of(found) for place, found in enumerate(self.finished(job)) if place in places]
        self.both(lambda truth: truth.retry_failed(job, again, others=others))

    def finished(self, job: str) -> list[SegmentResult]:
        entry = self.memory._state.jobs.get(job)
        return list(entry.results.values()) if entry else []

    def task_of(self, found: SegmentResult) -> SegmentTask:
        """The task of the next attempt at a finished segment."""
        (task,) = tasks(found.job, 1, first=found.segment)
        return task.model_copy(update={"chapter": found.chapter, "attempt": found.takes, "takes": found.takes + 2})

    @invariant()
    def same_everywhere(self) -> None:
        if hasattr(self, "calls"):
            audit(self.calls.client)
            self.both(lambda truth: [_stable(entry) for entry in truth.jobs()])
            self.both(lambda truth: [(status.info, status.held) for status in truth.workers()])
            self.both(lambda truth: {job: truth.results(job) for job in NAMES})
            self.both(lambda truth: truth.depth())
            for job in NAMES:
                self.both(lambda truth, job=job: _stable(truth.job(job)))
            outbox = [_name(entry.step) for entry in self.memory._state.outbox]
            waiting = self.calls.client.xrange(keys.OUTBOX)
            assert outbox == [_outbox_name(fields) for _id, fields in waiting]
            for job in NAMES:
                told = [
                    [event.model_copy(update={"at_s": 0.0, "audio_s": round(event.audio_s, 6)}) for _id, event in log]
                    for log in (streams.events(job) for streams in self.streams)
                ]
                assert told[0] == told[1]


_RULINGS: list[dict[str, Any]] = [
    {"settled": True},
    {"settled": True, "take": "f" * 32, "samples": 24_000, "takes": 3, "attempt": 2},
    {"settled": True, "state": SegmentState.FAILED, "samples": 0, "reason": "bad", "grade": Grade.BAD},
    {"settled": True, "grade": Grade.BAD, "reason": "slow"},
]


def _answer(call: Callable[[Any], Any], truth: MemoryTruth | RedisTruth) -> Any:
    try:
        return call(truth)
    except JobsError as error:
        return (type(error), str(error))


def _name(step: Step) -> tuple[str, ...]:
    return step.kind, step.job, *("" if place is None else str(place) for place in (step.chapter, step.part))


def _outbox_name(fields: dict[bytes, bytes]) -> tuple[str, ...]:
    return tuple(fields.get(name, b"").decode() for name in (b"kind", b"job", b"chapter", b"part"))


def _stable(entry: JobRecord) -> JobRecord:
    return entry.model_copy(update={"updated_at_s": 0.0, "audio_s": round(entry.audio_s, 6)})


@pytest.mark.services
def test_memory_and_redis_agree() -> None:
    run_state_machine_as_test(
        SideBySide,
        settings=settings(
            max_examples=80,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
