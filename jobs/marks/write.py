"""Writes the subtitles of a job beside its audio: of a chapter (or its items) when it is made, of the book at the end.

Repeating it writes the same bytes to the same keys. A job that asks for no subtitles gets none, and no `times.json`.
Knows no queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jobs import keys
from jobs.assembly.book import book_timeline
from jobs.assembly.naming import provenance
from jobs.assembly.pauses import pauses_of
from jobs.assembly.timeline import (
    Placed,
    Timeline,
    common_rate_hz,
    place_chapter,
    place_items,
    seconds_of,
    segments_by_chapter,
)
from jobs.marks.cues import Cue, cues_of
from jobs.marks.formats import Shown, Track, written
from jobs.marks.record import ChapterTimes, ItemTimes, Times, segment_times
from jobs.marks.times import PartTime, times_of
from jobs.plan import Plan, SegmentPlan
from jobs.protocols import Store
from jobs.spec import JobRecord, SegmentResult, SourceKind


def write_chapter_marks(
    store: Store, record: JobRecord, plan: Plan, chapter: int, results: Mapping[int, SegmentResult]
) -> list[str]:
    """Write the subtitles of one chapter, or those of each of its items, and return their keys.

    What has no audio file has no subtitles either. `results` must hold every segment of the chapter.

    Raises:
        BadInput: the takes have different sample rates.
        StoreError: a take is missing or damaged, or the store refused.
        ValueError: a segment is not finished.
    """
    if not record.spec.subtitles:
        return []
    segments = segments_by_chapter(plan)[chapter]
    if record.spec.source_kind is SourceKind.JSONL:
        return [key for run in _items(segments, results) for key in _write_item(store, record, run)]
    rate_hz = common_rate_hz(segments, results)
    if rate_hz is None:
        return []
    timeline = place_chapter(
        plan.chapters[chapter], segments, results, rate_hz, pauses=pauses_of(record.spec.mastering)
    )
    run = _Run(segments, timeline.segments, timeline.samples, rate_hz)
    track = run.track(
        store, timeline.title, author=record.author, note=provenance(record.spec.model, record.spec.voice)
    )
    return _write(
        store, record, track, lambda extension: keys.chapter_object(record.job, chapter, timeline.title, extension)
    )


def write_book_marks(store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> list[str]:
    """Write the subtitles of the book (if there is one) and `times.json`, and return their keys.

    Raises:
        BadInput: the takes have different sample rates.
        StoreError: a take is missing or damaged, or the store refused.
        ValueError: a segment is not finished.
    """
    if not record.spec.subtitles:
        return []
    if record.spec.source_kind is SourceKind.JSONL:
        items = (run.item_times(store) for run in _items(plan.segments, results))
        return [_write_times(store, Times(job=record.job, sample_rate_hz=None), items=items)]
    timeline = book_timeline(record, plan, results)
    if timeline is None:
        return []
    rate_hz = timeline.sample_rate_hz
    shown: list[Shown] = []
    chapters = _chapters(store, plan, timeline, shown)
    times = _write_times(store, Times(job=record.job, sample_rate_hz=rate_hz), chapters=chapters)
    track = Track(
        title=record.title,
        author=record.author,
        note=provenance(record.spec.model, record.spec.voice),
        sample_rate_hz=rate_hz,
        samples=timeline.samples,
        chapters=tuple(shown),
    )
    names = _write(store, record, track, lambda extension: keys.job_object(record.job, f"book.{extension}"))
    return [*names, times]


@dataclass(frozen=True, slots=True)
class _Run:
    """A chapter or an item as it is placed in its own file."""

    segments: Sequence[SegmentPlan]
    placed: tuple[Placed, ...]
    samples: int
    sample_rate_hz: int

    def parts(self, store: Store) -> tuple[PartTime, ...]:
        return times_of(store, self.placed, {one.segment: one for one in self.segments}, self.sample_rate_hz)

    def cues(self, parts: Sequence[PartTime]) -> tuple[Cue, ...]:
        return cues_of(parts, self.segments, samples=self.samples, sample_rate_hz=self.sample_rate_hz)

    def track(self, store: Store, title: str, *, author: str, note: str) -> Track:
        shown = Shown(0, self.cues(self.parts(store)))
        return Track(title, author, note, self.sample_rate_hz, self.samples, (shown,))

    def item_times(self, store: Store) -> ItemTimes:
        return ItemTimes(
            item=self.segments[0].item or "",
            sample_rate_hz=self.sample_rate_hz,
            end_s=seconds_of(self.samples, self.sample_rate_hz),
            segments=segment_times(self.placed, self.parts(store), self.sample_rate_hz),
        )


def _chapters(store: Store, plan: Plan, timeline: Timeline, shown: list[Shown]) -> Iterator[ChapterTimes]:
    """The times of each chapter of a book; its cues are put into `shown`, so that each take is read once."""
    rate_hz, by_chapter = timeline.sample_rate_hz, segments_by_chapter(plan)
    for chapter, start in zip(timeline.chapters, timeline.starts, strict=True):
        run = _Run(by_chapter[chapter.chapter], chapter.segments, chapter.samples, rate_hz)
        parts = run.parts(store)
        shown.append(Shown(start, run.cues(parts)))
        yield ChapterTimes(
            chapter=chapter.chapter,
            title=chapter.title,
            start_s=seconds_of(start, rate_hz),
            end_s=seconds_of(start + chapter.samples, rate_hz),
            segments=segment_times(chapter.segments, parts, rate_hz, start_sample=start),
        )


def _items(segments: Sequence[SegmentPlan], results: Mapping[int, SegmentResult]) -> Iterator[_Run]:
    """The items that have a file."""
    for item in place_items(segments, results):
        yield _Run(item.parts, item.placed, item.samples, item.sample_rate_hz)


def _write_item(store: Store, record: JobRecord, run: _Run) -> list[str]:
    first = run.segments[0]
    item = first.item or ""
    track = run.track(store, item, author="", note=provenance(record.spec.model, first.voice or record.spec.voice))
    return _write(store, record, track, lambda extension: keys.item_object(record.job, first.segment, item, extension))


def _write(store: Store, record: JobRecord, track: Track, key_of: Callable[[str], str]) -> list[str]:
    names = []
    for kind in record.spec.subtitles:
        key = key_of(kind.value)
        store.put(key, written(track, kind))
        names.append(key)
    return names


def _write_times(
    store: Store, times: Times, *, chapters: Iterable[ChapterTimes] = (), items: Iterable[ItemTimes] = ()
) -> str:
    key = keys.job_object(times.job, "times.json")
    with store.writer(key) as path, path.open("wb") as target:
        times.write(target, chapters=chapters, items=items)
    return key
