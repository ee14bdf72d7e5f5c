"""Figures of the queue for Prometheus: what the truth says, when it is asked."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from jobs.errors import BrokerUnavailable
from jobs.metrics import TruthCollector
from jobs.protocols import Beat
from jobs.state import JobState
from tests.helpers_jobs import World


def test_the_figures_are_those_of_the_truth():
    world = World()
    registry = CollectorRegistry()
    registry.register(TruthCollector(world.truth))
    value = registry.get_sample_value
    assert value("tts_batch_jobs", {"state": "queued"}) == 0
    total = world.truth.job(world.submit().job).total
    world.truth.beat("w", Beat(slots_busy=2, segments_done=3, audio_s=4.5))
    world.truth.lease("w", 1)
    names = {"worker": "w", "device": "cpu"}
    assert value("tts_batch_broker_up") == 1
    assert sum(value("tts_batch_jobs", {"state": state.value}) for state in JobState) == 1
    assert value("tts_batch_queue_waiting_segments", {"class": "normal"}) == total - 1
    assert value("tts_batch_queue_waiting_segments", {"class": "live"}) == 0
    assert value("tts_batch_queue_held_segments") == 1
    assert value("tts_batch_worker_slots_busy", names) == 2
    assert value("tts_batch_worker_held_segments", names) == 1
    assert value("tts_batch_worker_segments_done_total", names) == 3
    assert value("tts_batch_worker_audio_seconds_total", names) == 4.5
    assert value("tts_batch_worker_slots", names) > 0
    assert value("tts_batch_worker_beat_age_seconds", names) >= 0


def test_a_broker_that_is_away_is_told_and_nothing_is_made_up():
    class Gone:
        def job_states(self):
            msg = "away"
            raise BrokerUnavailable(msg)

    registry = CollectorRegistry()
    registry.register(TruthCollector(Gone()))
    assert registry.get_sample_value("tts_batch_broker_up") == 0
    assert [family.name for family in registry.collect()] == ["tts_batch_broker_up"]
