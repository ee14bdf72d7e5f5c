"""Cues: what is shown at a time, of at most two lines of 42 columns and seven seconds. Pure.

A sentence that fits is one cue; a longer one is several (`jobs.marks.dividing`). Cues of subtitles that were read keep
to themselves: each is one cue again, in as many lines as it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jobs.marks.dividing import Sentence
from jobs.marks.times import PartTime, sentences_of
from jobs.marks.written import tokens_of
from jobs.plan import SegmentPlan

MIN_S = 0.8
"""A cue that is shorter stays until then, if nothing else is heard before."""
GAP_S = 0.02
"""Least time between two cues: enough for a player to tell them apart, too little to be seen."""
LEAST_S = 0.005
"""No cue is shorter: one without length is an error in every format, and times are written in milliseconds."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Lines that are shown for samples [start, end) of a chapter or item; `segment` is where they begin."""

    lines: tuple[str, ...]
    start_sample: int
    end_sample: int
    segment: int


def cues_of(
    parts: Sequence[PartTime], segments: Sequence[SegmentPlan], *, samples: int, sample_rate_hz: int
) -> tuple[Cue, ...]:
    """The cues of a chapter or item of so many samples: in order, none over the next, none without length.

    `segments`: all of its plan.
    """
    timed = any(segment.start_s is not None for segment in segments)
    made = _read_cues(parts, segments, sample_rate_hz) if timed else _sentence_cues(parts, sample_rate_hz)
    return tuple(_settled(list(made), samples, sample_rate_hz))


def _sentence_cues(parts: Sequence[PartTime], sample_rate_hz: int) -> Iterator[Cue]:
    for group in sentences_of(parts):
        found = [(token, part.segment) for part in group for token in tokens_of(part)]
        sentence = Sentence([token for token, _ in found], sample_rate_hz)
        for start, end in sentence.cues():
            yield _cue(sentence, start, end, found[start][1])


def _read_cues(parts: Sequence[PartTime], segments: Sequence[SegmentPlan], sample_rate_hz: int) -> Iterator[Cue]:
    """One for each cue that was read: its first segment has the time at which it wants to begin."""
    cue_of: dict[int, int] = {}
    cue = 0
    for segment in segments:
        cue += segment.start_s is not None
        cue_of[segment.segment] = cue
    for _, group in groupby(parts, key=lambda part: cue_of[part.segment]):
        held = list(group)
        sentence = Sentence([token for part in held for token in tokens_of(part)], sample_rate_hz)
        if sentence.tokens:
            yield _cue(sentence, 0, len(sentence.tokens), held[0].segment)


def _cue(sentence: Sentence, start: int, end: int, segment: int) -> Cue:
    tokens = sentence.tokens[start:end]
    return Cue(sentence.lines(start, end), tokens[0].start_sample, tokens[-1].end_sample, segment)


def _settled(cues: list[Cue], samples: int, sample_rate_hz: int) -> Iterator[Cue]:
    """Cues that stay long enough to be read and end before the next one begins, which may be that of another chapter.

    A cue that would have no length pushes the next one on: that happens only where takes are shorter than a few
    hundredths of a second.
    """
    gap, least, shown = (round(seconds * sample_rate_hz) for seconds in (GAP_S, LEAST_S, MIN_S))
    earliest = 0
    for cue, following in zip(cues, [*cues[1:], None][: len(cues)], strict=True):
        start = max(cue.start_sample, earliest)
        end = max(cue.end_sample, start + shown)
        end = min(end, max(cue.end_sample, samples - gap) if following is None else following.start_sample - gap)
        end = max(end, start + max(1, least))
        yield replace(cue, start_sample=start, end_sample=end)
        earliest = end
