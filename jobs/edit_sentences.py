"""The sentences of a plan that was edited: those of each segment, and for those who look at it. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from jobs.plan import Break, Plan, SegmentPlan, SentenceMark, SentencePlan
from jobs.reading.splitting.sentences import sentence_spans

_INNER = frozenset({Break.NONE, Break.CLAUSE, Break.SENTENCE})


def sentences_of(plan: Plan, before: Plan, sentences: Sequence[SentencePlan]) -> tuple[SentencePlan, ...]:
    """The sentences of a plan. Those of the plan `before` the edit stay where their segments did not change."""
    if plan.segments == before.segments:
        return tuple(sentences)
    known = _Known(before, sentences)
    made: list[SentencePlan] = []
    chapter, paragraph, begun = 0, 0, False
    for segment in plan.segments:
        if segment.chapter != chapter:
            chapter, paragraph = segment.chapter, 0
        found = known.of(segment)
        if found is None or not (found or begun):
            found = list(_sentences(segment))
        made += [one.model_copy(update={"chapter": chapter, "paragraph": paragraph}) for one in found]
        begun = segment.break_after in _INNER
        paragraph += not begun
    return tuple(made)


def marks_of(spoken: str, language: str) -> tuple[SentenceMark, ...]:
    """The sentences that begin in a line that somebody wrote, as in `SegmentPlan`: empty for one."""
    starts = [
        start + len(said) - len(said.lstrip())
        for start, end in sentence_spans(spoken, language)
        if (said := spoken[start:end]).strip()
    ]
    return tuple(SentenceMark(text_start=start, spoken_start=start) for start in starts) if len(starts) > 1 else ()


def with_beginnings(segments: Sequence[SegmentPlan], follows: Sequence[bool]) -> list[SegmentPlan]:
    """The segments of an edited plan; one that went on with a sentence that is no longer before it begins one.

    `follows`: whether what stands before each was before it already.
    """
    made: list[SegmentPlan] = []
    for segment, same in zip(segments, follows, strict=True):
        before = made[-1] if made and same else None
        joined = before is not None and before.break_after in _INNER and before.chapter == segment.chapter
        if segment.continues and not joined:
            first = (SentenceMark(text_start=0, spoken_start=0),) if segment.sentences else ()
            segment = segment.model_copy(update={"continues": False, "sentences": (*first, *segment.sentences)})
        made.append(segment)
    return made


class _Known:
    """The sentences before the edit by where they begin; each is given once."""

    def __init__(self, before: Plan, sentences: Sequence[SentencePlan]) -> None:
        self._segments = {(one.source_start, one.source_end, one.spoken) for one in before.segments}
        self._sentences = sorted(sentences, key=lambda one: one.source_start)
        self._starts = [one.source_start for one in self._sentences]
        self._used: set[int] = set()

    def of(self, segment: SegmentPlan) -> list[SentencePlan] | None:
        """Those that begin in a segment; None if it was changed."""
        if (segment.source_start, segment.source_end, segment.spoken) not in self._segments:
            return None
        first, last = (bisect_left(self._starts, place) for place in (segment.source_start, segment.source_end))
        fresh = [index for index in range(first, last) if index not in self._used]
        self._used.update(fresh)
        return [self._sentences[index] for index in fresh]


def _sentences(segment: SegmentPlan) -> Iterator[SentencePlan]:
    """The sentences of a segment that somebody wrote."""
    for start, end in sentence_spans(segment.spoken, segment.language):
        words = segment.spoken[start:end].strip()
        yield SentencePlan(
            chapter=segment.chapter,
            paragraph=0,
            text=words,
            spoken=words,
            source_start=segment.source_start,
            source_end=segment.source_end,
            language=segment.language,
            voice=segment.voice,
        )
