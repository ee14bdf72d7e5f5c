"""The timeline adds up, whatever the takes and the pauses are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.assembly.containers import AAC_FRAME_SAMPLES
from jobs.assembly.join import MAX_BLOCK_SAMPLES, NEAR_ZERO, book_blocks, run_blocks, soften_edges
from jobs.assembly.pauses import PAUSES, Pauses
from jobs.assembly.timeline import place_book, place_segments
from jobs.errors import BadInput, ObjectDamaged
from jobs.plan import Break
from jobs.state import SegmentState
from jobs.stores import MemoryStore
from jobs.takes import read_take, write_take
from tests.jobs.assembly.making import RATE_HZ, Book

DONE, FAILED, SKIPPED = SegmentState.DONE, SegmentState.FAILED, SegmentState.SKIPPED

segment = st.tuples(
    st.integers(1, 5000), st.sampled_from([DONE, DONE, DONE, FAILED, SKIPPED]), st.sampled_from(list(Break)),
    st.one_of(st.none(), st.none(), st.floats(0, 2)),
)  # fmt: skip
seconds = st.floats(0, 0.3)


def test_every_break_has_a_pause_and_longer_breaks_have_longer_ones():
    order = [Break.NONE, Break.CLAUSE, Break.SENTENCE, Break.PARAGRAPH, Break.HEADING, Break.SCENE, Break.CHAPTER]
    lengths = [PAUSES.samples(kind, 24000) for kind in order]
    assert set(order) == set(Break)
    assert lengths == sorted(lengths) == [0, 3600, 8400, 16800, 24000, 36000, 48000]
    assert PAUSES.samples(Break.CLAUSE, 22050) == 3308  # 3307.5: to the nearest even, always the same


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(segment, max_size=5), min_size=1, max_size=4),
    st.builds(Pauses, clause_s=seconds, sentence_s=seconds, chapter_s=st.floats(0.01, 0.3), gap_s=seconds),
)
def test_the_timeline_adds_up_and_the_blocks_follow_it(chapters, pauses):
    book = Book(MemoryStore())
    for number, segments in enumerate(chapters):
        book.chapter(f"C{number}")
        for samples, state, kind, start_s in segments:
            book.add(samples + 60, state=state, kind=kind, start_s=start_s)
    timeline = place_book(book.plan, book.results, pauses=pauses)
    if timeline is None:
        assert all(result.state is not DONE for result in book.results.values())
        return
    assert timeline.starts == tuple(np.cumsum([0, *(c.samples for c in timeline.chapters)])[:-1])
    placed_segments = []
    for chapter in timeline.chapters:
        assert chapter.samples > 0
        assert chapter.samples % AAC_FRAME_SAMPLES == 0
        end = 0
        for placed in chapter.segments:
            assert end <= placed.start_sample <= placed.end_sample <= chapter.samples
            end = placed.end_sample
            placed_segments.append(placed.segment)
            result = book.results[placed.segment]
            length = result.samples if result.state is DONE else round(pauses.gap_s * RATE_HZ)
            assert placed.end_sample - placed.start_sample == length
            assert (placed.take is None) == (result.state is FAILED)
            cue_s = book.segments[placed.segment].start_s
            if cue_s is not None:
                assert placed.start_sample - placed.late_samples == round(cue_s * RATE_HZ)
        closing = [
            pauses.samples(part.break_after, RATE_HZ)
            for part in book.segments
            if part.chapter == chapter.chapter and book.results[part.segment].state is not SKIPPED
        ]
        pause = closing[-1] if closing else pauses.samples(Break.CHAPTER, RATE_HZ)
        at_least = max(pause, AAC_FRAME_SAMPLES)
        assert at_least <= chapter.samples - end < at_least + AAC_FRAME_SAMPLES
    assert placed_segments == [n for n, result in book.results.items() if result.state is not SKIPPED]
    blocks = list(book_blocks(book.store, timeline))
    assert all(block.dtype == np.int16 and 0 < block.size <= MAX_BLOCK_SAMPLES for block in blocks)
    audio = np.concatenate(blocks)
    assert audio.size == timeline.samples
    covered = np.zeros(audio.size, dtype=bool)
    for chapter, start in zip(timeline.chapters, timeline.starts, strict=True):
        for placed in chapter.segments:
            covered[start + placed.start_sample : start + placed.end_sample] = placed.take is not None
            if placed.take:
                assert np.any(audio[start + placed.start_sample : start + placed.end_sample])
    assert not np.any(audio[~covered])


def test_pauses_stand_between_segments_and_after_the_last():
    book = Book(MemoryStore()).chapter("A").add(100, kind=Break.PARAGRAPH).add(200, kind=Break.CHAPTER)
    (chapter,) = place_book(book.plan, book.results).chapters
    first, second = chapter.segments
    assert (first.start_sample, first.end_sample) == (0, 100)
    assert second.start_sample == 100 + round(0.7 * RATE_HZ)
    assert second.end_sample == 15_735
    assert chapter.samples == 59 * AAC_FRAME_SAMPLES  # 60,416: the first whole frame after 15,735 + 2 s = 59,835


@pytest.mark.parametrize(
    ("samples", "kind", "frames"),
    [
        (1024, Break.NONE, 2),
        (1025, Break.NONE, 3),
        (10 * 1024 - 3308, Break.CLAUSE, 10),
        (10 * 1024 - 3307, Break.CLAUSE, 11),
        (50 * 1024 - 44100, Break.CHAPTER, 50),
    ],
)
def test_a_chapter_ends_with_a_frame_of_silence_on_a_frame(samples, kind, frames):
    book = Book(MemoryStore()).chapter("A").add(samples, kind=kind)
    (chapter,) = place_book(book.plan, book.results).chapters
    assert chapter.samples == frames * AAC_FRAME_SAMPLES


def test_a_run_may_end_without_pause():
    book = Book(MemoryStore()).chapter("A").add(100, kind=Break.CHAPTER)
    placed, samples = place_segments(book.segments, book.results, RATE_HZ, pause_at_end=False)
    assert samples == placed[-1].end_sample == 100


def test_a_failed_segment_leaves_a_gap_without_take():
    book = Book(MemoryStore()).chapter("A").add(100).add(state=FAILED).add(50)
    _, gap, after = place_book(book.plan, book.results).chapters[0].segments
    assert gap.take is None
    assert gap.end_sample - gap.start_sample == RATE_HZ
    assert after.start_sample == gap.end_sample + round(0.35 * RATE_HZ)


def test_a_cue_waits_for_its_time_and_an_overflow_pushes_on():
    book = Book(MemoryStore()).chapter("A")
    book.add(RATE_HZ, start_s=1.0).add(RATE_HZ, start_s=1.5).add(RATE_HZ, start_s=10.0)
    first, second, third = place_book(book.plan, book.results).chapters[0].segments
    assert (first.start_sample, first.late_samples) == (RATE_HZ, 0)
    assert (second.start_sample, second.late_samples) == (2 * RATE_HZ, RATE_HZ // 2)
    assert (third.start_sample, third.late_samples) == (10 * RATE_HZ, 0)


def test_an_empty_chapter_is_a_pause_and_has_a_name():
    book = Book(MemoryStore()).chapter("A").add(100).chapter("").chapter("C").add(100)
    chapters = place_book(book.plan, book.results).chapters
    assert [chapter.title for chapter in chapters] == ["A", "Chapter 2", "C"]
    assert chapters[1].samples == 44 * AAC_FRAME_SAMPLES  # the first whole frame after 2 s
    assert not chapters[1].spoken


def test_nothing_spoken_has_no_timeline():
    book = Book(MemoryStore()).chapter("A").add(state=FAILED)
    assert place_book(book.plan, book.results) is None


def test_two_rates_are_refused_by_name():
    book = Book(MemoryStore()).chapter("A").add(100).add(100, rate_hz=24000)
    with pytest.raises(BadInput, match=r"22050 Hz \(segment 0\), 24000 Hz \(segment 1\)"):
        place_book(book.plan, book.results)


def test_an_unfinished_segment_is_refused():
    book = Book(MemoryStore()).chapter("A").add(100).add(100)
    del book.results[1]
    with pytest.raises(ValueError, match="segment 1 has no result"):
        place_book(book.plan, book.results)


def test_a_take_of_another_length_than_its_result_is_refused():
    book = Book(MemoryStore()).chapter("A").add(100)
    book.results[0] = book.results[0].model_copy(update={"samples": 99})
    chapter = place_book(book.plan, book.results).chapters[0]
    with pytest.raises(ObjectDamaged, match=r"has 100 samples.*says 99"):
        list(run_blocks(book.store, chapter.segments, chapter.samples, RATE_HZ))


def test_a_take_that_starts_loud_is_joined_without_a_click():
    book = Book(MemoryStore()).chapter("A").add(1000).add(1000)
    origin = read_take(book.store, book.results[1].take).origin
    loud = np.full(1000, 0.5, dtype=np.float32)
    write_take(book.store, book.results[1].take, loud, sample_rate_hz=RATE_HZ, origin=origin)
    audio = np.concatenate(list(book_blocks(book.store, place_book(book.plan, book.results))))
    assert audio.max() == 16384
    assert np.abs(np.diff(audio[1000:].astype(int))).max() <= 1 + 16384 / (0.005 * RATE_HZ - 1)


@given(st.integers(1, 600), st.integers(-32767, 32767), st.integers(-32767, 32767))
def test_edges_are_softened_only_where_they_would_click(size, first, last):
    pcm = np.full(size, 20000, dtype=np.int16)
    pcm[0], pcm[-1] = first, last
    out = soften_edges(pcm, RATE_HZ)
    fade = min(110, size // 2)
    assert out.shape == pcm.shape
    assert out.dtype == np.int16
    assert np.array_equal(out[fade : size - fade], pcm[fade : size - fade])
    if fade:
        for edge, value in ((0, pcm[0]), (-1, pcm[-1])):
            assert out[edge] == (0 if abs(int(value)) > NEAR_ZERO else value)
    assert np.all(np.abs(out.astype(int)) <= np.abs(pcm.astype(int)))
