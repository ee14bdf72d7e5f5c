"""How much there is to say in a text, and where it pauses; the misfit of pauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.checks.rhythm import PAUSE_MISFIT, misfit
from jobs.checks.units import SPELLED_UNITS, spoken_units


def test_english_prose_has_about_as_many_units_as_letters():
    text = "On the corner of Harrow Street there was a small shop with a green door"
    assert spoken_units(text).total == pytest.approx(sum(map(str.isalpha, text)), rel=0.1)


def test_marks_for_the_model_are_not_spoken():
    plain = spoken_units("It did not rain.")
    assert spoken_units("It did [[fault:truncate:p=0.5]] not rain.") == plain
    assert spoken_units("[[tone:low]] It did not rain. [[x:y]]") == plain


def test_phonemes_count_by_their_symbols():
    short, long = spoken_units("⟦kɑt⟧").total, spoken_units("⟦kɑtɑmɑɹæn⟧").total
    assert spoken_units("cat").total == pytest.approx(short, rel=0.2)
    assert long > 2 * short
    assert spoken_units("⟦ˈkɑːt⟧").total == short  # stress and length marks are no sounds


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("One two three.", 0),
        ("One, two, three.", 2),
        ('"Where is it?" asked she — and left… then; no: yes!', 5),
        ("Three point five is 3.5 and 1,000.", 0),
        ("one-hundred-and-one", 0),
        ("他来了。我走了，你呢？", 2),
        ("جاء الولد، ثم ذهب؟ نعم", 2),
        ("… Nothing.", 0),
    ],
)
def test_punctuation_between_words_asks_for_pauses(text, stops):
    assert spoken_units(text).stops == stops


def test_letters_said_by_name_take_longer():
    assert spoken_units("five p m").total - spoken_units("five").total == 2 * SPELLED_UNITS
    assert spoken_units("a").total < SPELLED_UNITS


@pytest.mark.parametrize("text", ["他们明天早上去海边。", "東京に行きます", "안녕하세요", "1994", "Raum 12"])
def test_scripts_and_digits_that_may_take_different_times_have_bounds(text):
    units = spoken_units(text)
    assert 0 < units.least < units.total < units.most


def test_the_same_in_words_has_no_bounds():
    units = spoken_units("nineteen ninety-four")
    assert units.least == units.most == pytest.approx(units.total)
    assert units.longest_word == pytest.approx(spoken_units("ninety").total + spoken_units("four").total)


def test_words_are_folded_and_wide_characters_stand_alone():
    assert spoken_units("The END, isn’t it?").words == ("the", "end", "isn’t", "it")
    assert spoken_units("他来了").words == ("他", "来", "了")


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_units_and_more_text_has_more(first, second):
    one, both = spoken_units(first), spoken_units(f"{first} {second}")
    assert one.total >= 0
    assert len(one.phrases) >= 1
    assert one.least <= one.total + 1e-9
    assert one.most >= one.total - 1e-9
    if "[[" not in f"{first}{second}" and "⟦" not in f"{first}{second}":
        assert both.total >= one.total - 1e-9


# ── rhythm ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_parts_in_the_shares_of_the_phrases_fit_at_any_rate():
    assert misfit([10, 20, 30], [1.0, 2.0, 3.0]) == pytest.approx(0, abs=1e-6)
    assert misfit([10, 20, 30], [0.5, 1.0, 1.5]) == pytest.approx(0, abs=1e-6)


def test_a_phrase_in_one_part_says_nothing():
    assert misfit([10], [7.0]) == pytest.approx(0, abs=1e-9)
    assert misfit([], []) == misfit([0.0], [1.0]) == misfit([5.0], []) == 0.0


def test_pauses_left_out_or_added_weigh_one_each():
    assert misfit([10, 20, 30], [3.0, 3.0]) == pytest.approx(PAUSE_MISFIT, abs=1e-6)
    assert misfit([10, 20, 30], [6.0]) == pytest.approx(2 * PAUSE_MISFIT, abs=1e-6)
    assert misfit([10, 20, 30], [1.0, 2.0, 1.5, 1.5]) == pytest.approx(PAUSE_MISFIT, abs=1e-6)


def test_pauses_in_other_places_weigh_more():
    assert misfit([10, 30], [3.0, 1.0]) > 2 * PAUSE_MISFIT
    assert misfit([10, 30], [1.1, 2.9]) < 1


@given(st.lists(st.floats(1, 60), min_size=1, max_size=12), st.lists(st.floats(0.05, 6), min_size=1, max_size=12))
def test_a_misfit_is_finite_and_never_negative(phrases, parts):
    assert 0 <= misfit(phrases, parts) < 1e6
