"""The m4b book out of the packets of its chapter files: nothing is lost, doubled or heard at the seams."""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path

import av
import numpy as np
import pytest

from jobs import keys
from jobs.assembly.book import assemble_book, book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.join import book_blocks
from jobs.assembly.packets import file_fits, file_packets, packet_count, silent_packets, write_packets
from jobs.errors import EncodeMismatch, ObjectMissing, StoreError
from jobs.plan import Break
from jobs.spec import AudioFormat
from jobs.state import SegmentState
from jobs.stores import FolderStore, MemoryStore
from tests.jobs.assembly.making import RATE_HZ, Book, decode, ffprobe, tone_pcm
from tests.jobs.stores.small_disk import small_disk

_ = small_disk  # the fixture

FRAME = AAC_FRAME_SAMPLES
BOOK = "jobs/j1/book.m4b"


def loud_book(store, *, rate_hz: int = RATE_HZ) -> Book:
    """Chapters that sound from their first sample on; the last pauses are of several lengths, one is none at all."""
    book = Book(store)
    book.chapter("One").add(30_000, rate_hz=rate_hz).add(9_999, kind=Break.CHAPTER, rate_hz=rate_hz)
    book.chapter("Two").add(25_001, kind=Break.NONE, rate_hz=rate_hz)
    book.chapter("Three").add(44_444, kind=Break.CLAUSE, rate_hz=rate_hz)
    return book.chapter("Four").add(20 * FRAME, kind=Break.CHAPTER, rate_hz=rate_hz)


def assemble(book: Book) -> list[str]:
    """Do all steps; returns the keys of the chapter files."""
    written = [
        key for number in range(len(book.chapters)) for key in assemble_chapter(*book.audio, number, book.results)
    ]
    assert assemble_book(*book.audio, book.results) == [BOOK]
    return written


def packets_of(data: bytes) -> list[bytes]:
    return list(file_packets(io.BytesIO(data)))


def straight(book: Book, path: Path) -> np.ndarray:
    """The book in one encode from the takes, decoded."""
    timeline = book_timeline(book.record, book.plan, book.results)
    spec = EncodeSpec(AudioFormat.M4B, timeline.sample_rate_hz, timeline.samples, Tags("x"))
    encode(path, book_blocks(book.store, timeline), spec)
    return decode(path.read_bytes())


def test_the_book_has_the_packets_of_its_chapters():
    book = loud_book(MemoryStore())
    names = assemble(book)
    assert names[0] == "jobs/j1/chapters/001-one.m4a"
    parts = [packets_of(book.store.get(name)) for name in names]
    whole = packets_of(book.store.get(BOOK))
    timeline = book_timeline(book.record, book.plan, book.results)
    assert [len(part) - 1 for part in parts] == [chapter.samples // FRAME for chapter in timeline.chapters]
    assert whole == [packet for part in parts for packet in part[:-1]] + parts[-1][-1:]
    assert len(whole) == 1 + timeline.samples // FRAME


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 48000])
def test_the_book_sounds_like_its_chapter_files(rate_hz):
    book = loud_book(MemoryStore(), rate_hz=rate_hz)
    names = assemble(book)
    whole = decode(book.store.get(BOOK))
    parts = [decode(book.store.get(name)) for name in names]
    timeline = book_timeline(book.record, book.plan, book.results)
    assert [part.size for part in parts] == [chapter.samples for chapter in timeline.chapters]
    assert whole.size == timeline.samples
    for part, start in zip(parts, timeline.starts, strict=True):
        here = whole[start : start + part.size]
        assert np.array_equal(here[:-FRAME], part[:-FRAME])
        assert np.abs(part[-FRAME:]).max() == 0
        assert np.abs(here[-FRAME:]).max() < 0.002  # what a codec lets be heard of the next chapter before it begins
    assert np.abs(whole[-FRAME:]).max() == 0


