"""Cues: the text of every sentence, in order, within the measures of a screen, without overlaps."""

from __future__ import annotations

import itertools
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.marks.cues import GAP_S, cues_of
from jobs.marks.dividing import MAX_LINES, MAX_S
from jobs.marks.times import PartTime, Word
from jobs.marks.widths import MAX_COLUMNS, clean_text, pieces_of, width_of
from jobs.marks.written import tokens_of
from jobs.plan import Break, SegmentPlan

RATE_HZ = 1000


def segment(number, text, **fields):
    asked = {"spoken": text, "break_after": Break.SENTENCE, "language": "en"} | fields
    return SegmentPlan(segment=number, chapter=0, text=text, source_start=0, source_end=0, **asked)


def part(text, start, end, *, number=0, words=(), begins=True, blank_before=True):
    return PartTime(number, 0, text, start, end, begins, blank_before, tuple(Word(*word) for word in words))


def cues(*parts, segments=None, samples=10**9):
    asked = segments or [segment(one.segment, one.text) for one in parts]
    return cues_of(parts, asked, samples=samples, sample_rate_hz=RATE_HZ)


def test_a_sentence_that_fits_is_one_cue_from_its_first_word_to_its_last():
    (cue,) = cues(part("Yes, he did.", 0, 3000, words=[("Yes,", 200, 900), ("he", 1200, 1500), ("did.", 1600, 2600)]))
    assert (cue.lines, cue.start_sample, cue.end_sample) == (("Yes, he did.",), 200, 2600)


def test_two_lines_part_at_a_clause_and_are_about_equally_long():
    (cue,) = cues(part("He wore two pairs of glasses, one above the other.", 0, 4000))
    assert cue.lines == ("He wore two pairs of glasses,", "one above the other.")


def test_a_long_sentence_is_divided_at_the_ends_of_clauses_and_timed_by_its_words():
    text = "The window was full of clocks, large and small, and every one of them told a different time of the day."
    words = [(word, at * 300, at * 300 + 250) for at, word in enumerate(text.split())]
    first, second = cues(part(text, 0, 7000, words=words))
    assert " ".join(first.lines).endswith("large and small,")
    at = text.split().index("small,") + 1
    assert (first.end_sample, second.start_sample) == (words[at - 1][2], words[at][1])


def test_slow_speech_is_divided_by_time_where_its_text_would_fit():
    text = "Alone, alone, all all alone."
    words = [(word, at * 2500, at * 2500 + 2000) for at, word in enumerate(text.split())]
    assert [
        (cue.end_sample - cue.start_sample) / RATE_HZ <= MAX_S for cue in cues(part(text, 0, 12_500, words=words))
    ] == [True, True]


def test_written_words_are_timed_by_what_is_spoken_for_them():
    words = [
        ("In", 0, 100),
        ("nineteen", 200, 400),
        ("eighty-four", 400, 800),
        ("he", 900, 1000),
        ("left.", 1100, 1500),
    ]
    times = {
        token.text: (token.start_sample, token.end_sample)
        for token in tokens_of(part("In 1984 he left.", 0, 2000, words=words))
    }
    assert times == {"In": (0, 100), "1984": (200, 800), "he": (900, 1000), "left.": (1100, 1500)}


def test_written_words_that_are_not_spoken_take_no_time_and_spoken_ones_that_are_not_written_belong_to_the_one_before():
    words = [("She", 100, 300), ("left", 400, 700), ("uh", 800, 900), ("then.", 1000, 1500)]
    times = [
        (token.text, token.start_sample, token.end_sample)
        for token in tokens_of(part("[1] She left — then.", 0, 2000, words=words))
    ]
    assert times[0] == ("[1]", 100, 100)
    assert times[2][:2] == ("left", 400)
    assert times[-1] == ("then.", 1000, 1500)


def test_chinese_is_divided_between_signs_but_not_before_a_mark():
    text = "我们从前住在河边的一座小房子里，每天早上都能听见船夫的歌声。" * 4
    found = cues(part(text, 0, 40_000))
    assert "".join(line for cue in found for line in cue.lines) == text
    assert all(width_of(line) <= MAX_COLUMNS for cue in found for line in cue.lines)
    assert all(line[0] not in "，。" for cue in found for line in cue.lines)


def test_right_to_left_text_stays_in_its_order_and_loses_open_marks_of_direction():
    (cue,) = cues(part("\u202bقال: \u2067مرحبا\u2069 يا (صديقي).\u202c", 0, 3000))
    assert cue.lines == ("قال: مرحبا يا (صديقي).",)


