"""What becomes of an attempt that left its slot: a verdict, a record in the store, and the result or the next attempt.

Runs in the outlet's thread. Knows stores, takes and checks; no queue and no truth.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np

from engine.request import FinishReason, Samples
from jobs.attempts import at_attempt
from jobs.checks.free import TakeFacts, check_take
from jobs.checks.ruling import Tried, done
from jobs.figures import Figure, Figures
from jobs.protocols import Store
from jobs.retakes import chosen, standing
from jobs.spec import SegmentResult, SegmentTask
from jobs.takes import Judged, Pcm, TakeInfo, TakeOrigin, write_take
from jobs.verdict import Verdict
from models.card import ModelCard
from workers.voicing import Voicing

_checking = threading.BoundedSemaphore(2)
"""Many takes are written at once, and two checked: more would only keep Python from the step loop."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """An attempt whose last audio is there. `compute_s` is what it and the attempts before it took in this process."""

    voicing: Voicing
    finish: FinishReason
    error: str | None
    compute_s: float
    words: tuple[tuple[int, int], ...] = ()


def conclude(store: Store, spoken: Spoken, figures: Figures) -> SegmentResult | SegmentTask:
    """Keep the record of an attempt and say what follows. May be repeated: the bytes are the same.

    An attempt that ended by an error of the engine leaves no record: it may be the machine's fault. It counts as made
    while this process holds the segment. `figures` count what was found and written. Raises StoreError.
    """
    task, samples, origin = spoken.voicing.task, _samples(spoken.voicing), _origin(spoken.voicing)
    facts = _facts(origin, spoken.voicing.sample_rate_hz, spoken.finish.value, spoken.voicing.card)
    with _checking:
        verdict = check_take(samples, replace(facts, error=spoken.error or ""))
    info = None if spoken.finish is FinishReason.ERROR else _keep(store, spoken, origin, samples, verdict)
    _note(figures, verdict, info)
    following: SegmentResult | SegmentTask
    if info is not None and verdict.good:
        following = done(task, Tried(task.attempt, info, verdict), made=task.attempt + 1)
    elif task.attempt + 1 < task.takes:
        following = standing(store, at_attempt(task, task.attempt + 1), trouble=verdict.text)
        figures.add(Figure.RETAKES, label=_reason(verdict))
    else:
        following = chosen(store, task, trouble=verdict.text)
    spent = spoken.voicing.spent
    costs = {"device_s": spent.device_s, "energy_j": spent.energy_j}
    if isinstance(following, SegmentTask):
        return following.model_copy(update=costs)
    told = {"compute_s": round(spoken.compute_s, 4), "device": spoken.voicing.device, "reused": False}
    return following.model_copy(update={**costs, **told})


def judge_stored(info: TakeInfo, pcm: Pcm, card: ModelCard) -> Verdict:
    """The verdict of today's checks on a stored take, from its record and its samples ([S] int16)."""
    facts = _facts(info.origin, info.sample_rate_hz, info.finish, card)
    return check_take(pcm.astype(np.float32) / np.float32(32767), facts)


def _samples(voicing: Voicing) -> Samples:
    return np.concatenate(voicing.pieces) if voicing.pieces else np.zeros(0, np.float32)


def _origin(voicing: Voicing) -> TakeOrigin:
    task = voicing.task
    return TakeOrigin(
        model=task.model,
        voice=task.voice,
        language=task.language,
        spoken=task.spoken,
        seed=task.seed,
        speed=task.speed,
        numerics=voicing.numerics,
    )


def _facts(origin: TakeOrigin, sample_rate_hz: int, finish: str, card: ModelCard) -> TakeFacts:
    return TakeFacts(
        sample_rate_hz=sample_rate_hz,
        finish=finish,
        spoken=origin.spoken,
        language=origin.language,
        speed=origin.speed,
        chars_per_s=card.chars_per_s,
        expected_rate_hz=card.sample_rate_hz,
    )


def _keep(store: Store, spoken: Spoken, origin: TakeOrigin, samples: Samples, verdict: Verdict) -> TakeInfo:
    take, rate_hz = spoken.voicing.task.take, spoken.voicing.sample_rate_hz
    judged = Judged(spoken.finish.value, verdict, spoken.words)
    return write_take(store, take, samples, sample_rate_hz=rate_hz, origin=origin, judged=judged)


def _note(figures: Figures, verdict: Verdict, info: TakeInfo | None) -> None:
    for reason in verdict.reasons:
        figures.add(Figure.VERDICTS, label=reason.check)
    if info is not None:
        figures.add(Figure.STORE_BYTES, info.audio_bytes)


def _reason(verdict: Verdict) -> str:
    """The first reason against a take, which is what it is counted under."""
    return verdict.reasons[0].check if verdict.reasons else "error"
