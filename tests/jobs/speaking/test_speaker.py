"""All rules together: what they claim, what never reaches a voice, and that plain text is left alone."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.account import Why
from jobs.speaking.lexicon import Lexicon
from jobs.speaking.speaker import Speaker, SpeakingOptions
from tests.helpers_speaking import spoken_text

PIECES = st.sampled_from(
    [
        *(
            "Dr.",
            "St.",
            "U.S.",
            "e.g.",
            "No. 9",
            "BBC",
            "STOP",
            "A",
            "I'M",
            "McX",
            "J.",
            "etc.",
            "p. 4ff.",
            "&",
            "@",
            "#x",
        ),
        *(
            "https://a.org/b_c?x=1",
            "a@b.org",
            "C:\\x\\y",
            "/usr/bin",
            "x.txt",
            "end.Then",
            "😀",
            "1️⃣",
            "<3",
            ":)",
            "⟦a⟧",
        ),
        *(
            "|",
            "`",
            "_",
            "a_b",
            "x|y",
            "...",
            "?!?!",
            " , ",
            "(!!!)",
            "—",
            "--",
            "ﬁ",
            "ＡＢ",
            "e\u0301",
            "x²",
            "5%",
            "[[",
            "]]",
        ),
        *("word", "and", "The", "é", "你好", "\u200d", "10", "-5", "://", "\\", "^", "~", "{", "}"),
    ]
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["", " ", " "])), max_size=14).map(
    lambda pairs: " ".join("".join(piece + gap for piece, gap in pairs).split())
)
NEVER = re.compile("://|[|`_⟦⟧]|[\U0001f300-\U0001faff]")


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(["en", "en-GB", "de"]), st.booleans())
def test_replacements_are_in_bounds_sorted_and_disjoint_and_clean(text, language, heading):
    found = Speaker().replacements(text, language, heading=heading)
    ends = [0, *(one.end for one in found)]
    assert all(end <= one.start < one.end <= len(text) for end, one in zip(ends, found, strict=False))
    spoken = spoken_text(text, found)
    if "[[" not in text:
        assert NEVER.search(spoken) is None


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["the", "old", "harbour", "lay", "quiet", "under", "a", "sky"]),
        min_size=1,
    )
)
def test_plain_text_is_left_alone(words):
    text = " ".join(words).capitalize() + "."
    assert Speaker().replacements(text, "en") == []


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_every_plain_word_is_still_spoken(text):
    spoken = spoken_text(text, Speaker().replacements(text, "en"))
    assert spoken.count("word") >= len(re.findall(r"(?<!\S)word(?!\S)", text))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Hale & Co. of Leeds.", "Hale and Company of Leeds."),
        ("He left the U.S. :-)", "He left the U S."),
        ("THE REV. DR. KING SAID NO.", "The Reverend Doctor King said no."),
        ("CO2 and the R&D team", "C O two and the R and D team"),
        ("“STOP!!!” SHE CRIED 😀.", "“Stop!” She cried."),
    ],
)
def test_rules_work_together(text, spoken):
    assert spoken_text(text, Speaker().replacements(text, "en")).rstrip() == spoken


def test_the_lexicon_goes_before_all_rules():
    lexicon = Lexicon.parse("BBC\tthe Beeb\nDr. Who\tthe doctor\nexample.org\tour site", "w")
    speaker = Speaker(SpeakingOptions(lexicon=lexicon))
    text = "BBC, Dr. Who, example.org"
    assert spoken_text(text, speaker.replacements(text, "en")) == "the Beeb, the doctor, our site"


@pytest.mark.parametrize(
    ("text", "table", "spoken"),
    [
        ("ran 5mm.", "re:(\\d+)mm\t\\1 millimetres", "ran five millimetres."),
        ("ran 1,200mm!", "re:([\\d,]+)mm\t\\1 millimetres", "ran one thousand two hundred millimetres!"),
        ("on 3bn", "re:(\\d)bn\t$\\1 billion", "on three billion dollars"),
        ("the Mk2", "Mk2\tMark 2", "the Mark two"),
        ("see X and y", "X\t½ of y", "see one half of y and y"),
        ("X", "X\tDr. STOP IV & FBI", "Dr. STOP IV & FBI"),
        ("X", "X\tU S 5 & FBI", "U S five & FBI"),
        ("X", "X\t[[1]] 5", "[[1]] five"),
        ("the word", "word\t/wɜːd/", "the ⟦wɜːd⟧"),
        ("the five", "five\t5\n5\tfive", "the five"),
    ],
)
def test_numbers_of_a_lexicon_are_spoken_as_words_and_the_rest_as_typed(text, table, spoken):
    speaker = Speaker(SpeakingOptions(lexicon=Lexicon.parse(table, "w")))
    found = speaker.replacements(text, "en")
    assert spoken_text(text, found) == spoken
    assert all(one.why is Why.LEXICON for one in found)


def test_a_language_without_rules_is_told_once():
    speaker = Speaker()
    speaker.replacements("Guten Tag!!", "de-DE")
    speaker.replacements("Guten Tag!!", "de-AT")
    assert [warning for warning in speaker.warnings if "de" in warning] == list(speaker.warnings)
    assert len(speaker.warnings) == 1
