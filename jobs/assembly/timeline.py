"""Where every segment of a chapter and every chapter of a book stands, in samples. Pure: needs no audio.

Two takes and a failed segment, sentence pauses between them, at 10 samples a second:

    |take 0 ........|pause|take 1 .....|pause|gap (segment 2 failed)|pause|
    0               40    44           64    68                     78    82 = samples of the chapter
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.pauses import PAUSES, Pauses
from jobs.errors import BadInput
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan
from jobs.spec import SegmentResult
from jobs.state import SegmentState


@dataclass(frozen=True, slots=True)
class Placed:
    """One segment in its chapter: samples [start_sample, end_sample). Without `take` they are a silent gap.

    `late_samples`: how much later it starts than its subtitle cue wanted.
    """

    segment: int
    start_sample: int
    end_sample: int
    take: str | None
    late_samples: int = 0


@dataclass(frozen=True, slots=True)
class ChapterTimeline:
    """One chapter: what no segment covers is silence; `samples` is the whole length, never 0.

    Chapters of a book are whole AAC frames long and end with at least one of silence (see `place_chapter`).
    """

    chapter: int
    title: str
    samples: int
    segments: tuple[Placed, ...]

    @property
    def spoken(self) -> bool:
        """Whether at least one segment has a take."""
        return any(placed.take for placed in self.segments)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A run of chapters, one after the other."""

    sample_rate_hz: int
    chapters: tuple[ChapterTimeline, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        """Sample at which each chapter starts."""
        return tuple(accumulate((chapter.samples for chapter in self.chapters), initial=0))[:-1]

    @property
    def samples(self) -> int:
        """Length of the whole."""
        return sum(chapter.samples for chapter in self.chapters)

    @property
    def spoken(self) -> bool:
        """Whether at least one segment has a take."""
        return any(chapter.spoken for chapter in self.chapters)


def common_rate_hz(segments: Sequence[SegmentPlan], results: Mapping[int, SegmentResult]) -> int | None:
    """The sample rate all spoken segments share; None if none was spoken.

    Raises:
        BadInput: they have more than one.
    """
    first_of: dict[int, int] = {}
    for segment in segments:
        result = results.get(segment.segment)
        if result is not None and result.state is SegmentState.DONE:
            first_of.setdefault(result.sample_rate_hz, segment.segment)
    if len(first_of) > 1:
        found = ", ".join(f"{rate} Hz (segment {number})" for rate, number in first_of.items())
        msg = f"takes have different sample rates: {found}; one file has one: use voices of one rate, or a job for each"
        raise BadInput(msg)
    return next(iter(first_of), None)


def place_segments(
    segments: Sequence[SegmentPlan],
    results: Mapping[int, SegmentResult],
    sample_rate_hz: int,
    *,
    pauses: Pauses = PAUSES,
    pause_at_end: bool = True,
) -> tuple[tuple[Placed, ...], int]:
    """Place a run of segments from sample 0; returns them and the length of the run.

    It begins with the head of `pauses` (none, for most) and ends with the tail or (no `pause_at_end`) with a segment.

    A segment with `start_s` begins there: silence is put before it instead of the pause. If what comes before it
    takes longer, it follows at once and its `late_samples` say by how much it slipped. Skipped segments take no time.

    Raises:
        ValueError: a segment is not finished.
    """
    placed: list[Placed] = []
    end = pauses.head_samples(segments, sample_rate_hz)
    pause = 0
    for segment in segments:
        result = results.get(segment.segment)
        if result is None:
            raise _unfinished(segment.segment)
        if result.state is SegmentState.SKIPPED:
            continue
        start, late = end + pause, 0
        if segment.start_s is not None:
            cue = round(segment.start_s * sample_rate_hz)
            start = max(end, cue)
            late = start - cue
        spoken = result.state is SegmentState.DONE
        end = start + (result.samples if spoken else pauses.gap_samples(sample_rate_hz))
        placed.append(Placed(segment.segment, start, end, result.take if spoken else None, late))
        pause = pauses.after(segment, sample_rate_hz)
    if not placed:
        return (), 0
    return tuple(placed), end + (pauses.tail_samples(pause, sample_rate_hz) if pause_at_end else 0)


@dataclass(frozen=True, slots=True)
class ItemTimeline:
    """A JSONL item all of whose segments were spoken, as it is placed in a file of its own: `samples` is its length."""

    parts: tuple[SegmentPlan, ...]
    placed: tuple[Placed, ...]
    samples: int
    sample_rate_hz: int

    @property
    def item(self) -> str:
        """Its id."""
        return self.parts[0].item or ""


def place_items(segments: Sequence[SegmentPlan], results: Mapping[int, SegmentResult]) -> Iterator[ItemTimeline]:
    """The items of a run of segments that have audio; one with a failed segment has none.

    Raises:
        BadInput: an item has takes of several sample rates.
        ValueError: a segment has no item id or is not finished.
    """
    for name, group in groupby(segments, key=lambda segment: segment.item):
        parts = tuple(group)
        if name is None:
            msg = f"segment {parts[0].segment} of a JSONL job has no item id; plan the job again"
            raise ValueError(msg)
        rate_hz = common_rate_hz(parts, results)
        missing = [part.segment for part in parts if part.segment not in results]
        if missing:
            raise _unfinished(missing[0])
        if rate_hz is not None and all(results[part.segment].state is SegmentState.DONE for part in parts):
            yield ItemTimeline(parts, *place_segments(parts, results, rate_hz, pause_at_end=False), rate_hz)


def _unfinished(segment: int) -> ValueError:
    return ValueError(f"segment {segment} has no result; audio is assembled when every segment is finished")


def place_chapter(
    chapter: ChapterPlan,
    segments: Sequence[SegmentPlan],
    results: Mapping[int, SegmentResult],
    sample_rate_hz: int,
    *,
    pauses: Pauses = PAUSES,
) -> ChapterTimeline:
    """The timeline of one chapter from its segments. A chapter without any sound is one chapter pause long.

    The closing pause is lengthened (by less than a frame, where it is a frame long itself) so that every chapter of a
    book begins on an AAC frame and after a silent one: its packets are then the same in its own file and in the book.

    Raises:
        ValueError: a segment is not finished.
    """
    placed, samples = place_segments(segments, results, sample_rate_hz, pauses=pauses)
    samples = samples or pauses.samples(Break.CHAPTER, sample_rate_hz)  # players stumble over empty chapters
    silent_from = placed[-1].end_sample if placed else 0
    samples = max(samples, silent_from + AAC_FRAME_SAMPLES)
    return ChapterTimeline(
        chapter=chapter.chapter,
        title=chapter.title or f"Chapter {chapter.chapter + 1}",
        samples=samples + -samples % AAC_FRAME_SAMPLES,
        segments=placed,
    )


def place_book(plan: Plan, results: Mapping[int, SegmentResult], *, pauses: Pauses = PAUSES) -> Timeline | None:
    """The timeline of a whole plan; None if nothing of it was spoken.

    Raises:
        BadInput: the takes have different sample rates.
        ValueError: a segment is not finished.
    """
    rate_hz = common_rate_hz(plan.segments, results)
    if rate_hz is None:
        return None
    by_chapter = segments_by_chapter(plan)
    chapters = tuple(
        place_chapter(chapter, by_chapter[chapter.chapter], results, rate_hz, pauses=pauses)
        for chapter in plan.chapters
    )
    return Timeline(rate_hz, chapters)


def segments_by_chapter(plan: Plan) -> dict[int, list[SegmentPlan]]:
    """The segments of every chapter in reading order; a chapter without segments has an empty list."""
    found: dict[int, list[SegmentPlan]] = {chapter.chapter: [] for chapter in plan.chapters}
    for segment in plan.segments:
        found[segment.chapter].append(segment)
    return found


def seconds_of(samples: int, sample_rate_hz: int) -> float:
    """Samples in seconds, to six places: rounded back they are the same sample."""
    return round(samples / sample_rate_hz, 6)
