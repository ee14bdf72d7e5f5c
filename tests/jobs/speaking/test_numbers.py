"""English numbers, as a voice is given them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.account import Why
from jobs.speaking.letters import word_set
from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text

FOR_THE_MODEL = re.compile(r"\[\[[^\[\]]*\]\]")


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


AMERICAN = {
    "7": "seven",
    "0": "zero",
    "105": "one hundred five",
    "1,200": "one thousand two hundred",
    "1200": "one thousand two hundred",
    "12 000": "twelve thousand",
    "12 500": "twelve thousand five hundred",
    "1 234 567": "one million two hundred thirty-four thousand five hundred sixty-seven",
    "100 200 300": "one hundred two hundred three hundred",
    "1.000,50": "one thousand point five zero",
    "1.000.000": "one million",
    "12,34,567": "one million two hundred thirty-four thousand five hundred sixty-seven",
    "37,0": "thirty-seven point zero",
    "-5": "minus five",
    "−5": "minus five",
    "(−3)": "(minus three)",
    "from -5 to -10": "from minus five to minus ten",
    "10-20": "ten to twenty",
    "page-5": "page-five",
    "COVID-19": "COVID-nineteen",
    "F-16": "F-sixteen",
    "3.14": "three point one four",
    "0.5": "zero point five",
    ".5": "point five",
    "0.001": "zero point zero zero one",
    "2.0.1": "two point zero point one",
    "Version v1.12.3 fixes": "Version one point twelve point three fixes",
    "version v1.2": "version one point two",
    "v2.0.1": "version two point zero point one",
    "version 2.10.3": "version two point ten point three",
    "1.1.2": "one point one point two",
    "192.168.0.1": "one nine two dot one six eight dot zero dot one",
    "10.0.0.1:8080": "one zero dot zero dot zero dot one port eight zero eight zero",
    "10.0.0.0/24": "one zero dot zero dot zero dot zero slash twenty-four",
    "Python 3.11": "Python three point one one",
    "1st": "first",
    "2nd": "second",
    "3rd": "third",
    "21st": "twenty-first",
    "the 4th": "the fourth",
    "100th": "one hundredth",
    "1,000th": "one thousandth",
    "18th–19th": "eighteenth to nineteenth",
    "5th-century": "fifth-century",
    "18-year-old": "eighteen-year-old",
    "10-20 people": "ten to twenty people",
    "pp. 10–20": "pages ten to twenty",
    "10–20": "ten to twenty",
    "1.5–2.5": "one point five to two point five",
    "500-400 BC": "five hundred to four hundred B C",
    "Tel: 555 1234": "Tel: five five five, one two three four",
    "5/2021": "five slash two thousand twenty-one",
    "3-2": "three to two",
    "747-400": "seven hundred forty-seven four hundred",
    "1-2-3": "one, two, three",
    "4-4-2": "four, four, two",
    "555-1234": "five five five, one two three four",
    "+44 20 7946 0958": "plus four four, two zero, seven nine four six, zero nine five eight",
    "(555) 010-9999": "five five five, zero one zero, nine nine nine nine",
    "555-010-9999": "five five five, zero one zero, nine nine nine nine",
    "1-800-555-0199": "one, eight zero zero, five five five, zero one nine nine",
    "020 7946 0958": "zero two zero, seven nine four six, zero nine five eight",
    "500-1000 people": "five hundred to one thousand people",
    "123-45-6789": "one two three, four five, six seven eight nine",
    "978-3-16-148410-0": "nine seven eight, three, one six, one four eight four one zero, zero",
    "ISBN 9780306406157": "I S B N nine seven eight, zero three zero, six four zero, six one five seven",
    "4111 1111 1111 1111": "four one one one, one one one one, one one one one, one one one one",
    "12345678901234": "one two three, four five six, seven eight nine, zero one two, three four",
    "007": "zero zero seven",
    "1/2": "one half",
    "3/4": "three quarters",
    "1/3": "one third",
    "2/3": "two thirds",
    "7/8": "seven eighths",
    "5/6": "five sixths",
    "1/16th": "one sixteenth",
    "2 1/2": "two and a half",
    "1-1/2 cups": "one and a half cups",
    "½": "one half",
    "¾": "three quarters",
    "⅓": "one third",
    "2½": "two and a half",
    "½-inch": "one half-inch",
    "24/7": "twenty-four seven",
    "9/11": "nine eleven",
    "4/5 stars": "four out of five stars",
    "120/80": "one hundred twenty over eighty",
    "3 × 4": "three times four",
    "3x4": "three by four",
    "2x": "two times",
    "1.5x": "one point five times",
    "10²": "ten squared",
    "x³": "x cubed",
    "10^6": "ten to the power of six",
    "10⁻³": "ten to the power of minus three",
    "E = mc²": "E equals mc squared",
    "1.5e-3": "one point five times ten to the power of minus three",
    "2 + 2 = 4": "two plus two equals four",
    "5 - 3 = 2": "five minus three equals two",
    "5 − 3": "five minus three",
    "6 ÷ 2": "six divided by two",
    "10 / 2 = 5": "ten divided by two equals five",
    "~5": "about five",
    "±3": "plus or minus three",
    "100+ people": "one hundred plus people",
    "#1": "number one",
    "#5": "number five",
    "No. 9": "Number nine",
    "A4": "A four",
    "B12": "B twelve",
    "R2-D2": "R two-D two",
    "4K": "four K",
    "3D": "three D",
    "1080p": "ten eighty p",
    "10k": "ten k",
    "GPT-3.5": "G P T-three point five",
    "Qwen2.5": "Qwen two point five",
    "H2O": "H two O",
    "H₂O": "H two O",
    "x86": "x eighty-six",
    "1er": "one er",
    "747s": "seven hundred forty-sevens",
    "the 1s and 0s": "the ones and zeros",
    "9-to-5": "nine-to-five",
    "１２": "twelve",
    "٣": "three",
    "⑫": "twelve",
    "①": "one",
    "1,2,3": "one, two, three",
    "[1,2]": "[one, two]",
    "1 2 3": "one two three",
    "1,234,567.89": "one million two hundred thirty-four thousand five hundred sixty-seven point eight nine",
    "1,000,000,000,000": "one trillion",
    "1,000,000,000,000,000": "one zero zero, zero zero zero, zero zero zero, zero zero zero, zero zero zero zero",
    "3.14.": "three point one four.",
    "[[1 2 3]] and 4": "[[1 2 3]] and four",
    "[[k1]]": "[[k1]]",
}
BRITISH = {
    "105": "one hundred and five",
    "1,105": "one thousand one hundred and five",
    "2105 of them": "two thousand one hundred and five of them",
    "101st": "one hundred and first",
    "100,001": "one hundred thousand and one",
}


@pytest.mark.parametrize("text", AMERICAN)
def test_american(text):
    assert said(text) == AMERICAN[text]


@pytest.mark.parametrize("text", BRITISH)
def test_british(text):
    assert said(text, "en-GB") == BRITISH[text]


PIECES = sorted(
    word_set("""
