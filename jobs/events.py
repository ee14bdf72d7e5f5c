"""Events of a job: what `tts:events:<job>` carries. The public page is docs/streams.md; version 1.

An event is written in the same atomic move that changes the truth, so the stream is complete and in order.
"""

from __future__ import annotations

from enum import StrEnum

from jobs.kinds import Grade
from jobs.spec import Frozen
from jobs.state import JobState

EVENT_VERSION = 1


class EventKind(StrEnum):
    """What happened."""

    JOB = "job"
    """The job changed its state (`state`, maybe `reason`)."""
    SEGMENT_DONE = "segment_done"
    """A take was accepted (`segment`, `chapter`, `take`, `samples`, `sample_rate_hz`, `reused`, `takes`, `grade`, and
    `reason` if it is not good)."""
    SEGMENT_FAILED = "segment_failed"
    """A segment was given up (`segment`, `chapter`, `reason`)."""
    SEGMENT_AGAIN = "segment_again"
    """The checks of its chapter took a done segment back, to be spoken anew (`segment`, `chapter`)."""
    SEGMENT_SETTLED = "segment_settled"
    """The checks of its chapter changed the result of a done segment: another take or grade (`segment`, `chapter`,
    `take`, `samples`, `sample_rate_hz`, `reused`, `takes`, `grade`, and `reason` if it is not good)."""
    CHAPTER_ASSEMBLED = "chapter_assembled"
    """The audio of a chapter is in the store (`chapter`)."""


class Event(Frozen):
    """One entry. `total`, `done`, `failed` and `audio_s` are the counters right after the move."""

    v: int = EVENT_VERSION
    kind: EventKind
    job: str
    at_s: float
    state: JobState
    total: int
    done: int
    failed: int
    audio_s: float
    segment: int | None = None
    chapter: int | None = None
    take: str | None = None
    samples: int | None = None
    sample_rate_hz: int | None = None
    reused: bool | None = None
    takes: int | None = None
    grade: Grade | None = None
    reason: str | None = None


class AudioChunk(Frozen):
    """One entry of `tts:audio:<job>`; `data` is little-endian signed 16-bit mono PCM for encoding `pcm_s16le`.

    `discard` tells subscribers to drop everything they hold of (segment, take): the take was rejected.
    """

    v: int = EVENT_VERSION
    segment: int
    take: str
    chunk: int
    start_sample: int
    samples: int
    sample_rate_hz: int
    encoding: str = "pcm_s16le"
    last: bool = False
    discard: bool = False
    data: bytes = b""

    @classmethod
    def discarding(cls, segment: int, take: str, *, chunk: int, sample_rate_hz: int) -> AudioChunk:
        """The chunk that rejects a take; `chunk` is how many of it came before."""
        return cls(
            segment=segment,
            take=take,
            chunk=chunk,
            start_sample=0,
            samples=0,
            sample_rate_hz=sample_rate_hz,
            discard=True,
        )
