"""An edited line keeps what belongs to its place: voice, pause, language, source; and the account stays exact."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.edit import edited_plan, plan_text
from jobs.edit_sentences import sentences_of
from jobs.errors import BadSource
from jobs.plan import Break, Plan
from jobs.planning import Planned, PlanOptions
from tests.helpers_account import check_account
from tests.helpers_jobs import World
from tests.helpers_reading import planned_of

MAX_CHARS = 80
CAST = PlanOptions(markup=True, cast={"ANNA": "alice", "BEN": "bob"})
SCRIPT = "ANNA: Hello there, my old friend. It has been so long. [pause: 4s]\n\nBEN: Not today.\n\nANNA: Then go.\n"
HELLO, LONG = "Hello there, my old friend.\n", "It has been so long.\n"


def script(text: str = SCRIPT) -> Planned:
    return planned_of(text, max_chars=MAX_CHARS, options=CAST)


def edit(planned: Planned, old: str, new: str) -> Plan:
    text = plan_text(planned.plan)
    assert text.count(old) == 1, text
    return edited_plan(planned.plan, text.replace(old, new), source_text=planned.text, max_chars=MAX_CHARS)


def heard(plan: Plan) -> list[tuple[str, str | None, float | None]]:
    return [(segment.spoken, segment.voice, segment.pause_s) for segment in plan.segments]


REST = [("Not today.", "bob", None), ("Then go.", "alice", None)]
FIRST = [("Hello there, my old friend.", "alice", None)]
SECOND = [("It has been so long.", "alice", 4.0)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (HELLO, "Hello there,\nmy old friend.\n",
         [("Hello there,", "alice", None), ("my old friend.", "alice", None), *SECOND, *REST]),
        (LONG, "It has been\nso long.\n",
         [*FIRST, ("It has been", "alice", None), ("so long.", "alice", 4.0), *REST]),
        (HELLO + LONG, "Hello there, my old friend. It has been so long.\n",
         [("Hello there, my old friend. It has been so long.", "alice", 4.0), *REST]),
        (LONG + "\nNot today.\n", "It has been\nso long.\n\nNot this day.\n",
         [*FIRST, ("It has been", "alice", None), ("so long.", "alice", 4.0), ("Not this day.", "bob", None), REST[1]]),
        ("Not today.\n", "Not today.\nNever.\n", [*FIRST, *SECOND, REST[0], ("Never.", "bob", None), REST[1]]),
        ("Not today.\n", "Never.\nNot today.\n", [*FIRST, *SECOND, ("Never.", "bob", None), *REST]),
        ("Not today.\n", "Not today.\n\nSilence fell.\n",
         [*FIRST, *SECOND, REST[0], ("Silence fell.", None, None), REST[1]]),
        (LONG, "", [*FIRST, *REST]),
    ],
)  # fmt: skip
def test_voice_and_pause_stay_where_they_belong(old, new, told):
    planned = script()
    changed = edit(planned, old, new)
    assert heard(changed) == told
    check_sums(planned, changed)


def check_sums(planned: Planned, changed: Plan) -> None:
    """`check_account` looks at segments too: those put in by hand have no source."""
    sourced = changed.model_copy(
        update={"segments": tuple(one for one in changed.segments if one.source_end > one.source_start)}
    )
    check_account(Planned(sourced, (), planned.text))


def test_a_part_has_the_source_of_the_whole():
    planned = script()
    whole = planned.plan.segments[0]
    parts = edit(planned, HELLO, "Hello there,\nmy old friend.\n").segments[:2]
    assert [(one.source_start, one.source_end) for one in parts] == [(whole.source_start, whole.source_end)] * 2


def test_a_line_put_in_at_the_end_of_a_scene_keeps_the_scene_break():
    planned = planned_of("One. Two.\n\n* * *\n\nThree.\n", max_chars=MAX_CHARS)
    changed = edit(planned, "Two.\n", "Two.\nMore.\n")
    assert [one.break_after for one in changed.segments] == [
        *(Break.SENTENCE, Break.SENTENCE, Break.SCENE, Break.CHAPTER)
    ]
    parted = edit(planned, "Two.\n", "Two.\n\nMore.\n")
    assert [one.break_after for one in parted.segments][1:3] == [Break.SCENE, Break.PARAGRAPH]


def test_a_line_of_another_script_has_its_own_limit_but_an_unchanged_one_is_never_refused():
    planned = planned_of("一二三四五六七八九十。" * 3, max_chars=20, language="zh")
    text = plan_text(planned.plan)
    assert edited_plan(planned.plan, text, source_text=planned.text, max_chars=3) == planned.plan
    with pytest.raises(BadSource, match="20 characters in one line, the model speaks at most 10 at once"):
        edited_plan(planned.plan, text + "说" * 20 + "\n", source_text=planned.text, max_chars=20)


def test_a_title_with_a_blank_at_its_end_stays():
    draft = World().draft("One.\n\nTwo.")
    chapters = (draft.plan.chapters[0].model_copy(update={"title": "Chapter  I \u200b"}),)
    draft = draft.with_plan(draft.plan.model_copy(update={"chapters": chapters}))
    plan = edited_plan(draft.plan, plan_text(draft.plan), source_text=draft.planned.text, max_chars=MAX_CHARS)
    assert plan == draft.plan
    assert draft.with_plan(plan).job == draft.job


def test_the_sentences_of_an_edited_plan_are_its_own():
    planned = planned_of("# One\n\nOne is here. Two.\n\nThree.\n\n# Two\n\nFour.\n", "a.md", max_chars=MAX_CHARS)
    same = sentences_of(planned.plan, planned.plan, planned.sentences)
    assert same == planned.sentences
    changed = edit(planned, "Two.\n", "# New\nTwo. And more.\n")
    made = sentences_of(changed, planned.plan, planned.sentences)
    assert [(one.chapter, one.paragraph, one.spoken) for one in made] == [
        *((0, 0, "One"), (0, 1, "One is here."), (1, 0, "Two."), (1, 0, "And more."), (1, 1, "Three.")),
        *((2, 0, "Two"), (2, 1, "Four.")),
    ]


@pytest.mark.parametrize(
    ("change", "continued"),
    [
        (lambda lines: lines, [False, False, True, False]),
        (lambda lines: [lines[0], *lines[2:]], [False, False, False]),
        (lambda lines: [lines[0], lines[2], lines[1], lines[3]], [False, False, False, False]),
        (lambda lines: [*lines[:2], "Wait.", *lines[2:]], [False, False, False, False, False]),
        (lambda lines: [lines[0], lines[1].upper(), *lines[2:]], [False, False, True, False]),
    ],
    ids=["same", "deleted", "moved", "put in", "changed"],
)
def test_half_a_sentence_goes_on_only_with_what_it_went_on_with(change, continued):
    long = "She had always known that he would leave the house one day, and that he would not come back to her again."
    planned = planned_of(f"He left early. {long} Nobody spoke.", max_chars=MAX_CHARS)
    text = "\n".join(change([segment.spoken for segment in planned.plan.segments]))
    plan = edited_plan(planned.plan, text, source_text=planned.text, max_chars=MAX_CHARS)
    assert [segment.continues for segment in plan.segments] == continued


WORDS = st.lists(st.sampled_from(["ferry", "light", "stone", "$5.30", "**bold**", "1984"]), min_size=1, max_size=6)
TURN = st.tuples(st.sampled_from(["ANNA: ", "BEN: ", ""]), st.lists(WORDS, min_size=1, max_size=3), st.booleans())


@st.composite
def scripts(draw) -> Planned:
    """A script with marks, emphasis and numbers; some sentences are longer than a line may be."""
    turns = []
    for number, (name, sentences, pause) in enumerate(draw(st.lists(TURN, min_size=1, max_size=5))):
        said = [f"So {' '.join(words)} x{number}y{place}." for place, words in enumerate(sentences)]
        turns.append(name + " ".join(said) + (" [pause: 2s]" if pause else ""))
    return planned_of("\n\n".join(turns), "a.md", max_chars=MAX_CHARS, options=CAST)


EDIT = st.tuples(st.sampled_from(["change", "split", "join", "delete", "insert", "move"]), st.integers(0, 40))


@given(scripts(), st.lists(EDIT, max_size=4))
def test_however_a_script_is_edited_the_account_is_exact_and_other_lines_keep_their_takes(planned, edits):
    lines = plan_text(planned.plan).split("\n")[4:]
    assert edited_plan(planned.plan, plan_text(planned.plan), source_text=planned.text, max_chars=80) == planned.plan
    for kind, number in edits:
        places = [place for place, line in enumerate(lines) if line and not line.startswith("#")]
        if not places:
            break
        place = places[number % len(places)]
        line, half = lines[place], lines[place].find(" ", len(lines[place]) // 2)
        made = {"change": [f"Q{line}"[:80]], "delete": [], "insert": [line, "Put in here."], "join": [line]}
        lines[place : place + 1] = made.get(kind, [line[:half], line[half + 1 :]] if kind == "split" else [])
        if kind == "join" and place + 1 < len(lines) and len(line) + len(lines[place + 1]) < 80:
            lines[place : place + 2] = [f"{line} {lines[place + 1]}"]
        if kind == "move":
            lines.insert(number % (len(lines) + 1), line)
    try:
        changed = edited_plan(planned.plan, "\n".join(lines), source_text=planned.text, max_chars=80)
    except BadSource:  # all of it was deleted, or a part has nothing to speak
        return
    check_sums(planned, changed)
    before = {one.spoken: (one.voice, one.language, one.seed, one.pause_s) for one in planned.plan.segments}
    count = Counter(one.spoken for one in (*planned.plan.segments, *changed.segments))
    for one in changed.segments:
        if one.spoken in before and count[one.spoken] == 2:  # of lines that are the same nobody can tell which stayed
            assert (one.voice, one.language, one.seed, one.pause_s) == before[one.spoken]
