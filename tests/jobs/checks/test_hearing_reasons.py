"""What of a transcript speaks against a take: omission, addition, repetition, another text; not what is misheard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.checks.comparison import compare, hearing_reasons, scores_of
from jobs.verdict import Reason

TEXT = "The ferry left the harbour before the fog had lifted, and nobody on the pier waved."


def checks(spoken: str, transcript: str, language: str = "en-US") -> set[str]:
    return {reason.check for reason in hearing_reasons(compare(spoken, transcript, language))}


@pytest.mark.parametrize(
    ("spoken", "transcript"),
    [
        (TEXT, TEXT),
        (TEXT, "The fairy left the harbor before the fog had lifted and nobody on the pier waved."),
        (TEXT, "The ferry left harbor before the fog had lifted and nobody on the pier waved"),
        (
            "Between the library and the valley there was nothing but grass and stones.",
            "The point in the library in the valley there was nothing but grass and stones.",
        ),
        ("Gudrun Eriksson sold her boat to a man from Rome.", "Good Ruin Erickson sold her boat to a man from Rome."),
        ("Yes.", "Yes."),
        ("Yes.", "Yeah."),
        ("Who?", "Okay."),
        ("Not yet.", "Not it."),
        ("No, no, no, I told you.", "No, no, no, I told you."),
        ("Very, very good, very good indeed.", "Very very good very good indeed."),
    ],
)
def test_what_a_recogniser_mishears_is_no_reason(spoken: str, transcript: str) -> None:
    assert checks(spoken, transcript) == set()


@pytest.mark.parametrize(
    ("transcript", "expected"),
    [
        ("The ferry left the harbour before the fog had lifted.", {"heard_missing", "heard_end", "heard_unlike"}),
        ("The ferry left the harbour before the fog had lifted, and nobody on the pier.", {"heard_end"}),
        ("The ferry left the harbour, and nobody on the pier waved.", {"heard_missing", "heard_unlike"}),
        (f"{TEXT} {TEXT}", {"heard_added", "heard_repeated", "heard_unlike"}),
        (TEXT.replace("the fog", "the fog before the fog"), {"heard_added", "heard_repeated"}),
        (f"{TEXT} Thank you for watching.", {"heard_added", "heard_tail"}),
        (f"{TEXT} Indeed.", {"heard_tail"}),
        ("She put a silver watch on the counter and waited for her grandmother to come.", {"heard_unlike"}),
        ("", {"heard_nothing"}),
    ],
)
def test_what_a_voice_does_wrong_is_a_reason(transcript: str, expected: set[str]) -> None:
    found = checks(TEXT, transcript)
    assert expected <= found, found


@pytest.mark.parametrize("spoken", ["Yes.", "Not yet.", "I will not."])
def test_short_texts_are_bad_only_if_nothing_of_them_is_there(spoken: str) -> None:
    assert checks(spoken, spoken) == set()
    assert checks(spoken, "She put a silver watch on the counter.")
    assert checks(spoken, f"{spoken} {spoken}"), "said twice"


def test_nothing_heard_is_always_a_reason() -> None:
    (reason,) = hearing_reasons(compare("Yes.", "", "en"))
    assert (reason.check, reason.text) == ("heard_nothing", "nothing was heard")
    assert hearing_reasons(compare("", "", "en")) == ()
    assert hearing_reasons(compare("我昨天去了北京。", "", "zh"))


def test_another_language_is_a_reason_when_the_recogniser_is_sure() -> None:
    found = compare(TEXT, TEXT, "en-US")
    assert hearing_reasons(found, language="en", guess=("en", 0.99)) == ()
    assert hearing_reasons(found, language="en", guess=("de", 0.6)) == ()
    (reason,) = hearing_reasons(found, language="en", guess=("de", 0.9))
    assert reason.check == "heard_language"
    assert "de, not en" in reason.text
    assert scores_of(found, ("de", 0.9))["language_probability"] == 0.9
    assert "language_probability" not in scores_of(found)


def test_long_texts_may_have_more_that_was_misheard() -> None:
    words = " ".join(f"{TEXT[:-1]}, {number}" for number in ("once", "again", "later"))
    assert len(words.split()) > 48
    less = words.replace("harbour", "", 1).replace("lifted,", "", 1)
    assert checks(words, less) == set()
    assert "heard_missing" in checks(words, less.replace("nobody", "", 1).replace("left", "", 1))


def test_reasons_say_score_limit_and_what_was_heard() -> None:
    reasons = hearing_reasons(compare(TEXT, "The ferry left the harbour before the fog had lifted.", "en"))
    assert all(isinstance(reason, Reason) and reason.score >= reason.limit for reason in reasons)
    assert "not heard at the end of the text: 6 words" in "; ".join(reason.text for reason in reasons)


@given(st.integers(0, 13), st.integers(2, 6))
def test_any_stretch_of_two_words_and_more_that_is_left_out_is_a_reason(start: int, length: int) -> None:
    words = TEXT.split()
    assert checks(TEXT, " ".join(words[:start] + words[start + length :]))


@given(st.integers(0, 12), st.integers(3, 6))
def test_any_stretch_of_three_words_and_more_that_is_said_twice_is_a_reason(start: int, length: int) -> None:
    words = TEXT.split()
    assert checks(TEXT, " ".join(words[: start + length] + words[start:]))


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["en-US", "en-GB", "de", "zh", "th", "ko"]))
def test_any_two_texts_can_be_compared(spoken: str, transcript: str, language: str) -> None:
    found = compare(spoken, transcript, language)
    assert found.cost >= 0
    assert found.same + found.near + found.other <= max(found.said, found.heard)
    assert all(value >= 0 for value in scores_of(found).values())
