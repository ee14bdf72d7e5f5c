"""What `jobs.protocols.Truth` promises, over both back ends: by example here, by random runs side by side below."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import redis

from jobs import keys
from jobs.errors import Fenced, IllegalMove, UnknownJob
from jobs.events import EventKind
from jobs.protocols import Beat, Step, StepKind, Streams, Truth
from jobs.spec import Priority, SegmentTask
from jobs.state import JOB_MOVES, JobState, SegmentState
from jobs.streams.memory import MemoryStreams
from jobs.streams.redis_streams import RedisStreams
from jobs.truth.calls import Calls, make_client
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import shared_server

TTL_S = 0.15
BEAT = Beat(slots_busy=3, segments_done=5, audio_s=2.5)


@dataclass
class House:
    truth: Truth
    streams: Streams

    def queue(self, job: str, count: int, *, priority: Priority = Priority.NORMAL, model: str = "m") -> None:
        assert self.truth.create_job(record(job, priority=priority, model=model))
        self.truth.enqueue(job, tasks(job, count, model=model), [])

    def speak(self, job: str, count: int) -> None:
        """Queue, lease and finish a whole job."""
        self.queue(job, count)
        self.truth.register(worker("speaker"))
        while held := self.truth.lease("speaker", 64):
            self.truth.finish("speaker", [result(task) for task in held])

    def steps(self) -> list[Step]:
        """All steps in the outbox, confirmed."""
        found = []
        while batch := self.truth.take_steps("c", limit=100, timeout_s=0):
            found += batch
            for step in batch:
                self.truth.step_sent(step)
        return found

    def kinds(self, job: str) -> list[str]:
        return [event.state if event.kind is EventKind.JOB else event.kind for _id, event in self.streams.events(job)]


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.services)])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    waits = {"worker_ttl_s": TTL_S, "claim_after_s": TTL_S, "reconcile_after_s": TTL_S}
    if request.param == "memory":
        streams = MemoryStreams(max_audio_bytes=1000)
        yield House(MemoryTruth(streams, **waits), streams)
        return
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url))
    yield House(RedisTruth(calls, **waits), RedisStreams(calls, max_audio_bytes=1000))
    audit(calls.client)
    calls.client.close()


def segments_of(leased: list[SegmentTask]) -> list[int]:
    return [task.segment for task in leased]


def names(found: list[Step]) -> list[tuple[StepKind, int | None]]:
    return [(step.kind, step.chapter) for step in found]


class TestJobs:
    def test_a_new_job_is_planning_and_its_plan_step_waits(self, house: House) -> None:
        assert house.truth.create_job(record("a"))
        assert not house.truth.create_job(record("a"))
        assert house.truth.job("a") == record("a")
        assert names(house.steps()) == [(StepKind.PLAN, None)]
        assert house.kinds("a") == ["planning"]

    def test_jobs_come_oldest_first(self, house: House) -> None:
        for name, created_at_s in (("b", 2.5), ("c", 1.5), ("a", 2.5)):
            house.truth.create_job(record(name, created_at_s=created_at_s))
        assert [entry.job for entry in house.truth.jobs()] == ["c", "a", "b"]

    def test_every_method_names_the_job_it_does_not_know(self, house: House) -> None:
        truth = house.truth
        for call in (truth.job, truth.pause, truth.unpause, truth.cancel, truth.retry_failed, truth.forget):
            with pytest.raises(UnknownJob, match=r"'nobody'.*tts-batch jobs"):
                call("nobody")
        for late in (
            lambda: truth.enqueue("nobody", [], []),
            lambda: truth.move_job("nobody", JobState.FAILED),
            lambda: truth.chapter_assembled("nobody", 0),
        ):
            with pytest.raises(UnknownJob, match="nobody"):
                late()
        assert truth.results("nobody") == {}

    def test_enqueue_counts_and_happens_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        all_tasks = tasks("a", 10)
        known = [result(task, reused=True) for task in all_tasks[:5]]
        for _twice in range(2):
            house.truth.enqueue("a", all_tasks[5:], known)
        now = house.truth.job("a")
        assert (now.state, now.total, now.done, now.reused, now.chapters) == (JobState.QUEUED, 10, 5, 5, 3)
        assert now.total_chars == sum(len(task.spoken) for task in all_tasks[5:])
        assert now.audio_s == pytest.approx(2.5)
        assert names(house.steps()) == [(StepKind.PLAN, None), (StepKind.ASSEMBLE, 0)]
        assert house.kinds("a") == ["planning", *["segment_done"] * 5, "queued"]

    def test_a_job_with_nothing_to_speak_is_assembled_at_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.enqueue("a", [], [result(task, reused=True) for task in tasks("a", 6)])
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps())[1:] == [(StepKind.ASSEMBLE, 0), (StepKind.ASSEMBLE, 1)]

    def test_an_empty_job_is_finished_at_once(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.truth.enqueue("a", [], [])
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps())[1:] == [(StepKind.FINISH, None)]

    def test_enqueue_refuses_strangers_and_doubles(self, house: House) -> None:
        house.truth.create_job(record("a"))
        with pytest.raises(ValueError, match="segments of other jobs: b"):
            house.truth.enqueue("a", tasks("b", 1), [])
        with pytest.raises(ValueError, match=r"twice: \[0\]"):
            house.truth.enqueue("a", tasks("a", 1), [result(tasks("a", 1)[0])])
        assert house.truth.job("a").total == 0

    def test_chapters_are_counted_down_to_the_finish_step(self, house: House) -> None:
        house.speak("a", 10)
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps()) == [(StepKind.PLAN, None), *((StepKind.ASSEMBLE, number) for number in range(3))]
        for chapter in (1, 0, 1, 7):  # a second time and a chapter that is not there: no matter
            house.truth.chapter_assembled("a", chapter)
        assert house.steps() == []
        house.truth.chapter_assembled("a", 2)
        assert names(house.steps()) == [(StepKind.FINISH, None)]
        assert house.truth.job("a").chapters_assembled == 3
        assert house.truth.move_job("a", JobState.DONE) is JobState.ASSEMBLING
        assert house.truth.move_job("a", JobState.DONE) is JobState.DONE
        assert house.kinds("a")[-5:] == ["assembling", *["chapter_assembled"] * 3, "done"]

    def test_events_carry_the_counters_right_after_the_move(self, house: House) -> None:
        house.speak("a", 4)
        events = [event for _id, event in house.streams.events("a")]
        assert [event.done for event in events] == [0, 0, 0, 1, 2, 3, 4, 4]
        assert all(event.total == 4 for event in events[1:])
        last = events[-2]
        assert (last.segment, last.chapter, last.samples, last.sample_rate_hz) == (3, 0, 12_000, 24_000)
        assert last.audio_s == pytest.approx(2.0)
        assert abs(last.at_s - time.time()) < 60
        assert [event.at_s for event in events] == sorted(event.at_s for event in events)

    def test_a_paused_job_gives_nothing_until_it_goes_on(self, house: House) -> None:
        house.queue("a", 4)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 1)
        house.truth.pause("a")
        house.truth.pause("a")
        assert house.truth.lease("w", 4) == []
        assert house.truth.finish("w", [result(held[0])]) == [True]
        house.truth.unpause("a")
        house.truth.unpause("a")
        assert house.truth.job("a").state is JobState.QUEUED
        assert segments_of(house.truth.lease("w", 4)) == [1, 2, 3]
        assert house.truth.job("a").state is JobState.RUNNING

    def test_a_job_paused_before_its_plan_is_planned_again(self, house: House) -> None:
        house.truth.create_job(record("a"))
        house.steps()
        house.truth.pause("a")
        house.truth.enqueue("a", tasks("a", 2), [])
        assert house.truth.job("a").total == 0
        house.truth.unpause("a")
        assert house.truth.job("a").state is JobState.PLANNING
        assert names(house.steps()) == [(StepKind.PLAN, None)]

    def test_cancel_takes_what_waits_and_refuses_what_comes_late(self, house: House) -> None:
        house.queue("a", 10)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        assert house.truth.cancel("a") == 7
        assert house.truth.cancel("a") == 0
        assert house.truth.beat("w", BEAT) == {"a"}
        assert house.truth.finish("w", [result(held[0])]) == [False]
        assert house.truth.give_back("w", [task.ref for task in held[1:]]) == 0
        assert house.truth.beat("w", BEAT) == frozenset()
        assert house.truth.lease("w", 9) == []
        now = house.truth.job("a")
        assert (now.state, now.held, now.done) == (JobState.CANCELLED, 0, 0)

    def test_a_failed_job_keeps_its_segments_for_the_retry(self, house: House) -> None:
        house.queue("a", 10)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        house.truth.move_job("a", JobState.FAILED, reason="disk full")
        assert house.truth.job("a").reason == "disk full"
        assert house.truth.beat("w", BEAT) == {"a"}
        assert house.truth.finish("w", [result(held[0])]) == [False]
        assert house.truth.give_back("w") == 2
        assert house.truth.lease("w", 9) == []
        assert house.truth.retry_failed("a") == 0
        assert segments_of(house.truth.lease("w", 99)) == list(range(10))

    def test_a_job_that_failed_while_assembling_is_assembled_again(self, house: House) -> None:
        house.speak("a", 6)
        house.truth.chapter_assembled("a", 0)
        house.truth.move_job("a", JobState.FAILED, reason="disk full")
        house.steps()
        assert house.truth.retry_failed("a") == 0
        assert house.truth.job("a").state is JobState.ASSEMBLING
        assert names(house.steps()) == [(StepKind.ASSEMBLE, 1)]

    def test_retry_puts_back_only_what_failed(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w"))
        bad = {2, 3}
        held = house.truth.lease("w", 8)
        states = [SegmentState.FAILED if task.segment in bad else SegmentState.DONE for task in held]
        house.truth.finish("w", [result(task, state=state) for task, state in zip(held, states, strict=True)])
        with pytest.raises(IllegalMove, match="assembling"):
            house.truth.retry_failed("a")
        for chapter in range(2):
            house.truth.chapter_assembled("a", chapter)
        house.truth.move_job("a", JobState.DONE_WITH_FAILURES)
        house.steps()
        assert house.truth.retry_failed("a") == 2
        now = house.truth.job("a")
        assert (now.state, now.failed, now.done, now.chapters_assembled) == (JobState.QUEUED, 0, 6, 1)
        again = house.truth.lease("w", 8)
        assert segments_of(again) == [2, 3]
        assert again == held[2:4]
        assert house.truth.finish("w", [result(task) for task in again]) == [True, True]
        assert names(house.steps()) == [(StepKind.ASSEMBLE, 0)]
        house.truth.chapter_assembled("a", 0)
        assert names(house.steps()) == [(StepKind.FINISH, None)]
        assert len(house.truth.results("a")) == 8

    @pytest.mark.parametrize("new", list(JobState))
    @pytest.mark.parametrize("old", [JobState.PLANNING, JobState.RUNNING, JobState.ASSEMBLING, JobState.DONE])
    def test_move_job_keeps_to_the_table(self, house: House, old: JobState, new: JobState) -> None:
        if old is JobState.PLANNING:
            house.truth.create_job(record("a"))
        elif old is JobState.RUNNING:
            house.queue("a", 2)
            house.truth.register(worker("w"))
            house.truth.lease("w", 1)
        else:
            house.speak("a", 2)
            house.truth.move_job("a", old)
        # Beyond the table: only a job with unfinished segments is queued, only one without is assembled.
        forbidden = {JobState.PLANNING: {JobState.QUEUED, JobState.ASSEMBLING}, JobState.RUNNING: {JobState.ASSEMBLING}}
        if new is old or new in JOB_MOVES[old] - forbidden.get(old, set()):
            assert house.truth.move_job("a", new) is old
            assert house.truth.job("a").state is new
        else:
            with pytest.raises(IllegalMove, match=f"from {old} to {new}|from {old} it may|cannot go from {old}"):
                house.truth.move_job("a", new)
            assert house.truth.job("a").state is old

    def test_forget_leaves_nothing(self, house: House) -> None:
        house.queue("a", 4)
        house.truth.register(worker("w"))
        house.truth.lease("w", 2)
        with pytest.raises(IllegalMove, match=r"running.*cancel it first"):
            house.truth.forget("a")
        house.truth.cancel("a")
        house.truth.forget("a")
        assert house.truth.jobs() == []
        assert house.streams.events("a") == []
        assert house.truth.give_back("w") == 0
        if isinstance(house.truth, RedisTruth):
            client = house.truth._calls.client
            assert [key for key in client.keys("*") if b":a" in key] == []

    def test_a_job_of_the_same_id_starts_anew_after_forget(self, house: House) -> None:
        house.queue("a", 2)
        house.truth.register(worker("w"))
        old = house.truth.lease("w", 2)
        house.truth.cancel("a")
        house.truth.forget("a")
        house.queue("a", 2)
        assert house.truth.finish("w", [result(task) for task in old]) == [False, False]
        assert (house.truth.job("a").done, house.truth.job("a").held) == (0, 0)


class TestQueue:
    def test_classes_are_strict(self, house: House) -> None:
        house.queue("bulk", 9, priority=Priority.BULK)
        house.queue("book", 9)
        house.queue("live", 2, priority=Priority.LIVE)
        house.truth.register(worker("w"))
        assert [task.job for task in house.truth.lease("w", 4)] == ["live", "live", "book", "book"]
        assert house.truth.lease("w", 4, live_only=True) == []
        assert Counter(task.job for task in house.truth.lease("w", 9)) == {"book": 7, "bulk": 2}

    def test_two_books_share_and_a_short_job_is_soon_done(self, house: House) -> None:
        house.queue("book", 200)
        house.truth.register(worker("w"))
        house.truth.lease("w", 64)
        house.queue("short", 20)
        taken = Counter(task.job for task in house.truth.lease("w", 48))
        assert taken["short"] == 20  # a lane that comes later owes nothing for what went before
        house.queue("third", 100)
        shares = Counter(task.job for _turn in range(40) for task in house.truth.lease("w", 2))
        assert abs(shares["book"] - shares["third"]) <= 8

    def test_small_wants_share_too(self, house: House) -> None:
        house.queue("a", 40)
        house.queue("b", 40)
        house.truth.register(worker("w"))
        assert Counter(house.truth.lease("w", 1)[0].job for _turn in range(20)) == {"a": 10, "b": 10}

    def test_a_worker_gets_only_its_models(self, house: House) -> None:
        house.queue("a", 3, model="other")
        house.queue("b", 3)
        house.truth.register(worker("w"))
        assert {task.job for task in house.truth.lease("w", 9)} == {"b"}
        house.truth.register(worker("both", "m", "other"))
        assert {task.job for task in house.truth.lease("both", 9)} == {"a"}

    def test_payloads_come_back_whole_and_in_order(self, house: House) -> None:
        house.queue("a", 30)
        house.truth.register(worker("w"))
        assert house.truth.lease("w", 30) == tasks("a", 30)
        assert house.truth.lease("w", 0) == []

    def test_the_first_result_wins(self, house: House) -> None:
        house.queue("a", 2)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 2)
        first, second = result(held[0]), result(held[0]).model_copy(update={"compute_s": 9.0})
        assert house.truth.finish("w", [first, second]) == [True, False]
        assert house.truth.finish("w", [first]) == [False]
        assert house.truth.results("a") == {0: first}
        assert house.truth.job("a").done == 1

    def test_only_the_holder_reports(self, house: House) -> None:
        house.queue("a", 2)
        for name in ("v", "w"):
            house.truth.register(worker(name))
        held = house.truth.lease("v", 1)
        assert house.truth.finish("w", [result(held[0])]) == [False]
        house.truth.give_back("v")
        assert house.truth.finish("v", [result(held[0])]) == [False]
        assert house.truth.job("a").done == 0
        with pytest.raises(ValueError, match="reported as skipped"):
            house.truth.finish("v", [result(held[0], state=SegmentState.SKIPPED)])

    def test_what_is_given_back_comes_first_in_order(self, house: House) -> None:
        house.queue("a", 12)
        house.truth.register(worker("w"))
        house.truth.lease("w", 8)
        assert house.truth.give_back("w", ["a|6", "a|2", "a|11", "b|1"]) == 2
        assert segments_of(house.truth.lease("w", 3)) == [2, 6, 8]
        assert house.truth.give_back("w") == 9
        assert house.truth.job("a").held == 0
        assert house.truth.give_back("stranger") == 0

    def test_unknown_workers_are_fenced(self, house: House) -> None:
        house.queue("a", 2)
        calls = (
            lambda: house.truth.lease("w", 1),
            lambda: house.truth.beat("w", BEAT),
            lambda: house.truth.finish("w", [result(tasks("a", 1)[0])]),
        )
        for call in calls:
            with pytest.raises(Fenced, match=r"worker w is not registered.*must stop"):
                call()

    def test_a_silent_worker_is_buried_and_its_segments_go_on(self, house: House) -> None:
        house.queue("a", 4)
        for name in ("silent", "w"):
            house.truth.register(worker(name))
        held = house.truth.lease("silent", 3)
        deadline_s = time.monotonic() + 10
        while (buried := house.truth.sweep()) == [] and time.monotonic() < deadline_s:
            house.truth.beat("w", BEAT)
            time.sleep(0.02)
        assert buried == ["silent"]
        with pytest.raises(Fenced):
            house.truth.finish("silent", [result(held[0])])
        assert [status.info for status in house.truth.workers()] == [worker("w")]
        assert segments_of(house.truth.lease("w", 4)) == [0, 1, 2, 3]

    def test_workers_show_their_last_beat(self, house: House) -> None:
        house.queue("a", 2)
        house.truth.register(worker("w"))
        house.truth.lease("w", 2)
        house.truth.beat("w", BEAT)
        (status,) = house.truth.workers()
        assert (status.held, status.slots_busy, status.segments_done, status.audio_s) == (2, 3, 5, 2.5)
        assert 0 <= status.beat_age_s < 5
        house.truth.retire("w")
        assert house.truth.workers() == []
        assert house.truth.job("a").held == 0

    def test_waiting_wakes_when_something_is_queued(self, house: House) -> None:
        assert not house.truth.wait_for_work(0.05)
        house.queue("early", 1)
        assert house.truth.wait_for_work(5)  # queued before the wait: not missed
        assert not house.truth.wait_for_work(0.05)
        timer = threading.Timer(0.1, house.queue, ("late", 1))
        timer.start()
        began_s = time.monotonic()
        assert house.truth.wait_for_work(10)
        assert time.monotonic() - began_s < 5
        timer.join()


class TestPoison:
    def test_a_crumb_is_to_blame(self, house: House) -> None:
        house.queue("a", 8)
        for crash in range(2):
            house.truth.register(worker(f"w{crash}"))
            held = house.truth.lease(f"w{crash}", 8)
            if crash == 1:
                assert [task.ref for task in held] == ["a|3"]  # the accused comes first and alone
                assert house.truth.lease(f"w{crash}", 8) == []
            house.truth.admitting(f"w{crash}", "a|3")
            verdict = house.truth.crashed(f"w{crash}")
        assert verdict.dead == ("a|3",)
        assert house.truth.results("a")[3].state is SegmentState.FAILED
        assert "died twice" in house.truth.results("a")[3].reason
        assert house.truth.crashed("w1").dead == ()

    def test_a_crumb_that_was_taken_up_says_nothing(self, house: House) -> None:
        house.queue("a", 20)
        house.truth.register(worker("w"))
        house.truth.lease("w", 20)
        house.truth.admitting("w", "a|3")
        house.truth.admitting("w", None)
        verdict = house.truth.crashed("w")
        assert (len(verdict.suspects), verdict.returned, verdict.dead) == (20, (), ())
        house.truth.register(worker("v"))
        house.queue("fresh", 4)
        held = house.truth.lease("v", 64)
        assert Counter(task.job for task in held) == {"a": 16, "fresh": 4}  # one group, and fresh work beside it

    @pytest.mark.parametrize("poison", [{5}, {0, 17, 39}, set(range(8, 12))])
    def test_poison_is_isolated_without_innocent_victims(self, house: House, poison: set[int]) -> None:
        house.queue("a", 40)
        crashes, life = 0, 0
        house.truth.register(worker("w0"))
        while house.truth.job("a").state is not JobState.ASSEMBLING:
            held = house.truth.lease(f"w{life}", 16)
            assert held
            if poison & set(segments_of(held)):
                house.truth.crashed(f"w{life}")
                crashes, life = crashes + 1, life + 1
                house.truth.register(worker(f"w{life}"))
            else:
                house.truth.finish(f"w{life}", [result(task) for task in held])
        results = house.truth.results("a")
        assert {segment for segment, entry in results.items() if entry.state is SegmentState.FAILED} == poison
        assert len(results) == 40
        assert crashes <= 4 * len(poison)

    def test_a_cancelled_or_forgotten_suspect_is_gone(self, house: House) -> None:
        for name in ("a", "b"):
            house.queue(name, 4)
        house.truth.register(worker("w"))
        house.truth.lease("w", 8)
        house.truth.crashed("w")
        assert house.truth.cancel("a") == 4
        house.truth.register(worker("v"))
        assert {task.job for task in house.truth.lease("v", 9)} == {"b"}


class TestOutbox:
    def test_a_step_that_is_not_confirmed_comes_again(self, house: House) -> None:
        house.truth.create_job(record("a"))
        taken = house.truth.take_steps("one", limit=5, timeout_s=0)
        assert names(taken) == [(StepKind.PLAN, None)]
        assert house.truth.take_steps("two", limit=5, timeout_s=0) == []
        time.sleep(1.5 * TTL_S)
        assert house.truth.take_steps("two", limit=5, timeout_s=0) == taken
        house.truth.step_sent(taken[0])
        time.sleep(1.5 * TTL_S)
        assert house.truth.take_steps("one", limit=5, timeout_s=0) == []

    def test_limit_order_and_waiting(self, house: House) -> None:
        for name in "abc":
            house.truth.create_job(record(name))
        assert [step.job for step in house.truth.take_steps("c", limit=2, timeout_s=0)] == ["a", "b"]
        assert [step.job for step in house.truth.take_steps("c", limit=2, timeout_s=0)] == ["c"]
        timer = threading.Timer(0.05, house.truth.create_job, (record("d"),))
        timer.start()
        assert [step.job for step in house.truth.take_steps("c", limit=2, timeout_s=10)] == ["d"]
        timer.join()

    def test_reconcile_finds_lost_steps_and_only_those(self, house: House) -> None:
        house.truth.create_job(record("plan"))
        house.speak("sum", 6)
        house.truth.chapter_assembled("sum", 1)
        house.speak("end", 2)
        house.truth.chapter_assembled("end", 0)
        house.queue("run", 2)
        time.sleep(1.5 * TTL_S)
        assert house.truth.reconcile() == []  # all still stand in the outbox
        house.steps()
        found = house.truth.reconcile()
        assert {(step.kind, step.job, step.chapter) for step in found} == {
            (StepKind.PLAN, "plan", None),
            (StepKind.ASSEMBLE, "sum", 0),
            (StepKind.FINISH, "end", None),
        }
        assert {step.entry for step in house.steps()} == {step.entry for step in found}
        assert house.truth.reconcile() == []  # just now sent again


@pytest.mark.services
def test_sweep_mends_segments_that_lost_their_place() -> None:
    server = shared_server()
    server.flush()
    calls = Calls(make_client(server.url))
    truth = RedisTruth(calls, worker_ttl_s=60)
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 6), [])
    truth.register(worker("w"))
    truth.lease("w", 2)
    client: redis.Redis = calls.client
    client.zrem(keys.waiting("a"), 4, 5)
    client.hset(keys.job("a"), "held", 7)
    assert truth.sweep() == []
    assert audit(client) == {"a": 6}
    assert segments_of(truth.lease("w", 9)) == [2, 3, 4, 5]
    client.close()
