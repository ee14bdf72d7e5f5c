"""Chapters, books, items and the report as objects in a store."""

from __future__ import annotations

import io
import json
import logging

import av
import numpy as np
import pytest

from jobs import keys
from jobs.assembly.book import assemble_book, book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.assembly.readback import read_back
from jobs.assembly.report import Report, build_report, write_report
from jobs.errors import BadInput, ObjectMissing
from jobs.plan import Break
from jobs.spec import AudioFormat, SourceKind
from jobs.state import SegmentState
from jobs.stores import FolderStore, MemoryStore
from jobs.takes import open_samples
from tests.jobs.assembly.making import RATE_HZ, Book, decode, ffprobe, picture

FAILED = SegmentState.FAILED
LOSSLESS = (AudioFormat.WAV, AudioFormat.FLAC)


def three_chapters(store, **options) -> Book:
    book = Book(store, **options)
    book.chapter("Anfang").add(4000, kind=Break.HEADING).add(9000, kind=Break.CHAPTER)
    book.chapter("Mitte: 漢字!").add(5000).add(state=FAILED).add(3000, kind=Break.CHAPTER)
    return book.chapter("Ende").add(8000, kind=Break.CHAPTER)


def title_of(data: bytes) -> str:
    with av.open(io.BytesIO(data)) as source:
        return source.metadata["title"]


def test_chapters_join_to_the_book_sample_by_sample():
    book = three_chapters(MemoryStore(), formats=LOSSLESS)
    names = [assemble_chapter(*book.audio, chapter, book.results) for chapter in range(3)]
    assert names[1] == ["jobs/j1/chapters/002-mitte-漢字.wav", "jobs/j1/chapters/002-mitte-漢字.flac"]
    assert assemble_book(*book.audio, book.results) == ["jobs/j1/book.wav", "jobs/j1/book.flac"]
    whole = decode(book.store.get("jobs/j1/book.wav"))
    for number in range(2):
        parts = [decode(book.store.get(chapter[number])) for chapter in names]
        assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(decode(book.store.get("jobs/j1/book.flac")), whole)
    timeline = book_timeline(book.record, book.plan, book.results)
    assert whole.size == timeline.samples
    for chapter, start in zip(timeline.chapters, timeline.starts, strict=True):
        for placed in chapter.segments:
            sound = whole[start + placed.start_sample : start + placed.end_sample]
            expected = open_samples(book.store, placed.take) if placed.take else np.zeros(RATE_HZ)
            assert np.array_equal(sound, expected)


def test_an_m4b_job_has_m4a_chapters_and_one_book(tmp_path):
    book = three_chapters(FolderStore(tmp_path), formats=(AudioFormat.M4B,), cover_type="image/png")
    book.store.put(keys.job_object("j1", "cover"), picture("png"))
    assert assemble_chapter(*book.audio, 0, book.results) == ["jobs/j1/chapters/001-anfang.m4a"]
    chapter = tmp_path / "jobs/j1/chapters/001-anfang.m4a"
    tags = {name.lower(): text for name, text in ffprobe(chapter, "-show_format")["format"]["tags"].items()}
    assert (tags["title"], tags["album"], tags["track"]) == ("Anfang", book.title, "1/3")
    assert assemble_book(*book.audio, book.results) == ["jobs/j1/book.m4b"]
    path = tmp_path / "jobs/j1/book.m4b"
    assert path.read_bytes()[4:12] == b"ftypM4B "
    seen = ffprobe(path, "-show_format", "-show_chapters", "-show_streams")
    timeline = book_timeline(book.record, book.plan, book.results)
    assert float(seen["format"]["duration"]) == pytest.approx(timeline.samples / RATE_HZ, abs=1e-5)
    assert [c["tags"]["title"] for c in seen["chapters"]] == ["Anfang", "Mitte: 漢字!", "Ende"]
    starts = [float(c["start_time"]) for c in seen["chapters"]]
    assert starts == pytest.approx([start / RATE_HZ for start in timeline.starts], abs=1e-3)
    assert any(stream["codec_name"] == "png" for stream in seen["streams"])
    tags = seen["format"]["tags"]
    assert (tags["title"], tags["artist"], tags["album"]) == (book.title, book.author, book.title)
    assert "tone" in tags["composer"]
    assert tags["comment"].startswith("Synthetic speech: model fake, voice tone")


def test_chapters_of_several_formats_have_a_file_of_each():
    book = three_chapters(MemoryStore(), formats=(AudioFormat.MP3, AudioFormat.M4B))
    names = assemble_chapter(*book.audio, 2, book.results)
    assert names == ["jobs/j1/chapters/003-ende.mp3", "jobs/j1/chapters/003-ende.m4a"]


def test_every_format_of_a_book_has_the_same_length():
    book = three_chapters(MemoryStore(), formats=(AudioFormat.M4B, AudioFormat.FLAC, AudioFormat.WAV))
    assemble_book(*book.audio, book.results)
    lengths = {decode(book.store.get(f"jobs/j1/book.{entry.value}")).size for entry in book.record.spec.formats}
    assert lengths == {book_timeline(book.record, book.plan, book.results).samples}


