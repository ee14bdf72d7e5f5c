"""The audio of one chapter, written when its last segment is finished: a file per format, or a file per JSONL item.

Repeating it writes the same bytes to the same keys. Knows no queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from jobs import keys
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.join import run_blocks
from jobs.assembly.timeline import (
    ChapterTimeline,
    common_rate_hz,
    place_chapter,
    place_segments,
    segments_by_chapter,
)
from jobs.plan import Plan, SegmentPlan
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, SegmentResult, SourceKind
from jobs.state import SegmentState


def assemble_chapter(
    store: Store, record: JobRecord, plan: Plan, chapter: int, results: Mapping[int, SegmentResult]
) -> list[str]:
    """Write the finished audio of one chapter and return its keys, in the order of the job's formats.

    A chapter none of whose segments could be spoken gets no file: silence would pass for audio. A JSONL job gets one
    file per item instead; an item with a failed segment gets none. `results` must hold every segment of the chapter.

    Raises:
        BadInput: the takes have different sample rates, or a format cannot hold them (BadOutput).
        StoreError: a take is missing or damaged, or the store refused.
        EncodeMismatch: a file does not decode to what went in.
        ValueError: the plan has no such chapter, or a segment is not finished.
    """
    chapter_plan = next((entry for entry in plan.chapters if entry.chapter == chapter), None)
    if chapter_plan is None:
        msg = f"job {record.job} has no chapter {chapter}; its plan has {len(plan.chapters)}, counted from 0"
        raise ValueError(msg)
    segments = segments_by_chapter(plan)[chapter]
    if record.spec.source_kind is SourceKind.JSONL:
        return _write_items(store, record, segments, results)
    rate_hz = common_rate_hz(segments, results)
    if rate_hz is None:
        return []
    timeline = place_chapter(chapter_plan, segments, results, rate_hz)
    return [
        write_chapter(store, record, timeline, rate_hz, audio_format=audio_format, chapters=len(plan.chapters))
        for audio_format in record.spec.formats
    ]


def write_chapter(
    store: Store,
    record: JobRecord,
    timeline: ChapterTimeline,
    rate_hz: int,
    *,
    audio_format: AudioFormat,
    chapters: int,
) -> str:
    """Write one chapter (of so many) in one format from its takes and return its key. Raises as `assemble_chapter`."""
    tags = Tags(
        title=timeline.title,
        artist=record.author,
        album=record.title,
        narrator=narrator(record.spec.voice),
        comment=provenance(record.spec.model, record.spec.voice),
        track=f"{timeline.chapter + 1}/{chapters}",
    )
    key = chapter_key(record, timeline, audio_format)
    spec = EncodeSpec(audio_format, rate_hz, timeline.samples, tags, brand="M4A ")
    with store.writer(key) as path:
        encode(path, run_blocks(store, timeline.segments, timeline.samples, rate_hz), spec)
    return key


def chapter_key(record: JobRecord, timeline: ChapterTimeline, audio_format: AudioFormat) -> str:
    """Key of the file of one chapter. Of an m4b book they are m4a: one chapter is no audiobook."""
    extension = "m4a" if audio_format is AudioFormat.M4B else audio_format.value
    return keys.chapter_object(record.job, timeline.chapter, timeline.title, extension)


def narrator(voice: str) -> str:
    """Who is heard, as players show it."""
    return f"{voice} (synthetic voice)"


def provenance(model: str, voice: str) -> str:
    """The comment every file carries: that it is synthetic, and what made it."""
    return f"Synthetic speech: model {model}, voice {voice}. Made with tts-batch."


def _item_formats(record: JobRecord) -> tuple[AudioFormat, ...]:
    """Formats of the files of items. m4b is for books: where nothing else is asked for they are flac."""
    others = tuple(entry for entry in record.spec.formats if entry is not AudioFormat.M4B)
    return others or (AudioFormat.FLAC,)


def _write_items(
    store: Store, record: JobRecord, segments: list[SegmentPlan], results: Mapping[int, SegmentResult]
) -> list[str]:
    written = []
    for item, group in groupby(segments, key=lambda segment: segment.item):
        parts = list(group)
        if item is None:
            msg = f"segment {parts[0].segment} of JSONL job {record.job} has no item id; plan the job again"
            raise ValueError(msg)
        if _all_spoken(parts, results):
            written += _write_item(store, record, parts, results)
    return written


def _write_item(
    store: Store, record: JobRecord, parts: list[SegmentPlan], results: Mapping[int, SegmentResult]
) -> list[str]:
    rate_hz = common_rate_hz(parts, results)
    if rate_hz is None:
        return []
    placed, samples = place_segments(parts, results, rate_hz, pause_at_end=False)
    item = parts[0].item or ""
    comment = provenance(record.spec.model, parts[0].voice or record.spec.voice)
    tags = Tags(title=item, album=record.title, genre="Speech", comment=comment)
    written = []
    for audio_format in _item_formats(record):
        key = keys.item_object(record.job, parts[0].segment, item, audio_format.value)
        spec = EncodeSpec(audio_format, rate_hz, samples, tags)
        with store.writer(key) as path:
            encode(path, run_blocks(store, placed, samples, rate_hz), spec)
        written.append(key)
    return written


def _all_spoken(parts: list[SegmentPlan], results: Mapping[int, SegmentResult]) -> bool:
    missing = [part.segment for part in parts if part.segment not in results]
    if missing:
        msg = f"segment {missing[0]} has no result; audio is assembled when every segment is finished"
        raise ValueError(msg)
    return all(results[part.segment].state is SegmentState.DONE for part in parts)
