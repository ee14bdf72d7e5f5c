"""What `tts-batch top` shows: two looks at the truth, some seconds apart, made into one view. Pure but for `look`.

before, now = look(broker), look(broker)
view = view_of(before, now, worker_ttl_s=15)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from jobs.connect import Broker, ServerFacts
from jobs.figures import LABEL, MORE, SECONDS, Figure, Total, named
from jobs.protocols import Depth
from jobs.spec import JobRecord, WorkerStatus
from jobs.state import JobState

AT_WORK = (JobState.RUNNING, JobState.QUEUED, JobState.ASSEMBLING, JobState.PLANNING)
JOBS_SHOWN = 20
MEMORY_SHARE = 0.8
"""A broker that is fuller than this is warned of."""
SILENT_SHARE = 0.5
"""A worker whose heartbeat is older than this share of its time to live is warned of."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the truth says at one moment; `at_s` is a monotonic time."""

    at_s: float
    depth: Depth
    workers: tuple[WorkerStatus, ...]
    totals: Counter[str]
    states: Counter[JobState]
    jobs: tuple[JobRecord, ...]
    facts: ServerFacts


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker. Rates are of the time between the looks; None: not known (yet), or nothing happened."""

    worker: str
    device: str
    slots: int
    busy: int
    occupancy: float | None
    audio_s_per_s: float
    segments_per_s: float
    refill_p50_s: float | None
    refill_p95_s: float | None
    step_ms: float | None
    stages: dict[str, float]
    """Share of the step loop's time in each stage."""
    store_s: float | None
    """Time of a take in the store."""
    retake_share: float | None
    held: int
    beat_age_s: float
    errors: dict[str, int]


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job at work."""

    job: str
    state: str
    done: int
    total: int
    failed: int
    segments_per_s: float
    eta_s: float | None


@dataclass(frozen=True, slots=True)
class View:
    """All of it."""

    waiting: dict[str, int]
    held: int
    steps: int
    segments_per_s: float
    audio_s_per_s: float
    occupancy: float | None
    eta_s: float | None
    states: dict[str, int]
    workers: tuple[WorkerRow, ...]
    jobs: tuple[JobRow, ...]
    more_jobs: int
    since: dict[str, int]
    """What was counted between the looks: given back, spoken again, grades, dead letters."""
    memory_bytes: int | None
    memory_limit_bytes: int | None
    server: str
    warnings: tuple[str, ...]


def look(broker: Broker, now_s: float) -> Look:
    """Ask the broker. Raises BrokerUnavailable."""
    truth = broker.truth
    return Look(
        at_s=now_s,
        depth=truth.depth(),
        workers=tuple(truth.workers()),
        totals=truth.totals(),
        states=truth.job_states(),
        jobs=tuple(truth.newest_jobs(JOBS_SHOWN, states=AT_WORK)),
        facts=broker.facts(),
    )


def view_of(before: Look, now: Look, *, worker_ttl_s: float) -> View:
    """The view at `now`, with rates since `before`."""
    past_s = max(1e-9, now.at_s - before.at_s)
    earlier = {status.info.worker: status for status in before.workers}
    rows = tuple(_worker_row(earlier.get(one.info.worker), one, past_s) for one in now.workers)
    counted = now.totals - before.totals
    per_s = sum(counted[named(Total.SEGMENTS, state)] for state in ("done", "failed")) / past_s
    known = {record.job: record for record in before.jobs}
    jobs = tuple(_job_row(known.get(record.job), record, past_s) for record in now.jobs)
    at_work = sum(now.states[state] for state in AT_WORK)
    left = now.depth.segments + now.depth.held
    return View(
        waiting={priority.value: number for priority, number in now.depth.waiting.items()},
        held=now.depth.held,
        steps=now.depth.steps,
        segments_per_s=round(per_s, 2),
        audio_s_per_s=round(sum(row.audio_s_per_s for row in rows), 1),
        occupancy=_occupancy(before.workers, now.workers),
        eta_s=_eta_s(left, per_s),
        states={state.value: number for state, number in now.states.items() if number},
        workers=rows,
        jobs=jobs,
        more_jobs=max(0, at_work - len(jobs)),
        since={name: number for name, number in counted.items() if not name.startswith(Total.STEP_MS)},
        memory_bytes=now.facts.used_memory_bytes,
        memory_limit_bytes=now.facts.maxmemory_bytes or None,
        server=f"{now.facts.software} {now.facts.version}".strip(),
        warnings=tuple(_warnings(now, rows, worker_ttl_s)),
    )


def _worker_row(before: WorkerStatus | None, now: WorkerStatus, past_s: float) -> WorkerRow:
    before = before or now  # one that has just come: nothing is known of a time between
    figures = _since(before.figures, now.figures)
    segments = max(0, now.segments_done - before.segments_done)
    audio_s = max(0.0, now.audio_s - before.audio_s)
    stages = _labels(figures, Figure.STEP_S)
    steps = sum(_labels(figures, Figure.STEPS).values())
    loop_s = sum(stages.values())
    by_stage: Counter[str] = Counter()
    for name, seconds in stages.items():
        by_stage[name.rpartition(".")[2]] += seconds  # type: ignore[assignment]  # a Counter of floats
    retakes = sum(_labels(figures, Figure.RETAKES).values())
    store_s = figures.get(Figure.STORE_S, 0.0)
    return WorkerRow(
        worker=now.info.worker,
        device=now.info.device,
        slots=now.info.slots,
        busy=now.slots_busy,
        occupancy=_share(figures.get(Figure.SLOT_BUSY_S, 0.0), figures.get(Figure.SLOT_S, 0.0)),
        audio_s_per_s=round(audio_s / past_s, 1),
        segments_per_s=round(segments / past_s, 2),
        refill_p50_s=quantile(figures, 0.5),
        refill_p95_s=quantile(figures, 0.95),
        step_ms=round(1000 * loop_s / steps, 2) if steps else None,
        stages={name: round(seconds / loop_s, 3) for name, seconds in by_stage.items()} if loop_s else {},
        store_s=round(store_s / segments, 3) if segments and store_s else None,
        retake_share=_share(retakes, segments + retakes),
        held=now.held,
        beat_age_s=round(now.beat_age_s, 1),
        errors={name: round(number) for name, number in _labels(figures, Figure.ERRORS).items()},
    )


def _job_row(before: JobRecord | None, now: JobRecord, past_s: float) -> JobRow:
    finished, earlier = now.done + now.failed, (before.done + before.failed) if before else now.done + now.failed
    per_s = max(0, finished - earlier) / past_s
    left = now.total - finished
    return JobRow(
        job=now.job,
        state=now.state.value,
        done=now.done,
        total=now.total,
        failed=now.failed,
        segments_per_s=round(per_s, 2),
        eta_s=_eta_s(left, per_s),
    )


def _eta_s(left: int, per_s: float) -> float | None:
    """Time for so many segments; None: at this rate never."""
    return 0.0 if not left else round(left / per_s) if per_s > 0 else None


def quantile(figures: Mapping[str, float], share: float) -> float | None:
    """The upper bound of the class that a share of the refill delays lies in; None: there were none."""
    labels = [*(f"{bound:g}" for bound in SECONDS), MORE]
    counts = [figures.get(named(Figure.REFILL_S, label), 0.0) for label in labels]
    total = sum(counts)
    if total <= 0:
        return None
    place = next(place for place, below in enumerate(accumulate(counts)) if below >= share * total)
    return SECONDS[min(place, len(SECONDS) - 1)]


def _since(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    return {name: value - before.get(name, 0.0) for name, value in now.items() if value > before.get(name, 0.0)}


def _labels(figures: Mapping[str, float], figure: Figure) -> dict[str, float]:
    start = f"{figure}{LABEL}"
    return {name.removeprefix(start): value for name, value in figures.items() if name.startswith(start)}


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 3) if whole > 0 else None


def _occupancy(before: Sequence[WorkerStatus], now: Sequence[WorkerStatus]) -> float | None:
    earlier = {status.info.worker: status.figures for status in before}
    changes = [_since(earlier.get(one.info.worker, one.figures), one.figures) for one in now]
    busy, slots = (sum(one.get(name, 0.0) for one in changes) for name in (Figure.SLOT_BUSY_S, Figure.SLOT_S))
    return _share(busy, slots)


def _warnings(now: Look, rows: Sequence[WorkerRow], worker_ttl_s: float) -> Iterator[str]:
    for row in rows:
        if row.beat_age_s > SILENT_SHARE * worker_ttl_s:
            yield f"{row.worker} has sent no heartbeat for {row.beat_age_s:.0f} s"
        for kind, number in row.errors.items():
            yield f"{row.worker}: {number} troubles with {kind}"
    spoken = {model for status in now.workers for model in status.info.models}
    for model in sorted({record.spec.engine for record in now.jobs if record.waiting} - spoken):
        yield f"jobs wait and no worker speaks {model}"
    facts = now.facts
    if facts.appendonly is False:
        yield "the broker keeps nothing on disk (appendonly no): jobs are lost with it"
    if facts.maxmemory_policy not in (None, "noeviction"):
        yield f"the broker throws data away when it is full (maxmemory-policy {facts.maxmemory_policy}); use noeviction"
    if facts.used_memory_bytes and facts.maxmemory_bytes:
        share = facts.used_memory_bytes / facts.maxmemory_bytes
        if share > MEMORY_SHARE:
            yield f"the broker's memory is full to {share:.0%}; delete old jobs (`tts-batch purge`) or raise maxmemory"
