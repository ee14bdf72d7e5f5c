"""When every sentence is heard: exact samples, from the timeline and the records of the takes.

    parts = times_of(store, chapter.segments, segments, sample_rate_hz)

The bounds of a segment are those of its take in the file. Inside a segment that holds several sentences they part in
the middle of the pause between two words whose times the model told; where it told none, at the quietest place near to
where the share of characters puts it, and both are marked `approximate`. Knows takes and plans; knows no queue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jobs.assembly.timeline import Placed
from jobs.plan import SegmentPlan
from jobs.protocols import Store
from jobs.takes import Pcm, TakeInfo, open_samples, read_take

_WORD = re.compile(r"\S+")
_QUIET_S = 0.12
"""Length of the stretch that is to be quiet: shorter than the pause after a sentence, longer than that in a plosive."""
_STEP_S = 0.005
_NEAR_S = 1.5
"""How far from its guessed place the end of a sentence is looked for at most."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it is spoken, without what stands around it; samples [start, end) of the chapter or item."""

    text: str
    start_sample: int
    end_sample: int


@dataclass(frozen=True, slots=True)
class PartTime:
    """One sentence, or what of it is in one segment: samples [start, end) of the chapter or item.

    `part` counts those of the segment. `begins`: a sentence begins here (else it goes on with that of the part before);
    `blank_before`: there is a space between the texts of the two. `words` are those that make a sound, and empty where
    the model told no times.
    """

    segment: int
    part: int
    text: str
    start_sample: int
    end_sample: int
    begins: bool
    blank_before: bool = True
    words: tuple[Word, ...] = ()
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence or part of one inside a segment: ranges of its `text` and its `spoken`."""

    text_start: int
    text_end: int
    spoken_start: int
    spoken_end: int
    begins: bool


def nearest(numerator: int, denominator: int) -> int:
    """The whole number nearest to a positive fraction, halves upwards: how times of samples are rounded."""
    return (2 * numerator + denominator) // (2 * denominator)


def stretches_of(segment: SegmentPlan) -> tuple[Stretch, ...]:
    """The sentences of a segment in order; together they cover it."""
    inner = [mark for mark in segment.sentences if mark.text_start > 0 and mark.spoken_start > 0]
    texts = [0, *(mark.text_start for mark in inner), len(segment.text)]
    spokens = [0, *(mark.spoken_start for mark in inner), len(segment.spoken)]
    return tuple(
        Stretch(texts[at], texts[at + 1], spokens[at], spokens[at + 1], begins=at > 0 or not segment.continues)
        for at in range(len(inner) + 1)
    )


def times_of(
    store: Store, placed: Sequence[Placed], segments: Mapping[int, SegmentPlan], sample_rate_hz: int
) -> tuple[PartTime, ...]:
    """All parts of a run of placed segments, in order; a segment that was not spoken has none.

    Raises:
        ObjectMissing, ObjectDamaged: a take is gone or damaged.
    """
    parts: list[PartTime] = []
    last: SegmentPlan | None = None
    for place in placed:
        if place.take is None:
            continue
        segment = segments[place.segment]
        before = last if last is not None and last.segment == segment.segment - 1 else None
        first, *others = _parts(store, place.take, place, segment, sample_rate_hz)
        parts += [_after(first, segment, before), *others]
        last = segment
    return tuple(parts)


def _after(part: PartTime, segment: SegmentPlan, before: SegmentPlan | None) -> PartTime:
    """The first part of a segment beside the segment before it (None: that was not spoken)."""
    if part.begins or before is None:
        return replace(part, begins=True)
    if before.source_end <= segment.source_start:
        return replace(part, blank_before=before.source_end < segment.source_start)
    # A number whose reading was divided: the segment before shows it already.
    shared = next(
        (chars for chars in range(len(part.text), 0, -1) if before.text.endswith(part.text[:chars])),
        0,
    )
    rest = part.text[shared:]
    return replace(part, text=rest.strip(), blank_before=not shared or rest[:1].isspace())


def sentences_of(parts: Sequence[PartTime]) -> Iterator[tuple[PartTime, ...]]:
    """The parts of each sentence together."""
    held: list[PartTime] = []
    for part in parts:
        if part.begins and held:
            yield tuple(held)
            held = []
        held.append(part)
    if held:
        yield tuple(held)


def _parts(store: Store, take: str, place: Placed, segment: SegmentPlan, sample_rate_hz: int) -> Iterator[PartTime]:
    stretches = stretches_of(segment)
    length = place.end_sample - place.start_sample
    words = _words(read_take(store, take), segment.spoken, length)
    if any(at < stretch.spoken_start < at + len(word.text) for stretch in stretches for at, word in words):
        words = []  # two sentences without a space between them are one word, and its times do not say where they part
    bounds = [0, length]
    if len(stretches) > 1 and words:
        bounds = [0, *_between(words, stretches), length]
    elif len(stretches) > 1:
        bounds = _quiet_bounds(open_samples(store, take), stretches, sample_rate_hz)
    for number, (stretch, start, end) in enumerate(zip(stretches, bounds, bounds[1:], strict=False)):
        mine = [word for at, word in words if stretch.spoken_start <= at < stretch.spoken_end]
        yield PartTime(
            segment=segment.segment,
            part=number,
            text=segment.text[stretch.text_start : stretch.text_end].strip(),
            start_sample=place.start_sample + start,
            end_sample=place.start_sample + end,
            begins=stretch.begins,
            words=tuple(_moved(word, place.start_sample) for word in mine if word.end_sample > word.start_sample),
            approximate=len(stretches) > 1 and not words,
        )


def _words(info: TakeInfo, spoken: str, length: int) -> list[tuple[int, Word]]:
    """(place in `spoken`, word) of each word, counted from the start of the take; none if they do not fit the text."""
    found = list(_WORD.finditer(spoken))
    places = [place for word in info.words for place in word]
    if len(found) != len(info.words) or places != sorted(places) or not all(0 <= place <= length for place in places):
        return []
    return [
        (match.start(), Word(match.group(), start, end)) for match, (start, end) in zip(found, info.words, strict=True)
    ]


def _between(words: Sequence[tuple[int, Word]], stretches: Sequence[Stretch]) -> Iterator[int]:
    """Where each stretch but the first begins: in the middle of the pause before its first word."""
    for stretch in stretches[1:]:
        before = [word.end_sample for at, word in words if at < stretch.spoken_start]
        after = [word.start_sample for at, word in words if at >= stretch.spoken_start]
        yield ((before or [0])[-1] + (after or before)[0 if after else -1]) // 2


def _moved(word: Word, samples: int) -> Word:
    return Word(word.text, word.start_sample + samples, word.end_sample + samples)


def _quiet_bounds(pcm: Pcm, stretches: Sequence[Stretch], sample_rate_hz: int) -> list[int]:
    """Where the stretches begin, and the end: the quietest place around what the share of characters says."""
    total = stretches[-1].spoken_end
    guesses = [round(pcm.size * stretch.spoken_start / total) for stretch in stretches[1:]]
    edges = [0, *guesses, pcm.size]
    bounds = [0]
    for before, guess, after in zip(edges, guesses, edges[2:], strict=False):
        near = round(_NEAR_S * sample_rate_hz)
        lower = max(bounds[-1], guess - min(near, (guess - before) // 2))
        upper = min(pcm.size, guess + min(near, (after - guess) // 2))
        bounds.append(lower + _quietest(pcm[lower:upper], max(0, guess - lower), sample_rate_hz))
    return [*bounds, pcm.size]


def _quietest(pcm: Pcm, guess: int, sample_rate_hz: int) -> int:
    """The middle of the quietest stretch of some samples; of equals the one nearest to a sample."""
    step, window = max(1, round(_STEP_S * sample_rate_hz)), round(_QUIET_S / _STEP_S)
    energy = (pcm[: pcm.size // step * step].astype(np.float64) ** 2).reshape(-1, step).sum(axis=1)
    if energy.size <= window:
        return min(guess, pcm.size)
    sums = np.convolve(energy, np.ones(window), "valid")
    middles = (2 * np.flatnonzero(sums <= sums.min() * 1.000001) + window) * step // 2
    return int(middles[np.argmin(np.abs(middles - guess))])
