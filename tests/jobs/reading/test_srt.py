"""Subtitles."""

import pytest

from jobs.errors import BadSource
from tests.helpers_reading import plan_of, read, spoken


def cue(number, start, text):
    return f"{number}\n00:00:{start:02d},500 --> 00:00:{start + 1:02d},500\n{text}\n\n"


def test_cues_are_in_the_order_of_their_times_without_marks():
    plan = plan_of(cue(1, 5, "<i>Later</i> on.") + cue(2, 2, "{\\an8}First\nof all."), "x.srt")
    assert spoken(plan) == ["First of all.", "Later on."]
    assert [segment.start_s for segment in plan.segments] == [2.5, 5.5]


def test_cues_without_words_are_left_out_with_a_warning():
    document = read(cue(1, 1, "♪♪") + cue(2, 2, "Words.") + cue(3, 3, ""), "x.srt")
    assert [paragraph.text for paragraph in document.chapters[0].paragraphs] == ["Words."]
    assert document.warnings == ("2 of 3 cues have no words and are not spoken",)


def test_a_long_cue_begins_once():
    plan = plan_of(cue(1, 1, "One two three four. Five six seven eight."), "x.srt", max_chars=20)
    assert [segment.start_s for segment in plan.segments] == [1.5, None, None]


def test_old_line_ends():
    assert spoken(plan_of(cue(1, 1, "One\ntwo.").replace("\n", "\r"), "x.srt")) == ["One two."]


@pytest.mark.parametrize("text", ["just words", "1\n2\n3\n", "WEBVTT\n"])
def test_no_cues(text):
    with pytest.raises(BadSource) as caught:
        read(text, "x.srt")
    assert caught.value.problems[0].code == "bad_srt"


def test_only_music():
    with pytest.raises(BadSource) as caught:
        read(cue(1, 1, "♪"), "x.srt")
    assert caught.value.problems[0].code == "no_text"
