"""Wire forms: job hash ↔ JobRecord, replies ↔ specs, steps. Pure but for the byte strings Redis gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from jobs.protocols import Step, StepKind
from jobs.spec import JobRecord, JobSpec, WorkerInfo, WorkerStatus
from jobs.state import JobState
from jobs.truth.rules import PRIORITY_CLASS

_COUNTERS = (
    "total",
    "done",
    "failed",
    "held",
    "reused",
    "marked",
    "retakes",
    "chapters",
    "chapters_assembled",
    "total_chars",
)
_TIMES = ("created_at_s", "updated_at_s", "audio_s")
_TEXTS = ("title", "author", "reason")


def text(value: bytes | str) -> str:
    """A reply as text."""
    return value.decode() if isinstance(value, bytes) else value


def texts(values: Iterable[bytes | str]) -> list[str]:
    """Replies as texts."""
    return [text(value) for value in values]


def job_fields(record: JobRecord, now_s: float, **more: object) -> list[str]:
    """Field, value, … of a new job's hash. `now_s` is the clock of the server; `more` are fields beside the usual."""
    fields: dict[str, object] = {name: getattr(record, name) for name in (*_COUNTERS, *_TIMES, *_TEXTS)}
    fields |= {
        "job": record.job,
        "state": JobState.PLANNING,
        "spec": record.spec.model_dump_json(),
        "model": record.spec.engine,
        "class": PRIORITY_CLASS[record.spec.priority],
        "virtual_time": 0,
        "planned": 0,
        "touched_at_s": f"{now_s:.3f}",
        **more,
    }
    return [str(part) for pair in fields.items() for part in pair]


def job_record(fields: Mapping[bytes, bytes]) -> JobRecord:
    """The record a job's hash stands for."""
    known = {name.decode(): value.decode() for name, value in fields.items()}
    return JobRecord(
        job=known["job"],
        spec=JobSpec.model_validate_json(known["spec"]),
        state=JobState(known["state"]),
        **{name: known[name] for name in _TEXTS},  # type: ignore[arg-type]  # the fields have these types
        **{name: int(known.get(name, 0)) for name in _COUNTERS},  # type: ignore[arg-type]
        **{name: float(known[name]) for name in _TIMES},  # type: ignore[arg-type]
    )


def worker_status(fields: Mapping[bytes, bytes], *, beat_age_s: float, held: int) -> WorkerStatus:
    """The status a worker's hash stands for."""
    return WorkerStatus(
        info=WorkerInfo.model_validate_json(fields[b"info"]),
        beat_age_s=beat_age_s,
        held=held,
        slots_busy=int(fields.get(b"slots_busy", b"0")),
        segments_done=int(fields.get(b"segments_done", b"0")),
        audio_s=float(fields.get(b"audio_s", b"0")),
        figures=json.loads(fields.get(b"figures", b"{}")),
    )


def step(entry: bytes | str, fields: Mapping[bytes, bytes]) -> Step:
    """The step an outbox entry stands for."""
    chapter, part = fields.get(b"chapter"), fields.get(b"part")
    return Step(
        kind=StepKind(fields[b"kind"].decode()),
        job=fields[b"job"].decode(),
        entry=text(entry),
        chapter=None if chapter is None else int(chapter),
        part=None if part is None else int(part),
    )
