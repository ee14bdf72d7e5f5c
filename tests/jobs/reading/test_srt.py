"""Subtitles, SubRip and WebVTT."""

import pytest

from jobs.errors import BadSource
from jobs.reading import kind_of
from jobs.spec import SourceKind
from tests.helpers_reading import case, plan_of, read, spoken


def cue(number, start, text):
    return f"{number}\n00:00:{start:02d},500 --> 00:00:{start + 1:02d},500\n{text}\n\n"


def cues(text, name="x.srt"):
    return [(one.start_s, one.text) for one in read(text, name).chapters[0].paragraphs]


def skips(document):
    return [(skip.why.value, document.text[skip.start : skip.end]) for skip in document.skipped]


def test_cues_are_in_the_order_of_their_times_without_marks():
    plan = plan_of(cue(1, 5, "<i>Later</i> on.") + cue(2, 2, "{\\an8}First\nof all."), "x.srt")
    assert spoken(plan) == ["First of all.", "Later on."]
    assert [segment.start_s for segment in plan.segments] == [2.5, 5.5]


def test_cues_without_words_are_left_out_with_a_warning():
    document = read(cue(1, 1, "♪♪") + cue(2, 2, "Words.") + cue(3, 3, ""), "x.srt")
    assert [paragraph.text for paragraph in document.chapters[0].paragraphs] == ["Words."]
    assert document.warnings == ("2 of 3 cues have no words and are not spoken",)
    assert skips(document) == [("symbol", "♪♪")]


def test_a_long_cue_begins_once():
    plan = plan_of(cue(1, 1, "One two three four. Five six seven eight."), "x.srt", max_chars=20)
    assert [segment.start_s for segment in plan.segments] == [1.5, None, None]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    assert cues(cue(1, 1, "One\ntwo.").replace("\n", end)) == [(1.5, "One two.")]


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("<i>One</i> <b>two</b> < u >three</ u > <font color='#fff'>four</font>", "One two three four"),
        ("{\\an8}{\\i1}One{\\i0} {y:i}two", "One two"),
        ("One<br>two<br/>three", "One two three"),
        ("a < b and c > d <3 {laughs} <laughs>", "a < b and c > d <3 {laughs} <laughs>"),
        ("<I love you> she said. <B team> <s laughs>", "<I love you> she said. <B team> <s laughs>"),
        ("<Span of life> He <u and me> a < b > c", "<Span of life> He <u and me> a < b > c"),
        ("<I>a</I> <i class='x'>d</i> <p>e</p> <c major> <lang of the free>", "a d e <c major> <lang of the free>"),
        ("<v.loud Ann B>Yo</v> <c.red.x>r</c> <lang en-GB>s</lang> <i.foo>t</i>", "Yo r s t"),
        ("Fish &amp; chips&nbsp;&#8217;n AT&T; &madeup;", "Fish & chips ’n AT&T; &madeup;"),
        ("One\\Ntwo", "One two"),
        ("- One speaker.\n- Another.", "- One speaker. - Another."),
        ("One\n\n\nafter blank lines", "One after blank lines"),
        ("It was in\n1984", "It was in 1984"),
        ("1984", "1984"),
        ("♪ La la ♪", "♪ La la ♪"),
        ("ze\u00adro\u200bwidth\u00a0nbsp", "zerowidth nbsp"),
    ],
)
def test_text_of_a_cue(written, heard):
    document = read(cue(1, 1, "Before.") + cue(2, 2, written) + cue(3, 3, "After."), "x.srt")
    before, found, after = document.chapters[0].paragraphs
    assert (before.text, found.text, after.text) == ("Before.", heard, "After.")
    escapes = dict(document.escapes)
    for char, place in zip(found.text, found.offsets, strict=True):
        assert document.text[place] == char or char == " " or place in escapes


@pytest.mark.parametrize(
    ("timing", "start_s"),
    [
        ("00:00:01,000 --> 00:00:02,000", 1.0),
        ("0:00:01.5 --> 0:00:02.5", 1.5),
        ("00:01:00,05 -> 00:01:02,00", 60.05),
        ("123:00:00,000 --> 123:00:01,000", 442800.0),
        ("  00:00:01,000-->00:00:02,000   X1:10 Y1:20", 1.0),
        ("00:00:01 --> 00:00:02", 1.0),
        ("01:02,250 --> 01:03,000", 62.25),
    ],
)
def test_times(timing, start_s):
    assert cues(f"1\n{timing}\nWords.\n") == [(start_s, "Words.")]


