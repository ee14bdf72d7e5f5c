"""Sentences of many languages and scripts, with the punctuation of their books.

`sentences.tsv` has a language, what stands between sentences, and the sentences with `|` between them.
"""

import csv
from pathlib import Path

import pytest

from tests.helpers_account import check_account
from tests.helpers_reading import planned_of

_FILE = Path(__file__).parents[2] / "data" / "held_out" / "sentences.tsv"
_JOINTS = {"space": " ", "nothing": ""}


def _rows():
    with _FILE.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(reader)
        return [(language, _JOINTS[joint], sentences.split("|")) for language, joint, sentences in reader]


@pytest.mark.parametrize(("language", "joint", "sentences"), _rows())
def test_sentences_of_many_languages(language, joint, sentences):
    planned = planned_of(joint.join(sentences), language=language)
    check_account(planned)
    assert [sentence.text.strip() for sentence in planned.sentences] == sentences
    assert {sentence.language for sentence in planned.sentences} == {language}


@pytest.mark.parametrize(
    ("written", "languages"),
    [
        ("Er kam an.\n\n他来了。\n\nОн пришёл.", ["de", "zh", "ru"]),
        ("He read 東京 and да aloud.\n\nمرحبا بكم.\n\nשלום לכם.", ["de", "ar", "he"]),
        ("สวัสดีครับผมชื่อสมชาย\n\n彼は来た。\n\n그는 왔다.", ["th", "ja", "ko"]),
    ],
)
def test_a_paragraph_is_in_the_language_of_its_script(written, languages):
    planned = planned_of(written, language="de")
    check_account(planned)
    assert [sentence.language for sentence in planned.sentences] == languages


@pytest.mark.parametrize("language", ["th", "zh", "ja", "ar"])
def test_text_without_spaces_or_marks_is_cut_and_kept_whole(language):
    text = {
        "th": "ผมไปตลาดกับเพื่อน",
        "zh": "他走到河边去看船",
        "ja": "川へ行って船を見た",
        "ar": "ذهبت إلى السوق مع صديقي ",
    }
    written = (text[language] * 30).strip()
    planned = planned_of(written, language=language, max_chars=100)
    check_account(planned)
    assert "".join("".join(segment.spoken.split()) for segment in planned.plan.segments) == "".join(written.split())
    assert all(len(segment.spoken) <= 100 for segment in planned.plan.segments)