def test_control_characters_and_line_ends_are_spaces():
    assert clean_text(" a\x00b\n\nc\u2028d\x85e\tf ") == "a b c d e f"


def test_a_word_wider_than_a_line_is_cut():
    (cue,) = cues(part("x" * 60, 0, 3000))
    assert cue.lines == ("x" * 42, "x" * 18)


def test_what_was_put_together_stays_together():
    family, flag = "👨\u200d👩\u200d👧", "e\u0301"
    assert pieces_of(f"{family}{flag}（好）") == [family, flag, "（好）"]


def test_cues_of_subtitles_that_were_read_stay_one_each_also_over_segments():
    text = "This cue is a very long one and it was spoken in two segments since it did not fit, "
    parts = [
        part(text, 0, 5000, number=0),
        part("and it ends here. Really. Yes, it does, and that is all that there is to be said.", 5000, 9000, number=1),
        part("Next.", 12_000, 13_000, number=2),
    ]
    segments = [
        segment(0, parts[0].text, start_s=0.0), segment(1, parts[1].text), segment(2, "Next.", start_s=12.0),
    ]  # fmt: skip
    one, two = cues(*parts, segments=segments)
    assert " ".join(one.lines) == f"{text}{parts[1].text}"
    assert (one.start_sample, one.end_sample, one.segment) == (0, 9000, 0)
    assert (two.lines, two.start_sample, two.segment) == (("Next.",), 12_000, 2)


def test_a_short_cue_stays_no_longer_than_its_chapter_but_always_until_its_last_word():
    ends = [cues(part("Yes.", 100, 400), samples=samples)[0].end_sample for samples in (2000, 700, 410)]
    assert ends == [900, 700 - GAP_S * RATE_HZ, 400]


def test_what_cannot_be_shown_has_no_cue():
    assert cues(part("\u202a\u202c", 0, 1000), part("Yes.", 1500, 2500, number=1))[0].lines == ("Yes.",)


SIGNS = st.one_of(
    st.sampled_from(
        ["a", "word", "Wait,", "no.", "—", "1984", "河边", "。", "（", "مرحبا", "👩\u200d🚀", "e\u0301", "x" * 50, " "]
    ),
    st.text(max_size=6),
)
TEXTS = st.lists(SIGNS, min_size=1, max_size=40).map(" ".join) | st.lists(SIGNS, min_size=1, max_size=40).map("".join)


@st.composite
def runs(draw):
    """Parts that follow each other, with and without words."""
    parts, at = [], 0
    for number in range(draw(st.integers(1, 6))):
        text = draw(TEXTS)
        length = draw(st.sampled_from([0, 1, 7, 300, 4000, 30_000]))
        words = ()
        spoken = text.split()
        if draw(st.booleans()) and spoken:
            places = sorted(draw(st.lists(st.integers(0, length), min_size=2 * len(spoken), max_size=2 * len(spoken))))
            words = [(word, at + places[2 * n], at + places[2 * n + 1]) for n, word in enumerate(spoken)]
        joined = number > 0 and draw(st.booleans())
        parts.append(part(text, at, at + length, number=number, words=words, begins=not joined))
        at += length + draw(st.sampled_from([0, 5, 400]))
    return parts


@settings(max_examples=200, deadline=None)
@given(runs())
def test_whatever_is_spoken_its_cues_are_whole_in_order_and_fit(parts):
    found = cues(*parts)
    shown = "".join("".join(cue.lines) for cue in found)
    assert "".join(shown.split()) == "".join("".join(clean_text(one.text).split()) for one in parts)
    for cue in found:
        assert cue.start_sample + RATE_HZ // 200 <= cue.end_sample
        assert all(line and line == line.strip() and "\n" not in line for line in cue.lines)
        assert all(width_of(line) <= MAX_COLUMNS for line in cue.lines)
        assert len(cue.lines) <= MAX_LINES
        assert not any(unicodedata.category(sign) == "Cc" for line in cue.lines for sign in line)
    for one, other in itertools.pairwise(found):
        assert one.end_sample <= other.start_sample
        assert one.segment <= other.segment
        if one.end_sample > one.start_sample + RATE_HZ // 100:
            assert other.start_sample - one.end_sample >= GAP_S * RATE_HZ - 1


@given(TEXTS)
def test_pieces_are_the_word_again(text):
    for word in clean_text(text).split():
        assert "".join(pieces_of(word)) == word
