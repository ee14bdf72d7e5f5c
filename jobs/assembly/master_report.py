"""What the report says of mastering: what was asked for, and what every finished file measures."""

from __future__ import annotations

from jobs.assembly.book_master import masters_of
from jobs.assembly.mastered import FileMaster
from jobs.assembly.timeline import Timeline
from jobs.kinds import LoudnessOver, Profile
from jobs.protocols import Store
from jobs.spec import Frozen, JobRecord


class ChapterMaster(Frozen):
    """The files of one chapter, in the order of the job's formats."""

    chapter: int
    files: tuple[FileMaster, ...]


class MasteringReport(Frozen):
    """How finished audio was mastered. `chapters` and `book` are empty for profile raw and for items, which are not
    measured file by file.
    """

    profile: Profile
    over: LoudnessOver
    room_tone: bool
    chapters: tuple[ChapterMaster, ...] = ()
    book: tuple[FileMaster, ...] = ()

    def of_chapter(self, chapter: int) -> FileMaster | None:
        """The file of the first format of a chapter; None where it has none."""
        return next((entry.files[0] for entry in self.chapters if entry.chapter == chapter and entry.files), None)


def mastering_report(store: Store, record: JobRecord, timeline: Timeline | None) -> MasteringReport:
    """What was kept of the job's files. Raises StoreError."""
    asked = record.spec.mastering
    made = MasteringReport(profile=asked.profile, over=asked.over, room_tone=asked.room_tone)
    if timeline is None or asked.profile is Profile.RAW:
        return made
    chapters, book = masters_of(store, record.job, [chapter for chapter in timeline.chapters if chapter.spoken])
    return made.model_copy(
        update={
            "chapters": tuple(ChapterMaster(chapter=number, files=master.files) for number, master in chapters.items()),
            "book": book.files if book is not None else (),
        }
    )
