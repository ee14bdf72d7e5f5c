"""Figures of the queue and its workers for Prometheus, read from the truth when they are asked for.

The one place for figures of the whole deployment; those of one server's requests are in `cli/api/metrics.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from jobs.connect import Broker, ServerFacts
from jobs.errors import BrokerUnavailable
from jobs.figures import LABEL, MORE, SECONDS, Figure, Total, named
from jobs.protocols import Depth
from jobs.spec import WorkerStatus
from jobs.state import JobState

PREFIX = "tts_batch_"

_TOTALS = {
    Total.SEGMENTS: ("segments", "state", "Segments that workers finished."),
    Total.GRADES: ("segments_graded", "grade", "Segments that workers finished well, by the grade of the take."),
    Total.GIVEN_BACK: ("segments_given_back", "cause", "Segments that went back to waiting without a result."),
    Total.SPOKEN_AGAIN: ("segments_spoken_again", "cause", "Finished segments that were put back to be spoken anew."),
    Total.SUSPECTS: ("suspects", "", "Segments that were suspected of killing a process."),
    Total.DEAD_LETTERS: ("dead_letters", "", "Segments that were given up."),
    Total.STEPS: ("job_steps", "step", "Steps of jobs, by kind and how they ended."),
    Total.STEP_MS: ("job_step_milliseconds", "step", "Time that steps of jobs took, by kind."),
}
"""Name, label and help of what the truth counts."""
_FIGURES = {
    Figure.SLOT_S: ("worker_slot_seconds", "", "Time of all slots of a worker."),
    Figure.SLOT_BUSY_S: (
        "worker_slot_busy_seconds",
        "",
        "The part of it in which they spoke; their ratio is the occupancy.",
    ),
    Figure.STEP_S: ("worker_stage_seconds", "stage", "Time of the step loop in each stage of a model's engine."),
    Figure.STEPS: ("worker_steps", "model", "Steps of engines."),
    Figure.RETAKES: ("worker_retakes", "reason", "Attempts that were followed by another, by what spoke against them."),
    Figure.VERDICTS: ("worker_verdicts", "check", "What checks found against takes."),
    Figure.STORE_BYTES: ("worker_store_bytes", "", "Audio of takes that were written to stores."),
    Figure.STORE_S: ("worker_store_seconds", "", "Time of checking and writing takes, all writers together."),
    Figure.STREAM_BYTES: ("worker_stream_bytes", "", "Audio that was written to live streams."),
    Figure.ERRORS: (
        "worker_errors",
        "kind",
        "Troubles: store or broker away, chunks lost, models that failed.",
    ),
}
"""The same of what workers count; the refill delay is a distribution of its own."""


class TruthCollector(Collector):
    """Gives the figures of a broker. One that is away is told as `broker_up` 0, and nothing else is."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def describe(self) -> list[Metric]:
        """Nothing is asked of the broker when this is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All figures, as they are now."""
        up = GaugeMetricFamily(f"{PREFIX}broker_up", "Whether the broker answers.")
        truth = self._broker.truth
        try:
            states, workers, depth, totals = truth.job_states(), truth.workers(), truth.depth(), truth.totals()
            facts = self._broker.facts()
        except BrokerUnavailable:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield _build()
        yield from _memory(facts)
        yield _jobs(states)
        yield from _queue(depth)
        yield from _counted(_TOTALS, [((), totals)], [])
        yield from _workers(workers)
        yield from _counted(_FIGURES, [(_names(one), one.figures) for one in workers], ["worker", "device"])
        yield _refills(workers)


def _build() -> Metric:
    try:
        found = version("tts-batch")
    except PackageNotFoundError:
        found = "unknown"
    family = GaugeMetricFamily(f"{PREFIX}build_info", "The version of this server.", labels=["version"])
    family.add_metric([found], 1)
    return family


def _memory(facts: ServerFacts) -> Iterator[Metric]:
    for name, text, value in (
        ("broker_memory_bytes", "Memory that the broker's data takes.", facts.used_memory_bytes),
        ("broker_memory_limit_bytes", "The most that it may take; 0: no limit.", facts.maxmemory_bytes),
    ):
        if value is not None:
            yield GaugeMetricFamily(f"{PREFIX}{name}", text, value=value)


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
    yield GaugeMetricFamily(f"{PREFIX}queue_steps", "Steps of jobs that no CPU worker took yet.", value=depth.steps)


def _counted(
    families: Mapping[Total, tuple[str, str, str]] | Mapping[Figure, tuple[str, str, str]],
    sources: Sequence[tuple[tuple[str, ...], Mapping[str, float]]],
    labels: Sequence[str],
) -> Iterator[Metric]:
    """Counters of the names in `families`, of each source under its own labels."""
    for figure, (name, label, text) in families.items():
        family = CounterMetricFamily(f"{PREFIX}{name}", text, labels=[*labels, *([label] if label else [])])
        for values, counted in sources:
            for key, value in counted.items():
                found, _, of = key.partition(LABEL)
                if found == figure:
                    family.add_metric([*values, *([of] if label else [])], value)
            if not label and figure not in counted:
                family.add_metric(values, 0)  # or else the first of its kind would be no increase for Prometheus
        yield family


def _refills(workers: Sequence[WorkerStatus]) -> Metric:
    family = HistogramMetricFamily(
        f"{PREFIX}worker_refill_seconds",
        "From a slot's end to its next segment, while segments wait.",
        labels=["worker", "device"],
    )
    for status in workers:
        read = status.figures
        counts = [read.get(named(Figure.REFILL_S, f"{bound:g}"), 0.0) for bound in SECONDS]
        counts.append(read.get(named(Figure.REFILL_S, MORE), 0.0))
        sums = [sum(counts[: place + 1]) for place in range(len(counts))]
        bounds = [*(f"{bound:g}" for bound in SECONDS), "+Inf"]
        family.add_metric(
            _names(status), list(zip(bounds, sums, strict=True)), read.get(named(Figure.REFILL_S, "sum"), 0.0)
        )
    return family


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
        names = _names(status)
        slots.add_metric(names, status.info.slots)
        busy.add_metric(names, status.slots_busy)
        held.add_metric(names, status.held)
        beat.add_metric(names, status.beat_age_s)
        done.add_metric(names, status.segments_done)
        audio.add_metric(names, status.audio_s)
    yield from (slots, busy, held, beat, done, audio)


def _names(status: WorkerStatus) -> tuple[str, str]:
    return status.info.worker, status.info.device