0 1 5 12 007 1905 1,200 3.14 .5 1.000,50 12345678901 1/2 3/4/2021 2024-05-06 9:05 192.168.0.1 555-1234 +44
$ £ € ¥ % ‰ ° °C m km km/h m² ft in. lb GB bn million k s d st th a.m. p.m. pm March May Jan. 5'10" AD BC
- – − — / : . , ; ' " ’ ‘ ( ) × x + = ² ⁻³ ^ # ~ ± ½ ⅓ Ⅳ Ⅻ ① ⑫ ٣ １ ५ H₂O
the in of from since Room Chapter page No. Henry II VIII I IV XIV century cats word COVID A B John [[k1]]
""")
)
MIXTURES = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])), max_size=10).map(
    lambda pieces: "".join(piece + gap for piece, gap in pieces).strip()
)


@given(st.one_of(MIXTURES, st.text(max_size=40)), st.sampled_from(["en", "en-GB"]), st.booleans())
@settings(max_examples=400, deadline=None)
def test_no_digit_reaches_a_voice_and_nothing_else_is_touched(text, language, heading):
    replacements = Speaker().replacements(text, language, heading=heading)
    end = 0
    for one in replacements:
        assert end <= one.start < one.end <= len(text)
        end = one.end
    spoken = FOR_THE_MODEL.sub("", spoken_text(text, replacements))
    assert not any(char in "0123456789" for char in spoken)
    assert FOR_THE_MODEL.findall(spoken_text(text, replacements)) == FOR_THE_MODEL.findall(text)


WORDS = st.lists(st.sampled_from(sorted(word_set("the boats go by until evening and nobody came"))), min_size=1)


@given(WORDS, st.sampled_from(["7", "$5", "5 km", "in 1884", "9:05", "#3", "1/2"]), WORDS)
@settings(max_examples=100, deadline=None)
def test_words_beside_a_number_stay_as_they_are(before, number, after):
    text = f"{' '.join(before)}, {number}, {' '.join(after)}."
    spoken = said(text)
    assert spoken.startswith(f"{' '.join(before)}, ")
    assert spoken.endswith(f", {' '.join(after)}.")


@pytest.mark.parametrize(
    "text", ["1" * 5000, "1," * 2000, "1-" * 2000, "1.1/" * 1000, "+1 1 1" * 500, "$" * 3000 + "1", "in 1905, " * 500]
)
def test_hostile_runs_are_read_whole(text):
    assert not any(char.isdigit() for char in said(text))


@pytest.mark.parametrize("text", ["- Me.", "- Who is it? - Me.", "page-five", "He paused - then ran."])
def test_a_dash_is_no_minus(text):
    assert "minus" not in said(text)


def test_a_sentence_without_a_number_gets_no_replacement():
    assert Speaker().replacements("The boats went by until evening, and nobody came.", "en-US") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("7 cats", Why.NUMBER),
        ("the 4th", Why.ORDINAL),
        ("in 1884", Why.YEAR),
        ("12 March", Why.DATE),
        ("at 9:05", Why.TIME),
        ("$5", Why.MONEY),
        ("5 km", Why.UNIT),
        ("1/2", Why.FRACTION),
        ("10–20", Why.RANGE),
        ("Chapter IV", Why.ROMAN),
    ],
)
def test_the_account_says_why(text, why):
    assert [one.why for one in Speaker().replacements(text, "en")] == [why]
