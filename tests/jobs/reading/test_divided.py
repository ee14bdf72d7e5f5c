"""Words divided at line ends: by the text's own words, else by the list of its language."""

import pytest

from jobs.reading.text.divided import Words
from tests.helpers_account import check_account
from tests.helpers_reading import planned_of, read

ENGLISH = "The old man went down to the river and sat there until the evening came, for he had nothing else to do.\n"


def first(text: str) -> str:
    planned = planned_of(text)
    check_account(planned)
    return planned.sentences[-1].text


@pytest.mark.parametrize(
    ("divided", "whole"),
    [
        *(("re-\nduce", "reduce"), ("infor-\nmation", "information"), ("pub-\nlic", "public"), ("sys-\ntem", "system")),
        *(("mem-\nory", "memory"), ("be-\ntween", "between"), ("chil-\ndren", "children"), ("com-\nplete", "complete")),
        *(("quiet-\nly", "quietly"), ("re-\nturned", "returned"), ("un-\nder", "under"), ("to-\nday", "today")),
        *(("well-\nknown", "well-known"), ("one-\nsided", "one-sided"), ("red-\nhot", "red-hot")),
        *(("mother-\nin-law", "mother-in-law"), ("re-\nelect", "re-elect"), ("long-\nterm", "long-term")),
        *(("x-\nray", "x-ray"), ("Anglo-\nSaxon", "Anglo-Saxon"), ("French-\nCanadian", "French-Canadian")),
        *(("nega- tive", "negative"), ("capabili- ties", "capabilities"), ("sys- tems", "systems")),
        *(("pre- and post-war", "pre- and post-war"), ("two- or three-fold", "two- or three-fold")),
    ],
)
def test_a_divided_word_is_one_word_or_keeps_its_hyphen(divided, whole):
    assert first(f"{ENGLISH}\nHe said {divided} to them.") == f"He said {whole} to them."


def test_the_text_s_own_words_go_before_the_list():
    assert first(f"{ENGLISH} He was re-turned as he was.\n\nIt is re-\nturned.") == "It is re-turned."
    assert first(f"{ENGLISH} The wellknown man.\n\nIt is well-\nknown.") == "It is wellknown."


def test_other_languages_use_their_own_list_or_none():
    head = "Title: Der Fluss\nAuthor: Anna Weber\nLanguage: German\n\nDer alte Mann ging zum Fluss."
    german = f"{head}\n\nDie Bundes-\nregierung schwieg."
    assert first(german) == "Die Bundesregierung schwieg."
    french = "Il est allé à la maison avec son père et sa mère, mais personne ne savait pourquoi il était parti."
    assert first(f"{french}\n\nPeut-\nêtre.") == "Peut-être."


def test_a_list_is_for_texts_of_its_language():
    assert Words(frozenset(["the", "man", "went", "home", "with", "his", "wife"])).language == "en"
    assert Words(frozenset(["der", "mann", "ging", "nach", "hause", "zu", "seiner", "frau"])).language == ""
    assert Words(frozenset({"the"}), "fr-CA").language == "fr"
    assert Words(frozenset({"the"}), "ja").language == ""


def test_a_dropped_hyphen_is_in_the_account():
    document = read(f"{ENGLISH}\nThe infor-\nmation came.")
    assert [document.text[skip.start : skip.end] for skip in document.skipped] == ["-\n"]