def test_the_book_is_as_near_to_the_takes_as_one_encode_of_all(tmp_path):
    book = loud_book(MemoryStore())
    assemble(book)
    timeline = book_timeline(book.record, book.plan, book.results)
    wanted = np.concatenate(list(book_blocks(book.store, timeline))) / 32768
    joined = np.abs(decode(book.store.get(BOOK)) - wanted)
    single = np.abs(straight(book, tmp_path / "x") - wanted)
    assert joined.size == single.size == wanted.size
    assert np.sqrt(np.mean(joined**2)) < 1.1 * np.sqrt(np.mean(single**2))
    for start in timeline.starts:
        before, after = slice(max(0, start - 2 * FRAME), start or 1), slice(start, start + 2 * FRAME)
        assert joined[before].max() <= single[before].max() + 1e-4
        assert joined[after].max() <= 1.5 * single[after].max()
        assert np.abs(wanted[after]).max() > 0.2  # there is something to get wrong


def test_320_chapters_are_as_long_as_they_add_up_to(tmp_path):
    book = Book(FolderStore(tmp_path))
    for number in range(320):
        book.chapter(f"Chapter {number + 1}").add(300 + number, kind=Break.SENTENCE)
    assemble(book)
    timeline = book_timeline(book.record, book.plan, book.results)
    seen = ffprobe(tmp_path / BOOK, "-show_chapters", "-show_streams", "-show_format")
    stream = seen["streams"][0]
    assert int(stream["duration_ts"]) == timeline.samples
    assert stream["time_base"] == f"1/{RATE_HZ}"
    assert float(seen["format"]["duration"]) == pytest.approx(timeline.samples / RATE_HZ, abs=1e-6)
    assert float(seen["format"]["start_time"]) == 0.0
    assert [chapter["tags"]["title"] for chapter in seen["chapters"]] == [title for title, _ in book.chapters]
    starts = [float(chapter["start_time"]) for chapter in seen["chapters"]]
    assert starts == pytest.approx([start / RATE_HZ for start in timeline.starts], abs=1e-3)
    data = (tmp_path / BOOK).read_bytes()
    assert len(packets_of(data)) == packet_count(timeline.samples)
    assert decode(data).size == timeline.samples
    with av.open(io.BytesIO(data)) as source:
        assert len(source.chapters()) == 320


