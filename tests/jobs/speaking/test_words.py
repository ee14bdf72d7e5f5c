"""English number words against inflect, which is the reference here (and takes too long to import for a command)."""

from __future__ import annotations

import inflect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.speaking.english.words import MOST_DIGITS, cardinal, locale_of, ordinal

REFERENCE = inflect.engine()
NUMBERS = (
    st.integers(0, 10**MOST_DIGITS - 1) | st.integers(0, 2000) | st.integers(0, MOST_DIGITS - 1).map(lambda n: 10**n)
)


def said_by_reference(number: int, *, british: bool) -> str:
    words = REFERENCE.number_to_words(number, andword="and" if british else "", comma="")
    return " ".join(str(words).split())


@given(NUMBERS)
def test_american_cardinals_and_ordinals_are_those_of_the_reference(number):
    words = said_by_reference(number, british=False)
    assert cardinal(str(number), locale_of("en-US")) == words
    assert ordinal(str(number), locale_of("en-US")) == REFERENCE.ordinal(words)


@given(NUMBERS)
def test_british_cardinals_are_those_of_the_reference(number):
    assert cardinal(str(number), locale_of("en-GB")) == said_by_reference(number, british=True)


@pytest.mark.parametrize(
    ("number", "words"),
    [("105", "one hundred and five"), ("1005", "one thousand and five"), ("1105", "one thousand one hundred and five")],
)
def test_british_and(number, words):
    assert cardinal(number, locale_of("en-GB")) == words
