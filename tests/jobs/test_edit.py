"""The plan as text and back: nothing changes unless the person changed it, and only that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.account import Why
from jobs.edit import edited_plan, plan_text
from jobs.errors import BadSource
from jobs.plan import Break, Plan
from jobs.tasks import tasks_of
from tests.helpers_jobs import BOOK, World
from tests.helpers_reading import plan_of, spoken

ITEMS = (
    '{"id": "a", "text": "Same text."}\n{"id": "b", "text": "Same text.", "voice": "bob"}\n'
    '{"id": "c", "text": "Same text.", "seed": 6}\n{"id": "d", "text": "Other text."}\n'
)
SRT = "1\n00:00:01,000 --> 00:00:02,000\nOne.\n\n2\n00:00:05,000 --> 00:00:06,000\nTwo.\n"
MAX_CHARS = 60


def edit(plan: Plan, old: str = "", new: str = "", *, source_text: str = "") -> Plan:
    text = plan_text(plan)
    assert text.count(old) == 1 or not old, text
    return saved(plan, text.replace(old, new) if old else text, source_text=source_text)


def saved(plan: Plan, text: str, *, source_text: str = "") -> Plan:
    """The plan after the editor; where the account is not looked at its source may be blank."""
    return edited_plan(plan, text, source_text=source_text or " " * plan.source.chars, max_chars=MAX_CHARS)


def book(text: str = BOOK, name: str = "book.txt") -> Plan:
    return World().draft(text, name).plan


def takes(plan: Plan, name: str = "book.txt") -> list[str]:
    spec = World().draft(ITEMS if name.endswith("jsonl") else BOOK, name).spec
    return [task.take for task in tasks_of(plan, spec, "j")]


def breaks(plan: Plan) -> list[Break]:
    return [segment.break_after for segment in plan.segments]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("book.txt", BOOK),
        ("one.txt", "Just one sentence."),
        ("long.txt", "A clause of some length, another clause of some length, " * 4 + "and no end at all"),
        ("scene.txt", "One.\n\n* * *\n\nTwo.\n\nThree."),
        ("hash.txt", "Number one.\n\n#5 is alive.\n\n# not a title\n\n## not a comment\n\n\\# neither."),
        ("set.jsonl", ITEMS),
        ("film.srt", SRT),
    ],
)
def test_without_a_change_the_plan_is_the_same(name, text):
    plan = book(text, name)
    assert edit(plan) == plan


TEXTS = st.lists(
    st.text(st.sampled_from("ab Ä1.#\\,?! -*“”漢") | st.characters(codec="utf-8"), min_size=1, max_size=90).filter(
        lambda text: any(char.isalnum() for char in text)
    ),
    min_size=1,
    max_size=6,
)


@given(TEXTS, st.sampled_from(["book.txt", "book.md"]))
def test_no_text_survives_only_half(paragraphs, name):
    try:
        plan = plan_of("\n\n".join(paragraphs), name, max_chars=MAX_CHARS)
    except BadSource:  # what is left of it is no text
        return
    back = edit(plan)
    assert spoken(back) == spoken(plan)
    assert breaks(back) == breaks(plan)
    assert [(c.chapter, c.segments) for c in back.chapters] == [(c.chapter, c.segments) for c in plan.chapters]


def test_a_chapter_without_a_title_stays_a_chapter():
    plan = book()
    bare = plan.model_copy(update={"chapters": tuple(c.model_copy(update={"title": ""}) for c in plan.chapters)})
    back = edit(bare)
    assert back == bare


def test_one_changed_line_changes_one_take():
    plan = book()
    changed = edit(plan, "Two is here.", "Two is not here.")
    assert [old == new for old, new in zip(takes(plan), takes(changed), strict=True)] == [True, True, False] + [
        True
    ] * (len(plan.segments) - 3)
    assert (changed.segments[2].text, changed.segments[2].spoken) == ("Two is not here.", "Two is not here.")
    assert breaks(changed) == breaks(plan)


def test_a_line_put_in_or_taken_out_keeps_the_takes_of_all_others():
    plan = book()
    more = edit(plan, "Two is here.\n", "Two is here.\nA new one.\n")
    assert [take for take in takes(more) if take not in takes(plan)] == [takes(more)[3]]
    assert breaks(more)[2:4] == [Break.SENTENCE, Break.PARAGRAPH]
    fewer = edit(plan, "Two is here.\n")
    assert takes(fewer) == [take for index, take in enumerate(takes(plan)) if index != 2]
    assert spoken(edit(plan, "Two is here.\n", "## Two is here.\n")) == [
        line for line in spoken(plan) if line != "Two is here."
    ]


def test_lines_that_change_places_keep_their_takes():
    plan = book()
    text = plan_text(plan).replace("One is here.\nTwo is here.", "Two is here.\nOne is here.")
    moved = saved(plan, text)
    assert sorted(takes(moved)) == sorted(takes(plan))
    assert takes(moved) != takes(plan)


def test_blank_lines_and_headings_decide_the_pauses():
    plan = book("One. Two.\n\nThree. Four.")
    assert breaks(plan) == [Break.SENTENCE, Break.PARAGRAPH, Break.SENTENCE, Break.CHAPTER]
    assert breaks(edit(plan, "One.\nTwo.\n\n", "One.\n\nTwo.\n")) == [
        *(Break.PARAGRAPH, Break.SENTENCE, Break.SENTENCE, Break.CHAPTER)
    ]
    split = edit(plan, "One.\nTwo.\n\n", "One.\nTwo.\n# The End\n")
    assert breaks(split) == [Break.SENTENCE, Break.CHAPTER, Break.SENTENCE, Break.CHAPTER]
    assert [(chapter.title, chapter.segments) for chapter in split.chapters][1:] == [("The End", 2)]


def test_chapters_that_are_joined_have_no_chapter_pause_between_them():
    plan = book()
    assert len(plan.chapters) == 2
    text = "\n".join(line for line in plan_text(plan).split("\n") if not line.startswith("# "))
    joined = saved(plan, text)
    assert [chapter.segments for chapter in joined.chapters] == [len(plan.segments)]
    assert breaks(joined).count(Break.CHAPTER) == 1
    assert takes(joined) == takes(plan)


def test_a_heading_without_text_is_dropped_and_text_before_the_first_has_the_books_title():
    plan = book("One. Two.", "novel.txt")
    made = saved(plan, "Zero.\n# Empty\n\n# Full\nOne.\n# Last\n")
    assert [(c.chapter, c.title, c.segments) for c in made.chapters] == [(0, plan.source.title, 1), (1, "Full", 1)]
    assert [segment.chapter for segment in made.segments] == [0, 1]


def test_what_an_editor_leaves_in_a_file_is_not_spoken():
    plan = book("One. Two.")
    text = "\ufeff" + plan_text(plan).replace("Two.", "  Two.\t").replace("\n", "\r\n")
    assert spoken(saved(plan, text)) == ["One.", "Two."]


def test_items_keep_id_voice_and_seed_also_where_their_text_changed():
    plan = book(ITEMS, "set.jsonl")
    changed = edit(plan, "Other text.", "Another text.")
    assert [(s.item, s.voice, s.seed) for s in changed.segments] == [(s.item, s.voice, s.seed) for s in plan.segments]
    before, after = takes(plan, "set.jsonl"), takes(changed, "set.jsonl")
    assert len(set(before)) == 4
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, True, False]


def test_a_new_line_in_a_set_of_items_is_refused_because_it_has_no_id():
    plan = book(ITEMS, "set.jsonl")
    text = plan_text(plan) + "One more.\n"
    with pytest.raises(BadSource, match=r"line \d+: a new line has no item id") as caught:
        saved(plan, text)
    assert caught.value.problems[0].line == text.split("\n").index("One more.") + 1


def test_cues_keep_their_times():
    plan = book(SRT, "film.srt")
    assert [segment.start_s for segment in edit(plan, "Two.", "Second.").segments] == [1.0, 5.0]


def test_bad_lines_are_all_named_by_their_numbers():
    plan = book("One. Two.")
    text = f"One.\n\n{'x' * 61}\n***\n{'y' * 60}\n"
    with pytest.raises(BadSource) as caught:
        saved(plan, text)
    assert [(p.code, p.line) for p in caught.value.problems] == [("segment_too_long", 3), ("nothing_to_speak", 4)]
    assert "line 3: 61 characters in one line, the model speaks at most 60 at once; split it" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a title\n", "## One.\n##Two.\n"])
def test_nothing_left_calls_the_job_off(text):
    with pytest.raises(BadSource, match="nothing is left to speak; the job was not submitted") as caught:
        saved(book(), text)
    assert caught.value.problems[0].code == "no_text"


def test_an_edited_draft_is_another_job_with_its_own_estimate():
    draft = World().draft()
    edited = draft.with_plan(edit(draft.plan, "Two is here.\n"))
    assert edited.job != draft.job
    assert edited.job == draft.with_plan(edit(draft.plan, "Two is here.\n")).job
    ratio = edited.plan.prompt_chars / draft.plan.prompt_chars
    assert edited.audio_s == pytest.approx(draft.audio_s * ratio)


def edits(plan: Plan) -> list[tuple[str, str]]:
    """What the account says was edited: the characters of the source, and what is spoken for them."""
    passages = sorted([*plan.account.replaced, *plan.account.skipped], key=lambda passage: passage.start)
    places = [place for passage in passages for place in range(passage.start, passage.end)]
    assert len(places) == len(set(places))
    assert plan.account.spoken_chars + len(places) == plan.account.chars
    return [(passage.was, passage.now) for passage in passages if passage.why is Why.EDIT]


MARKDOWN = "# One\n\nOne is *here*. Two is here.\n\nThree is here.\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Two is here.", "Two is not here.", [("Two is here.", "Two is not here.")]),
        ("Two is here.\n", "", [("Two is here.", "")]),
        ("Two is here.\n", "Two is here.\nA new one.\n", []),
        ("One is here.\n", "One was there.\n", [("One is *here*.", "One was there.")]),
        ("Two is here.\n", "Two is.\nHere.\n", [("Two is here.", "Two is. Here.")]),
        ("One is here.\nTwo is here.\n", "One and two.\n", [("One is *here*. Two is here.", "One and two.")]),
        ("One is here.\nTwo is here.\n", "Two is here.\nOne is here.\n", []),
        ("One is here.\nTwo is here.\n", "", [("One is *here*.", ""), ("Two is here.", "")]),
        ("Two is here.\n", "\nTwo is here.\n", []),
    ],
)  # fmt: skip
def test_the_account_says_what_was_edited(old, new, told):
    plan = book(MARKDOWN, "book.md")
    assert edits(plan) == []
    changed = edit(plan, old, new, source_text=MARKDOWN)
    assert edits(changed) == told
    assert changed.account.chars == plan.account.chars
    if not told:
        assert changed.account == plan.account


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "Other words.", "Same.\nTwice.", "a"])), max_size=6))
def test_however_it_is_edited_the_account_adds_up(changes):
    plan = plan_of(MARKDOWN + "\nFour &amp; five.\n\n# Two\n\nSix. Seven. Eight.\n", "book.md", max_chars=MAX_CHARS)
    lines = plan_text(plan).split("\n")
    for index, words in changes:
        lines[4 + index % (len(lines) - 4)] = words
    changed = saved(plan, "\n".join(["Kept.", *lines]))
    edits(changed)
    assert changed.account.chars == plan.account.chars
