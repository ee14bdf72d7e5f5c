"""Prompts: the rows of the fact sheet, text that stays text, tags, final punctuation, budgets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from models.errors import BadPrompt, BadWeights
from models.orpheus.prompt import TAGS, PromptWriter, budget_tokens, spoken_text

ROOM = 4000


@pytest.fixture(scope="module")
def writer(tiny_orpheus: Path) -> PromptWriter:
    return PromptWriter.from_file(tiny_orpheus / "tokenizer.json")


@pytest.fixture(scope="module")
def theirs(tiny_orpheus: Path) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_file=str(tiny_orpheus / "tokenizer.json"))


@pytest.mark.parametrize("text", ["Good morning.", "It’s 10 o'clock — <laugh> é, 日本.", "a", "Where?\n\nThere."])
def test_rows_are_the_published_layout(writer, theirs, text):
    # As its authors build it: start-of-human, tokenizer("voice: text") with its begin-of-text, then the four after it.
    published = [128259, *theirs(f"tara: {text}").input_ids, 128009, 128260, 128261, 128257]
    ids = writer.ids(voice="tara", text=text)
    assert list(ids) == published
    assert ids.count(128000) == 1
    assert ids[1] == 128000


@pytest.mark.parametrize("literal", ["<|eot_id|>", "<|begin_of_text|>", "<custom_token_5>", "<custom_token_2>"])
def test_what_a_text_says_is_never_a_special_id(writer, theirs, literal):
    assert any(number >= 128000 for number in theirs.encode(literal, add_special_tokens=False))
    ids = writer.ids(voice="leo", text=f"He wrote {literal} there.")
    assert all(number < 128000 for number in ids[2:-4])
    assert theirs.decode(list(ids[2:-4])) == f"leo: He wrote {literal} there."


@pytest.mark.parametrize("added", [[], [{"id": 128000, "content": "<s>"}, {"id": 128009, "content": "<|eot_id|>"}]])
def test_a_tokenizer_of_another_model_is_refused(tiny_orpheus, tmp_path, added):
    data = json.loads((tiny_orpheus / "tokenizer.json").read_text("utf-8"))
    vocab = data["model"]["vocab"]
    data["model"]["vocab"] = {text: number for text, number in vocab.items() if number < 400}  # quick to build
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data | {"added_tokens": added}), "utf-8")
    with pytest.raises(BadWeights, match=r"Orpheus has \{'<\|begin_of_text\|>': 128000, '<\|eot_id\|>': 128009\}"):
        PromptWriter.from_file(path)


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"added_tokens": 1}', '{"added_tokens": [], "model": {}}'])
def test_a_damaged_tokenizer_is_refused(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadWeights, match="cannot be read" if content is None else "is not a tokenizer of"):
        PromptWriter.from_file(path)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Good  morning\n all", "Good morning all."),
        ("Chapter 1", "Chapter 1."),
        ("Really?", "Really?"),
        ("“Really?”", "“Really?”"),
        ("he said (quietly)", "he said (quietly)."),
        ("well,", "well,"),
        ("and then <sigh>", "and then <sigh>"),
        ("Good. <laugh>", "Good. <laugh>"),
        ("3 < 4", "3 < 4."),
        ("<laugh> Yes", "<laugh> Yes."),
    ],
)
def test_what_nothing_ends_gets_a_full_stop(text, spoken):
    assert spoken_text(text) == spoken
    assert spoken_text(spoken) == spoken


@pytest.mark.parametrize("text", ["Oh <scream> no", "a <b>word</b>", "< laugh > x", "<Laugh> x", "</laugh> x"])
def test_tags_that_are_no_sounds_are_refused(text):
    with pytest.raises(BadPrompt, match=r"<laugh>, <chuckle>, <sigh>, <cough>, <sniffle>, <groan>, <yawn>, <gasp>$"):
        spoken_text(text)


@pytest.mark.parametrize("text", ["", " \n", "...", "“—”", "!?"])
def test_nothing_to_speak_is_refused(text):
    with pytest.raises(BadPrompt, match="nothing to speak"):
        spoken_text(text)


def test_every_sound_is_taken():
    text = " ".join(f"<{tag}>" for tag in TAGS)
    assert spoken_text(f"a {text}") == f"a {text}"


@given(st.integers(0, 700), st.integers(0, 700), st.integers(0, 3))
def test_budgets_grow_with_the_text_in_whole_frames(short, more, tags):
    sounds = "<laugh>" * tags
    small, large = (budget_tokens(sounds + "a" * count, room_tokens=ROOM) for count in (short, short + more))
    assert small <= large <= ROOM
    assert small % 7 == large % 7 == 0
    # 3 s, a tenth of a second for a character, 2 s for a sound; 82.03 ids a second.
    need_s = 3 + (short + 7 * tags) / 10 + 2 * tags
    assert small >= min(need_s * 82.03, ROOM - 6) - 1
    assert small <= need_s * 82.04 + 7


def test_a_budget_stays_within_the_room():
    assert budget_tokens("a" * 300, room_tokens=500) == 497
    assert budget_tokens("a" * 300, room_tokens=7) == 7


@pytest.mark.parametrize("room", [6, 0, -30])
def test_no_room_for_a_frame_is_no_budget(room):
    with pytest.raises(BadPrompt, match=f"leaves room for {max(room, 0)} ids .* a frame of speech takes 7; split"):
        budget_tokens("a", room_tokens=room)
