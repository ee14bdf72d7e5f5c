"""Paragraphs of books, news, papers, recipes, wikis, chats and manuals: every sentence and what is spoken of it.

`speaking.tsv` has a paragraph and its spoken sentences, with `|` between them, on each line.
"""

import csv
import re
from pathlib import Path

import pytest

from jobs.account import Why
from tests.helpers_account import check_account, retold
from tests.helpers_reading import planned_of

_FILE = Path(__file__).parents[2] / "data" / "held_out" / "speaking.tsv"
_NEVER = re.compile(r"[0-9²³¹⁰⁴-⁹₀-₉½¼¾$£€&@%°×÷=<>|_\\`~^#♭♯‽]|://|  ")


def _rows():
    with _FILE.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(reader)
        return [tuple(row) for row in reader]


ROWS = _rows()


@pytest.mark.parametrize(("written", "spoken"), ROWS)
def test_sentences_and_what_is_spoken_of_them(written, spoken):
    planned = planned_of(written)
    check_account(planned)
    assert [sentence.spoken.strip() for sentence in planned.sentences] == spoken.split("|")
    assert "".join(retold(planned).split()) == "".join(spoken.replace("|", "").split())


def test_nothing_reaches_the_voice_that_it_cannot_say():
    said = [segment.spoken for written, _ in ROWS for segment in planned_of(written).plan.segments]
    assert [text for text in said if _NEVER.search(text)] == []


@pytest.mark.parametrize("max_chars", [40, 90])
def test_cut_short_every_paragraph_keeps_all_that_is_spoken(max_chars):
    for written, spoken in ROWS:
        segments = planned_of(written, max_chars=max_chars).plan.segments
        assert "".join("".join(segment.spoken.split()) for segment in segments) == "".join(
            spoken.replace("|", "").split()
        )
        assert all(len(segment.spoken) <= max_chars for segment in segments)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("No. I will not.", "I will not"),
        ("Tell US to go, he said.", "us"),
        ("We met in Part I read aloud.", "Part I read"),
        ("Give me 5 in a row, or 3 in all.", "in a row"),
        ("He sat. Sun shone. I may mar it.", "sat"),
        ("A civil mix. The MIX was odd.", "mix"),
    ],
)
def test_words_that_look_like_something_else_are_kept(written, kept):
    assert kept in " ".join(sentence.spoken for sentence in planned_of(written).sentences)


def test_a_mark_of_a_note_is_told_as_one():
    planned = planned_of("The word² was noted, and m² stays.")
    assert [(passage.was, passage.why) for passage in planned.plan.account.skipped] == [("²", Why.NOTE_MARKS)]
