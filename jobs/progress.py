"""Progress of a job as numbers: share, speed, time to go. Pure; knows neither clock nor screen."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.spec import JobRecord, SegmentResult
from jobs.state import JobState


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a job at one moment, from a record or from an event."""

    state: JobState
    total: int
    done: int
    failed: int
    audio_s: float

    @classmethod
    def of(cls, record: JobRecord) -> Counters:
        """The counters of a record."""
        return cls(record.state, record.total, record.done, record.failed, record.audio_s)

    @property
    def finished(self) -> int:
        """Segments that need nothing more."""
        return self.done + self.failed


@dataclass(frozen=True, slots=True)
class Progress:
    """What a progress line shows. `eta_s` and `times_real_time` are None until something was made since the start."""

    counters: Counters
    made_audio_s: float
    times_real_time: float | None
    eta_s: float | None


def progress(start: Counters, now: Counters, elapsed_s: float) -> Progress:
    """Compare two moments `elapsed_s` apart; only what was made between them counts for the speed."""
    made_audio_s = max(0.0, now.audio_s - start.audio_s)
    made = now.finished - start.finished
    if elapsed_s <= 0 or made <= 0:
        return Progress(now, made_audio_s, None, None)
    left = now.total - now.finished
    return Progress(now, made_audio_s, made_audio_s / elapsed_s, left * elapsed_s / made)


def audio_s_of(result: SegmentResult) -> float:
    """Seconds of audio of a segment's take; 0 where there is none."""
    return result.samples / result.sample_rate_hz if result.sample_rate_hz else 0.0


def clock(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
