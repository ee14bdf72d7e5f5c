"""The read-along book of a job: its EPUB with the audio in it, each sentence marked while it is heard (media overlays).

    write_read_along(store, record, plan, results)  # jobs/<job>/book-read-along.epub

The places of the sentences were found when the job was made (`read_along_places`); here spans are written around them,
the audio of the chapters is put in, and the package is told of both. Nothing else of the book changes.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO

from jobs import keys
from jobs.assembly.book import book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.assembly.naming import narrator
from jobs.assembly.timeline import ChapterTimeline, Timeline
from jobs.marks.read_along_audio import ChapterAudio
from jobs.marks.read_along_package import PackageEdit, identifier_of, navigation
from jobs.marks.read_along_pages import (
    XHTML_TYPE,
    MarkedPage,
    contents_of,
    marked_page,
    modern_page,
    page_text,
    relative,
)
from jobs.marks.read_along_places import Part, load_places
from jobs.marks.read_along_smil import SMIL_TYPE, Clip, Heard, Par, chapter_clips, clock, smil
from jobs.marks.read_along_spans import Passage
from jobs.marks.read_along_zip import EARLIEST, EpubWriter
from jobs.marks.times import times_of
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.reading.markup.archive import Archive
from jobs.reading.markup.package import Package, TocEntry
from jobs.spec import JobRecord, SegmentResult

ACTIVE_CLASS = "-epub-media-overlay-active"
STYLE = f".{ACTIVE_CLASS} {{ background-color: #ffe8a3; color: #000000; }}\n".encode()


def write_read_along(store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> str | None:
    """Write the book and return its key; None if it was not asked for, or no sentence can be marked.

    Raises:
        StoreError: the source, its places or a take is missing or damaged, or the store refused.
        BadSource: the source was damaged in the store.
        BadOutput: only flac or wav was asked for, at a sample rate that AAC does not have.
    """
    timeline = book_timeline(record, plan, results) if record.spec.read_along else None
    if timeline is None or not timeline.spoken:
        return None
    source = store.get(keys.job_object(record.job, "source"))
    archive = Archive.of(source, plan.source.name)
    archive.check()
    package = Package.of(archive)
    places = load_places(store, record.job)
    book = ReadAlong(package, timeline, _free_folder(package), identifier_of(source))
    segments = {segment.segment: segment for segment in plan.segments}
    heard: dict[tuple[int, int], Heard] = {}
    for chapter in timeline.chapters:
        heard |= chapter_clips(chapter, times_of(store, chapter.segments, segments, timeline.sample_rate_hz))
    book.mark(places.files, places.parts, heard)
    if not book.pars:
        return None
    audio = ChapterAudio.of(store, record)
    book.describe([narrator(voice) for voice in _voices(record, plan)], audio)
    for chapter in book.chapters:
        if not store.exists(audio.key(chapter)):
            assemble_chapter(store, record, plan, chapter.chapter, results)
    key = keys.read_along(record.job)
    with store.writer(key) as path, path.open("wb") as target:
        _write(target, book, audio)
    return key


def _write(target: IO[bytes], book: ReadAlong, audio: ChapterAudio) -> None:
    """The archive: what is new, the recordings, the rest of the source."""
    with EpubWriter(target) as writer:
        for name, data in book.files.items():
            writer.put(name, data)
        for chapter in book.chapters:
            with audio.opened(chapter) as (file, size_bytes):
                writer.stream(book.audio_path(chapter.chapter, audio), file, size_bytes, stored=True)
        writer.copy(book.package.archive, {*book.files, *book.edit.dropped})


@dataclass
class ReadAlong:
    """Makes the new files of a book. `folder` is for those that its source does not have; `name` one it may need."""

    package: Package
    timeline: Timeline
    folder: str
    name: str
    edit: PackageEdit = field(init=False)
    files: dict[str, bytes] = field(default_factory=dict)
    pars: dict[str, list[tuple[str, Clip]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.edit = PackageEdit(self.package)

    @property
    def chapters(self) -> list[ChapterTimeline]:
        """Those of which something is heard."""
        heard = {clip.chapter for pars in self.pars.values() for _, clip in pars}
        return [chapter for chapter in self.timeline.chapters if chapter.chapter in heard]

    def audio_path(self, chapter: int, audio: ChapterAudio) -> str:
        """Where the recording of a chapter is in the archive."""
        return f"{self.folder}/audio-{chapter + 1:03d}.{audio.ending}"

    def mark(self, files: Sequence[str], parts: Sequence[Part], heard: Mapping[tuple[int, int], Heard]) -> None:
        """Write the spans of all parts that are heard, and find what is heard while each is marked."""
        spoken = [part for part in parts if (part.segment, part.part) in heard]
        pages = self._pages(files, spoken)
        marks: defaultdict[int, list[tuple[str, str, int]]] = defaultdict(list)
        for path, (page, order) in pages.items():
            for mark in page.marked:
                marks[order[mark.passage]].append((path, mark.id, mark.chars))
        clips: dict[tuple[str, str, int], Clip | None] = {}
        for index, pieces in marks.items():
            part = spoken[index]
            cuts = heard[part.segment, part.part].parted([chars for _, _, chars in pieces])
            clips |= {(path, mark, index): cut for (path, mark, _), cut in zip(pieces, cuts, strict=True)}
        for path, (page, order) in pages.items():
            found = [(one.id, clips[path, one.id, order[one.passage]]) for one in page.marked]
            kept = [(mark, clip) for mark, clip in found if clip is not None]
            if kept:
                self.files[path], self.pars[path] = page.data, kept

    def describe(self, narrators: Sequence[str], audio: ChapterAudio) -> None:
        """Write the overlays, and tell the package of everything."""
        self._modernise()
        rate_hz = self.timeline.sample_rate_hz
        for chapter in self.chapters:
            self.edit.add_item(self.audio_path(chapter.chapter, audio), audio.media_type)
        self._put(f"{self.folder}/read-along.css", STYLE, "text/css")
        total = 0
        for number, (path, pars) in enumerate(self.pars.items(), start=1):
            name = f"{self.folder}/text-{number:03d}.smil"
            listed = [Par(mark, relative(self.audio_path(clip.chapter, audio), name), clip) for mark, clip in pars]
            item = self._put(name, smil(relative(path, name), listed, rate_hz), SMIL_TYPE)
            self.edit.set_overlay(path, item)
            samples = sum(clip.end_sample - clip.start_sample for _, clip in pars)
            self.edit.add_meta("media:duration", clock(samples, rate_hz), item)
            total += samples
        self.edit.add_meta("media:duration", clock(total, rate_hz))
        self.edit.add_meta("media:active-class", ACTIVE_CLASS)
        for name in narrators:
            self.edit.add_meta("media:narrator", name)
        self.files[self.package.archive.find(self.package.path) or self.package.path] = self.edit.data()

    def _put(self, path: str, data: bytes, media_type: str, properties: str = "") -> str:
        self.files[path] = data
        return self.edit.add_item(path, media_type, properties)

    def _pages(self, files: Sequence[str], parts: Sequence[Part]) -> dict[str, tuple[MarkedPage, list[int]]]:
        """The marked documents by path, and for each its passages as places in `parts`."""
        passages: defaultdict[int, list[tuple[tuple[tuple[int, int], ...], int]]] = defaultdict(list)
        for index, part in enumerate(parts):
            for file in dict.fromkeys(file for file, _, _ in part.ranges):
                ranges = tuple((start, end) for own, start, end in part.ranges if own == file)
                passages[file].append((ranges, index))
        texts = {file: page_text(self.package.archive, files[file]) for file in passages if self._is_page(files[file])}
        prefix = _free_prefix(list(texts.values()))
        pages: dict[str, tuple[MarkedPage, list[int]]] = {}
        for file, text in sorted(texts.items()):
            listed = sorted(passages[file])
            named = [Passage(_name(prefix, parts[index]), ranges) for ranges, index in listed]
            page = marked_page(text, named, relative(f"{self.folder}/read-along.css", files[file]))
            if page is not None:
                pages[files[file]] = page, [index for _, index in listed]
        return pages

    def _is_page(self, path: str) -> bool:
        return any(item.path == path and item.media_type == XHTML_TYPE for item in self.package.items.values())

    def _modernise(self) -> None:
        """Make the package one of EPUB 3, with navigation; of an EPUB 2 the other documents too."""
        archive, is_old = self.package.archive, self.edit.is_old
        info = archive.zip.getinfo(archive.find(self.package.path) or self.package.path)
        self.edit.modernise(_changed(info.date_time), self.name)
        for path in self.edit.documents() if is_old else ():
            if not archive.has(path):
                continue
            text = self.files[path].decode() if path in self.files else page_text(archive, path)
            made = modern_page(text)
            if made is not None:
                self.files.setdefault(path, made)
                for kind in contents_of(text):
                    self.edit.set_property(path, kind)
        if not self.edit.has_navigation():
            title = next(iter(self.package.fact("title")), "")
            path = f"{self.folder}/contents.xhtml"
            self._put(path, navigation(self._contents(title), path, title), XHTML_TYPE, "nav")

    def _contents(self, title: str) -> list[TocEntry]:
        """The table of contents, without what leads out of the book; one line if there is none."""
        archive = self.package.archive
        entries = [entry for entry in self.package.contents() if archive.has(entry.path)]
        return entries or [TocEntry(self.package.spine()[0].path, None, title or "Start", 1)]


def _voices(record: JobRecord, plan: Plan) -> list[str]:
    """All voices that are heard, in order."""
    return list(dict.fromkeys(segment.voice or record.spec.voice for segment in plan.segments))


def _changed(date_time: tuple[int, int, int, int, int, int]) -> str:
    """The date of a file in an archive, which may be none that there is: then the earliest that an archive has."""
    try:
        date = datetime(*date_time)
    except ValueError:
        date = datetime(*EARLIEST)
    return f"{date.isoformat()}Z"


def _name(prefix: str, part: Part) -> str:
    """The id of a part."""
    return f"{prefix}{part.segment:06d}" + (f".{part.part}" if part.part else "")


def _free_prefix(texts: Sequence[str]) -> str:
    """What no id of the documents begins with."""
    prefix = "tts-"
    while any(re.search(rf"""["']{prefix}[0-9]""", text) for text in texts):
        prefix = f"x{prefix}"
    return prefix


def _free_folder(package: Package) -> str:
    """A folder beside the package document that its archive does not have."""
    base = posixpath.join(posixpath.dirname(package.path), "read-along")
    names = [name.casefold() for name in package.archive.zip.namelist()]
    folder, number = base, 1
    while any(name.startswith(f"{folder.casefold()}/") for name in names):
        number += 1
        folder = f"{base}-{number}"
    return folder
