"""Figures of the queue and its workers for Prometheus, read from the truth when they are asked for.

The one place for figures of the whole deployment; those of one server's requests are in `cli/api/metrics.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from jobs.errors import BrokerUnavailable
from jobs.protocols import Depth, Truth
from jobs.spec import WorkerStatus
from jobs.state import JobState

PREFIX = "tts_batch_"


class TruthCollector(Collector):
    """Gives the figures of a truth. A broker that is away is told as `broker_up` 0, and nothing else is."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth

    def describe(self) -> list[Metric]:
        """Nothing is asked of the broker when this is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All figures, as they are now."""
        up = GaugeMetricFamily(f"{PREFIX}broker_up", "Whether the broker answers.")
        try:
            states, workers, depth = self._truth.job_states(), self._truth.workers(), self._truth.depth()
        except BrokerUnavailable:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield _jobs(states)
        yield from _queue(depth)
        yield from _workers(workers)


def _jobs(states: Counter[JobState]) -> Metric:
    family = GaugeMetricFamily(f"{PREFIX}jobs", "Jobs by state.", labels=["state"])
    for state in JobState:
        family.add_metric([state.value], states[state])
    return family


def _queue(depth: Depth) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        f"{PREFIX}queue_waiting_segments", "Segments that wait, by class (paused jobs aside).", labels=["class"]
    )
    for priority, count in depth.waiting.items():
        waiting.add_metric([priority.value], count)
    yield waiting
    yield GaugeMetricFamily(f"{PREFIX}queue_held_segments", "Segments that workers hold.", value=depth.held)


def _workers(workers: Sequence[WorkerStatus]) -> Iterator[Metric]:
    """A worker's name is a label: only living ones are told, so there are as many as workers run."""
    labels = ["worker", "device"]
    slots = GaugeMetricFamily(f"{PREFIX}worker_slots", "Batch slots of a worker.", labels=labels)
    busy = GaugeMetricFamily(f"{PREFIX}worker_slots_busy", "Slots that speak.", labels=labels)
    held = GaugeMetricFamily(f"{PREFIX}worker_held_segments", "Segments that a worker holds.", labels=labels)
    beat = GaugeMetricFamily(f"{PREFIX}worker_beat_age_seconds", "Time since its last heartbeat.", labels=labels)
    done = CounterMetricFamily(f"{PREFIX}worker_segments_done", "Segments it spoke since it started.", labels=labels)
    audio = CounterMetricFamily(f"{PREFIX}worker_audio_seconds", "Audio it made since it started.", labels=labels)
    for status in workers:
        names = [status.info.worker, status.info.device]
        slots.add_metric(names, status.info.slots)
        busy.add_metric(names, status.slots_busy)
        held.add_metric(names, status.held)
        beat.add_metric(names, status.beat_age_s)
        done.add_metric(names, status.segments_done)
        audio.add_metric(names, status.audio_s)
    yield from (slots, busy, held, beat, done, audio)
