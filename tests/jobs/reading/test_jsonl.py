"""JSONL: items, and all that can be wrong with a line."""

import json
import random

import pytest

from jobs.edit import edited_plan, plan_text
from jobs.errors import BadSource
from jobs.plan import Plan
from tests.helpers_account import check_account
from tests.helpers_reading import plan_of, planned_of, read, spoken


def problems(text):
    return [(problem.line, problem.code) for problem in read(text, "items.jsonl").problems]


def items(document):
    (chapter,) = document.chapters
    return [(paragraph.item, paragraph.text) for paragraph in chapter.paragraphs]


def line(**fields):
    return json.dumps({"id": "a", "text": "Hello."} | fields)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("{", "bad_json"),
        ("[1]", "bad_json"),
        ('"text"', "bad_json"),
        ("[" * 100_000, "bad_json"),
        ('{"id": "x", "id": "y", "text": "Hi."}', "bad_json"),
        ('{"id": "x"}', "bad_item"),
        ('{"text": "Hi."}', "bad_item"),
        (line(id=7), "bad_item"),
        (line(id=""), "bad_item"),
        (line(text=3), "bad_item"),
        (line(text=None), "bad_item"),
        (line(seed="7"), "bad_item"),
        (line(seed=-1), "bad_item"),
        (line(seed=2**63), "bad_item"),
        (line(seed=1.5), "bad_item"),
        (line(seed=True), "bad_item"),
        (line(voice=""), "bad_item"),
        (line(speed=1.2), "bad_item"),
        ('{"id": "x", "text": "a \\ud800"}', "bad_item"),
        ('{"id": "x\\udc00", "text": "a"}', "bad_item"),
        (line(text=""), "empty_text"),
        (line(text=" \u200b "), "empty_text"),
        (line(text="?!"), "empty_text"),
    ],
)
def test_bad_lines(bad, code):
    text = f"{line(id='good')}\r\n\n{bad}  \n"
    document = read(text, "items.jsonl")
    assert problems(text) == [(3, code)]
    assert items(document) == [("good", "Hello.")]
    assert [(skip.why, document.text[skip.start : skip.end]) for skip in document.skipped] == [("bad_line", bad)]


def test_the_problems_say_what_is_wrong():
    first, second = read(f"{line()}\n{line()}\n{line(id='b', tempo=2)}", "items.jsonl").problems
    assert first.message.startswith("id 'a' was used in line 1 already")
    assert second.message.startswith("tempo: ")
    assert "fields are id, text, voice, seed, lang" in second.message


def test_without_a_good_line_the_error_names_each_line():
    with pytest.raises(BadSource) as caught:
        read(f"{{\n\n{line(text='')}\n[]", "items.jsonl")
    assert [(one.line, one.code) for one in caught.value.problems] == [
        (1, "bad_json"),
        (3, "empty_text"),
        (4, "bad_json"),
    ]
    assert str(caught.value).startswith("line 1: not JSON")


def test_a_good_line_after_a_bad_one_with_its_id_is_read():
    document = read(f"{line(text='')}\n{line()}", "items.jsonl")
    assert items(document) == [("a", "Hello.")]
    assert [problem.code for problem in document.problems] == ["empty_text"]


def test_items_carry_their_wishes():
    plan = plan_of(f"{line(id='x', voice='v', seed=0, lang='de')}\r\n{line(id='y')}\r\n", "items.jsonl")
    one, two = plan.segments
    assert (one.item, one.voice, one.seed, one.language) == ("x", "v", 0, "de")
    assert (two.item, two.voice, two.seed, two.language) == ("y", None, None, "en")
    assert plan.source.title == "items"


def test_an_item_is_one_segment_when_it_fits_and_few_when_not():
    text = "One sentence here. Another one there. And a third."
    assert spoken(plan_of(line(text=text), "i.jsonl", max_chars=60)) == [text]
    plan = plan_of(line(text=text), "i.jsonl", max_chars=40)
    assert spoken(plan) == ["One sentence here. Another one there.", "And a third."]
    assert {segment.item for segment in plan.segments} == {"a"}


def test_a_whole_surrogate_pair_is_one_character():
    document = read('{"id": "a", "text": "Hi \\ud83d\\ude00."}', "i.jsonl")
    assert items(document) == [("a", "Hi 😀.")]
    assert [document.text[start:end] for start, end in document.escapes] == ["\\ud83d\\ude00"]


def test_line_separators_inside_a_text_do_not_end_the_line():
    assert spoken(plan_of('{"id": "a", "text": "One\u2028two."}', "i.jsonl")) == ["One two."]


