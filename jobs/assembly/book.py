"""The whole book: one file per format, encoded once from the takes, with chapter marks, tags and cover.

Never made from chapter files: joining encoded audio is where durations go wrong. Knows no queue.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from jobs import keys
from jobs.assembly.chapters import narrator, provenance
from jobs.assembly.encode import ChapterMark, Cover, EncodeSpec, Tags, encode, read_cover
from jobs.assembly.join import book_blocks
from jobs.assembly.timeline import Timeline, place_book
from jobs.errors import BadInput
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.spec import JobRecord, SegmentResult, SourceKind

_log = logging.getLogger(__name__)


def assemble_book(store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> list[str]:
    """Write `book.<format>` for every format of the job and return the keys.

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
    written = []
    for audio_format in record.spec.formats:
        key = keys.job_object(record.job, f"book.{audio_format.value}")
        spec = EncodeSpec(
            audio_format, timeline.sample_rate_hz, timeline.samples, tags, marks=chapter_marks(timeline), cover=cover
        )
        with store.writer(key) as path:
            encode(path, book_blocks(store, timeline), spec)
        written.append(key)
    return written


def book_timeline(record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> Timeline | None:
    """Where everything stands in the book; None where there is no book (JSONL, or nothing was spoken).

    Raises:
        BadInput: the takes have different sample rates.
        ValueError: a segment is not finished.
    """
    return None if record.spec.source_kind is SourceKind.JSONL else place_book(plan, results)


def chapter_marks(timeline: Timeline) -> tuple[ChapterMark, ...]:
    """A mark at the first sample of every chapter."""
    return tuple(
        ChapterMark(chapter.title, start) for chapter, start in zip(timeline.chapters, timeline.starts, strict=True)
    )


def _cover(store: Store, record: JobRecord, plan: Plan) -> Cover | None:
    if not plan.source.cover_type:
        return None
    try:
        return read_cover(store.get(keys.job_object(record.job, "cover")))
    except BadInput as error:  # a spoken book is worth more than its picture
        _log.warning("job %s: the book gets no cover: %s", record.job, error)
        return None