@pytest.mark.parametrize("empty", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("failed", [False, True], ids=["no segment", "failed segment"])
def test_chapters_without_sound_are_silence_in_the_book(empty, failed):
    book = Book(MemoryStore())
    for number in range(3):
        book.chapter(f"C{number}")
        if number not in empty:
            book.add(9_000, kind=Break.CHAPTER)
        elif failed:
            book.add(state=SegmentState.FAILED)
    assert len(assemble(book)) == 3 - len(empty)
    timeline = book_timeline(book.record, book.plan, book.results)
    whole = decode(book.store.get(BOOK))
    assert whole.size == timeline.samples
    for chapter, start in zip(timeline.chapters, timeline.starts, strict=True):
        here = np.abs(whole[start : start + chapter.samples])
        if chapter.chapter in empty:
            assert here[:-FRAME].max() == 0
            assert here.max() < 0.002
        else:
            assert here[:FRAME].max() > 0.2
    with av.open(io.BytesIO(book.store.get(BOOK))) as source:
        assert [chapter["metadata"]["title"] for chapter in source.chapters()] == ["C0", "C1", "C2"]


def test_chapter_files_are_m4a_and_start_at_once(tmp_path):
    book = loud_book(FolderStore(tmp_path))
    name = assemble(book)[1]
    timeline = book_timeline(book.record, book.plan, book.results)
    data = (tmp_path / name).read_bytes()
    assert data[4:12] == b"ftypM4A "
    assert data.index(b"moov") < data.index(b"mdat")
    assert (tmp_path / BOOK).read_bytes()[4:12] == b"ftypM4B "
    stream = ffprobe(tmp_path / name, "-show_streams")["streams"][0]
    assert int(stream["duration_ts"]) == timeline.chapters[1].samples
    assert float(stream["start_time"]) == 0.0


def test_the_book_is_made_without_a_look_at_the_takes():
    book = loud_book(MemoryStore())
    assemble(book)
    first = book.store.get(BOOK)
    for result in book.results.values():
        book.store.delete(keys.take_audio(result.take))
    assemble_book(*book.audio, book.results)
    assert book.store.get(BOOK) == first


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def scratched(data: bytes) -> bytes:
    middle = len(data) * 3 // 4
    return data[:middle] + b"\xff" * 64 + data[middle + 64 :]


def encoded_as(audio_format: AudioFormat, *, rate_hz: int = RATE_HZ, samples: int = 26 * FRAME):
    def make(data: bytes) -> bytes:
        store = MemoryStore()
        with store.writer("x") as path:
            spec = EncodeSpec(audio_format, rate_hz, samples, Tags("x"))
            encode(path, [tone_pcm(samples)], spec)
        return store.get("x")

    return make


DAMAGES = {
    "missing": None,
    "empty": lambda data: b"",
    "text": lambda data: b"this is no audio at all",
    "cut": cut,
    "scratched": scratched,
    "other rate": encoded_as(AudioFormat.M4B, rate_hz=24000),
    "other length": encoded_as(AudioFormat.M4B, samples=25 * FRAME),
    "other format": encoded_as(AudioFormat.MP3),
}


@pytest.mark.parametrize("number", [0, 1, 3])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_lost_or_damaged_chapter_file_is_made_again(damage, number, caplog):
    book = loud_book(MemoryStore())
    name = assemble(book)[number]
    before = {key: book.store.get(key) for key in (name, BOOK)}
    book.store.delete(BOOK)
    if damage is None:
        book.store.delete(name)
    else:
        book.store.put(name, damage(before[name]))
        assert book.store.get(name) != before[name]
    with caplog.at_level(logging.INFO):
        assert assemble_book(*book.audio, book.results) == [BOOK]
    assert {key: book.store.get(key) for key in before} == before
    assert f"wrote {name} from the takes" in caplog.text


def test_a_chapter_that_cannot_be_made_again_is_an_error():
    book = loud_book(MemoryStore())
    name = assemble(book)[1]
    book.store.delete(BOOK)
    book.store.delete(name)
    book.store.delete(keys.take_audio(book.results[2].take))
    with pytest.raises(ObjectMissing, match="flac"):
        assemble_book(*book.audio, book.results)
    assert not book.store.exists(BOOK)


def test_repeating_the_last_step_writes_the_same_bytes():
    first, second = loud_book(MemoryStore()), loud_book(MemoryStore())
    assemble(first)
    made = first.store.get(BOOK)
    assemble_book(*first.audio, first.results)
    assert first.store.get(BOOK) == made
    assemble_book(*second.audio, second.results)  # no chapter step came before
    assert second.store.get(BOOK) == made


def test_a_full_disk_leaves_no_book(small_disk):
    book = Book(FolderStore(small_disk)).chapter("A").add(8 * RATE_HZ).chapter("B").add(8 * RATE_HZ)
    names = [assemble_chapter(*book.audio, number, book.results)[0] for number in range(2)]
    book.store.put("filler", bytes(shutil.disk_usage(small_disk).free - 65_536))
    with pytest.raises(StoreError, match=r"No space left.*bytes free"):
        assemble_book(*book.audio, book.results)
    left = sorted(str(path.relative_to(small_disk)) for path in small_disk.rglob("*") if path.is_file())
    assert [path for path in left if not path.startswith("takes/")] == ["filler", *names]


def test_packets_that_do_not_add_up_are_refused(tmp_path):
    packets = silent_packets(20 * FRAME, RATE_HZ)
    spec = EncodeSpec(AudioFormat.M4B, RATE_HZ, 20 * FRAME, Tags("x"))
    assert write_packets(tmp_path / "x", [packets], spec).samples == 20 * FRAME
    for wrong in (packets[1:], [*packets, packets[-1]], []):
        with pytest.raises(EncodeMismatch, match=rf"{len(wrong)} packets .* not 21"):
            write_packets(tmp_path / "x", [wrong], spec)


def test_a_file_fits_only_its_own_length_and_rate():
    data = encoded_as(AudioFormat.M4B)(b"")
    for samples, rate_hz, fits in ((26, RATE_HZ, True), (25, RATE_HZ, False), (27, RATE_HZ, False), (26, 24000, False)):
        assert file_fits(io.BytesIO(data), sample_rate_hz=rate_hz, samples=samples * FRAME) is fits


def test_a_file_that_cannot_be_read_is_told_apart():
    with pytest.raises(EncodeMismatch, match="cannot be read"):
        list(file_packets(io.BytesIO(b"no audio")))
