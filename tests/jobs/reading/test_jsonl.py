"""JSONL: items, and all that can be wrong with a line."""

import json

import pytest

from jobs.errors import BadSource
from tests.helpers_reading import plan_of, read, spoken


def problems(text):
    with pytest.raises(BadSource) as caught:
        read(text, "items.jsonl")
    return [(problem.line, problem.code) for problem in caught.value.problems]


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
    assert problems(f"{line(id='good')}\n\n{bad}\n") == [(3, code)]


def test_the_text_of_the_error_names_each_line():
    with pytest.raises(BadSource) as caught:
        read(f"{line()}\n{line()}\n{line(id='b', tempo=2)}", "items.jsonl")
    first, second = str(caught.value).split("\n")
    assert first.startswith("line 2: id 'a' was used in line 1")
    assert second.startswith("line 3: tempo: ")
    assert "fields are id, text, voice, seed, lang" in second


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
    assert spoken(plan_of('{"id": "a", "text": "Hi \\ud83d\\ude00."}', "i.jsonl")) == ["Hi 😀."]


def test_line_separators_inside_a_text_do_not_end_the_line():
    assert spoken(plan_of('{"id": "a", "text": "One\u2028two."}', "i.jsonl")) == ["One two."]