def test_items_of_an_m4b_job_are_lossless():
    book = jsonl_job(formats=(AudioFormat.M4B,))
    assert assemble_chapter(*book.audio, 0, book.results)[0] == "jobs/j1/items/000001-eins-1.flac"


def test_repeating_the_steps_writes_the_same_bytes():
    books = [three_chapters(MemoryStore(), formats=tuple(AudioFormat)) for _ in range(2)]
    written = []
    for book in [books[0], books[0], books[1]]:
        names = assemble_chapter(*book.audio, 1, book.results) + assemble_book(*book.audio, book.results)
        written.append({name: book.store.get(name) for name in names})
    assert len(written[0]) == 10
    assert written[0] == written[1] == written[2]


def test_an_empty_chapter_gets_no_file_but_stays_in_the_book():
    book = Book(MemoryStore(), formats=(AudioFormat.M4B,)).chapter("A").add().chapter("B").chapter("C").add()
    assert assemble_chapter(*book.audio, 1, book.results) == []
    (name,) = assemble_book(*book.audio, book.results)
    with av.open(io.BytesIO(book.store.get(name))) as source:
        assert [chapter["metadata"]["title"] for chapter in source.chapters()] == ["A", "B", "C"]


def test_a_chapter_that_was_not_spoken_gets_no_silent_file():
    book = Book(MemoryStore()).chapter("A").add(state=FAILED).chapter("B").add()
    assert assemble_chapter(*book.audio, 0, book.results) == []
    assert list(book.store.list("jobs/")) == []


def test_a_book_that_was_not_spoken_is_not_made():
    book = Book(MemoryStore()).chapter("A").add(state=FAILED)
    assert assemble_book(*book.audio, book.results) == []
    assert list(book.store.list("")) == []


@pytest.mark.parametrize("chapter", [-1, 3])
def test_an_unknown_chapter_is_refused(chapter):
    book = three_chapters(MemoryStore())
    with pytest.raises(ValueError, match=f"no chapter {chapter}"):
        assemble_chapter(*book.audio, chapter, book.results)


def test_a_lost_take_fails_and_leaves_no_file():
    book = three_chapters(MemoryStore())
    book.store.delete(keys.take_audio(book.results[1].take))
    with pytest.raises(ObjectMissing, match="flac"):
        assemble_chapter(*book.audio, 0, book.results)
    assert list(book.store.list("jobs/")) == []


def test_other_chapters_may_still_be_unfinished():
    book = three_chapters(MemoryStore(), formats=LOSSLESS)
    only = {number: result for number, result in book.results.items() if result.chapter == 2}
    assert len(assemble_chapter(*book.audio, 2, only)) == 2
    with pytest.raises(ValueError, match="segment 0 has no result"):
        assemble_book(*book.audio, only)


def test_a_bad_cover_costs_only_the_cover(caplog):
    book = three_chapters(MemoryStore(), formats=(AudioFormat.M4B,), cover_type="image/jpeg")
    book.store.put(keys.job_object("j1", "cover"), b"not a picture")
    with caplog.at_level(logging.WARNING):
        (name,) = assemble_book(*book.audio, book.results)
    assert "no cover" in caplog.text
    with av.open(io.BytesIO(book.store.get(name))) as source:
        assert len(source.streams.video) == 0


def jsonl_job(**options) -> Book:
    book = Book(MemoryStore(), kind=SourceKind.JSONL, **options).chapter("")
    book.add(3000, item="Eins.1").add(2000, item="zwei", kind=Break.CLAUSE).add(1000, item="zwei")
    return book.add(100, item="drei", state=FAILED).add(500, item="vier", rate_hz=16000)


def test_items_get_a_file_each_at_their_own_rate():
    book = jsonl_job(formats=(AudioFormat.WAV,))
    names = assemble_chapter(*book.audio, 0, book.results)
    assert names == [
        "jobs/j1/items/000001-eins-1.wav",
        "jobs/j1/items/000002-zwei.wav",
        "jobs/j1/items/000005-vier.wav",
    ]
    sounds = [decode(book.store.get(name)) for name in names]
    assert [sound.size for sound in sounds] == [3000, 3000 + round(0.15 * RATE_HZ), 500]
    assert np.array_equal(sounds[0], open_samples(book.store, book.results[0].take))
    assert title_of(book.store.get(names[0])) == "Eins.1"
    assert assemble_book(*book.audio, book.results) == []


def test_an_item_with_a_failed_part_gets_no_file():
    book = jsonl_job(formats=(AudioFormat.FLAC,))
    book.results[2] = book.results[2].model_copy(update={"state": FAILED})
    names = assemble_chapter(*book.audio, 0, book.results)
    assert names == ["jobs/j1/items/000001-eins-1.flac", "jobs/j1/items/000005-vier.flac"]


