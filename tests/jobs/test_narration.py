"""What is spoken of one paragraph: where its sentences are, also in a very long one."""

from __future__ import annotations

import sys

import pytest

from jobs.narration import Limits, Narration, narrate
from jobs.plan import SentenceMark
from jobs.reading.document import Paragraph, ParagraphKind
from jobs.speaking.speaker import DEFAULT_SPEAKING, Speaker


def narration_of(text: str) -> Narration:
    paragraph = Paragraph(ParagraphKind.BODY, text, range(len(text)))
    return narrate(paragraph, language="en-US", speaker=Speaker(DEFAULT_SPEAKING, frozenset()))


def calls_of_marks(sentences: int) -> int:
    """How many functions of C are called to find the sentences of all segments of a paragraph."""
    narration = narration_of(" ".join(f"He was here in the {number}." for number in range(sentences)))
    pieces = narration.pieces(Limits(max_chars=60, pack_chars=0))
    assert len(pieces) == sentences
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "c_call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for piece in pieces:
            narration.marks_of(piece.start, piece.end)
    finally:
        sys.setprofile(before)
    return calls


def test_sentences_of_a_book_without_paragraphs_are_not_looked_through_for_each_segment():
    assert calls_of_marks(400) < 2.5 * calls_of_marks(200)


@pytest.mark.parametrize(
    ("start", "end", "marks", "continues"),
    [
        (0, 9, (), False),
        (0, 18, ((0, 0), (9, 9)), False),
        (3, 18, ((6, 6),), True),
        (9, 14, (), False),
        (13, 18, (), True),
        (8, 25, ((0, 0), (10, 10)), False),
    ],
)
def test_marks_are_those_of_the_sentences_that_begin_in_a_stretch(start, end, marks, continues):
    narration = narration_of("He left. She came. Nobody saw.")
    expected = tuple(SentenceMark(text_start=text, spoken_start=spoken) for text, spoken in marks)
    assert narration.marks_of(start, end) == (expected, continues)
