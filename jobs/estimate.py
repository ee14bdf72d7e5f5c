"""What a job is expected to take before it is spoken: audio, device time, price, and when it would be done.

estimate(draft, rate, measured.speed(), settings.tariff, queue).line()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.benchmarks import LEAST_AUDIO_S, Basis, Measured, Measurements
from jobs.cost import seconds
from jobs.drafts import Draft
from jobs.progress import clock
from jobs.protocols import Truth
from jobs.spec import JobRecord, JobSpec, ModelOffer
from jobs.state import FINAL_JOB_STATES, JobState
from jobs.tariff import Tariff
from jobs.truth.rules import PRIORITY_CLASS

_COUNTS = f"finished job of {LEAST_AUDIO_S:.0f} s of audio or more"


@dataclass(frozen=True, slots=True)
class SpeakingRate:
    """Characters a voice speaks in a second at a job's speed; `measured`: in finished jobs, else the card's guess."""

    chars_per_s: float
    measured: bool

    def audio_s(self, chars: int) -> float:
        """How long so many characters are spoken."""
        return chars / self.chars_per_s


@dataclass(frozen=True, slots=True)
class Queue:
    """Who would speak a job: `workers` synthesis processes that are up, and the device time of jobs that go before it
    or beside it (`ahead_s`; those whose engine was never measured are not in it)."""

    workers: int
    ahead_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """`chars` and `audio_s` are what is still to be spoken; a take that is in the store already is not. `device_s` is
    None without a measurement (`basis`), `queue` without a broker."""

    engine: str
    chars: int
    segments_in_store: int
    rate: SpeakingRate
    basis: Basis | None
    tariff: Tariff
    queue: Queue | None

    @property
    def audio_s(self) -> float:
        """Audio to be spoken, without pauses between segments."""
        return self.rate.audio_s(self.chars)

    @property
    def device_s(self) -> float | None:
        """Device time for it."""
        return None if self.basis is None else self.audio_s / self.basis.audio_s_per_device_s

    @property
    def price(self) -> float | None:
        """Price of that time."""
        return self.tariff.price(self.device_s)

    @property
    def eta_s(self) -> float | None:
        """Time until all is spoken by the workers that are up, after the jobs before it; without loading the model and
        without making the finished files."""
        if self.device_s is None or self.queue is None or not self.queue.workers:
            return None
        return (self.device_s + self.queue.ahead_s) / self.queue.workers

    def document(self) -> dict[str, str | int | float | bool | dict[str, str | int | float] | None]:
        """The JSON form."""
        return {
            "spoken_chars": self.chars,
            "segments_in_store": self.segments_in_store,
            "audio_s": round(self.audio_s, 1),
            "chars_per_s": round(self.rate.chars_per_s, 3),
            "chars_per_s_measured": self.rate.measured,
            "device_s": None if self.device_s is None else round(self.device_s, 3),
            "basis": None if self.basis is None else self.basis.model_dump(mode="json"),
            "price": self.price,
            "currency": self.tariff.currency,
            "workers": None if self.queue is None else self.queue.workers,
            "ahead_s": None if self.queue is None else round(self.queue.ahead_s, 3),
            "eta_s": None if self.eta_s is None else round(self.eta_s, 3),
        }

    def line(self) -> str:
        """One line for people."""
        if not self.chars:
            return "nothing is left to speak: every take is in the store"
        parts = [f"about {clock(self.audio_s)} of audio to be spoken"]
        if self.device_s is None:
            parts.append(f"device time not known: no measurement of {self.engine} yet")
        else:
            parts.append(f"{seconds(self.device_s)}")
        if self.price is not None:
            parts.append(self.tariff.text(self.price))
        if self.eta_s is not None and self.queue is not None:
            who = f"{self.queue.workers} worker{'s' if self.queue.workers > 1 else ''}"
            parts.append(f"spoken in {clock(self.eta_s)} by {who}")
        return ", ".join(parts)

    def reasons(self, *, bench_helps: bool, model: str) -> list[str]:
        """What the line rests on, and what would make it better; `bench_helps`: `bench` can measure the model."""
        rate = f"{self.rate.chars_per_s:.1f} characters a second"
        lines = [f"speaking rate: {rate}, {'measured' if self.rate.measured else 'a first guess of the model'}"]
        if self.segments_in_store:
            several = "s" if self.segments_in_store > 1 else ""
            lines.append(f"already in the store: the takes of {self.segments_in_store} segment{several}")
        if self.basis is not None:
            lines.append(
                f"speed: {self.basis.audio_s_per_device_s:.1f} s of audio each device-second ({self.basis.text})"
            )
        elif bench_helps:
            lines.append(f"no measurement yet: run `tts-batch bench --model {model}`; a {_COUNTS} is one too")
        else:
            lines.append(f"no measurement yet: the first {_COUNTS} is one")
        if self.queue is not None and not self.queue.workers:
            lines.append(f"no worker that speaks {self.engine} is up")
        elif self.queue is not None and self.queue.ahead_s:
            lines.append(f"other jobs before it or beside it: {seconds(self.queue.ahead_s)}")
        return lines


def with_measured_rate(offer: ModelOffer, voice: str, measurements: Measurements) -> tuple[ModelOffer, bool]:
    """The offer with the speaking rate that a voice had in finished jobs, and whether there is one."""
    measured = measurements.of(offer.engine).chars_per_s(voice)
    return (offer, False) if measured is None else (offer.model_copy(update={"chars_per_s": measured}), True)


def estimate(draft: Draft, rate: SpeakingRate, basis: Basis | None, tariff: Tariff, queue: Queue | None) -> Estimate:
    """What a whole draft is expected to take."""
    return Estimate(draft.spec.engine, draft.plan.prompt_chars, 0, rate, basis, tariff, queue)


def without_takes(whole: Estimate, draft: Draft, stored: Sequence[int]) -> Estimate:
    """The same when the takes of some segments are in the store already."""
    known = set(stored)
    chars = sum(len(segment.spoken) for segment in draft.plan.segments if segment.segment not in known)
    return replace(whole, chars=chars, segments_in_store=len(known))


def of_record(whole: Estimate, record: JobRecord) -> Estimate:
    """The same for a job that was accepted: what it has left, by the number of its segments."""
    return replace(whole, chars=_chars_left(record), segments_in_store=record.reused)


def find_queue(truth: Truth, spec: JobSpec, job: str, measurements: Measurements) -> Queue:
    """The workers that speak a job's model, and what is queued in its class and before. Raises BrokerUnavailable."""
    statuses = list(truth.workers())
    offers = {
        offer.engine: offer for status in statuses for offer in status.info.offers if offer.engine in status.info.models
    }
    workers = sum(spec.engine in status.info.models for status in statuses)
    others = [
        record
        for record in truth.jobs()
        if record.job != job
        and record.state not in {*FINAL_JOB_STATES, JobState.PAUSED}
        and PRIORITY_CLASS[record.spec.priority] <= PRIORITY_CLASS[spec.priority]
        and record.spec.engine in offers
    ]
    known = {engine: measurements.of(engine) for engine in {record.spec.engine for record in others}}
    left_s = (_left_s(record, offers[record.spec.engine], known[record.spec.engine]) for record in others)
    return Queue(workers, sum(left_s))


def _left_s(record: JobRecord, offer: ModelOffer, measured: Measured) -> float:
    basis = measured.speed()
    if basis is None:
        return 0.0
    chars_per_s = (measured.chars_per_s(record.spec.voice) or offer.chars_per_s) * record.spec.speed
    return _chars_left(record) / chars_per_s / basis.audio_s_per_device_s


def _chars_left(record: JobRecord) -> int:
    left = record.total - record.done - record.failed
    return round(record.total_chars * max(0, left) / max(1, record.total))