def test_items_of_two_rates_in_one_item_are_refused():
    book = Book(MemoryStore(), kind=SourceKind.JSONL).chapter("").add(item="a").add(item="a", rate_hz=16000)
    with pytest.raises(BadInput, match="different sample rates"):
        assemble_chapter(*book.audio, 0, book.results)


def test_an_unfinished_item_is_refused():
    book = jsonl_job()
    del book.results[4]
    with pytest.raises(ValueError, match="segment 4 has no result"):
        assemble_chapter(*book.audio, 0, book.results)


def report_of(book: Book, objects=()) -> Report:
    timeline = book_timeline(book.record, book.plan, book.results)
    return build_report(book.record, book.plan, book.results, objects=objects, timeline=timeline)


def test_the_report_says_where_everything_is():
    book = three_chapters(MemoryStore(), formats=(AudioFormat.WAV,))
    objects = assemble_book(*book.audio, book.results)
    report = report_of(book, objects)
    key = write_report(book.store, report)
    assert key == "jobs/j1/report.json"
    seen = json.loads(book.store.get(key))
    assert Report.model_validate_json(book.store.get(key)) == report
    assert seen["statement"] == "synthetic speech"
    assert (seen["job"], seen["model"], seen["voice"], seen["seed"]) == ("j1", "fake", "tone", 5)
    assert (seen["objects"], seen["warnings"]) == (objects, ["one odd thing"])
    assert seen["licences"] == {"tone": book.record.spec.voice_licence}
    assert seen["totals"] == {
        "segments": 6, "done": 5, "failed": 1, "skipped": 0, "late": 0, "marked": 0, "retakes": 0, "prompt_chars": 42,
        "audio_s": pytest.approx(29000 / RATE_HZ, abs=1e-5),
    }  # fmt: skip
    assert seen["v"] == 3
    assert seen["account"] == {
        "source_chars": 100, "spoken_chars": 90, "replaced_chars": 0, "skipped_chars": 10,
        "replaced": {}, "skipped": {"licence": 10},
    }  # fmt: skip
    assert seen["run"] == {
        "compute_s": 1.5, "reused": 3, "audio_s": 0.0, "device_s": 0.0, "audio_s_per_device_s": None, "energy_j": None,
        "energy_wh_per_audio_hour": None, "price": None, "currency": "", "devices": [],
    }  # fmt: skip
    assert [chapter["failed"] for chapter in seen["chapters"]] == [0, 1, 0]
    ends = [chapter["start_s"] + chapter["duration_s"] for chapter in seen["chapters"]]
    assert ends[-1] == pytest.approx(read_duration_s(book.store, "jobs/j1/book.wav"), abs=1e-5)
    assert [chapter["start_s"] for chapter in seen["chapters"]] == pytest.approx([0.0, *ends[:-1]], abs=1e-5)
    failed = seen["segments"][3]
    assert (failed["state"], failed["take"], failed["reason"]) == ("failed", None, "it killed two workers")
    assert seen["segments"][1]["start_s"] == pytest.approx((4000 + RATE_HZ) / RATE_HZ, abs=1e-5)


def read_duration_s(store, key: str) -> float:
    with store.writer("copy") as path:
        path.write_bytes(store.get(key))
        found = read_back(path, AudioFormat.WAV)
    return found.decoded_samples / found.sample_rate_hz


def test_only_the_run_section_differs_between_runs():
    books = [three_chapters(MemoryStore()) for _ in range(2)]
    for number, result in books[1].results.items():
        books[1].results[number] = result.model_copy(update={"compute_s": 9.0, "reused": True})
    first, second = (report_of(book) for book in books)
    assert first.run != second.run
    assert first.model_dump(exclude={"run"}) == second.model_dump(exclude={"run"})


def test_the_report_counts_late_cues():
    book = Book(MemoryStore(), kind=SourceKind.SRT).chapter("A").add(RATE_HZ, start_s=0.0).add(100, start_s=0.5)
    report = report_of(book)
    assert report.totals.late == 1
    assert report.segments[1].late_s == 0.5


def test_the_report_of_items_has_lengths_but_no_common_times():
    report = report_of(jsonl_job())
    assert report.sample_rate_hz is None
    assert report.chapters == ()
    assert [segment.item for segment in report.segments] == ["Eins.1", "zwei", "zwei", "drei", "vier"]
    assert [segment.start_s for segment in report.segments] == [None] * 5
    assert report.segments[4].duration_s == pytest.approx(500 / 16000)
    assert report.totals.failed == 1


def test_the_report_of_an_unfinished_job_is_refused():
    book = three_chapters(MemoryStore())
    timeline = book_timeline(book.record, book.plan, book.results)
    del book.results[2]
    with pytest.raises(ValueError, match="segment 2 has no result"):
        build_report(book.record, book.plan, book.results, objects=(), timeline=timeline)
