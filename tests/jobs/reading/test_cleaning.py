"""What of a text is clean, and where it was."""

import pytest

from jobs.reading.cleaning import clean, speakable

REMOVED = [
    *("\u00ad", "\u034f", "\u061c", "\u180e", "\u200b", "\u200e", "\u200f", "\u202a", "\u202e", "\u2060", "\u2063"),
    *("\u2066", "\u2069", "\u206f", "\ufe00", "\ufe0e", "\ufeff", "\ufff9", "\ufffb", "\U000e0001", "\U000e0067"),
    *("\U000e0100", "\ue000", "\uf8ff", "\U000f0001", "\U0010fffd", "\ufdd0", "\ufffe", "\uffff", "\U0001ffff"),
    *("\u200c", "\u200d", "\u200b\u00ad", "\u2060\u200d\ufeff"),
]
BLANKS = [
    *("\t", "\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u00a0", "\u1680", "\u2000", "\u2009", "\u200a"),
    *("\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\x00", "\x07", "\x1b", "\x7f", "\x80", "\x9f"),
    *("\ufffc", "\ufffd", "\ud800", "\udfff", "  ", " \n ", "\u200b ", " \u200b", "\n\u00ad\n"),
]
KEPT = [
    "می\u200cخواهم",
    "क्\u200dष",
    "क्\u200cष",
    "👩\u200d🚀",
    "❤\ufe0f\u200d🔥",
    "👩🏽\u200d🚀",
    "🏳\ufe0f\u200d🌈",
    "1\ufe0f\u20e3",
    "e\u0301",
    "well-known",
    "well\u2011known",
    "don’t",
    "Ⅳ ﬁ ｆ",
    "a b",
]


@pytest.mark.parametrize("sign", REMOVED)
def test_what_shows_nothing_does_not_split_a_word(sign):
    text, offsets = clean(f"emo{sign}tional")
    assert text == "emotional"
    assert list(offsets) == [0, 1, 2, *range(3 + len(sign), 9 + len(sign))]


@pytest.mark.parametrize("sign", BLANKS)
def test_blanks_are_one_space(sign):
    text, offsets = clean(f"{sign}one{sign}two{sign}")
    assert text == "one two"
    source = f"{sign}one{sign}two{sign}"
    assert [source[offset] for offset in offsets if source[offset].isalpha()] == list("onetwo")
    assert list(offsets) == sorted(offsets)


@pytest.mark.parametrize("text", KEPT)
def test_what_carries_meaning_stays(text):
    cleaned, offsets = clean(text)
    assert (cleaned, list(offsets)) == (text, list(range(len(text))))


def test_a_joiner_among_other_signs_is_found():
    text, offsets = clean("می\u00ad\u200cخواهم")
    assert text == "می\u200cخواهم"
    assert list(offsets) == [0, 1, 3, *range(4, 9)]


def test_offsets_of_offsets():
    text, offsets = clean("a\u00adb  c", [10, 11, 12, 20, 21, 22])
    assert (text, list(offsets)) == ("ab c", [10, 12, 20, 22])


def test_case_of_many_signs():
    source = "zero\u200bwidth and soft\u00adhyphen.\u200e A\x07B\u2028C\ufeff"
    assert clean(source)[0] == "zerowidth and softhyphen. A B C"


@pytest.mark.parametrize("text", ["", " ", "…", "“”", "\u200b", "—!", "* * *", "👩\u200d🚀"])
def test_nothing_to_speak(text):
    assert not speakable(text)


@pytest.mark.parametrize("text", ["a", "7", "雨", "ب", "Ⅳ", "…x…"])
def test_something_to_speak(text):
    assert speakable(text)
