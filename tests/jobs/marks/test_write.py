"""The files of time marks: where they are, what they hold, and that their times are those of the finished audio."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import av
import numpy as np
import pysubs2
import pytest

from jobs.assembly.book import assemble_book
from jobs.assembly.chapters import assemble_chapter
from jobs.kinds import Profile, SubtitleFormat
from jobs.marks.record import ItemTimes, Times
from jobs.marks.write import write_book_marks, write_chapter_marks
from jobs.plan import Break
from jobs.spec import AudioFormat, Mastering, SourceKind
from tests.jobs.marks.making import RATE_HZ, Marked, tone


def spoken(book: Marked) -> tuple[list[str], list[str]]:
    """Audio and marks of all chapters and the book; returns the keys of chapters' and of the book's marks."""
    plan, record = book.plan, book.record
    chapters = []
    for chapter in plan.chapters:
        assemble_chapter(book.store, record, plan, chapter.chapter, book.results)
        chapters += write_chapter_marks(book.store, record, plan, chapter.chapter, book.results)
    assemble_book(book.store, record, plan, book.results)
    return chapters, write_book_marks(book.store, record, plan, book.results)


def onsets_s(data: bytes, after_s: float) -> list[float]:
    """Where tones begin in a file after a time, found in its decoded samples."""
    with av.open(io.BytesIO(data)) as container:
        (stream,) = container.streams.audio
        container.seek(int(after_s / stream.time_base), stream=stream)
        start_s, pieces = None, []
        for frame in container.decode(stream):
            start_s = frame.time if start_s is None else start_s
            plane = frame.to_ndarray()
            pieces.append(plane.reshape(-1).astype(np.float64) / (32768 if plane.dtype == np.int16 else 1))
    loud = np.abs(np.concatenate(pieces)) > 0.02
    width = round(0.05 * stream.rate)
    quiet_before = np.convolve(loud, np.ones(width), "full")[: loud.size] - loud
    return [start_s + at / stream.rate for at in np.flatnonzero(loud & (quiet_before == 0))]


def nearest_s(data: bytes, at_s: float) -> float:
    """How far from a time the nearest tone begins."""
    return min(abs(found - at_s) for found in onsets_s(data, at_s - 5))


def simple(**fields: object) -> Marked:
    book = Marked(**fields).chapter("One")
    book.say("One.", tone(9000, [(800, 8000)]), words=[(800, 8000)])
    book.say("Lost.", tone(9000, []), failed=True)
    book.say("Two.", tone(9000, [(1600, 8000)]), words=[(1600, 8000)], break_after=Break.CHAPTER)
    book.chapter("Two").say("Lost too.", tone(9000, []), failed=True)
    return book.chapter("Three").say("Three.", tone(9000, [(400, 8000)]), words=[(400, 8000)])


def test_files_stand_beside_the_audio_and_have_its_names():
    book = simple()
    chapters, whole = spoken(book)
    assert chapters == [
        f"jobs/j1/chapters/{name}.{kind}" for name in ("001-one", "003-three") for kind in ("srt", "vtt", "lrc")
    ]
    assert whole == [f"jobs/j1/book.{kind}" for kind in ("srt", "vtt", "lrc")] + ["jobs/j1/times.json"]
    audio = [key for key in book.store.list("jobs/j1/chapters/") if key.endswith(".flac")]
    assert [key.removesuffix(".flac") for key in audio] == [key.removesuffix(".srt") for key in chapters[::3]]
    before = {key: book.store.get(key) for key in (*chapters, *whole)}
    spoken(book)
    assert before == {key: book.store.get(key) for key in before}, "the same bytes again"


def test_a_failed_segment_has_no_cue_and_those_around_it_are_where_they_are_heard():
    book = simple(subtitles=(SubtitleFormat.SRT,))
    spoken(book)
    found = pysubs2.SSAFile.from_string(book.store.get("jobs/j1/book.srt").decode())
    assert [event.plaintext for event in found] == ["One.", "Two.", "Three."]
    heard = onsets_s(book.store.get("jobs/j1/book.flac"), 0)
    assert [event.start / 1000 for event in found] == pytest.approx(heard, abs=0.002)


def test_times_are_those_of_the_samples():
    book = simple(subtitles=(SubtitleFormat.VTT,))
    spoken(book)
    times = json.loads(book.store.get("jobs/j1/times.json"))
    assert (times["v"], times["statement"], times["sample_rate_hz"]) == (1, "synthetic speech", RATE_HZ)
    assert [chapter["title"] for chapter in times["chapters"]] == ["One", "Two", "Three"]
    ends = [chapter["end_s"] for chapter in times["chapters"]]
    assert [chapter["start_s"] for chapter in times["chapters"]] == [0.0, *ends[:-1]]
    words = [
        word
        for chapter in times["chapters"]
        for segment in chapter["segments"]
        for sentence in segment["sentences"]
        for word in sentence["words"]
    ]
    assert [word[0] for word in words] == ["One.", "Two.", "Three."]
    heard = onsets_s(book.store.get("jobs/j1/book.flac"), 0)
    assert [word[1] for word in words] == pytest.approx(heard, abs=0.002)
    segments = [segment["segment"] for chapter in times["chapters"] for segment in chapter["segments"]]
    assert segments == [0, 2, 4]
    assert all(round(word[1] * RATE_HZ) / RATE_HZ == pytest.approx(word[1], abs=1e-6) for word in words)


@pytest.mark.parametrize(
    ("profile", "pause_s", "at_least_s"),
    [(Profile.RAW, 1500.0, 7200.0), (Profile.AUDIOBOOK, 30.0, 140.0), (Profile.ACX, 30.0, 120.0)],
)
def test_cues_are_right_to_20_ms_at_the_end_of_a_long_book(profile, pause_s, at_least_s):
    """A book that is mostly silence; its last words are looked for in the decoded m4b and in its last chapter.

    (`tests/bench/marks.py` does it with two hours of words and every profile.)
    """
    mastering = Mastering(profile=profile)
    book = Marked(formats=(AudioFormat.M4B,), subtitles=(SubtitleFormat.VTT,), mastering=mastering).chapter("One")
    for number in range(6):
        if number == 3:
            book.chapter("Two")
        book.say(
            f"Number {number} is here.",
            tone(20_000, [(1000, 5000), (6000, 9000), (12_000, 19_000)]),
            words=[(1000, 5000), (6000, 9000), (12_000, 15_000), (15_000, 19_000)],
            pause_s=pause_s + number * 0.0137,
        )
    chapters, _ = spoken(book)
    found = pysubs2.SSAFile.from_string(book.store.get("jobs/j1/book.vtt").decode(), format_="vtt")
    last_s = found[-1].start / 1000
    assert last_s >= at_least_s
    assert nearest_s(book.store.get("jobs/j1/book.m4b"), last_s) <= 0.02
    in_chapter = pysubs2.SSAFile.from_string(book.store.get(chapters[-1]).decode(), format_="vtt")[-1].start / 1000
    assert nearest_s(book.store.get(f"{chapters[-1].removesuffix('vtt')}m4a"), in_chapter) <= 0.02


def test_items_have_their_own_files_and_their_times_begin_with_each():
    book = Marked(kind=SourceKind.JSONL, formats=(AudioFormat.WAV,)).chapter("x")
    book.say("One,", tone(9000, [(800, 8000)]), words=[(800, 8000)], item="a", break_after=Break.CLAUSE)
    book.say("two.", tone(9000, [(400, 8000)]), words=[(400, 8000)], item="a", continues=True)
    book.say("Three.", tone(9000, [(1200, 8000)]), words=[(1200, 8000)], item="b/c")
    book.say("Four.", tone(9000, []), item="d", failed=True)
    items, whole = spoken(book)
    assert items[::3] == ["jobs/j1/items/000001-a.srt", "jobs/j1/items/000003-b-c.srt"]
    assert whole == ["jobs/j1/times.json"]
    (cue,) = pysubs2.SSAFile.from_string(book.store.get(items[0]).decode())
    assert (cue.plaintext, cue.start) == ("One, two.", 100)
    times = json.loads(book.store.get("jobs/j1/times.json"))
    assert [(item["item"], item["segments"][0]["start_s"]) for item in times["items"]] == [("a", 0.0), ("b/c", 0.0)]
    assert times["items"][1]["segments"][0]["sentences"][0]["words"] == [["Three.", 0.15, 1.0]]


def test_no_cue_reaches_into_the_next_chapter_or_over_the_end_of_its_file():
    book = Marked(subtitles=(SubtitleFormat.SRT,)).chapter("One")
    book.say("One.", tone(1000, [(0, 1000)]), words=[(0, 1000)], pause_s=0.0, break_after=Break.CHAPTER)
    book.chapter("Two").say("Two.", tone(1000, [(0, 1000)]), words=[(0, 1000)], pause_s=0.0)
    spoken(book)
    first, second = pysubs2.SSAFile.from_string(book.store.get("jobs/j1/book.srt").decode())
    assert first.end <= second.start - 20
    chapter = json.loads(book.store.get("jobs/j1/times.json"))["chapters"][1]
    assert second.end <= chapter["end_s"] * 1000


def test_times_are_written_as_their_schema_has_them():
    for book in (simple(), Marked(kind=SourceKind.JSONL).chapter("x")):
        for name in ("a", "b"):
            book.say(f"{name}.", tone(900, [(0, 900)]), words=[(0, 900)], item=name)
        spoken(book)
        data = book.store.get("jobs/j1/times.json")
        assert Times.model_validate_json(data).model_dump_json().encode() + b"\n" == data


def test_times_are_written_one_item_after_the_other():
    target, sizes = io.BytesIO(), []

    def items() -> Iterator[ItemTimes]:
        for name in ("a", "b", "c"):
            sizes.append(target.tell())
            yield ItemTimes(item=name, sample_rate_hz=8000, end_s=1.0, segments=())

    Times(job="j1", sample_rate_hz=None).write(target, items=items())
    assert sizes[0] < sizes[1] < sizes[2]
    assert [item.item for item in Times.model_validate_json(target.getvalue()).items] == ["a", "b", "c"]


def test_cues_of_subtitles_come_back_at_their_times():
    book = Marked(kind=SourceKind.SRT, subtitles=(SubtitleFormat.SRT,)).chapter("One")
    book.say("Wait, he said.", tone(9000, [(0, 9000)]), start_s=2.5)
    book.say("And left. Then it rained.", tone(9000, [(0, 9000)]), start_s=7.25)
    spoken(book)
    found = pysubs2.SSAFile.from_string(book.store.get("jobs/j1/book.srt").decode())
    assert [(event.start, event.plaintext) for event in found] == [
        (2500, "Wait, he said."),
        (7250, "And left. Then it rained."),
    ]


def test_who_asks_for_no_subtitles_gets_no_marks():
    book = simple(subtitles=())
    assert spoken(book) == ([], [])
    assert not [key for key in book.store.list("jobs/") if key.endswith((".srt", ".json"))]


def test_a_book_of_which_nothing_was_spoken_has_no_marks():
    book = Marked().chapter("One").say("Lost.", tone(10, []), failed=True)
    assert spoken(book) == ([], [])
