"""Samples of queue and workers: bounded, in order, with gaps where the broker was away."""

from __future__ import annotations

import threading

from jobs.errors import BrokerUnavailable
from jobs.history import History, Sample, run_sampler, take_sample
from jobs.protocols import Beat, Depth
from jobs.spec import Priority
from tests.helpers_jobs import World

NOTHING = Depth(dict.fromkeys(Priority, 0), 0)


def test_the_oldest_samples_go():
    history = History(every_s=5.0, kept_s=20.0)
    for at_s in range(10):
        history.add(Sample(float(at_s), NOTHING, ()))
    assert [sample.at_s for sample in history.samples()] == [6.0, 7.0, 8.0, 9.0]


def test_an_hour_is_kept():
    history = History()
    for at_s in range(800):
        history.add(Sample(at_s * history.every_s, NOTHING, ()))
    kept = history.samples()
    assert kept[-1].at_s - kept[0].at_s == 3600 - history.every_s


def test_a_sample_says_what_waits_and_who_speaks():
    world = World()
    total = world.truth.job(world.submit().job).total
    world.truth.beat("w", Beat(slots_busy=2, segments_done=3, audio_s=4.5))
    held = len(world.truth.lease("w", 2))
    sample = take_sample(world.truth)
    assert sample.depth.held == held == 2
    assert sample.depth.waiting[Priority.NORMAL] == total - 2
    (worker,) = sample.workers
    assert (worker.worker, worker.slots_busy, worker.audio_s) == ("w", 2, 4.5)


def test_the_sampler_goes_on_when_the_broker_comes_back():
    world, stop, history = World(), threading.Event(), History(every_s=0.001)

    class Flaky:
        calls = 0

        def depth(self) -> Depth:
            self.calls += 1
            if self.calls < 4:
                msg = "away"
                raise BrokerUnavailable(msg)
            if self.calls == 6:
                stop.set()
            return world.truth.depth()

        def workers(self):
            return world.truth.workers()

    run_sampler(Flaky(), history, stop)
    assert len(history.samples()) == 3