def test_missing_numbers_missing_blank_lines_and_overlap():
    text = (
        "00:00:01,000 --> 00:00:09,000\nOne.\n\n00:00:02,000 --> 00:00:03,000\nTwo.\n"
        "3\n00:00:04,000 --> 00:00:05,000\n3"
    )
    assert cues(text) == [(1.0, "One."), (2.0, "Two."), (4.0, "3")]


def test_an_empty_cue_before_another():
    assert cues("1\n00:00:01,000 --> 00:00:02,000\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo.\n") == [(3.0, "Two.")]


def test_text_before_the_first_cue_is_told():
    document = read("\ufeffMade by Ann.\n\n" + cue(1, 1, "One."), "x.srt")
    assert skips(document) == [("metadata", "Made by Ann.\n\n")]
    assert document.warnings == ("what stands before the first cue has no time and is not spoken: 'Made by Ann.'",)


def test_text_between_the_header_and_the_first_cue_is_warned_of():
    document = read("WEBVTT\nKind: x\n\nIt was night.\n\nintro\n00:01.000 --> 00:02.000\nOne.\n", "x.vtt")
    assert document.warnings == ("what stands before the first cue has no time and is not spoken: 'It was night.'",)
    assert read(WEB, "film.vtt").warnings == ()


def test_the_name_of_a_voice_is_a_speaker():
    assert skips(read(cue(1, 1, "<v Bob>Hi</v>"), "x.srt")) == [("speaker", "<v Bob>")]


def test_39_places_lead_to_the_source():
    document = read(case("39_cues.srt"), "39_cues.srt")
    assert document.text == case("39_cues.srt").decode("utf-8-sig")
    assert [document.text[one.source_start : one.source_end] for one in document.chapters[0].paragraphs] == [
        "Hello there.",
        "A cue that is far too long for its six hundred milliseconds of time.",
        "- One speaker.\r\n- Another.",
    ]


@pytest.mark.parametrize("text", ["just words", "1\n2\n3\n", "WEBVTT\n"])
@pytest.mark.parametrize(("name", "code"), [("x.srt", "bad_srt"), ("x.vtt", "bad_vtt")])
def test_no_cues(text, name, code):
    with pytest.raises(BadSource) as caught:
        read(text, name)
    assert caught.value.problems[0].code == code


def test_only_music():
    with pytest.raises(BadSource) as caught:
        read(cue(1, 1, "♪"), "x.srt")
    assert caught.value.problems[0].code == "no_text"


WEB = """WEBVTT - A film
Kind: captions

NOTE
Not said --
nor this.

STYLE
::cue { color: red }

intro
00:01.000 --> 00:04.000 align:start position:10%
<v.loud Anna>Hello &amp; <c.red>you</c>, <00:02.000>come.

NOTE one line

2 - the second
00:00:05.000 --> 00:00:06.000
<ruby>漢<rt>kan</rt></ruby> and
NOTE is a word here.

00:07.000 --> 00:08.000
Last&lrm; one.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_web_subtitles(end):
    document = read(WEB.replace("\n", end), "film.vtt")
    assert kind_of("film.vtt") is SourceKind.VTT
    assert [(one.start_s, one.text) for one in document.chapters[0].paragraphs] == [
        (1.0, "Hello & you, come."),
        (5.0, "漢 and NOTE is a word here."),
        (7.0, "Last one."),
    ]
    told = {why: text.split() for why, text in reversed(skips(document))}
    assert told["hidden"][:4] == ["NOTE", "Not", "said", "--"]
    assert told["metadata"][:4] == ["WEBVTT", "-", "A", "film"]
    assert told["markup"][0] == "STYLE"
    assert told["ruby"] == ["<rt>kan</rt>"]


def test_a_cue_of_web_subtitles_needs_no_blank_line_before_the_next():
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nOne.\n00:03.000 --> 00:04.000\nTwo.\n"
    assert cues(text, "x.vtt") == [(1.0, "One."), (3.0, "Two.")]


@pytest.mark.parametrize(
    "piece", ["<i ", "{\\", "&", "<00:", "00:00:01,000 --", "\n", "1\n\n", "<rt>", "<i>", "<v ", "< u >", "<font "]
)
def test_hostile_text_is_read_in_linear_time(piece):
    """Under the time limit of a test only when nothing is quadratic."""
    assert cues(cue(1, 1, "a" + piece * 50_000 + "b") + cue(2, 3, "End."))[-1] == (3.5, "End.")
