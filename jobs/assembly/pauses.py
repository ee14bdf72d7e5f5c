"""How long the pauses are: from what stands after a segment to seconds, exact in samples by rounding. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.mastering.profiles import TARGETS
from jobs.plan import Break, SegmentPlan
from jobs.spec import Mastering


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds of silence after a segment, by `Break`. The values are ours, in the range narrators use.

    A chapter begins with `head_s` before its first segment, and after its last one stand `min_tail_s` at least and
    `max_tail_s` (None: no bound) at most, whatever kind of pause it asks for.
    """

    none_s: float = 0.0
    clause_s: float = 0.15
    sentence_s: float = 0.35
    paragraph_s: float = 0.7
    scene_s: float = 1.5
    heading_s: float = 1.0
    chapter_s: float = 2.0
    gap_s: float = 1.0
    """Stands in the place of a segment that could not be spoken, so that the loss can be heard."""
    head_s: float = 0.0
    min_tail_s: float = 0.0
    max_tail_s: float | None = None

    def samples(self, kind: Break, sample_rate_hz: int) -> int:
        """Length of the pause of one kind, to the nearest sample."""
        seconds = {
            Break.NONE: self.none_s,
            Break.CLAUSE: self.clause_s,
            Break.SENTENCE: self.sentence_s,
            Break.PARAGRAPH: self.paragraph_s,
            Break.SCENE: self.scene_s,
            Break.HEADING: self.heading_s,
            Break.CHAPTER: self.chapter_s,
        }
        return round(seconds[kind] * sample_rate_hz)

    def after(self, segment: SegmentPlan, sample_rate_hz: int) -> int:
        """Length of the pause after a segment: that of its mark, else of its kind; to the nearest sample."""
        if segment.pause_s is not None:
            return round(segment.pause_s * sample_rate_hz)
        return self.samples(segment.break_after, sample_rate_hz)

    def gap_samples(self, sample_rate_hz: int) -> int:
        """Length of the gap a failed segment leaves, to the nearest sample."""
        return round(self.gap_s * sample_rate_hz)

    def head_samples(self, segments: Sequence[SegmentPlan], sample_rate_hz: int) -> int:
        """Silence before the first segment of a chapter. None where subtitle cues say when each one begins."""
        timed = any(segment.start_s is not None for segment in segments)
        return 0 if timed else round(self.head_s * sample_rate_hz)

    def tail_samples(self, pause_samples: int, sample_rate_hz: int) -> int:
        """Silence after the last segment of a chapter that asks for a pause of so many samples."""
        longest = pause_samples if self.max_tail_s is None else round(self.max_tail_s * sample_rate_hz)
        return max(round(self.min_tail_s * sample_rate_hz), min(pause_samples, longest))


PAUSES = Pauses()
"""The pauses between segments."""


def pauses_of(mastering: Mastering) -> Pauses:
    """The pauses of a job: those between segments, with the head and tail of its profile."""
    target = TARGETS.get(mastering.profile)
    if target is None:
        return PAUSES
    return replace(PAUSES, head_s=target.head_s, min_tail_s=target.min_tail_s, max_tail_s=target.max_tail_s)
