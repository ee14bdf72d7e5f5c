"""Roman numerals in English, as a voice is given them."""

from __future__ import annotations

import pytest

from jobs.speaking.english.roman import roman_value
from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


SENTENCES = {
    "I, II, III.": "one, two, three.",
    "I, II, and IV": "one, two, and four",
    "I, A, II": "I, A, II",
    "I, I, I": "I, I, I",
    "World War II": "World War two",
    "World War I": "World War one",
    "WWII": "World War Two",
    "Chapter IV": "Chapter four",
    "Chapter I": "Chapter one",
    "Chapter L": "Chapter fifty",
    "Act III, Scene ii": "Act three, Scene two",
    "Vol. II": "Volume two",
    "Part I": "Part one",
    "Part II": "Part two",
    "Book IX": "Book nine",
    "Section IV": "Section four",
    "page xii": "page twelve",
    "p. xiv": "page fourteen",
    "Acts I and II": "Acts one and two",
    "Chapters IV–VI": "Chapters four to six",
    "Type II": "Type two",
    "Henry VIII": "Henry the eighth",
    "Louis XIV.": "Louis the fourteenth.",
    "Pope John Paul II": "Pope John Paul the second",
    "Elizabeth II's crown": "Elizabeth the second's crown",
    "George V": "George the fifth",
    "King Edward VII": "King Edward the seventh",
    "Henry I": "Henry the first",
    "HENRY VIII": "Henry the eighth",
    "Napoleon III": "Napoleon the third",
    "Queen Margrethe II": "Queen Margrethe the second",
    "XIV century": "fourteenth century",
    "the XIXth century": "the nineteenth century",
    "XVIII and XIX centuries": "eighteenth and nineteenth centuries",
    "Rocky II": "Rocky two",
    "Final Fantasy VII": "Final Fantasy seven",
    "Super Bowl XLIV": "Super Bowl forty-four",
    "Apollo XI": "Apollo eleven",
    "Ⅳ": "four",
    "Louis Ⅳ": "Louis the fourth",
    "Ⅻ": "twelve",
    "IV": "four",
    "Malcolm X": "Malcolm X",
    "Vitamin C": "Vitamin C",
    "Plan I": "Plan I",
    "Class C": "Class C",
    "Appendix C": "Appendix C",
    "The part I like": "The part I like",
    "I saw LIV.": "I saw LIV.",
    "VI the editor": "VI the editor",
    "the VI editor": "the VI editor",
    "the IV drip": "the I V drip",
    "Start IV fluids": "Start I V fluids",
    "James I am": "James I am",
    "To James I said no.": "To James I said no.",
    "Charles V. Smith": "Charles V Smith",
    "I did it": "I did it",
    "Ind. and Ist": "Ind. and Ist",
    "the Xth and the IInd": "the tenth and the second",
    "Mary I always loved.": "Mary I always loved.",
    "Elizabeth I trusted.": "Elizabeth I trusted.",
    "Charles I lost his head.": "Charles the first lost his head.",
    "Elizabeth I was crowned.": "Elizabeth the first was crowned.",
    "Book I bought was red.": "Book I bought was red.",
    "Chapter I was reading": "Chapter I was reading",
    "Book I ends here.": "Book one ends here.",
    "World War I killed him.": "World War one killed him.",
    "mm": "mm",
    "dim lights": "dim lights",
}
HEADINGS = {
    "II": "two",
    "IV.": "four.",
    "I": "one",
    "XIV": "fourteen",
    "I: Loomings": "one: Loomings",
    "X. The Road": "ten. The Road",
    "II — The Road": "two — The Road",
    "I Am Legend": "I Am Legend",
    "ii": "two",
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text):
    assert said(text) == SENTENCES[text]


@pytest.mark.parametrize("text", HEADINGS)
def test_headings(text):
    assert said(text, heading=True) == HEADINGS[text]


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("I", 1), ("IV", 4), ("XIX", 19), ("XL", 40), ("XCIX", 99), ("CD", 400), ("MIX", 1009), ("MMXXIV", 2024)],
)
def test_value(numeral, value):
    assert roman_value(numeral) == value


@pytest.mark.parametrize("word", ["", "IIII", "VX", "IC", "DIM", "CIVIL", "LIVID", "XD", "iv"])
def test_what_is_no_numeral_has_no_value(word):
    assert roman_value(word) is None
