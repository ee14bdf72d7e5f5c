"""Words of a text and of a transcript in one form, and how they are laid beside each other."""

from __future__ import annotations

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.checks.aligning import NEAR, Move, aligned, likeness
from jobs.checks.comparison import compare
from jobs.checks.words import WILD, heard_units, text_units, without_hallucination

WORDS = st.lists(st.sampled_from(["rain", "ferry", "twice", "would", "garden", "nobody"]), max_size=12)


@pytest.mark.parametrize(
    ("spoken", "transcript"),
    [
        ("Doctor Hargreaves paid forty-five dollars fifty.", "Dr. Hargreaves paid $45.50."),
        ("It was the twelfth of March eighteen eighty-four.", "it was the 12th of March, 1884"),
        ("At sixteen oh nine the nine forty-five left.", "At 1609, the 9:45 left."),
        ("By nineteen oh one he had one thousand nine hundred one men.", "By 1901 he had 1901 men."),
        ("About three thousand five hundred people, twelve percent more.", "About 3,500 people, 12% more."),
        ("Twelve per cent more.", "12% more."),
        ("A hundred and five men; two thousand and six horses.", "105 men, 2,006 horses."),
        ("Everyone saw every one.", "Every one saw everyone."),
        ("J R Whitcombe left at nine a m", "J.R. Whitcombe left at 9 am."),
        ("Colonel Reeve, D S O, rode in.", "Colonel Reeve, DSO, rode in."),
        ("I can't, they're gone; it’s O’Malley's.", "I can’t. They're gone, its O'Malley's."),
        ("A well-known half-brother, re-entered.", "A well known half brother reentered."),
        ("The café was naïve.", "the cafe was naive"),
        ("Okay, Missus Poole.", "OK, Mrs. Poole."),
        ("[[fault:click]] She waved.", "She waved. (applause) [music]"),
        ("Saint Bartholomew's", "St. Bartholomew's"),
    ],
)
def test_what_sounds_the_same_is_the_same(spoken: str, transcript: str) -> None:
    found = compare(spoken, transcript, "en-US")
    assert (found.errors, found.missing_end, found.added_end, found.repeated) == (0, 0, 0, 0)
    assert found.cost <= 0.05 * found.said  # only the boundaries of joined words


def test_british_and_american_spellings_cost_next_to_nothing() -> None:
    spoken = "The colour of the harbour was grey, and our neighbour's jewellery lay in the travelling case."
    found = compare(
        spoken, "The color of the harbor was gray and our neighbor's jewelry lay in the traveling case", "en-GB"
    )
    assert (found.other, found.missing, found.added) == (0, 0, 0)
    assert found.cost < 0.5


@pytest.mark.parametrize(
    ("language", "spoken", "transcript"),
    [
        ("en", "It was *really* good ***", "It was really good."),
        ("de", "Er sagte *** nichts.", "Er sagte nichts."),
        ("es", "Nació en 1984, creo.", "Nació en mil novecientos ochenta y, creo."),
        ("es", "Nació en 1984, creo.", "Nació en 1984, creo."),
        ("de", "Um 5.30 Uhr.", "Um fünf Uhr dreißig Uhr"),
        ("zh", "共有15人。", "共有十五人"),
        ("he", "שָׁלוֹם לְךָ", "שלום לך"),
        ("ar", "السَّلامُ عَلَيْكُمْ مُحَمَّـد", "السلام عليكم محمد"),
    ],
)
def test_what_a_transcript_cannot_hold_is_not_missed(language: str, spoken: str, transcript: str) -> None:
    """Stars, digits where no rules make words of them, vowel points."""
    found = compare(spoken, transcript, language)
    assert (found.errors, found.missing_end, found.added_end) == (0, 0, 0)
    assert found.cost < 0.25


def test_ipa_is_a_wild_card_of_one_word_or_some() -> None:
    spoken = "Then ⟦ˈdʒɔːdʒɪ⟧ left."
    for heard, missing in (("Then Georgie left.", 0), ("Then or do he left.", 0), ("Then left.", 1)):
        found = compare(spoken, heard, "en")
        assert (found.missing, found.other, found.near, found.added) == (missing, 0, 0, 0), heard
    assert text_units(spoken, "en") == ["then", WILD, "left"]


