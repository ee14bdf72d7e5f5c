"""The audio of one chapter, written when its last segment is finished: a file per format, or a file per JSONL item.

Repeating it writes the same bytes to the same keys. Knows no queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jobs import keys
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.items import write_items
from jobs.assembly.join import run_blocks
from jobs.assembly.mastered import digest_of, encode_mastered, over_book, save_master, target_of
from jobs.assembly.naming import narrator, provenance
from jobs.assembly.pauses import pauses_of
from jobs.assembly.timeline import ChapterTimeline, common_rate_hz, place_chapter, segments_by_chapter
from jobs.mastering.settle import Run, Settling
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, SegmentResult, SourceKind
from jobs.takes import Pcm


def assemble_chapter(
    store: Store, record: JobRecord, plan: Plan, chapter: int, results: Mapping[int, SegmentResult]
) -> list[str]:
    """Write the finished audio of one chapter and return its keys, in the order of the job's formats.

    A chapter none of whose segments could be spoken gets no file: silence would pass for audio. A JSONL job gets one
    file per item instead; an item with a failed segment gets none. `results` must hold every segment of the chapter.
    Where one gain is for the whole book, chapters are written with it (`assemble_book`), not here.

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
        return write_items(store, record, segments, results)
    rate_hz = common_rate_hz(segments, results)
    if rate_hz is None or over_book(record.spec):
        return []
    chapter_timeline = place_chapter(chapter_plan, segments, results, rate_hz, pauses=pauses_of(record.spec.mastering))
    writer = ChapterWriter(store, record, rate_hz, len(plan.chapters))
    return writer.write(chapter_timeline, record.spec.formats)


@dataclass(frozen=True, slots=True)
class ChapterWriter:
    """Writes chapters of a job that has so many. `book`: the digest of the book and the measure of its gain, where
    there is one gain for all chapters.
    """

    store: Store
    record: JobRecord
    rate_hz: int
    chapters: int
    book: tuple[str, Settling] | None = None

    def write(self, chapter: ChapterTimeline, formats: Iterable[AudioFormat]) -> list[str]:
        """Write one chapter from its takes and return the keys. Under a mastering profile, always in all formats.

        Raises as `assemble_chapter`.
        """
        if target_of(self.record.spec) is not None:
            return self._write_mastered(chapter)
        written = []
        for audio_format in formats:
            key = chapter_key(self.record, chapter, audio_format)
            with self.store.writer(key) as path:
                encode(path, self.run(chapter).blocks(), self._spec(chapter, audio_format))
            written.append(key)
        return written

    def run(self, chapter: ChapterTimeline) -> Run:
        """The joined audio of one chapter, as often as it is asked for."""

        def blocks() -> Iterator[Pcm]:
            return run_blocks(self.store, chapter.segments, chapter.samples, self.rate_hz)

        return Run(blocks, chapter.samples, self.rate_hz)

    def digest(self, chapter: ChapterTimeline) -> str:
        """What the files of a chapter depend on, as it is kept beside what they measure."""
        return digest_of(self.record.spec, chapter, self.book[0] if self.book else "")

    def _write_mastered(self, chapter: ChapterTimeline) -> list[str]:
        spec, target = self.record.spec, target_of(self.record.spec)
        if target is None:
            msg = "profile raw masters nothing; write its chapters as they are"
            raise ValueError(msg)
        run = self.run(chapter)
        settling = self.book[1] if self.book else Settling(run, target)
        files = []
        for audio_format in spec.formats:
            key = chapter_key(self.record, chapter, audio_format)
            with self.store.writer(key) as path:
                made = encode_mastered(
                    path, run, self._spec(chapter, audio_format), settling, tone=spec.mastering.room_tone
                )
            files.append(made.model_copy(update={"key": key}))
        save_master(self.store, keys.chapter_master(self.record.job, chapter.chapter), self.digest(chapter), files)
        return [file.key for file in files]

    def _spec(self, chapter: ChapterTimeline, audio_format: AudioFormat) -> EncodeSpec:
        record = self.record
        tags = Tags(
            title=chapter.title,
            artist=record.author,
            album=record.title,
            narrator=narrator(record.spec.voice),
            comment=provenance(record.spec.model, record.spec.voice),
            track=f"{chapter.chapter + 1}/{self.chapters}",
        )
        profile = record.spec.mastering.profile
        return EncodeSpec(audio_format, self.rate_hz, chapter.samples, tags, brand="M4A ", profile=profile)


def chapter_key(record: JobRecord, timeline: ChapterTimeline, audio_format: AudioFormat) -> str:
    """Key of the file of one chapter. Of an m4b book they are m4a: one chapter is no audiobook."""
    extension = "m4a" if audio_format is AudioFormat.M4B else audio_format.value
    return keys.chapter_object(record.job, timeline.chapter, timeline.title, extension)
