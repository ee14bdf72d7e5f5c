"""What `jobs.protocols.Truth` promises of speech requests."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence

import pytest

from jobs import keys
from jobs.errors import IllegalMove, UnknownJob
from jobs.events import AudioChunk, EventKind
from jobs.protocols import Depth, StepKind
from jobs.spec import JobRecord, Priority, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from jobs.truth.rules import SPEECH_WANTED_S
from tests.contract.house_of_truth import BEAT, TTL_S, House
from tests.helpers_truth import RATE_HZ, record, result, tasks, worker

LIVE, NORMAL, BULK = Priority
IN_REDIS = [pytest.param("redis", marks=pytest.mark.services)]


def request(job: str, *, model: str = "m") -> JobRecord:
    return record(job, priority=LIVE, model=model)


def speak(house: House, job: str, count: int) -> list[SegmentTask]:
    """Queue a speech request; returns its tasks as a worker gets them."""
    assert house.truth.speak(request(job), tasks(job, count))
    return [task.model_copy(update={"speech": True}) for task in tasks(job, count)]


def spoken(house: House, job: str, count: int, *, fails: Sequence[int] = ()) -> None:
    """Queue, lease and finish a request."""
    told = speak(house, job, count)
    house.truth.register(worker("w"))
    assert house.truth.lease("w", 99) == told
    results = [result(task, state=SegmentState.FAILED if task.segment in fails else SegmentState.DONE) for task in told]
    assert house.truth.finish("w", results) == [True] * count


def chunk(data: bytes) -> AudioChunk:
    return AudioChunk(
        segment=0,
        take="ab",
        chunk=0,
        start_sample=0,
        samples=len(data) // 2,
        sample_rate_hz=RATE_HZ,
        last=True,
        data=data,
    )


def kept(house: House, job: str) -> dict[str, int]:
    """What Redis has of a job: key → time to live in ms. Empty in memory."""
    if not isinstance(house.truth, RedisTruth):
        return {}
    client = house.truth._calls.client
    return {key.decode(): client.pttl(key) for key in client.scan_iter(f"tts:*:{job}")}


class TestBegin:
    def test_it_is_queued_at_once_and_nothing_but_its_segments_is_asked_for(self, house: House) -> None:
        told = speak(house, "s", 5)
        now = house.truth.job("s")
        assert (now.state, now.total, now.waiting, now.chapters) == (JobState.QUEUED, 5, 5, 0)
        assert now.total_chars == sum(len(task.spoken) for task in told)
        assert now.spec == request("s").spec
        assert house.kinds("s") == ["queued"]
        assert house.truth.jobs() == []
        house.truth.register(worker("w"))
        assert house.truth.lease("w", 3, live_only=True) == told[:3]
        assert house.truth.lease("w", 3) == told[3:]
        assert house.kinds("s") == ["queued", "running"]
        assert house.steps() == house.truth.reconcile(quiet_s=0) == []

    def test_an_id_is_taken_once(self, house: House) -> None:
        assert house.truth.create_job(record("a"))
        speak(house, "s", 2)
        assert not house.truth.speak(request("a"), tasks("a", 1))
        assert not house.truth.speak(request("s"), tasks("s", 3))
        assert not house.truth.create_job(request("s").model_copy(update={"created_at_s": 2.0}))
        assert house.truth.job("s").total == 2
        assert house.truth.job("a").state is JobState.PLANNING
        assert [job.job for job in house.truth.jobs()] == ["a"]

    @pytest.mark.parametrize(
        ("given", "wrong"),
        [
            (tasks("s", 0), "no segments"),
            (tasks("other", 1), "other jobs: other"),
            (tasks("s", 2) + tasks("s", 1), r"twice: \[0\]"),
        ],
    )
    def test_segments_that_are_not_its_own_are_refused(
        self, house: House, given: list[SegmentTask], wrong: str
    ) -> None:
        with pytest.raises(ValueError, match=wrong):
            house.truth.speak(request("s"), given)
        with pytest.raises(UnknownJob):
            house.truth.job("s")

    def test_it_is_of_class_live(self, house: House) -> None:
        with pytest.raises(ValueError, match="class bulk"):
            house.truth.speak(record("s", priority=BULK), tasks("s", 1))

    def test_a_sleeping_worker_is_woken(self, house: House) -> None:
        house.truth.wait_for_work(0)
        assert not house.truth.wait_for_work(0.01)
        speak(house, "s", 1)
        assert house.truth.wait_for_work(0)

    def test_it_goes_before_all_other_classes(self, house: House) -> None:
        house.queue("n", 3)
        house.queue("b", 3, priority=BULK)
        told = speak(house, "s", 2)
        house.truth.register(worker("w"))
        assert house.truth.lease("w", 3)[:2] == told

    def test_many_segments_keep_their_order(self, house: House) -> None:
        told = speak(house, "s", 2500)
        house.truth.register(worker("w"))
        assert house.truth.lease("w", 2500) == told

    def test_requests_that_wait_are_begun_in_the_order_they_came(self, house: House) -> None:
        """Whatever their names are; and a long one is not passed over for ever by new ones."""
        names = [f"{99 - place}" for place in range(40)]
        for name in names[:20]:
            speak(house, name, 1 if name != names[0] else 20)
        house.truth.register(worker("w"))
        first = house.truth.lease("w", 10)
        for name in names[20:]:
            speak(house, name, 1)
        order = [task.job for task in first + house.truth.lease("w", 99)]
        assert [name for name in order if name != names[0]] == names[1:]
        assert order[:8] == [names[0]] * 8
        again = order.index(names[0], 8)
        assert again <= 8 + 32


class TestEnd:
    def test_with_its_last_segment_it_is_done(self, house: House) -> None:
        spoken(house, "s", 6)
        now = house.truth.job("s")
        assert (now.state, now.done, now.held, now.waiting) == (JobState.DONE, 6, 0, 0)
        assert now.audio_s == pytest.approx(3.0)
        assert house.kinds("s") == ["queued", "running", *["segment_done"] * 6, "assembling", "done"]
        assert set(house.truth.results("s")) == set(range(6))
        assert house.steps() == house.truth.reconcile(quiet_s=0) == []

    def test_with_a_failed_segment_it_says_so(self, house: House) -> None:
        spoken(house, "s", 3, fails=[1])
        now = house.truth.job("s")
        assert (now.state, now.done, now.failed) == (JobState.DONE_WITH_FAILURES, 2, 1)
        assert house.kinds("s")[-4:] == ["segment_failed", "segment_done", "assembling", "done_with_failures"]
        assert house.truth.results("s")[1].reason == 'it said "no"'
        assert house.steps() == []

    def test_a_segment_that_kills_is_given_up_and_ends_it(self, house: House) -> None:
        speak(house, "s", 1)
        for _death in range(4):
            house.truth.register(worker("w"))
            if house.truth.lease("w", 9):
                verdict = house.truth.crashed("w")
        assert verdict.dead == ("s|0",)
        assert house.truth.job("s").state is JobState.DONE_WITH_FAILURES
        assert house.steps() == []
        assert house.truth.depth().segments == 0

    def test_cancel_takes_back_what_waits_and_tells_who_holds(self, house: House) -> None:
        speak(house, "s", 5)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        assert house.truth.cancel("s") == 2
        assert house.truth.job("s").state is JobState.CANCELLED
        assert house.kinds("s")[-1] == "cancelled"
        assert house.truth.lease("w", 9) == []
        assert house.truth.beat("w", BEAT) == {"s"}
        assert house.truth.finish("w", [result(held[0])]) == [False]
        assert house.truth.give_back("w", [held[1].ref]) == 0
        assert house.truth.crashed("w").returned == ()
        house.truth.register(worker("v"))
        assert house.truth.lease("v", 9) == []
        assert house.truth.cancel("s") == 0

    def test_suspects_of_a_cancelled_request_vanish(self, house: House) -> None:
        speak(house, "s", 3)
        house.truth.register(worker("w"))
        house.truth.lease("w", 9)
        assert len(house.truth.crashed("w").suspects) == 3
        assert house.truth.cancel("s") == 3
        house.truth.register(worker("w"))
        assert house.truth.lease("w", 9) == []

    def test_what_failed_as_a_whole_is_over(self, house: House) -> None:
        """A store that refuses takes fails the job; nothing of it waits for a retry that cannot come."""
        speak(house, "s", 5)
        house.truth.register(worker("w"))
        held = house.truth.lease("w", 3)
        house.truth.move_job("s", JobState.FAILED, reason="no space")
        assert (house.truth.job("s").state, house.truth.job("s").reason) == (JobState.FAILED, "no space")
        assert house.truth.give_back("w", [held[0].ref]) == 0
        assert house.truth.beat("w", BEAT) == {"s"}
        house.truth.retire("w")
        assert house.truth.depth() == Depth({LIVE: 0, NORMAL: 0, BULK: 0}, 0)

    def test_what_is_given_back_is_spoken_by_another(self, house: House) -> None:
        told = speak(house, "s", 4)
        house.truth.register(worker("w"))
        house.truth.lease("w", 4)
        house.truth.finish("w", [result(told[2])])
        house.truth.retire("w")
        house.truth.register(worker("v"))
        left = [told[0], told[1], told[3]]
        assert house.truth.lease("v", 9) == left
        house.truth.finish("v", [result(task) for task in left])
        assert house.truth.job("s").state is JobState.DONE

    def test_an_ended_request_can_be_forgotten(self, house: House) -> None:
        spoken(house, "s", 2)
        house.truth.forget("s")
        assert house.truth.results("s") == {}
        assert house.streams.events("s") == []
        assert kept(house, "s") == {}
        speak(house, "s", 1)


REFUSED: dict[str, Callable[[House], object]] = {
    "pause": lambda house: house.truth.pause("s"),
    "planning": lambda house: house.truth.move_job("s", JobState.PLANNING),
    "assembling": lambda house: house.truth.move_job("s", JobState.ASSEMBLING),
    "done": lambda house: house.truth.move_job("s", JobState.DONE),
    "rule": lambda house: house.truth.rule("s", 0, [], tasks("s", 1)),
    "speak_again": lambda house: house.truth.speak_again("s", tasks("s", 1)),
    "retry_failed": lambda house: house.truth.retry_failed("s"),
}


class TestMovesOfWholeJobs:
    @pytest.mark.parametrize("move", REFUSED)
    def test_they_are_refused(self, house: House, move: str) -> None:
        speak(house, "s", 5)
        house.truth.register(worker("w"))
        for task in house.truth.lease("w", 4):
            house.truth.finish("w", [result(task)])
        before = (house.truth.job("s"), house.kinds("s"))
        with pytest.raises(IllegalMove, match="s is a speech request: it can be cancelled"):
            REFUSED[move](house)
        assert (house.truth.job("s"), house.kinds("s")) == before

    def test_a_failed_one_is_not_tried_again(self, house: House) -> None:
        spoken(house, "s", 2, fails=[0])
        with pytest.raises(IllegalMove, match="speech request"):
            house.truth.retry_failed("s")

    def test_no_step_is_called_for(self, house: House) -> None:
        speak(house, "s", 5)  # chapter 0 is complete when four are done
        house.truth.register(worker("w"))
        house.truth.finish("w", [result(task) for task in house.truth.lease("w", 4)])
        house.truth.chapter_assembled("s", 0)
        house.truth.put_checks("s", 0, [0, 1])
        house.truth.put_checks("s", 0, [])
        house.truth.unpause("s")
        house.truth.enqueue("s", tasks("s", 9), [])
        for kind in StepKind:
            assert house.truth.step_started("s", kind, 0) == 0
        now = house.truth.job("s")
        assert (now.state, now.total, now.done, now.chapters_assembled) == (JobState.RUNNING, 5, 4, 0)
        assert house.steps() == []


def ended_by_speaking(house: House) -> None:
    spoken(house, "s", 3, fails=[1])


def ended_by_cancel(house: House) -> None:
    speak(house, "s", 3)
    house.truth.cancel("s")


def ended_by_failure(house: House) -> None:
    speak(house, "s", 3)
    house.truth.register(worker("w"))
    house.truth.finish("w", [result(house.truth.lease("w", 1)[0])])
    house.truth.move_job("s", JobState.FAILED)


ENDS = [ended_by_speaking, ended_by_cancel, ended_by_failure]


def let_rest(house: House, job: str, seconds: float) -> None:
    """As if nobody had said for so long that they wait for a request."""
    if isinstance(house.truth, RedisTruth):
        house.truth._calls.client.hset(keys.job(job), "wanted_at_s", str(time.time() - seconds))
        house.truth._calls.last_error_s = -math.inf  # the broker was there all the time
    elif isinstance(house.truth, MemoryTruth):
        house.truth._state.jobs[job].wanted_at_s -= seconds


def wait_until_gone(house: House, job: str) -> None:
    deadline_s = time.monotonic() + 20
    while time.monotonic() < deadline_s:
        try:
            house.truth.job(job)
        except UnknownJob:
            return
        time.sleep(TTL_S / 4)
    raise AssertionError(f"{job} was not forgotten")


class TestForgotten:
    @pytest.mark.parametrize("end", ENDS)
    def test_all_that_is_kept_has_its_time(self, house: House, end: Callable[[House], None]) -> None:
        end(house)
        house.streams.write_audio("s", chunk(b"\0" * 100))  # of a slot that was not dropped yet
        assert all(590_000 < ttl_ms <= 600_000 for ttl_ms in kept(house, "s").values())
        assert house.truth.job("s").state in (JobState.DONE_WITH_FAILURES, JobState.CANCELLED, JobState.FAILED)

    @pytest.mark.parametrize("end", ENDS)
    def test_then_it_is_gone(self, forgetful: House, end: Callable[[House], None]) -> None:
        forgetful.streams.write_audio("s", chunk(b"\0" * 100))
        end(forgetful)
        wait_until_gone(forgetful, "s")
        time.sleep(TTL_S)  # streams and results go by a clock of their own
        with pytest.raises(UnknownJob):
            forgetful.truth.cancel("s")
        assert forgetful.truth.results("s") == {}
        assert forgetful.streams.events("s") == []
        assert forgetful.streams.audio("s") == []
        assert kept(forgetful, "s") == {}
        assert forgetful.truth.speak(request("s"), tasks("s", 1))

    def test_before_its_end_nothing_goes(self, forgetful: House) -> None:
        told = speak(forgetful, "s", 2)
        forgetful.truth.register(worker("w"))
        forgetful.truth.lease("w", 1)
        time.sleep(2 * TTL_S)
        assert set(kept(forgetful, "s").values()) <= {-1}
        assert forgetful.truth.finish("w", [result(told[0])]) == [True]
        assert forgetful.truth.job("s").state is JobState.RUNNING

    def test_what_is_held_of_it_changes_nothing_any_more(self, forgetful: House) -> None:
        told = speak(forgetful, "s", 6)
        forgetful.truth.register(worker("w"))
        forgetful.truth.register(worker("v"))
        forgetful.truth.lease("w", 3)
        forgetful.truth.lease("v", 3)
        forgetful.truth.cancel("s")
        wait_until_gone(forgetful, "s")
        assert forgetful.truth.beat("w", BEAT) == {"s"}
        assert forgetful.truth.depth().held == 6
        assert forgetful.truth.finish("w", [result(told[0])]) == [False]
        assert forgetful.truth.give_back("w", [told[1].ref]) == 0
        forgetful.truth.sweep()
        verdict = forgetful.truth.crashed("w")
        assert (verdict.returned, verdict.suspects, verdict.dead) == ((), (), ())
        forgetful.truth.retire("v")
        assert forgetful.truth.depth() == Depth({LIVE: 0, NORMAL: 0, BULK: 0}, 0)
        assert kept(forgetful, "s") == {}

    @pytest.mark.parametrize("forgetful", IN_REDIS, indirect=True)
    def test_its_audio_frees_its_part_of_the_bound(self, forgetful: House) -> None:
        assert isinstance(forgetful.truth, RedisTruth)
        calls = forgetful.truth._calls
        streams = RedisStreams(calls, max_audio_bytes=1000, max_total_bytes=1000)
        speak(forgetful, "s", 1)
        streams.write_audio("s", chunk(b"\0" * 800))
        forgetful.truth.cancel("s")
        wait_until_gone(forgetful, "s")
        time.sleep(TTL_S)
        for name in ("t", "u"):
            speak(forgetful, name, 1)
            streams.write_audio(name, chunk(b"\0" * 400))
        assert calls.client.hgetall(keys.AUDIO_BYTES) == {b"t": b"400", b"u": b"400"}
        assert calls.client.get(keys.AUDIO_TOTAL) == b"800"
        assert [len(streams.audio(name)) for name in "tu"] == [1, 1]

    @pytest.mark.parametrize("forgetful", IN_REDIS, indirect=True)
    def test_nothing_of_many_stays(self, forgetful: House) -> None:
        """However they end: only keys that are there once for all, and they name none of them."""
        assert isinstance(forgetful.truth, RedisTruth)
        truth, client = forgetful.truth, forgetful.truth._calls.client
        names = [f"s{number}" for number in range(36)]
        truth.register(worker("w"))
        for place, name in enumerate(names):
            speak(forgetful, name, 3)
            held = truth.lease("w", 2)
            forgetful.streams.write_audio(name, chunk(b"\0" * 100))
            ended: list[Callable[[], object]] = [
                lambda name=name: truth.cancel(name),
                lambda name=name: truth.move_job(name, JobState.FAILED),
                lambda: truth.crashed("w"),
                lambda held=held: truth.give_back("w", [task.ref for task in held]),
                lambda held=held: truth.finish("w", [result(task) for task in held]),
                lambda: truth.retire("w"),
            ]
            ended[place % len(ended)]()
            truth.register(worker("w"))
        for name in client.smembers(keys.SPEECH):  # those that have not ended
            let_rest(forgetful, name.decode(), 60)
        truth.sweep()
        truth.retire("w")
        for name in names:
            wait_until_gone(forgetful, name)
        time.sleep(TTL_S)
        forgetful.streams.write_audio("later", chunk(b"\0" * 1000))
        counted = {keys.AUDIO_BYTES, keys.AUDIO_TOTAL, keys.AUDIO_ENDED, keys.audio("later")}
        stay = {keys.WAKE, keys.DEAD, keys.TOTALS, keys.OPEN_BUILT, keys.SWEPT, keys.virtual_now(0)}
        assert {key.decode() for key in client.scan_iter("*")} <= counted | stay

    def test_one_that_nobody_waits_for_is_given_up(self, house: House) -> None:
        speak(house, "s", 3)
        house.truth.register(worker("w"))
        house.truth.lease("w", 1)
        let_rest(house, "s", SPEECH_WANTED_S - 5)
        house.truth.sweep()
        assert house.truth.job("s").state is JobState.RUNNING
        let_rest(house, "s", SPEECH_WANTED_S + 1)
        house.truth.sweep()
        (last,) = [event for _id, event in house.streams.events("s")][-1:]
        assert (last.kind, last.state) == (EventKind.JOB, JobState.FAILED)
        assert "nobody waits for it any more" in str(last.reason)
        assert house.truth.depth() == Depth({LIVE: 0, NORMAL: 0, BULK: 0}, 1)
        assert house.truth.beat("w", BEAT) == {"s"}

    def test_one_that_somebody_waits_for_is_not_given_up(self, house: House) -> None:
        speak(house, "s", 3)
        speak(house, "t", 3)
        house.queue("j", 1)
        for job in ("s", "t"):
            let_rest(house, job, SPEECH_WANTED_S + 1)
        house.truth.still_wanted(["s", "j", "nobody"])
        house.truth.sweep()
        states = [house.truth.job(job).state for job in ("s", "t", "j")]
        assert states == [JobState.QUEUED, JobState.FAILED, JobState.QUEUED]
        house.truth.still_wanted([])

    def test_one_that_goes_on_is_not_given_up(self, house: House) -> None:
        speak(house, "s", 3)
        time.sleep(2 * TTL_S)
        house.truth.sweep()
        assert house.truth.job("s").state is JobState.QUEUED


@pytest.mark.parametrize("house", IN_REDIS, indirect=True)
def test_a_segment_that_was_lost_waits_again(house: House) -> None:
    """Nothing is lost in memory."""
    assert isinstance(house.truth, RedisTruth)
    client = house.truth._calls.client
    told = speak(house, "s", 3)
    house.truth.register(worker("w"))
    house.truth.lease("w", 1)
    client.zrem(keys.waiting("s"), 2)
    house.truth.sweep()
    assert house.truth.lease("w", 9) == told[1:]


@pytest.mark.parametrize("house", IN_REDIS, indirect=True)
def test_requests_for_other_models_are_passed_over_once(house: House) -> None:
    """Not once for each segment that is taken from behind them: the broker does nothing else meanwhile."""
    assert isinstance(house.truth, RedisTruth)
    client = house.truth._calls.client

    def looked_at() -> int:
        return int(client.info("commandstats").get("cmdstat_zrange", {"calls": 0})["calls"])

    for number in range(100):
        name = f"other-{number}"
        assert house.truth.speak(request(name, model="other"), tasks(name, 1, model="other"))
    for number in range(20):
        speak(house, f"s{number}", 1)
    house.truth.register(worker("w"))
    before = looked_at()
    assert len(house.truth.lease("w", 20)) == 20
    assert looked_at() - before < 150


@pytest.mark.parametrize("house", IN_REDIS, indirect=True)
def test_what_a_worker_gets_names_the_request(house: House) -> None:
    """Workers of other programs read the task from its JSON."""
    assert isinstance(house.truth, RedisTruth)
    speak(house, "s", 1)
    task = json.loads(house.truth._calls.client.hget(keys.segments("s"), "0"))
    assert task["speech"] is True
