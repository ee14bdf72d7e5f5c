"""Times of segments, sentences and words: exact where they can be, marked where they were looked for."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.errors import ObjectMissing
from jobs.marks.times import Word, sentences_of, stretches_of, times_of
from jobs.plan import Break
from tests.jobs.marks.making import RATE_HZ, Marked, tone


def parts_of(book):
    return times_of(book.store, book.placed(), book.by_number(), RATE_HZ)


def test_a_segment_is_where_its_take_is_and_its_words_are_moved_with_it():
    book = Marked().chapter("One")
    book.say("Yes.", tone(4000, [(500, 3000)]), words=[(500, 3000)])
    book.say("No - no.", tone(6000, [(400, 2000)]), words=[(400, 2000), (2000, 2000), (3000, 5500)])
    first, second = parts_of(book)
    assert (first.start_sample, first.end_sample, first.words) == (0, 4000, (Word("Yes.", 500, 3000),))
    assert (second.start_sample, second.end_sample) == (5000, 11000)
    assert second.words == (Word("No", 5400, 7000), Word("no.", 8000, 10500)), "what makes no sound is no word"
    assert not first.approximate
    assert first.begins


@pytest.mark.parametrize("words", [[(0, 10)], [(10, 20), (5, 30)], [(0, 10), (20, 4001)], [(5, 4), (6, 7)]], ids=str)
def test_words_that_do_not_fit_the_text_or_the_take_are_not_believed(words):
    book = Marked().chapter("One").say("One two.", tone(4000, [(0, 4000)]), words=words)
    assert parts_of(book)[0].words == ()


def test_sentences_of_one_segment_part_in_the_middle_of_the_pause_between_their_words():
    text = "One two. Three."
    book = Marked().chapter("One")
    book.say(
        text, tone(9000, [(500, 8500)]), words=[(500, 2000), (2200, 4000), (5000, 8500)], sentences=[(0, 0), (9, 9)]
    )
    one, two = parts_of(book)
    assert (one.text, two.text) == ("One two.", "Three.")
    assert (one.start_sample, one.end_sample, two.start_sample, two.end_sample) == (0, 4500, 4500, 9000)
    assert [word.text for word in two.words] == ["Three."]
    assert [len(sentence) for sentence in sentences_of((one, two))] == [1, 1]


def test_without_words_they_part_at_the_quietest_place_near_their_share_of_the_text_and_say_so():
    text = "This sentence is the longer one of the two. And this is not."
    audio = tone(40_000, [(300, 26_000), (29_000, 39_000)])
    audio += np.random.default_rng(1).normal(0, 0.001, audio.size).astype(np.float32)
    book = Marked().chapter("One").say(text, audio, sentences=[(0, 0), (44, 44)])
    one, two = parts_of(book)
    assert 26_000 <= one.end_sample == two.start_sample <= 29_000
    assert one.approximate
    assert two.approximate
    assert parts_of(book) == (one, two)


def test_a_take_of_steady_sound_is_parted_by_the_share_of_characters():
    book = Marked().chapter("One").say("Aaaa. Bbbb.", np.full(8000, 0.3, np.float32), sentences=[(0, 0), (6, 6)])
    one, two = parts_of(book)
    assert abs(one.end_sample - 8000 * 6 // 11) <= RATE_HZ // 100
    assert two.end_sample == 8000


def test_sentences_without_a_space_between_them_are_looked_for_since_their_words_are_one():
    book = Marked().chapter("One")
    audio = tone(16_000, [(500, 7000), (9000, 15_000)])
    book.say("我们回家了。你也来吧！", audio, words=[(500, 15_000)], sentences=[(0, 0), (6, 6)])
    one, two = parts_of(book)
    assert 7000 <= one.end_sample == two.start_sample <= 9000
    assert one.approximate
    assert one.words == two.words == ()


def test_a_very_short_take_still_has_all_its_sentences():
    book = Marked().chapter("One").say("A. B. C.", tone(30, [(0, 30)]), sentences=[(0, 0), (3, 3), (6, 6)])
    parts = parts_of(book)
    assert [part.text for part in parts] == ["A.", "B.", "C."]
    edges = [part.start_sample for part in parts] + [parts[-1].end_sample]
    assert edges == sorted(edges)
    assert (edges[0], edges[-1]) == (0, 30)


def test_a_long_sentence_goes_on_over_segments_until_one_is_missing():
    audio = tone(2000, [(0, 2000)])
    book = Marked().chapter("One")
    book.say("One,", audio, break_after=Break.CLAUSE).say("two,", audio, continues=True)
    book.say("three,", audio, continues=True, failed=True).say("four. Five.", audio, continues=True, sentences=[(6, 6)])
    book.say("Six.", audio)
    sentences = [[part.text for part in sentence] for sentence in sentences_of(parts_of(book))]
    assert sentences == [["One,", "two,"], ["four."], ["Five."], ["Six."]]


def test_whether_a_space_stood_between_two_parts_of_a_sentence_is_known_from_the_source():
    audio = tone(2000, [(0, 2000)])
    book = Marked().chapter("One").say("你好，", audio, source_start=0, source_end=3)
    book.say("世界。", audio, continues=True, source_start=3, source_end=6)
    book.say("Well,", audio, source_start=7, source_end=12).say("yes.", audio, continues=True)
    assert [part.blank_before for part in parts_of(book)] == [True, False, True, True]


def test_stretches_cover_a_segment():
    book = Marked().chapter("One")
    book.say("He left. She 2.", tone(10, [(0, 10)]), spoken="He left. She two.", sentences=[(9, 9)])
    book.segments[0] = book.segments[0].model_copy(update={"continues": True})
    one, two = stretches_of(book.segments[0])
    assert (one.begins, two.begins) == (False, True)
    assert (one.text_start, one.text_end, two.text_end) == (0, 9, 15)
    assert (one.spoken_start, one.spoken_end, two.spoken_end) == (0, 9, 17)


def test_a_take_that_is_gone_is_an_error():
    book = Marked().chapter("One").say("One.", tone(100, [(0, 100)]))
    book.results[0] = book.results[0].model_copy(update={"take": "f" * 32})
    with pytest.raises(ObjectMissing):
        parts_of(book)
