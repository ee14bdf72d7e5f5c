"""How long the pauses are: from what stands after a segment to seconds, exact in samples by rounding. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.plan import Break, SegmentPlan


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds of silence after a segment, by `Break`. The values are ours, in the range narrators use."""

    none_s: float = 0.0
    clause_s: float = 0.15
    sentence_s: float = 0.35
    paragraph_s: float = 0.7
    scene_s: float = 1.5
    heading_s: float = 1.0
    chapter_s: float = 2.0
    gap_s: float = 1.0
    """Stands in the place of a segment that could not be spoken, so that the loss can be heard."""

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


PAUSES = Pauses()
"""The pauses in force."""
