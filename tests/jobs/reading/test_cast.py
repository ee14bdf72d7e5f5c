"""The cast of a script: labels, turns and voices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.account import DEFAULT_SKIP, Why
from jobs.errors import BadOption
from jobs.reading.cast import parse_cast, with_cast
from jobs.reading.marks import with_marks
from tests.helpers_reading import case, epub, read, xhtml
from tests.jobs.reading.making import check_nothing_lost, document_of, paragraphs_of

CAST = {"Anna": "alice", "BEN": "bob", "Mr. O’Brien-2": "carl"}
WITH_DIRECTIONS = DEFAULT_SKIP | {Why.DIRECTIONS}


def turns(document, cast=CAST, skip=DEFAULT_SKIP):
    return [(one.text, one.voice) for one in paragraphs_of(with_cast(document, cast, skip=skip))]


def skips(document):
    return [(skip.why.value, document.text[skip.start : skip.end]) for skip in document.skipped]


def test_a_cast_is_parsed():
    assert parse_cast(" ANNA = alice ,Mr. O’Brien-2=./v/bob.onnx") == {"ANNA": "alice", "Mr. O’Brien-2": "./v/bob.onnx"}


@pytest.mark.parametrize("text", ["", "ANNA", "ANNA=", "=x", "ANNA=a,", "ANNA=a=b", "A=x,,B=y", "A=x, a =y", "É=x,é=x"])
def test_a_cast_that_cannot_be(text):
    with pytest.raises(BadOption, match="--cast"):
        parse_cast(text)


@pytest.mark.parametrize("name", ["37_dialogue_script.txt", "script.md"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_37_turns_have_their_voices(name, end):
    text = case("37_dialogue_script.txt").decode().replace("\n", end)
    document = with_cast(read(text, name), {"anna": "alice", "Ben": "bob", "NARRATOR": "nora"}, skip=WITH_DIRECTIONS)
    assert [(one.text, one.voice) for one in paragraphs_of(document)] == [
        ("Did it land?", "alice"),
        ("It did.", "bob"),
        ("They sat down.", "nora"),
        ("Good.", "alice"),
    ]
    assert [why for why, _ in skips(document)] == ["speaker", "speaker", "directions", "speaker", "speaker"]
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ANNA: Yes.", ("Yes.", "alice")),
        ("anna : Yes.", ("Yes.", "alice")),
        ("Anna:Yes.", ("Yes.", "alice")),
        ("ANNA (whispering): Yes.", ("Yes.", "alice")),
        ("ANNA (to Ben; aside) : Yes.", ("Yes.", "alice")),
        ("ANNA：是的。", ("是的。", "alice")),
        ("MR. O’BRIEN-2: Yes: no.", ("Yes: no.", "carl")),
        ("ANNA. Yes.", ("ANNA. Yes.", None)),
        ("ANNA said: yes.", ("ANNA said: yes.", None)),
        ("He said: ANNA: yes.", ("He said: ANNA: yes.", None)),
        ("Anna:30 was the time.", ("Anna:30 was the time.", None)),
        ("“ANNA: yes.”", ("“ANNA: yes.”", None)),
        ("ANNA: (laughs) Yes.", ("(laughs) Yes.", "alice")),
    ],
)
def test_labels(text, said):
    assert turns(document_of(text)) == [said]


def test_a_voice_holds_for_its_turn():
    assert turns(document_of("One.\n\nANNA: Two\nthree.\n\nFour.\n\n# ANNA: five\n\nBEN: Six.")) == [
        ("One.", None),
        ("Two three.", "alice"),
        ("Four.", None),
        ("ANNA: five", None),
        ("Six.", "bob"),
    ]


def test_lines_inside_a_paragraph_begin_turns():
    text = "ANNA: One\ngoes on: so.\nben (low): Two.\nEVE: Three.\nLondon: the city.\nBEN: Four."
    assert turns(document_of(text)) == [
        ("One goes on: so.", "alice"),
        ("Two.", "bob"),
        ("EVE: Three. London: the city.", None),
        ("Four.", "bob"),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<p>BEN: a<br/>ANNA: b</p>", [("a", "bob"), ("b", "alice")]),
        ("<p>BEN: a<BR>\n  <b>ANNA:</b> b<br />goes on</p>", [("a", "bob"), ("b goes on", "alice")]),
        ("<p>BEN: I told\nANNA: she knew.</p>", [("I told ANNA: she knew.", "bob")]),
        ("<p>BEN: a &amp; b<br/><i>EVE: c</i><br/>d</p>", [("a & b", "bob"), ("EVE: c d", None)]),
        ("<p>BEN: a</p>\n<p>b<br/>c</p>", [("a", "bob"), ("b c", None)]),
    ],
)
def test_lines_of_html_end_at_breaks_only(body, said):
    assert turns(read(f"<body>{body}</body>", "x.html")) == said
    assert turns(read(epub({"a.xhtml": xhtml(body.replace("<BR>", "<br/>"))}), "x.epub")) == said


def test_lines_of_markdown_end_at_breaks_too():
    assert turns(read("BEN: a<br>ANNA: b\nBEN: c  \nANNA: d\\\nBEN: e", "x.md")) == [
        *(("a", "bob"), ("b", "alice"), ("c", "bob"), ("d", "alice"), ("e", "bob")),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ANNA:\n\nHello there.\n\nShe left.", [("Hello there.", "alice"), ("She left.", None)]),
        ("ANNA:\n\nBEN: No.\n\nOne.", [("No.", "bob"), ("One.", None)]),
        ("ANNA:\n\nBEN:\n\nNo.", [("No.", "bob")]),
        ("EVE:\n\nHello.", [("EVE:", None), ("Hello.", None)]),
        ("BEN: Hi.\n\nANNA:\n\nOne\nBEN: Two.", [("Hi.", "bob"), ("One", "alice"), ("Two.", "bob")]),
        ("ANNA:\n\n# Two\n\nHello.", [("Two", None), ("Hello.", None)]),
    ],
)
def test_a_label_of_its_own_is_that_of_the_next_paragraph(text, said):
    assert turns(document_of(text)) == said


def test_a_turn_of_directions_only_ends_with_its_paragraph():
    assert turns(document_of("BEN: (goes)\n\nIt is dark."), skip=WITH_DIRECTIONS) == [("It is dark.", None)]


def test_labels_without_a_voice_are_warned_of_once():
    document = with_cast(document_of("EVE: One.\n\nNote: two.\n\neve: three.\n\nEVE: Four.\n\nAt 10:30 five."), CAST)
    assert document.warnings == (
        "no voice in --cast for EVE; its label is read",
        "no voice in --cast for Note; its label is read",
        "--cast has a voice for Anna, but no paragraph begins with Anna:",
        "--cast has a voice for BEN, but no paragraph begins with BEN:",
        "--cast has a voice for Mr. O’Brien-2, but no paragraph begins with Mr. O’Brien-2:",
    )
    assert paragraphs_of(document)[0].text == "EVE: One."


def test_directions_are_left_out_when_asked():
    lines = (
        "ANNA: (laughs) One (two).",
        "BEN (low): (sighs)(coughs) Three.",
        "EVE: (sings) Four.",
        "(Five.)",
        "BEN: (go)",
    )
    document = with_cast(document_of("\n\n".join(lines)), CAST, skip=WITH_DIRECTIONS)
    assert [(one.text, one.voice) for one in paragraphs_of(document)] == [
        ("One (two).", "alice"),
        ("(coughs) Three.", "bob"),
        ("EVE: Four.", None),
        ("(Five.)", None),
    ]
    assert [text.strip() for why, text in skips(document) if why == "directions"] == [
        *("(laughs)", "(sighs)", "(sings)", "(go)"),
    ]


def test_marks_inside_a_turn():
    text = "ANNA: One [pause: 2s] two [voice: x] three [voice] four.\n\nBEN: [pause] Five.\n\nSix."
    document = with_cast(with_marks(document_of(text)), CAST)
    assert [(one.text, one.voice, one.continues, one.pause_s) for one in paragraphs_of(document)] == [
        ("One", "alice", False, 2.0),
        ("two", "alice", True, None),
        ("three", "x", True, None),
        ("four.", "alice", True, 1.0),
        ("Five.", "bob", False, None),
        ("Six.", None, False, None),
    ]


def test_a_turn_of_the_cast_goes_before_a_voice_that_holds():
    document = with_cast(with_marks(document_of("[voice: x] One.\n\nANNA: Two.\n\nThree.")), CAST)
    assert [(one.text, one.voice) for one in paragraphs_of(document)] == [
        ("One.", "x"),
        ("Two.", "alice"),
        ("Three.", "x"),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [('{"id": "a", "text": "ANNA: One."}', "x.jsonl"), ("1\n00:00:01,000 --> 00:00:02,000\nANNA: One.\n", "x.srt")],
)
def test_items_and_cues_have_no_cast(text, name):
    with pytest.raises(
        BadOption, match=r"--cast is for running text, not for a source of items \(JSONL\) or subtitles;"
    ):
        with_cast(read(text, name), CAST)


ATOMS = st.sampled_from(
    [
        *(
            "word",
            " ",
            "\n",
            "\n\n",
            "# ",
            ".",
            "(",
            ")",
            "(laughs)",
            ":",
            "：",
            "\u00ad",
            "\r\n",
            "ANNA:",
            "Anna (x):",
        ),
        *("\nBEN:", "\nEVE: ", "EVE (y):", "Mr. O’Brien-2:", "ANNA: (sighs)", "BEN:\n", "[pause]", "[voice: x]"),
    ]
)


@given(st.lists(st.lists(ATOMS, max_size=30).map("".join), min_size=1, max_size=3), st.booleans())
def test_no_character_is_lost_or_doubled(chapters, directions):
    before = with_marks(document_of(*chapters))
    after = with_cast(before, CAST, skip=WITH_DIRECTIONS if directions else DEFAULT_SKIP)
    check_nothing_lost(document_of(*chapters), after)


def test_many_labels_take_linear_time():
    """Under the time limit of a test only when nothing is quadratic."""
    text = "ANNA: " * 50_000 + "\n" + "a\n" * 50_000 + "BEN: b\n" * 20_000 + "EVE (" * 20_000 + ":" * 50_000
    assert len(turns(document_of(text))) == 20_001
