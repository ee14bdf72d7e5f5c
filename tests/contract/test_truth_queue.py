"""What `jobs.protocols.Truth` promises of the queue, workers, poison and the outbox, over both back ends."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest
import redis

from jobs import keys
from jobs.errors import Fenced
from jobs.protocols import StepKind, Verdict
from jobs.spec import Priority
from jobs.state import JobState, SegmentState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_truth import RedisTruth
from tests.contract.house_of_truth import BEAT, TTL_S, House, names, segments_of
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import shared_server


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
    def test_the_only_suspect_on_board_is_to_blame(self, house: House) -> None:
        house.queue("a", 8)
        house.truth.register(worker("w0"))
        house.truth.lease("w0", 1)
        assert house.truth.crashed("w0") == Verdict(returned=(), suspects=("a|0",), dead=())
        house.truth.register(worker("w1"))
        assert segments_of(house.truth.lease("w1", 8)) == list(range(8))
        verdict = house.truth.crashed("w1")
        assert verdict == Verdict(returned=(), suspects=tuple(task.ref for task in tasks("a", 8)), dead=())
        house.truth.register(worker("w2"))
        assert segments_of(house.truth.lease("w2", 8)) == [0]  # the accused comes first and alone
        assert house.truth.lease("w2", 8) == []
        # Once alone may have been somebody from outside who killed: it gets another chance, alone again.
        assert house.truth.crashed("w2") == Verdict(returned=(), suspects=("a|0",), dead=())
        house.truth.register(worker("w3"))
        assert 0 not in segments_of(house.truth.lease("w3", 8))  # the others, in their turn
        house.truth.register(worker("w4"))
        assert segments_of(house.truth.lease("w4", 8)) == [0]
        assert house.truth.lease("w4", 8) == []
        assert house.truth.crashed("w4") == Verdict(returned=(), suspects=(), dead=("a|0",))
        assert house.truth.results("a")[0].state is SegmentState.FAILED
        assert "died again and again" in house.truth.results("a")[0].reason
        assert house.truth.crashed("w4").dead == ()

    def test_without_a_suspect_all_on_board_become_suspects(self, house: House) -> None:
        house.queue("a", 20)
        house.truth.register(worker("w"))
        house.truth.lease("w", 20)
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
        assert crashes <= 5 * len(poison)

    def test_the_accused_waits_for_an_empty_worker(self, house: House) -> None:
        house.queue("a", 4)
        for name in ("doomed", "w"):
            house.truth.register(worker(name))
        house.truth.lease("doomed", 1)
        busy = house.truth.lease("w", 1)
        assert house.truth.crashed("doomed").suspects == ("a|0",)
        house.truth.register(worker("next"))
        assert segments_of(house.truth.lease("next", 1)) == [0]
        assert house.truth.crashed("next").suspects == ("a|0",)
        assert segments_of(house.truth.lease("w", 1)) == [2]
        house.truth.give_back("w", ["a|2"])
        house.truth.finish("w", [result(task) for task in busy])
        assert segments_of(house.truth.lease("w", 4)) == [0]

    @pytest.mark.parametrize(("state", "returned"), [(JobState.FAILED, ("a|0", "a|1")), (JobState.CANCELLED, ())])
    def test_nobody_is_accused_for_a_job_that_is_over(
        self, house: House, state: JobState, returned: tuple[str, ...]
    ) -> None:
        house.queue("a", 2)
        house.truth.register(worker("w"))
        house.truth.lease("w", 2)
        house.truth.move_job("a", state)
        verdict = house.truth.crashed("w")
        assert (verdict.returned, verdict.suspects, verdict.dead) == (returned, (), ())

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
        first = house.truth.take_steps("c", limit=2, timeout_s=0)
        assert [step.job for step in first] == ["a", "b"]
        for step in first:
            house.truth.step_sent(
                step
            )  # or they come again once they have lain for a while, as on a machine that stalls
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