@pytest.mark.parametrize(
    ("written", "heard", "place"),
    [
        ('{"id": "a", "text": "Hello."}', "Hello.", "Hello."),
        ('\ufeff {"text":"Hello.","id":"text"} ', "Hello.", "Hello."),
        ('{"id": "\\"text\\": \\"no\\"", "text": "Yes, this."}', "Yes, this.", "Yes, this."),
        ('{"lang": "text", "voice": "text", "id": "a", "\\u0074ext"\t:\t"Said."}', "Said.", "Said."),
        ('{"seed": 5, "voice": null, "id": "a", "text": "Said."}', "Said.", "Said."),
        ('{"id": "a", "text": "\\n\\tOne\\ntwo.\\n"}', "One two.", "One\\ntwo."),
        (
            '{"id": "a", "text": "Caf\\u00e9 \\"x\\" \\\\ \\/ \\u00E9"}',
            'Café "x" \\ / é',
            'Caf\\u00e9 \\"x\\" \\\\ \\/ \\u00E9',
        ),
        (
            '{"id": "a", "text": "soft\\u00adhyphen  and\\u00a0more"}',
            "softhyphen and more",
            "soft\\u00adhyphen  and\\u00a0more",
        ),
        ('{"id": "a", "text": "你好\u2028再见。"}', "你好 再见。", "你好\u2028再见。"),
    ],
)
def test_places_lead_into_the_line(written, heard, place):
    before = line(id="first") + "\r\n"
    document = read(before + written, "i.jsonl")
    paragraph = document.chapters[0].paragraphs[1]
    assert document.text == before + written
    end = dict(document.escapes).get(paragraph.offsets[-1], paragraph.source_end)
    assert (paragraph.text, document.text[paragraph.source_start : end]) == (heard, place)


def test_every_character_has_its_place():
    """Whatever json writes is found again, one character or one escape for each."""
    chance = random.Random(5)
    alphabet = 'ab "\\/\n\t\x01\x7fé你😀\u2028\u0301'
    for ascii_only in (True, False):
        texts = ["x" + "".join(chance.choices(alphabet, k=chance.randrange(30))) + "x" for _ in range(200)]
        rows = (json.dumps({"id": str(n), "text": text}, ensure_ascii=ascii_only) for n, text in enumerate(texts))
        document = read("\n".join(rows), "i.jsonl")
        escapes = dict(document.escapes)
        for paragraph in document.chapters[0].paragraphs:
            for char, place in zip(paragraph.text, paragraph.offsets, strict=True):
                written = document.text[place : escapes.get(place, place + 1)]
                meant = json.loads(f'"{written}"')
                assert meant == char or (char == " " and not meant.isprintable())


def test_a_byte_order_mark_and_marks_of_joined_files():
    assert items(read(f"\ufeff{line()}\n\ufeff{line(id='b')}\n", "i.jsonl")) == [("a", "Hello."), ("b", "Hello.")]


def test_ids_are_kept_as_they_are():
    names = ["a.b.c-1", "dir/x y", "..", "é", "x" * 300]
    assert [name for name, _ in items(read("\n".join(line(id=name) for name in names), "i.jsonl"))] == names


@pytest.mark.parametrize("text", ["\\n" * 500_000 + "a", '\\"' * 500_000 + "a", "a" * 1_000_000])
def test_a_long_text_is_read_in_linear_time(text):
    """Under the time limit of a test only when nothing is quadratic."""
    assert items(read(f'{{"id": "a", "text": "{text}"}}', "i.jsonl"))[0][1].endswith("a")


@pytest.mark.parametrize(
    ("count", "chapters"),
    [
        (200, [("items", 200)]),
        (201, [("items 1–200", 200), ("items 201–201", 1)]),
        (450, [("items 1–200", 200), ("items 201–400", 200), ("items 401–450", 50)]),
    ],
)
def test_many_items_are_several_chapters(count, chapters):
    text = "\n".join(line(id=f"i{n}", text=f"Number {n}. " + "And one more sentence. " * 4) for n in range(count))
    planned = planned_of(f"{{\n{text}\n", "items.jsonl", max_chars=60)
    plan = planned.plan
    assert [(chapter.title, len({s.item for s in plan.segments if s.chapter == chapter.chapter}))
            for chapter in plan.chapters] == chapters  # fmt: skip
    assert [segment.segment for segment in plan.segments] == list(range(len(plan.segments)))
    assert list(dict.fromkeys(segment.item for segment in plan.segments)) == [f"i{n}" for n in range(count)]
    assert sum(chapter.segments for chapter in plan.chapters) == len(plan.segments)
    check_account(planned)
    assert Plan.parse(plan.dump()) == plan
    text = plan_text(plan).replace("Number 7.", "Number seven.")
    edited = edited_plan(plan, text, source_text=planned.text, max_chars=60)
    assert [chapter.title for chapter in edited.chapters] == [title for title, _ in chapters]
    assert [segment.item for segment in edited.segments] == [segment.item for segment in plan.segments]
