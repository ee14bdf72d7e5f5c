"""English signs: said as words, or dropped with both neighbours kept."""

import pytest

from jobs.account import Why
from jobs.speaking.base import Context
from jobs.speaking.english import symbols
from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def found(text):
    (rule,) = symbols.RULES
    return list(rule(text, Context("en")))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Hale & Co, R&D", "Hale and Co, R and D"),
        ("one @ home, 1+1, C++, x = y", "one at home, 1 plus 1, C plus plus, x equals y"),
        (
            "x < y, 5 > 3, a >= b, a != b, -> x",
            "x less than y, 5 greater than 3, a is at least b, a is not equal to b, to x",
        ),
        ("3 × 4, 3×4, 5*3, 8 ÷ 2, ±5", "3 times 4, 3 times 4, 5 times 3, 8 divided by 2, plus or minus 5"),
        ("some %, 20 °, § 5, §§ 5, ¶ 3", "some percent, 20 degrees, section 5, sections 5, paragraph 3"),
        ("A → B", "A to B"),
        ("txt /really/ good, /so/.", "txt really good, so."),
        ("He stopped.then he ran in os.path.", "He stopped. then he ran in os dot path."),
        ("and/or, he/she, s/he, (s)he, red/blue", "and or, he or she, she or he, she or he, red blue"),
        ("~5 people, #tag, C#, F# minor", "about 5 people, hashtag tag, C sharp, F sharp minor"),
        ("x^2, π, α-particle", "x to the power of 2, pi, alpha-particle"),
    ],
)
def test_signs_with_words(text, spoken):
    replacements = found(text)
    assert all(one.why is Why.SYMBOL for one in replacements)
    assert spoken_text(text, replacements) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("x² and 10⁶, fell.² tower¹", "x squared and ten to the power of six, fell. tower"),
        ("He came home.³ She went,² too: “no.”⁴ So?¹", "He came home. She went, too: “no.” So?"),
        (
            "2ⁿ, xⁿ⁻¹, x⁻¹ and (a)²",
            "two to the power of n, x to the power of n minus one, x to the power of minus one and (a) squared",
        ),
        ("Ca²⁺ and ²³⁵U", "Ca two plus and two hundred thirty-five U"),
    ],
)
def test_raised_numbers_are_powers_or_marks_of_notes(text, spoken):
    replacements = Speaker().replacements(text, "en")
    assert spoken_text(text, replacements) == spoken
    assert {one.why for one in replacements if not one.now} <= {Why.NOTE_MARKS}


@pytest.mark.parametrize(
    "text", ["group)—and", "word--word", "well-known, plain text.", "“Quoted” (text)!", "Ωmega λόγος"]
)
def test_dashes_quotes_and_words_of_other_scripts_stay(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("snake_case and _emph_ __init__", "snake case and emph init"),
        ("*bold* `code` a|b \\foo", "bold code a b foo"),
        ("© Acme® Foo™ • item", "Acme Foo item"),
        ("done ==== here", "done here"),
    ],
)
def test_signs_of_notation_are_not_said(text, spoken):
    assert spoken_text(text, Speaker().replacements(text, "en")) == spoken
