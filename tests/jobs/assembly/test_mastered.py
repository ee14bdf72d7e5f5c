"""Mastered chapters and books: the files hold what the profile promises, every time with the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from jobs import keys
from jobs.assembly import mastered as mastering
from jobs.assembly.book import assemble_book, book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.master_report import mastering_report
from jobs.assembly.mastered import FileMaster
from jobs.assembly.packets import file_packets
from jobs.assembly.pauses import PAUSES, pauses_of
from jobs.assembly.report import Report, build_report, with_mastering
from jobs.deliver import finished_objects
from jobs.kinds import LoudnessOver, Profile
from jobs.mastering.acx import acx_checks
from jobs.mastering.figures import Levels, measure_file
from jobs.mastering.profiles import TARGETS
from jobs.plan import Break
from jobs.spec import AudioFormat, Mastering, SourceKind
from jobs.state import SegmentState
from jobs.stores import FolderStore, MemoryStore
from tests.jobs.assembly.making import RATE_HZ, Book, decode
from tests.jobs.mastering.speech import speech_like

AUDIOBOOK = Mastering(profile=Profile.AUDIOBOOK)
OVER_BOOK = Mastering(profile=Profile.AUDIOBOOK, over=LoudnessOver.BOOK)
ACX = Mastering(profile=Profile.ACX, room_tone=True)
LEVELS = (0.03, 0.15, 0.3)


def uneven_book(store, *, rate_hz: int = RATE_HZ, **options) -> Book:
    """Three chapters of speech, a quiet, a middling and a loud one."""
    book = Book(store, **options)
    for number, level in enumerate(LEVELS):
        book.chapter(f"Chapter {number + 1}")
        for part in range(2):
            audio = speech_like(2, rate_hz, seed=10 * number + part, level=level)
            book.add(audio=audio, rate_hz=rate_hz, kind=Break.CHAPTER if part else Break.PARAGRAPH)
    return book


def assemble(book: Book) -> dict[str, bytes]:
    """Do all steps; the bytes of every object that is handed out."""
    for chapter in range(len(book.chapters)):
        assemble_chapter(*book.audio, chapter, book.results)
    assemble_book(*book.audio, book.results)
    return {key: book.store.get(key) for key in finished_objects(book.store, "j1")}


def measure(tmp_path: Path, data: bytes) -> Levels:
    (tmp_path / "measured").write_bytes(data)
    return measure_file(tmp_path / "measured")[0]


def report_of(book: Book) -> Report:
    timeline = book_timeline(book.record, book.plan, book.results)
    made = build_report(book.record, book.plan, book.results, objects=[], timeline=timeline)
    return with_mastering(made, mastering_report(book.store, book.record, timeline))


@pytest.mark.parametrize("profile", [Profile.AUDIOBOOK, Profile.PODCAST])
def test_every_file_has_the_loudness_and_the_peaks_of_its_profile(tmp_path, profile):
    lossy = AudioFormat.OPUS if profile is Profile.AUDIOBOOK else AudioFormat.MP3
    formats = (AudioFormat.M4B, lossy, AudioFormat.FLAC)
    made = assemble(uneven_book(MemoryStore(), formats=formats, mastering=Mastering(profile=profile)))
    assert len(made) == 4 * 3
    target = TARGETS[profile]
    for key, data in made.items():
        found = measure(tmp_path, data)
        assert found.loudness_lufs == pytest.approx(target.loudness_lufs, abs=0.5), key
        assert found.true_peak_dbtp <= target.true_peak_dbtp, key


def test_chapters_begin_and_end_with_the_room_of_the_profile():
    book = uneven_book(MemoryStore(), mastering=AUDIOBOOK, formats=(AudioFormat.FLAC,))
    made = assemble(book)
    timeline = book_timeline(book.record, book.plan, book.results)
    whole = decode(made["jobs/j1/book.flac"])
    for chapter, start in zip(timeline.chapters, timeline.starts, strict=True):
        first, last = chapter.segments[0], chapter.segments[-1]
        assert first.start_sample == round(0.75 * RATE_HZ)
        assert chapter.samples - last.end_sample >= RATE_HZ
        audio = whole[start : start + chapter.samples]
        assert not audio[: first.start_sample].any()
        assert not audio[last.end_sample :].any()
        assert audio[first.start_sample : first.end_sample].any()
    parts = [decode(made[f"jobs/j1/chapters/00{number}-chapter-{number}.flac"]) for number in (1, 2, 3)]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("kind", [Break.NONE, Break.SCENE, Break.CHAPTER])
def test_a_tail_is_neither_short_nor_long(kind):
    book = Book(MemoryStore(), mastering=ACX).chapter("A").add(kind=kind)
    book.segments[0] = book.segments[0].model_copy(update={"pause_s": 60.0 if kind is Break.SCENE else None})
    (chapter,) = book_timeline(book.record, book.plan, book.results).chapters
    tail_s = (chapter.samples - chapter.segments[-1].end_sample) / RATE_HZ
    assert 1.5 <= tail_s < 4.0 + 0.05


def test_raw_has_the_pauses_alone_and_cues_keep_their_times():
    assert pauses_of(Mastering()) is PAUSES
    book = Book(MemoryStore(), kind=SourceKind.SRT, mastering=AUDIOBOOK).chapter("A").add(start_s=0.2).add(start_s=3.0)
    (chapter,) = book_timeline(book.record, book.plan, book.results).chapters
    assert [placed.start_sample for placed in chapter.segments] == [round(0.2 * RATE_HZ), 3 * RATE_HZ]
    assert [placed.late_samples for placed in chapter.segments] == [0, 0]


@pytest.mark.parametrize("mastered", [AUDIOBOOK, OVER_BOOK, ACX], ids=["chapter", "book", "acx"])
def test_the_same_bytes_every_time_and_after_a_crash(mastered):
    formats = (AudioFormat.M4B, AudioFormat.MP3)
    book = uneven_book(MemoryStore(), formats=formats, mastering=mastered)
    first = assemble(book)
    kept = {key: book.store.get(key) for key in book.store.list("jobs/j1/mastering/")}
    assert len(kept) == 4
    assert not any("mastering" in key for key in first)
    assert assemble(book) == first
    for lost in ("jobs/j1/mastering/002.json", "jobs/j1/chapters/002-chapter-2.m4a", "jobs/j1/book.mp3"):
        book.store.delete(lost)
    book.store.put("jobs/j1/mastering/003.json", b"{ damaged")
    assemble_book(*book.audio, book.results)
    assert {key: book.store.get(key) for key in first} == first
    assert {key: book.store.get(key) for key in kept} == kept
    assert assemble(uneven_book(MemoryStore(), formats=formats, mastering=mastered)) == first


def test_a_finish_step_finds_chapters_of_other_takes(tmp_path):
    """The note of how a chapter was mastered belongs to its takes: with another take it does not count."""
    book = uneven_book(MemoryStore(), formats=(AudioFormat.M4B,), mastering=AUDIOBOOK)
    assemble(book)
    other = uneven_book(MemoryStore(), formats=(AudioFormat.M4B,), mastering=AUDIOBOOK)
    other.results[0] = other.results[0].model_copy(update={"take": other.results[2].take})
    straight = assemble(other)
    book.results[0] = other.results[0]
    assemble_book(*book.audio, book.results)
    assert {key: book.store.get(key) for key in straight} == straight


def test_one_gain_for_the_book_keeps_what_is_quiet_quiet(tmp_path):
    book = uneven_book(MemoryStore(), formats=(AudioFormat.FLAC, AudioFormat.M4B), mastering=OVER_BOOK)
    assert [assemble_chapter(*book.audio, chapter, book.results) for chapter in range(3)] == [[], [], []]
    assert finished_objects(book.store, "j1") == []
    made = assemble(book)
    assert len(made) == 2 * 4
    for ending in ("flac", "m4b"):
        assert measure(tmp_path, made[f"jobs/j1/book.{ending}"]).loudness_lufs == pytest.approx(-20, abs=0.5)
    quiet, _, loud = [measure(tmp_path, made[f"jobs/j1/chapters/00{n}-chapter-{n}.flac"]) for n in (1, 2, 3)]
    assert loud.loudness_lufs - quiet.loudness_lufs > 12
    assert loud.true_peak_dbtp <= -3
    report = report_of(book)
    assert len({chapter.gain_db for chapter in report.chapters}) == 1


def test_the_m4b_book_has_the_packets_of_its_mastered_chapters():
    book = uneven_book(MemoryStore(), mastering=Mastering(profile=Profile.AUDIOBOOK, room_tone=True))
    made = assemble(book)
    names = [f"jobs/j1/chapters/00{number}-chapter-{number}.m4a" for number in (1, 2, 3)]
    parts = [list(file_packets(io.BytesIO(made[name]))) for name in names]
    assert (
        list(file_packets(io.BytesIO(made["jobs/j1/book.m4b"])))
        == [packet for part in parts for packet in part[:-1]] + parts[-1][-1:]
    )
    whole = decode(made["jobs/j1/book.m4b"])
    joined = np.concatenate([decode(made[name]) for name in names])
    assert whole.size == joined.size
    for seam in np.cumsum([len(part) - 1 for part in parts])[:-1] * AAC_FRAME_SAMPLES:
        around = slice(seam - 3 * AAC_FRAME_SAMPLES, seam + 3 * AAC_FRAME_SAMPLES)
        assert np.abs(whole[around] - joined[around]).max() < 1e-3  # tone and silence: a decoder makes noise of its own


def test_room_tone_fills_every_pause_and_leaves_the_seams_silent():
    book = uneven_book(
        MemoryStore(), formats=(AudioFormat.FLAC,), mastering=Mastering(profile=Profile.AUDIOBOOK, room_tone=True)
    )
    made = assemble(book)
    timeline = book_timeline(book.record, book.plan, book.results)
    for chapter in timeline.chapters:
        audio = decode(made[f"jobs/j1/chapters/00{chapter.chapter + 1}-chapter-{chapter.chapter + 1}.flac"])
        assert audio.size == chapter.samples
        assert not audio[-AAC_FRAME_SAMPLES:].any()
        first, second = chapter.segments
        for start, end in ((1024, first.start_sample), (first.end_sample, second.start_sample)):
            pause = audio[start:end].astype(np.float64) / 32768
            assert 20 * np.log10(np.sqrt(np.mean(pause**2))) == pytest.approx(-70, abs=1)
    whole = decode(made["jobs/j1/book.flac"])
    assert np.array_equal(
        whole, np.concatenate([decode(made[f"jobs/j1/chapters/00{n}-chapter-{n}.flac"]) for n in (1, 2, 3)])
    )


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000])
def test_acx_files_are_what_acx_takes(tmp_path, rate_hz):
    book = uneven_book(FolderStore(tmp_path), rate_hz=rate_hz, formats=(AudioFormat.MP3,), mastering=ACX)
    assemble(book)
    timeline = book_timeline(book.record, book.plan, book.results)
    for number, chapter in enumerate(timeline.chapters, 1):
        levels, coding = measure_file(tmp_path / f"jobs/j1/chapters/00{number}-chapter-{number}.mp3")
        assert [check for check in acx_checks(levels, coding) if check.passed is False] == []
        assert levels.true_peak_dbtp <= -3
        assert levels.noise_floor_db < -65
        assert -1e-5 <= levels.duration_s - chapter.samples / rate_hz < 0.002
    levels, coding = measure_file(tmp_path / "jobs/j1/book.mp3")
    assert coding.bit_rates_bps == (192_000,)
    assert -1e-5 <= levels.duration_s - timeline.samples / rate_hz < 0.002


def test_the_report_says_what_files_measure_and_what_they_do_not_hold(tmp_path):
    book = uneven_book(MemoryStore(), mastering=AUDIOBOOK)
    made = assemble(book)
    report = report_of(book)
    assert report.mastering.profile is Profile.AUDIOBOOK
    for chapter in report.chapters:
        found = measure(tmp_path, made[f"jobs/j1/chapters/00{chapter.chapter + 1}-chapter-{chapter.chapter + 1}.m4a"])
        assert (chapter.loudness_lufs, chapter.true_peak_dbtp) == (found.loudness_lufs, found.true_peak_dbtp)
    gains = [chapter.gain_db for chapter in report.chapters]
    assert gains == sorted(gains, reverse=True)
    (whole,) = report.mastering.book
    assert (whole.key, whole.levels) == ("jobs/j1/book.m4b", measure(tmp_path, made["jobs/j1/book.m4b"]))
    assert report.warnings == ("one odd thing",)


def test_a_chapter_without_loudness_keeps_its_level_and_says_so():
    book = uneven_book(MemoryStore(), formats=(AudioFormat.FLAC,), mastering=Mastering(profile=Profile.PODCAST))
    book.chapter("Tiny").add(audio=(speech_like(0.2, RATE_HZ) // 20), kind=Break.NONE)
    made = assemble(book)
    report = report_of(book)
    assert report.chapters[3].gain_db == 0.0
    assert report.chapters[3].loudness_lufs is None
    assert any("004-tiny.flac: it has no loudness" in line for line in report.warnings)
    timeline = book_timeline(book.record, book.plan, book.results).chapters[3]
    tiny = decode(made["jobs/j1/chapters/004-tiny.flac"])
    assert np.array_equal(tiny[: timeline.segments[0].end_sample], speech_like(0.2, RATE_HZ) // 20)


def test_a_file_over_its_peak_is_encoded_again_with_a_lower_ceiling(monkeypatch, tmp_path):
    monkeypatch.setattr(mastering, "FIRST_GUESSES", {})
    tries = []
    real = mastering.encode

    def counted(path, blocks, spec):
        tries.append(spec.audio_format)
        return real(path, blocks, spec)

    monkeypatch.setattr(mastering, "encode", counted)
    formats = (AudioFormat.OPUS, AudioFormat.MP3)  # one overshoots, the other takes level off
    book = uneven_book(MemoryStore(), formats=formats, mastering=AUDIOBOOK)
    made = assemble(book)
    assert len(tries) > 3 * 2
    assert max(tries.count(audio_format) for audio_format in formats) <= 3 * mastering.TRIES
    for key, data in made.items():
        found = measure(tmp_path, data)
        assert found.true_peak_dbtp <= -3, key
        # Where a coder's peaks leave no room for the level (dense noise in Opus), the report says so.
        off = abs(found.loudness_lufs + 20)
        assert off <= 0.5 or any(f"{key}: its level is" in line for line in report_of(book).warnings), key
        assert off <= 0.8, key


def test_a_file_that_never_holds_is_delivered_with_a_warning(monkeypatch):
    monkeypatch.setattr(mastering, "TRIES", 1)
    wrong = mastering.FirstGuess(overshoot_db=-4.0, loss_db=2)
    monkeypatch.setattr(mastering, "FIRST_GUESSES", {AudioFormat.MP3: wrong})
    book = uneven_book(MemoryStore(), formats=(AudioFormat.MP3,), mastering=AUDIOBOOK)
    made = assemble(book)
    assert len(made) == 4
    (file,) = [file for file in mastering_files(book) if file.key.endswith("003-chapter-3.mp3")]
    assert "above the limit" in file.note
    assert "off the aim of -20" in file.note
    assert any("003-chapter-3.mp3: its true peak is" in line for line in report_of(book).warnings)


def mastering_files(book: Book) -> list[FileMaster]:
    found = mastering_report(book.store, book.record, book_timeline(book.record, book.plan, book.results))
    return [file for chapter in found.chapters for file in chapter.files]


def test_a_book_with_an_unspoken_chapter_is_mastered_around_it():
    book = uneven_book(MemoryStore(), formats=(AudioFormat.M4B, AudioFormat.FLAC), mastering=AUDIOBOOK)
    book.chapter("Lost").add(state=SegmentState.FAILED)
    made = assemble(book)
    assert not any("004" in key for key in made)
    timeline = book_timeline(book.record, book.plan, book.results)
    assert decode(made["jobs/j1/book.flac"]).size == decode(made["jobs/j1/book.m4b"]).size == timeline.samples
    assert report_of(book).chapters[3].gain_db is None


def test_items_share_one_gain_and_keep_their_differences(tmp_path):
    book = Book(MemoryStore(), kind=SourceKind.JSONL, formats=(AudioFormat.WAV,), mastering=AUDIOBOOK).chapter("")
    for number, level in enumerate((0.03, 0.03, 0.01)):
        book.add(audio=speech_like(2.4, RATE_HZ, seed=number, level=level), item=f"i{number}")
    book.add(audio=speech_like(2.4, 16_000, level=0.01), rate_hz=16_000, item="other")
    names = assemble_chapter(*book.audio, 0, book.results)
    found = [measure(tmp_path, book.store.get(name)) for name in names]
    assert found[0].loudness_lufs - found[2].loudness_lufs > 8
    assert found[3].loudness_lufs == pytest.approx(-20, abs=0.5)
    assert all(levels.true_peak_dbtp <= -3 for levels in found)
    lengths = [decode(book.store.get(name)).size for name in names]
    assert lengths == [result.samples for result in book.results.values()]
    before = [book.store.get(name) for name in names]
    assert assemble_chapter(*book.audio, 0, book.results) == names
    assert [book.store.get(name) for name in names] == before
    assert keys.chapter_master("j1", 0) not in list(book.store.list("jobs/"))
