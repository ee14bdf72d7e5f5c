"""Where sentences begin in the segments of a plan, also after it was edited by hand."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jobs.edit import edited_plan, plan_text
from jobs.errors import BadSource
from jobs.marks.times import stretches_of
from jobs.plan import Plan
from tests.helpers_reading import plan_of, planned_of
from tests.jobs.reading.test_properties import PROSE


def pieces_of(plan):
    """(begins, written, spoken) of each stretch of a plan."""
    return [
        (
            one.begins,
            segment.text[one.text_start : one.text_end].strip(),
            segment.spoken[one.spoken_start : one.spoken_end].strip(),
        )
        for segment in plan.segments
        for one in stretches_of(segment)
    ]


def test_one_sentence_a_segment_needs_no_marks():
    plan = plan_of("One is here. Two is here.\n\n# Three.")
    assert {(segment.sentences, segment.continues) for segment in plan.segments} == {((), False)}


def test_sentences_that_share_a_segment_are_marked_in_both_texts():
    plan = plan_of("Dr. Lee has 2. She left. Who knew?", pack_chars=100)
    (segment,) = plan.segments
    assert segment.spoken == "Doctor Lee has two. She left. Who knew?"
    assert pieces_of(plan) == [
        (True, "Dr. Lee has 2.", "Doctor Lee has two."),
        (True, "She left.", "She left."),
        (True, "Who knew?", "Who knew?"),
    ]


def test_a_long_sentence_goes_on_in_the_next_segment():
    plan = plan_of("One two three four five, six seven eight nine ten. Eleven. Twelve.", max_chars=30, pack_chars=30)
    assert pieces_of(plan) == [
        (True, "One two three four five,", "One two three four five,"),
        (False, "six seven eight nine ten.", "six seven eight nine ten."),
        (True, "Eleven.", "Eleven."),
        (True, "Twelve.", "Twelve."),
    ]
    assert [(segment.continues, len(segment.sentences)) for segment in plan.segments] == [
        (False, 0),
        (True, 0),
        (False, 2),
    ]


def test_a_segment_may_end_one_sentence_and_begin_another():
    plan = plan_of("One two three four five six seven eight. Nine.", max_chars=30, pack_chars=30)
    first, second = plan.segments
    assert (first.sentences, first.continues, second.continues) == ((), False, True)
    assert [mark.text_start for mark in second.sentences] == [second.text.index("Nine")]
    assert [begins for begins, _, _ in pieces_of(plan)] == [True, False, True]


@settings(max_examples=300, deadline=None)
@given(PROSE, st.integers(8, 60), st.integers(0, 60))
def test_the_stretches_of_a_plan_are_its_sentences(text, max_chars, pack_chars):
    try:
        planned = planned_of(text, max_chars=max_chars, pack_chars=pack_chars)
    except BadSource:
        assume(False)
    sentences: list[str] = []
    written: list[str] = []
    for begins, text_part, spoken_part in pieces_of(planned.plan):
        if begins:
            sentences.append("")
            written.append("")
        sentences[-1] += spoken_part
        written[-1] += text_part

    def letters(said):
        return "".join(char for char in said if char.isalnum())

    assert [letters(one) for one in sentences] == [letters(one.spoken) for one in planned.sentences]
    if not (planned.plan.account.replaced or planned.plan.account.skipped):
        assert [letters(one) for one in written] == [letters(one.text) for one in planned.sentences]


# ── after an edit ───────────────────────────────────────────────────────────────────────────────────────────────────
LONG = "One two three four five, six seven eight nine ten. Eleven.\n\nTwelve is here. So is thirteen.\n"


def edit(old: str, new: str) -> Plan:
    plan = plan_of(LONG, max_chars=30, pack_chars=30)
    text = plan_text(plan)
    assert old in text
    return edited_plan(plan, text.replace(old, new), source_text=LONG, max_chars=60)


def test_a_plan_that_was_not_changed_keeps_its_sentences():
    plan = plan_of(LONG, max_chars=30, pack_chars=30)
    assert edit("Eleven", "Eleven") == plan
    assert any(segment.continues for segment in plan.segments)


def test_a_line_that_was_written_anew_has_the_sentences_that_it_shows():
    plan = edit("Eleven.", "He left. She stayed.")
    (changed,) = (segment for segment in plan.segments if "He left." in segment.spoken)
    assert [changed.text[one.text_start : one.text_end].strip() for one in stretches_of(changed)] == [
        "He left.",
        "She stayed.",
    ]
    plan = edit("Eleven.", "He left.")
    assert plan.segments[2].sentences == ()


def test_what_went_on_with_a_line_that_is_gone_begins_a_sentence():
    plan = edit("One two three four five,\n", "")
    assert (plan.segments[0].spoken, plan.segments[0].continues) == ("six seven eight nine ten.", False)
    plan = edit("One two three four five,\n", "One two three four five,\n\n")
    assert plan.segments[1].continues is False
