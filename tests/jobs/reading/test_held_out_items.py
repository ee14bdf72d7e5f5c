"""Held-out JSONL, subtitles, scripts with casts and marks, of the kinds that people have."""

import json

import pytest

from jobs.errors import BadSource
from jobs.plan import Break
from jobs.planning import PlanOptions
from tests.helpers_reading import planned_of
from tests.jobs.reading.held_out import Held, paragraphs, plan_held, wrong_in


def lines(*items: object) -> str:
    return "".join((item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)) + "\n" for item in items)


def item(number: int, text: object = "Yes.", **more: object) -> dict[str, object]:
    return {"id": f"i{number}", "text": text, **more}


ITEMS = (
    Held(
        "every sort of bad line",
        lines(
            item(1), "{", "[]", '"text"', "null", "42", "", "   ", item(9, ""), item(10, "  \u200b "), item(11, "!!!"),
            item(12, None), item(13, 7), {"text": "no id"}, {"id": "i15"}, item(1), item(17, voice=3),
            item(18, seed=-1), item(19, seed="x"), item(20, other=1), {"id": "", "text": "x"},
            "{'id': 'a', 'text': 'b'}",
            '{"id": "a", "text": "b",}', '{"id": "a", "id": "b", "text": "c"}', item(25),
            '{"id":"i26","text":"x"} trailing',
            '{"id": "i27", "text": "\\ud800"}', "// comment", "nul\x00l",
        ),
        ("Yes.", "Yes."),
        problems={
            2: "bad_json", 3: "bad_json", 4: "bad_json", 5: "bad_json", 6: "bad_json", 9: "empty_text",
            10: "empty_text", 11: "empty_text", 12: "bad_item", 13: "bad_item", 14: "bad_item", 15: "bad_item",
            16: "duplicate_id", 17: "bad_item", 18: "bad_item", 19: "bad_item", 20: "bad_item", 21: "bad_item",
            22: "bad_json", 23: "bad_json", 24: "bad_json", 26: "bad_json", 27: "bad_item", 28: "bad_json",
            29: "bad_json",
        },
        why={"{'id': 'a', 'text': 'b'}": "bad_line", "// comment": "bad_line"},
        name="set.jsonl",
    ),
    Held(
        "escapes",
        '{"id":"1","text":"Caf\\u00e9 \\u4f60\\u597d. \\ud83d\\ude00 \\"Yes\\" \\\\ a\\/b\\tc\\n\\nd\\u0000e"}\n',
        ('Café 你好. 😀 "Yes" \\ a/b c d e',),
        name="set.jsonl",
    ),
    Held(
        "names of fields in the text",
        '{"text": "She said \\"text\\": \\"no\\", twice.", "id": "text"}\n{"id": "b", "\\u0074ext": "Escaped name."}\n',
        ('She said "text": "no", twice.', "Escaped name."),
        name="set.jsonl",
    ),
    Held(
        "huge and odd ids",
        lines({"id": "x" * 5000, "text": "One."}, {"id": "a/b\\c:d*e?|", "text": "Two."}, {"id": "ключ 你",
        "text": "Three."},
              {"id": " ", "text": "Four."}),
        ("One.", "Two.", "Three.", "Four."),
        name="set.jsonl",
    ),
    Held(
        "Windows line ends, marks inside, no last line end",
        ('\ufeff{"id":"1","text":"One."}\r\n\ufeff{"id":"2","text":"Two."}\r\n\r\n{"id":"3","text":"Three."}'),
        ("One.", "Two.", "Three."),
        name="set.jsonl",
    ),
    Held(
        "several sentences stay one item",
        lines(item(1, "One. Two.\nThree.\n\nFour.")),
        ("One. Two. Three. Four.",),
        name="set.jsonl",
    ),
    Held(
        "story signs are text in an item",
        lines(item(1, "*One* _two_ [3] {four} # five | six `seven` [Illustration: eight] CHAPTER IX")),
        ("*One* _two_ [3] {four} # five | six `seven` [Illustration: eight] CHAPTER IX",),
        name="set.jsonl",
    ),
    Held(
        "line separators inside a text",
        '{"id":"1","text":"One\u2028two\u0085three."}\n',
        ("One two three.",),
        name="set.jsonl",
    ),
    Held(
        "numbers as ids",
        lines({"id": 7, "text": "One."}, item(2)),
        ("Yes.",),
        problems={1: "bad_item"},
        name="set.jsonl",
    ),
    Held(
        "odd numbering, tags, no blank lines",
        "\ufeff5\r\n00:00:01,000 --> 00:00:02,000\r\n<i>One</i> <font color=\"red\">two</font>.\r\n"
        "{\\an8}Three.\r\n\r\n5\r\n0:0:3.5-->0:0:4\r\n- Four.\r\n- Five.\r\n00:00:05,000 --> 00:00:06,000 X1:1\r\nSix.",
        ("One two. Three.", "- Four. - Five.", "Six."),
        name="film.srt",
    ),
    Held(
        "a number is what is said",
        "1\n00:00:01,000 --> 00:00:02,000\nHow many?\n\n2\n00:00:02,000 --> 00:00:03,000\n42\n\n3\n"
        "00:00:03,000 --> 00:00:04,000\nIn\n1984\n\n4\n00:00:05,000 --> 00:00:06,000\nGone.\n",
        ("How many?", "42", "In 1984", "Gone."),
        name="film.srt",
    ),
    Held(
        "cues out of order and empty ones",
        "2\n00:00:05,000 --> 00:00:06,000\nSecond.\n\n1\n00:00:01,000 --> 00:00:02,000\nFirst.\n\n3\n"
        "00:00:07,000 --> 00:00:08,000\n\n4\n00:00:09,000 --> 00:00:10,000\n♪\n\n5\n00:00:11,000 --> "
        "00:00:12,000\nThird.\n",
        ("First.", "Second.", "Third."),
        name="film.srt",
    ),
    Held(
        "signs of subtitles that are text",
        "1\n00:00:01,000 --> 00:00:02,000\n[laughs] I <3 you & him; 3 < 4. <sighs> {no}\n\n2\n"
        "00:00:03,000 --> 00:00:04,000\nJOHN: What the f*** is --> that?\n",
        ("[laughs] I <3 you & him; 3 < 4. <sighs> {no}", "JOHN: What the f*** is --> that?"),
        name="film.srt",
    ),
    Held(
        "a web file with all it may have",
        "WEBVTT - A film\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nNobody hears this.\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start\n<v Ann>One &amp; two.</v>\n\n00:03.000 --> 00:04.000\n"
        "<c.loud>Three</c> <00:03.500>four.\n\nNOTE this neither\n\n01:00:05.000 --> 01:00:06.000\nNOTE\nis a word.\n",
        ("One & two.", "Three four.", "NOTE is a word."),
        why={"Nobody hears this.": "hidden"},
        name="film.vtt",
    ),
    Held(
        "utf-16 subtitles",
        "1\r\n00:00:01,000 --> 00:00:02,000\r\nNaïve.\r\n".encode("utf-16"),
        ("Naïve.",),
        encoding="utf-16",
        name="film.srt",
    ),
    Held(
        "times beyond ten hours and old Mac line ends",
        "1\r10:00:05,000 --> 10:00:07,000\rOne.\r\r2\r100:00:05,000 --> 100:00:07,000\rTwo.\r",
        ("One.", "Two."),
        name="film.srt",
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", ITEMS, ids=[held.id for held in ITEMS])
def test_items_and_cues_say_their_text(held):
    assert wrong_in(held) == {}


@pytest.mark.parametrize(
    ("name", "source", "codes"),
    [
        ("set.jsonl", "\n\n", ["no_text"]),
        ("set.jsonl", "not json\n{}\n", ["bad_json", "bad_item"]),
        ("set.jsonl", '{"id":"a","text":"..."}', ["empty_text"]),
        ("set.jsonl", "[" * 5000, ["bad_json"]),
        ("set.jsonl", '{"id":"a","text":' + "9" * 5000 + "}", ["bad_json"]),
        ("film.srt", "Hello there.\n", ["bad_srt"]),
        ("film.srt", "1\n00:00:01,000 --> 00:00:02,000\n\n", ["no_text"]),
        ("film.vtt", "WEBVTT\n", ["bad_vtt"]),
        ("book.txt", "* * *\n\n---\n\n!!!\n", ["no_text"]),
        ("book.txt", "\ufeff \u200b\n\u2028\u00a0\u3000\n", ["no_text"]),
        ("book.md", "---\ntitle: x\n---\n", ["no_text"]),
        ("book.md", "```\ncode\n```\n\n![a](b)\n", ["no_text"]),
        ("book.md", "| a | b |\n|---|---|\n| 1 | 2 |\n", ["no_text"]),
        ("book.txt", b"%PDF-1.7 binary", ["not_text"]),
        ("book.txt", b"PK\x03\x04....", ["not_text"]),
        ("book.txt", b"\x00\x01\x02\x03" * 99, ["not_text"]),
        ("book.txt", b"\xff\xfeA", ["bad_encoding"]),
        ("book.docx", b"x", ["unknown_kind"]),
        ("book", b"x", ["unknown_kind"]),
    ],
)
def test_what_cannot_be_spoken_is_refused_with_a_code(name, source, codes):
    with pytest.raises(BadSource) as caught:
        planned_of(source, name)
    assert [problem.code for problem in caught.value.problems] == codes


def told(held: Held) -> list[tuple[str | None, str]]:
    return [(sentence.voice, sentence.text) for sentence in plan_held(held).sentences]


def cast(text: str, name: str = "play.txt", **voices: str) -> Held:
    return Held("cast", text, name=name, options=PlanOptions(cast=voices))


@pytest.mark.parametrize(
    ("held", "turns"),
    [
        (
            cast(
                "ANNA: Did it land?\nBEN: It did.\nNARRATOR: They sat.\nANNA: Good.\n", ANNA="a", BEN="b", NARRATOR="n"
            ),
            [("a", "Did it land?"), ("b", "It did."), ("n", "They sat."), ("a", "Good.")],
        ),
        (
            cast("Anna: One.\n\nben: Two.\n\nCARL: Three.\n\nNo label.\n", Anna="a", BEN="b"),
            [("a", "One."), ("b", "Two."), (None, "CARL: Three."), (None, "No label.")],
        ),
        (
            cast("ANNA: At 10:30. See https://a.b: it is.\n\nNote: this.\n", ANNA="a"),
            [("a", "At 10:30."), ("a", "See https://a.b: it is."), (None, "Note: this.")],
        ),
        (
            cast(
                "ANNA (softly): One.\n\nMRS. PIKE: Two.\n\nOLD MAN: Three.\n",
                **{"ANNA": "a", "Mrs. Pike": "p", "OLD MAN": "o"},
            ),
            [("a", "One."), ("p", "Two."), ("o", "Three.")],
        ),
        (
            cast("**ANNA:** One.\n\n**BEN**: Two.\n", "play.md", ANNA="a", BEN="b"),
            [("a", "One."), ("b", "Two.")],
        ),
        (
            cast("ANNA: One\ngoes on: here.\nBEN: Two.\n", ANNA="a", BEN="b"),
            [("a", "One goes on: here."), ("b", "Two.")],
        ),
    ],
    ids=["lines", "case", "times", "names", "markdown", "wrapped"],
)
def test_a_cast_gives_turns_to_voices(held, turns):
    assert told(held) == turns


def test_labels_of_a_cast_are_skipped_as_speaker():
    planned = plan_held(cast("ANNA: Did it land?\nBEN: It did.\n", ANNA="a", BEN="b"))
    labels = [one.was for one in planned.plan.account.skipped if one.why.value == "speaker"]
    assert [label.strip() for label in labels] == ["ANNA:", "BEN:"]


def marked(text: str, name: str = "book.txt") -> Held:
    return Held("marks", text, name=name, options=PlanOptions(markup=True))


def test_marks_are_obeyed_and_not_spoken():
    planned = plan_held(marked("One. [pause: 2s] Two [voice: bob]three. [voice] Four.[pause]\n\nFive.\n"))
    assert [(one.spoken, one.voice, one.pause_s) for one in planned.plan.segments] == [
        ("One.", None, 2.0),
        ("Two", None, None),
        ("three.", "bob", None),
        ("Four.", None, 1.0),
        ("Five.", None, None),
    ]
    assert len(paragraphs(planned)) == 2
    assert planned.plan.segments[1].break_after is Break.NONE
    marks = [one.was for one in planned.plan.account.skipped if one.why.value == "mark"]
    assert [mark.strip() for mark in marks] == ["[pause: 2s]", "[voice: bob]", "[voice]", "[pause]"]


def test_marks_are_text_when_they_are_not_asked_for():
    assert wrong_in(Held("text", "He [pause] said [voice: low] no.\n", ("He [pause] said [voice: low] no.",))) == {}


@pytest.mark.parametrize("mark", ["[pause: soon]", "[pause: 61s]", "[pause: 0]", "[pause: -1s]", "[voice: ]"])
def test_a_mark_without_sense_is_an_error_with_its_line(mark):
    with pytest.raises(BadSource) as caught:
        plan_held(marked(f"One.\n\nTwo {mark} three.\n"))
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [("bad_mark", 3)]
