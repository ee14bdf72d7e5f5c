"""What the report says of each attempt at a segment: its seed, its grade, what speaks against it, every figure."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.assembly.timeline import seconds_of
from jobs.checks.ruling import Tried
from jobs.kinds import Grade
from jobs.spec import Frozen
from jobs.verdict import Reason


class TakeReport(Frozen):
    """One attempt (counted from 0) that is on record. `audio`: whether its audio is in the store; an unusable take's is
    not. `transcript` and `word_error_rate` are what the speech recogniser heard, null where none listened.
    """

    attempt: int
    take: str
    seed: int
    finish: str
    grade: Grade
    audio: bool
    duration_s: float
    reasons: tuple[Reason, ...]
    scores: dict[str, float]
    transcript: str | None = None
    word_error_rate: float | None = None


def take_reports(tried: Sequence[Tried]) -> tuple[TakeReport, ...]:
    """The attempts at one segment, in order."""
    return tuple(
        TakeReport(
            attempt=entry.attempt,
            take=entry.info.take,
            seed=entry.info.origin.seed,
            finish=entry.info.finish,
            grade=entry.verdict.grade,
            audio=entry.info.audio_bytes > 0,
            duration_s=seconds_of(entry.info.samples, entry.info.sample_rate_hz),
            reasons=entry.verdict.reasons,
            scores=entry.verdict.scores,
            transcript=entry.transcript,
            word_error_rate=entry.word_error_rate,
        )
        for entry in tried
    )
