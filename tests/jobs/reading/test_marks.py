"""Marks for --markup: pauses and voices inside a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.account import Why
from jobs.errors import BadOption, BadSource
from jobs.reading.document import ParagraphKind
from jobs.reading.marks import with_marks
from tests.helpers_reading import read
from tests.jobs.reading.making import check_nothing_lost, document_of, paragraphs_of


def parts(*chapters):
    """(text, voice, goes on, pause) of each paragraph."""
    marked = with_marks(document_of(*chapters))
    return [(one.text, one.voice, one.continues, one.pause_s) for one in paragraphs_of(marked)]


@pytest.mark.parametrize(
    ("mark", "pause_s"),
    [
        ("[pause]", 1.0),
        ("[pause: 1.5s]", 1.5),
        ("[pause: 500ms]", 0.5),
        ("[pause: 2]", 2.0),
        ("[PAUSE:2S]", 2.0),
        ("[ Pause : .5 s ]", 0.5),
        ("[pause:\u00a01500\u00a0MS]", 1.5),
        ("[pause: 60]", 60.0),
        ("[pause: 0.001]", 0.001),
    ],
)
def test_pauses(mark, pause_s):
    assert parts(f"One {mark} two.") == [("One", None, False, pause_s), ("two.", None, True, None)]
    assert parts(f"One.{mark}Two.") == [("One.", None, False, pause_s), ("Two.", None, True, None)]


@pytest.mark.parametrize(
    "mark",
    [
        *("[pause: x]", "[pause:]", "[pause: ]", "[pause: -1s]", "[pause: 0]", "[pause: 0ms]", "[pause: 61s]"),
        *("[pause: 60001ms]", "[pause: 2min]", "[pause: 1,5s]", "[pause: 1e3]", "[pause: nan]", "[pause: ٣]"),
        *("[pause: 1s 2s]", "[pause: .]", f"[pause: {'9' * 5000}]", "[voice:]", "[voice: ]"),
    ],
)
def test_marks_that_say_nothing(mark):
    with pytest.raises(BadSource) as caught:
        with_marks(document_of(f"One.\n\nTwo {mark} three."))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == ("bad_mark", 3)
    assert mark.strip("[] ") in problem.message


def test_all_bad_marks_are_named_at_once():
    text = "One [pause: x].\r\n\r\nTwo\r\n[pause: 3h] three [pause: 1s].\r\n\r\n\r\n# Part [voice:]"
    with pytest.raises(BadSource) as caught:
        with_marks(read(text, "x.txt"))
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [
        ("bad_mark", 1),
        ("bad_mark", 4),
        ("bad_mark", 7),
    ]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[[pause: 1s]]",
            "[pauses]",
            "[pause",
            "pause: 1s]",
            "(pause)",
            "[a pause: 1s]",
            "[voices: x]",
            "[pause [x]]",
        ),
        *("[voice of reason: x]", "[pause 1s]", "[]", "[pause; 1s]"),
    ],
)
def test_what_is_no_mark_stays_text(text):
    assert parts(f"One {text} two.") == [(f"One {text} two.", None, False, None)]


def test_a_voice_holds_until_the_next_voice_mark():
    assert parts(
        "# Part [voice: Anna B.] One\n\nTwo [voice: Ben] three\n\nFour", "# Next\n\nFive [voice] six\n\nSeven"
    ) == [
        ("Part", None, False, None),
        ("One", "Anna B.", True, None),
        ("Two", "Anna B.", False, None),
        ("three", "Ben", True, None),
        ("Four", "Ben", False, None),
        ("Next", "Ben", False, None),
        ("Five", "Ben", False, None),
        ("six", None, True, None),
        ("Seven", None, False, None),
    ]


def test_a_mark_alone_belongs_to_what_is_before_it():
    assert parts("One.\n\n[pause: 2s]\n\n[voice: x]\n\n[pause][pause: 3]\n\nTwo.") == [
        ("One.", None, False, 6.0),
        ("Two.", "x", False, None),
    ]


def test_a_pause_is_not_given_to_a_part_without_words():
    assert parts("One. [voice: x] … [pause] Two.") == [
        ("One.", None, False, 1.0),
        ("…", "x", True, None),
        ("Two.", "x", True, None),
    ]


def test_a_pause_at_the_start_of_a_chapter_is_warned_of():
    marked = with_marks(document_of("One.", "[pause: 2s] Two.\n\n[pause] Three."))
    assert [(one.text, one.pause_s) for one in paragraphs_of(marked)] == [
        ("One.", None),
        ("Two.", 1.0),
        ("Three.", None),
    ]
    (warning,) = marked.warnings
    assert warning.startswith("line 4: [pause: 2s] is at the start of a chapter")


def test_marks_are_skipped_and_are_in_no_title():
    document = document_of("# Part [pause: 2s] one\n\nA [voice: x]b.")
    marked = with_marks(document)
    assert [(skip.why, marked.text[skip.start : skip.end]) for skip in marked.skipped] == [
        (Why.MARK, "[pause: 2s]"),
        (Why.MARK, "[voice: x]"),
    ]
    assert [chapter.title for chapter in marked.chapters] == ["Part one"]
    assert marked.text == document.text


@pytest.mark.parametrize("name", ["x.md", "x.txt", "x.html"])
def test_every_reader_leaves_marks_as_text(name):
    text = "A tale of marks.\n\nOne [pause: 1s] two [voice: Anna_B] three [voice] four [voice: x]\n(five), [[six]].\n"
    marked = with_marks(read(f"<p>{text}</p>" if name == "x.html" else text, name))
    assert [one.text for one in paragraphs_of(marked)][-5:] == [
        *("One" if name != "x.html" else "A tale of marks. One", "two", "three", "four", "(five), [[six]]."),
    ]
    assert [one.voice for one in paragraphs_of(marked)][-5:] == [None, None, "Anna_B", None, "x"]


def test_an_address_after_a_mark_of_markdown_is_not_lost():
    marked = with_marks(read("[voice: Anna](aside) and [pause: 2](https://example.org)", "x.md"))
    assert [one.text for one in paragraphs_of(marked)] == ["(aside) and", "(https://example.org)"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"id": "a", "text": "One [pause] two."}', "x.jsonl"),
        ("1\n00:00:01,000 --> 00:00:02,000\nOne.\n", "x.srt"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nOne.\n", "x.vtt"),
    ],
)
def test_items_and_cues_have_no_marks(text, name):
    with pytest.raises(BadOption, match="--markup is for running text"):
        with_marks(read(text, name))


def test_scene_breaks_stay():
    document = document_of("***", kind=ParagraphKind.SCENE_BREAK)
    assert with_marks(document).chapters == document.chapters


ATOMS = st.sampled_from(
    [
        *(
            "word",
            " ",
            "\n",
            "\n\n",
            "# ",
            ".",
            "…",
            "[",
            "]",
            "[[",
            "]]",
            ":",
            "\u00ad",
            "“",
            "\r\n",
            "[pause]",
            "(x)",
        ),
        *("[pause: 2s]", "[voice: Anna]", "[voice]", "[ PAUSE :\n3 ]", "[voice: a\u00adb c]", "[pause: 10ms]", "ANNA:"),
    ]
)


@given(st.lists(st.lists(ATOMS, max_size=30).map("".join), min_size=1, max_size=3))
def test_no_character_is_lost_or_doubled(chapters):
    before = document_of(*chapters)
    try:
        after = with_marks(before)
    except BadSource:
        return  # pieces that make a mark of a word, such as "[pause:word]"
    check_nothing_lost(before, after)
    assert not any(part.continues for chapter in after.chapters for part in chapter.paragraphs[:1])


def test_many_marks_take_linear_time():
    """Under the time limit of a test only when nothing is quadratic."""
    text = "… [pause] " * 20_000
    marked = with_marks(document_of(text + "[voice: " * 50_000 + "[pause:" + " " * 100_000))
    assert len(marked.skipped) == 20_000
