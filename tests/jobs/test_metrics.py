"""Figures of the queue for Prometheus: what the truth says, when it is asked."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from cli.api.metrics import Metrics
from jobs import metrics
from jobs.connect import Broker, ServerFacts
from jobs.errors import BrokerUnavailable
from jobs.figures import Figure, Figures, Total, named
from jobs.metrics import TruthCollector
from jobs.protocols import Beat
from jobs.state import JobState
from jobs.streams.memory import MemoryStreams
from tests.helpers_jobs import World

ROOT = Path(__file__).resolve().parents[2]


def broker_of(truth: Any) -> Broker:
    return Broker(
        url="memory://", safe_url="memory://", truth=truth, streams=MemoryStreams(max_audio_bytes=1), calls=None
    )


def test_figures_of_workers_and_totals_are_told_under_their_names():
    world = World()
    registry = CollectorRegistry()
    registry.register(TruthCollector(broker_of(world.truth)))
    world.submit()
    figures = Figures()
    figures.add(Figure.SLOT_S, 8.0)
    figures.add(Figure.SLOT_BUSY_S, 6.0)
    figures.add(Figure.RETAKES, label="tail")
    figures.observe(Figure.REFILL_S, 0.003)
    figures.observe(Figure.REFILL_S, 60.0)
    world.truth.beat("w", Beat(1, 2, 3.0, figures.read()))
    world.truth.count({named(Total.STEPS, "assemble.done"): 3, named(Total.GIVEN_BACK, "crashed"): 4})
    value, names = registry.get_sample_value, {"worker": "w", "device": "cpu"}
    assert value("tts_batch_worker_slot_seconds_total", names) == 8.0
    assert value("tts_batch_worker_slot_busy_seconds_total", names) == 6.0
    assert value("tts_batch_worker_retakes_total", names | {"reason": "tail"}) == 1
    assert value("tts_batch_worker_refill_seconds_bucket", names | {"le": "0.002"}) == 0
    assert value("tts_batch_worker_refill_seconds_bucket", names | {"le": "0.005"}) == 1
    assert value("tts_batch_worker_refill_seconds_bucket", names | {"le": "+Inf"}) == 2
    assert value("tts_batch_worker_refill_seconds_sum", names) == pytest.approx(60.003)
    assert value("tts_batch_job_steps_total", {"step": "assemble.done"}) == 3
    assert value("tts_batch_segments_given_back_total", {"cause": "crashed"}) == 4
    assert value("tts_batch_queue_steps") == 1  # the PLAN step of the job


def test_every_figure_and_total_is_told():
    """A new one without a name for Prometheus would be counted for nobody."""
    assert set(metrics._TOTALS) == set(Total)
    assert set(metrics._FIGURES) | {Figure.REFILL_S} == set(Figure)


def test_dashboard_and_alerts_name_what_there_is():
    world = World()
    registry = Metrics(SimpleNamespace(broker=broker_of(world.truth)), lambda: 0).registry
    world.submit()
    memory = metrics._memory(ServerFacts("valkey", "9", True, "noeviction", used_memory_bytes=5, maxmemory_bytes=9))
    known = {name for family in (*registry.collect(), *memory) for name in names_of(family)}
    for file in ("deploy/grafana/tts-batch.json", "deploy/prometheus/alerts.yml", "deploy/k8s/autoscaling.yaml"):
        text = (ROOT / file).read_text()
        used = set(re.findall(r"tts_batch_[a-z_]+", text))
        assert used
        assert used - known == set(), file


def test_what_several_servers_tell_of_one_cluster_is_not_added_up():
    """Each server tells the figures of the whole cluster; only those of its own requests are sums over servers."""
    sums = re.compile(r"\b(?:sum|avg|count)\b[^(]*\((?:rate\(|increase\()?tts_batch_(?!api_)\w+")
    texts = [(ROOT / "deploy" / file).read_text() for file in ("grafana/tts-batch.json", "k8s/autoscaling.yaml")]
    assert [found for text in texts for found in sums.findall(text)] == []


def test_each_alert_has_a_runbook():
    alerts = re.findall(r"alert: (\w+)", (ROOT / "deploy/prometheus/alerts.yml").read_text())
    manual = (ROOT / "docs/operations.md").read_text()
    assert alerts
    assert [name for name in alerts if name not in manual] == []


def test_totals_without_a_label_are_told_before_the_first():
    """A series that begins with 1 has no increase for Prometheus."""
    registry = CollectorRegistry()
    registry.register(TruthCollector(broker_of(World().truth)))
    assert registry.get_sample_value("tts_batch_dead_letters_total") == 0
    assert registry.get_sample_value("tts_batch_suspects_total") == 0


def names_of(family: Metric) -> list[str]:
    endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
    return [family.name + ending for ending in endings]


def test_the_figures_are_those_of_the_truth():
    world = World()
    registry = CollectorRegistry()
    registry.register(TruthCollector(broker_of(world.truth)))
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
    registry.register(TruthCollector(broker_of(Gone())))
    assert registry.get_sample_value("tts_batch_broker_up") == 0
    assert [family.name for family in registry.collect()] == ["tts_batch_broker_up"]
