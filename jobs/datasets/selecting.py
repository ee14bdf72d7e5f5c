"""Which utterances a dataset takes, and why it leaves the others out. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from jobs.datasets.manifest import Utterance
from jobs.errors import BadOption
from jobs.kinds import Grade, OnBad
from jobs.spec import Frozen


class WhyLeftOut(StrEnum):
    """Why an utterance is not in a dataset."""

    FAILED = "failed"
    """It could not be spoken: there is no audio of it."""
    BAD = "bad"
    """The checks speak against its best take."""
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"


class LeftOut(Frozen):
    """One utterance that a dataset does not hold; `reason` is in words for people."""

    id: str
    why: WhyLeftOut
    reason: str
    text: str
    item: str | None
    segments: tuple[int, ...]
    duration_s: float


@dataclass(frozen=True, slots=True)
class Selection:
    """What is let in: `include_bad` also takes that the checks speak against; lengths in seconds, both ends allowed."""

    include_bad: bool = False
    min_s: float | None = None
    max_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse lengths that nothing can have. Raises BadOption."""
        low, high = self.min_s or 0.0, math.inf if self.max_s is None else self.max_s
        if not (0 <= low <= high and high > 0):  # not-a-number fails every comparison
            msg = (
                f"--min-s {self.min_s} and --max-s {self.max_s} leave nothing; use seconds, the first below the second"
            )
            raise BadOption(msg)

    @classmethod
    def of(cls, on_bad: OnBad) -> Selection:
        """What a job's own datasets take: bad takes only where the job keeps them without a mark."""
        return cls(include_bad=on_bad is OnBad.KEEP)

    def judge(self, utterance: Utterance) -> LeftOut | None:
        """Why an utterance stays out; None: it is let in. A failed one always stays out."""
        found = self._why(utterance)
        if found is None:
            return None
        why, reason = found
        return LeftOut(
            id=utterance.id,
            why=why,
            reason=reason,
            text=utterance.text,
            item=utterance.item,
            segments=utterance.segments,
            duration_s=utterance.duration_s,
        )

    def _why(self, utterance: Utterance) -> tuple[WhyLeftOut, str] | None:
        if not utterance.spoken_whole:
            return WhyLeftOut.FAILED, utterance.reason
        if utterance.grade is not Grade.GOOD and not self.include_bad:
            return WhyLeftOut.BAD, utterance.reason
        seconds = utterance.samples / utterance.sample_rate_hz
        if self.min_s is not None and seconds < self.min_s:
            return WhyLeftOut.TOO_SHORT, f"{seconds:.3f} s long, --min-s is {self.min_s}"
        if self.max_s is not None and seconds > self.max_s:
            return WhyLeftOut.TOO_LONG, f"{seconds:.3f} s long, --max-s is {self.max_s}"
        return None
