"""Marks of notes in plain brackets, in Markdown, HTML and EPUB."""

import pytest

from jobs.account import Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.helpers_account import check_account
from tests.helpers_reading import planned_of


@pytest.mark.parametrize("name", ["a.md", "a.html"])
@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("He won.[15] She lost.[2][3]", ["He won.", "She lost."]),
        ("“Go,”[8] he said.", ["“Go,” he said."]),
        ("He left,[4] and she stayed.[a]", ["He left, and she stayed."]),
        ("So it is said.[*] And so it was.", ["So it is said.", "And so it was."]),
        ("Lund et al. [2004] showed it.", None),
        ("The value args[1] is text, and so is [12] here.", None),
    ],
)
def test_a_mark_right_after_a_sentence_or_clause_is_not_spoken(name, written, spoken):
    planned = planned_of(written, name)
    check_account(planned)
    labels = [passage.was for passage in planned.plan.account.skipped if passage.why is Why.NOTE_MARKS]
    if spoken is None:
        assert labels == []
    else:
        assert [sentence.spoken for sentence in planned.sentences] == spoken
        assert labels != []


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("He won.<sup>1</sup> She lost.", "He won. She lost."),
        ("“Go,”<sup>12</sup> he said,<sup>3</sup> and went.", "“Go,” he said, and went."),
        ("It is 10<sup>2</sup> or 5 m<sup>2</sup>.", "It is 10² or 5 m²."),
        ("On the 20<sup>th</sup> and in H<sub>2</sub>O.", "On the 20th and in H2O."),
        ("It costs 3.<sup>50</sup> there.", "It costs 3.50 there."),
    ],
)
def test_raised_numbers_of_markdown(written, read):
    planned = planned_of(written, "a.md")
    check_account(planned)
    assert " ".join(sentence.text for sentence in planned.sentences) == read


def test_marks_that_are_kept_are_spoken():
    options = PlanOptions(reading=ReadingOptions(skip=frozenset()))
    (first, *_) = planned_of("He won.[15] She lost.", "a.md", options=options).sentences
    assert "fifteen" in first.spoken