def test_without_speaking_rules_digits_fit_any_word_or_some() -> None:
    found = compare("Er zahlte fünfundzwanzig Mark und drei Pfennig.", "Er zahlte 25 Mark und 3 Pfennig.", "de")
    assert (found.errors, found.cost) == (0, 0.0)
    assert compare("Er zahlte fünf und zwanzig Mark.", "Er zahlte 25 Mark.", "de").errors == 0


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    found = compare("我昨天去了北京。", "我昨天去了北京", "zh-CN")
    assert (found.characters, found.said, found.errors) == (True, 7, 0)
    found = compare("我昨天去了北京。", "我昨天去了", "zh")
    assert (found.missing, found.missing_end) == (2, 2)
    assert compare("これはペンです", "これはペンです。", "ja").errors == 0
    assert compare("Il est là.", "Il est là", "fr").characters is False


def test_vowel_signs_and_syllables_belong_to_their_words() -> None:
    assert text_units("नमस्ते दुनिया।", "hi") == ["नमस्ते", "दुनिया"]
    assert len(text_units("나는 어제 학교에 갔다.", "ko")) == 4
    assert compare("나는 어제 학교에 갔다.", "나는 어제 학교에", "ko").missing == 1
    assert compare("Ärger mit Ölen", "arger mit Olen", "de").errors == 0


def test_what_is_made_up_in_the_silence_at_the_end_is_left_out() -> None:
    said = [("The", 0.0, 0.2), ("bridge.", 0.2, 0.6)]
    made_up = [("Thank", 0.6, 0.66), ("you", 0.66, 0.66), ("very", 0.66, 0.66), ("much.", 0.66, 0.66)]
    assert without_hallucination("The bridge. Thank you very much.", [*said, *made_up]) == "The bridge."
    really = [("Thank", 0.6, 0.8), ("you", 0.8, 0.9), ("very", 0.9, 1.2), ("much.", 1.2, 1.5)]
    assert without_hallucination("The bridge. Thank you very much.", [*said, *really]).endswith("very much.")
    assert without_hallucination("So did I.", [("So", 0, 0), ("did", 0.1, 0.2), ("I.", 0.3, 0.4)]) == "So did I."
    assert without_hallucination("", []) == ""


def test_a_star_in_a_transcript_is_no_wild_card() -> None:
    assert heard_units("one * two", "en") == [["one", "two"]]


@pytest.mark.parametrize(
    ("one", "other"), [("ferry", "fairy"), ("colour", "color"), ("vasquez", "vesques"), ("wrote", "rode"), ("x", "x")]
)
def test_words_that_sound_alike_are_near(one: str, other: str) -> None:
    assert NEAR <= likeness(one, other) <= 1
    assert likeness(one, other) == likeness(other, one)


@pytest.mark.parametrize(("one", "other"), [("the", "a"), ("waved", "on"), ("house", "nobody"), ("ferry", "table")])
def test_words_that_do_not_are_others(one: str, other: str) -> None:
    assert likeness(one, other) < NEAR


@given(WORDS, WORDS)
def test_without_sounds_the_differences_are_those_of_jiwer(said: list[str], heard: list[str]) -> None:
    steps = aligned(said, heard, sounds=False)
    assert sum(step.said for step in steps) == len(said)
    assert sum(step.heard for step in steps) == len(heard)
    cost = sum(step.cost for step in steps)
    if not said:
        assert cost == len(heard)
        return
    truth = jiwer.process_words(" ".join(said), " ".join(heard) or "", hypothesis_transform=jiwer.wer_default)
    assert cost == truth.substitutions + truth.deletions + truth.insertions


@given(WORDS, WORDS)
def test_sounds_only_ever_make_it_cheaper(said: list[str], heard: list[str]) -> None:
    def cost(sounds: bool) -> float:
        return sum(step.cost for step in aligned(said, heard, sounds=sounds))

    assert cost(True) <= cost(False) + 1e-9
    assert aligned(said, said, sounds=True) == aligned(said, said, sounds=False)


def test_a_missing_word_does_not_hide_in_its_neighbour() -> None:
    moves = [step.move for step in aligned(["nobody", "came", "in"], ["nobody", "came"], sounds=True)]
    assert moves == [Move.SAME, Move.SAME, Move.MISSING]
