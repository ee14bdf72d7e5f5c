"""The whole book: one file per format, with chapter marks, tags and cover. Knows no queue.

Every format is encoded once. An m4b book takes the AAC packets of its chapter files, whose lengths are whole frames;
the other formats are encoded from the takes, since joining their encoded audio is where durations go wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping

from jobs import keys
from jobs.assembly.book_master import ensure_chapters, measured, write_mastered_book
from jobs.assembly.chapters import ChapterWriter, chapter_key
from jobs.assembly.encode import ChapterMark, Cover, EncodeSpec, Tags, encode, read_cover
from jobs.assembly.join import book_blocks
from jobs.assembly.mastered import FileMaster, save_master, target_of
from jobs.assembly.naming import narrator, provenance
from jobs.assembly.packets import file_fits, file_packets, silent_packets, write_packets
from jobs.assembly.pauses import pauses_of
from jobs.assembly.timeline import ChapterTimeline, Timeline, place_book
from jobs.errors import BadInput, EncodeMismatch, ObjectMissing
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, SegmentResult, SourceKind

_log = logging.getLogger(__name__)


def assemble_book(store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> list[str]:
    """Write `book.<format>` for every format of the job and return the keys.

    The chapter files of an m4b book are written again from the takes if they are missing or do not fit. Where one gain
    is for the whole book, all chapter files are written here; the keys are those of the book alone.
    A JSONL job has no book; neither has a job of which nothing could be spoken. `results` must hold every segment.

    Raises:
        BadInput: the takes have different sample rates, or a format cannot hold the book (BadOutput).
        StoreError: a take is missing or damaged, or the store refused.
        EncodeMismatch: a file does not decode to what went in.
        ValueError: a segment is not finished.
    """
    timeline = book_timeline(record, plan, results)
    if timeline is None:
        return []
    cover = _cover(store, record, plan)
    tags = Tags(
        title=record.title,
        artist=record.author,
        album=record.title,
        narrator=narrator(record.spec.voice),
        comment=provenance(record.spec.model, record.spec.voice),
    )
    writer = ensure_chapters(store, record, timeline)
    files = []
    for audio_format in record.spec.formats:
        spec = EncodeSpec(
            audio_format, timeline.sample_rate_hz, timeline.samples, tags, marks=chapter_marks(timeline), cover=cover,
            profile=record.spec.mastering.profile,
        )  # fmt: skip
        key = keys.job_object(record.job, f"book.{audio_format.value}")
        files.append(_write(writer, timeline, key, spec))
    made = [file for file in files if file is not None]
    if made:
        save_master(store, keys.book_master(record.job), "", made)
    return [keys.job_object(record.job, f"book.{audio_format.value}") for audio_format in record.spec.formats]


def book_timeline(record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> Timeline | None:
    """Where everything stands in the book; None where there is no book (JSONL, or nothing was spoken).

    Raises:
        BadInput: the takes have different sample rates.
        ValueError: a segment is not finished.
    """
    if record.spec.source_kind is SourceKind.JSONL:
        return None
    return place_book(plan, results, pauses=pauses_of(record.spec.mastering))


def chapter_marks(timeline: Timeline) -> tuple[ChapterMark, ...]:
    """A mark at the first sample of every chapter."""
    return tuple(
        ChapterMark(chapter.title, start) for chapter, start in zip(timeline.chapters, timeline.starts, strict=True)
    )


def _write(writer: ChapterWriter, timeline: Timeline, key: str, spec: EncodeSpec) -> FileMaster | None:
    """One book file; what it measures, unless it is raw."""
    if spec.audio_format is AudioFormat.M4B:
        return _write_m4b(writer, timeline, key, spec)
    if target_of(writer.record.spec) is not None:
        return write_mastered_book(writer, timeline, key, spec)
    with writer.store.writer(key) as path:
        encode(path, book_blocks(writer.store, timeline), spec)
    return None


def _write_m4b(writer: ChapterWriter, timeline: Timeline, key: str, spec: EncodeSpec) -> FileMaster | None:
    spoken = [chapter for chapter in timeline.chapters if chapter.spoken]
    _write_chapters(writer, (chapter for chapter in spoken if not _file_fits(writer, timeline, chapter)))
    try:
        return _join_chapters(writer, timeline, key, spec)
    except EncodeMismatch as error:  # damage that only a decoder sees
        _log.warning("job %s: the m4b book is made again from the takes: %s", writer.record.job, error)
        _write_chapters(writer, spoken)
        return _join_chapters(writer, timeline, key, spec)


def _write_chapters(writer: ChapterWriter, chapters: Iterable[ChapterTimeline]) -> None:
    for chapter in chapters:
        for written in writer.write(chapter, (AudioFormat.M4B,)):
            _log.info("job %s: wrote %s from the takes", writer.record.job, written)


def _file_fits(writer: ChapterWriter, timeline: Timeline, chapter: ChapterTimeline) -> bool:
    try:
        with writer.store.open(chapter_key(writer.record, chapter, AudioFormat.M4B)) as file:
            return file_fits(file, sample_rate_hz=timeline.sample_rate_hz, samples=chapter.samples)
    except ObjectMissing:
        return False


def _join_chapters(writer: ChapterWriter, timeline: Timeline, key: str, spec: EncodeSpec) -> FileMaster | None:
    chapters = (_packets(writer.store, writer.record, timeline, chapter) for chapter in timeline.chapters)
    with writer.store.writer(key) as path:
        write_packets(path, chapters, spec)
        target = target_of(writer.record.spec)
        return measured(path, key, spec, target) if target is not None else None


def _packets(store: Store, record: JobRecord, timeline: Timeline, chapter: ChapterTimeline) -> Iterator[bytes]:
    if not chapter.spoken:
        yield from silent_packets(chapter.samples, timeline.sample_rate_hz)
        return
    with store.open(chapter_key(record, chapter, AudioFormat.M4B)) as file:
        yield from file_packets(file)


def _cover(store: Store, record: JobRecord, plan: Plan) -> Cover | None:
    if not plan.source.cover_type:
        return None
    try:
        return read_cover(store.get(keys.job_object(record.job, "cover")))
    except BadInput as error:  # a spoken book is worth more than its picture
        _log.warning("job %s: the book gets no cover: %s", record.job, error)
        return None
