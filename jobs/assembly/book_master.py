"""Mastering across a whole book: chapters that wait for the gain of the book, and book files of mastered chapters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jobs import keys
from jobs.assembly.chapters import ChapterWriter, chapter_key
from jobs.assembly.encode import EncodeSpec, encode
from jobs.assembly.join import book_blocks
from jobs.assembly.mastered import (
    FileMaster,
    Master,
    book_digest,
    doubts,
    load_master,
    over_book,
    target_of,
    until_it_holds,
)
from jobs.assembly.timeline import ChapterTimeline, Timeline
from jobs.mastering.figures import Coding, Levels, measure_file
from jobs.mastering.limiter import Setting
from jobs.mastering.profiles import Target
from jobs.mastering.settle import Run, Settling, mastered
from jobs.protocols import Store
from jobs.spec import JobRecord
from jobs.takes import Pcm


def ensure_chapters(store: Store, record: JobRecord, timeline: Timeline) -> ChapterWriter:
    """The writer of the book's chapters, once all that were spoken are mastered as the job says.

    Those whose files are of other takes, or (one gain for the book) are not written yet, are written now.
    Raises as `assemble_book`.
    """
    rate_hz = timeline.sample_rate_hz
    writer = ChapterWriter(store, record, rate_hz, len(timeline.chapters))
    target = target_of(record.spec)
    if target is None:
        return writer
    if over_book(record.spec):
        run = Run(lambda: book_blocks(store, timeline), timeline.samples, rate_hz)
        writer = replace(writer, book=(book_digest(timeline), Settling(run, target)))
    for chapter in timeline.chapters:
        if chapter.spoken and _master(writer, chapter) is None:
            writer.write(chapter, record.spec.formats)
    return writer


def write_mastered_book(writer: ChapterWriter, timeline: Timeline, key: str, spec: EncodeSpec) -> FileMaster:
    """A book file encoded from the takes, each chapter as in its own file but for what the coder makes of the whole.

    Raises as `assemble_book`.
    """
    target = target_of(writer.record.spec)
    settings = {chapter.chapter: _setting(writer, chapter, spec) for chapter in timeline.chapters if chapter.spoken}
    if target is None or not settings:
        msg = "nothing of this book was spoken, or its profile is raw"
        raise ValueError(msg)
    top = Setting(0.0, target.true_peak_dbtp)
    with writer.store.writer(key) as path:

        def write(tried: Setting) -> None:
            moved = Setting(tried.gain_db, tried.ceiling_dbtp - top.ceiling_dbtp)
            encode(path, _blocks(writer, timeline, settings, moved), spec)

        _, levels, coding = until_it_holds(path, write, top, target, correct_level=True)
    return _of_book(key, spec, target, levels, coding)


def measured(path: Path, key: str, spec: EncodeSpec, target: Target) -> FileMaster:
    """What a book file made of chapter files measures."""
    return _of_book(key, spec, target, *measure_file(path))


def _of_book(key: str, spec: EncodeSpec, target: Target, levels: Levels, coding: Coding) -> FileMaster:
    note = "; ".join(doubts(levels, target))
    return FileMaster(key=key, audio_format=spec.audio_format, levels=levels, coding=coding, note=note)


def masters_of(store: Store, job: str, chapters: Sequence[ChapterTimeline]) -> tuple[dict[int, Master], Master | None]:
    """What was kept of the files of the chapters, by chapter, and of the book."""
    found = {chapter.chapter: load_master(store, keys.chapter_master(job, chapter.chapter)) for chapter in chapters}
    kept = {chapter: master for chapter, master in found.items() if master is not None}
    return kept, load_master(store, keys.book_master(job))


def _master(writer: ChapterWriter, chapter: ChapterTimeline) -> Master | None:
    """What was kept of a chapter's files, if they are of these takes and (one gain for the book) all there."""
    master = load_master(writer.store, keys.chapter_master(writer.record.job, chapter.chapter))
    if master is None or master.of != writer.digest(chapter):
        return None
    if writer.book is not None and not all(writer.store.exists(file.key) for file in master.files):
        return None
    return master


def _setting(writer: ChapterWriter, chapter: ChapterTimeline, spec: EncodeSpec) -> Setting:
    master = _master(writer, chapter)
    if master is None:
        key = chapter_key(writer.record, chapter, spec.audio_format)
        msg = f"nothing is kept of how {key} was mastered; repeat the step"
        raise ValueError(msg)
    return master.setting(spec.audio_format)


def _blocks(
    writer: ChapterWriter, timeline: Timeline, settings: Mapping[int, Setting], moved: Setting
) -> Iterator[Pcm]:
    """The mastered chapters of a book, each with its own setting, all `moved` by the same."""
    for chapter in timeline.chapters:
        run, setting = writer.run(chapter), settings.get(chapter.chapter)
        if setting is None:
            yield from run.blocks()
            continue
        chosen = Setting(setting.gain_db + moved.gain_db, setting.ceiling_dbtp + moved.ceiling_dbtp)
        yield from mastered(run, chosen, tone=writer.record.spec.mastering.room_tone)
