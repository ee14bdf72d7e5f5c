"""Where a sentence that is too long is cut."""

import pytest

from jobs.plan import Break
from jobs.reading.cutter import Piece, cut


def pieces(text, max_chars):
    found = cut(text, Piece(0, len(text), Break.SENTENCE), max_chars)
    return [(text[piece.start : piece.end].strip(), piece.after) for piece in found]


def test_a_sentence_that_fits_is_left_alone():
    assert pieces("It fits.", 8) == [("It fits.", Break.SENTENCE)]


def test_a_sentence_mark_goes_before_a_clause_mark_and_that_before_a_space():
    text = "“He came, and saw. She went, and then the rest of it followed them all.”"
    assert pieces(text, 45) == [
        ("“He came, and saw.", Break.SENTENCE),
        ("She went, and then the rest of", Break.NONE),
        ("it followed them all.”", Break.SENTENCE),
    ]
    assert pieces("one two three, four five six seven", 20)[0] == ("one two three,", Break.CLAUSE)


def test_the_last_cut_leaves_no_scrap():
    text = "word " * 21 + "end"
    found = pieces(text, 100)
    assert len(found) == 2
    assert min(len(piece) for piece, _ in found) > 40


def test_a_mark_near_the_start_is_passed_over():
    assert pieces("No, " + "word " * 30, 100)[0][0] != "No,"


@pytest.mark.parametrize("mark", [",", ";", ":", "،", "؛", ",”"])
def test_clause_marks_of_several_scripts(mark):
    assert pieces(f"aaaa bbbb cccc{mark} dddd eeee ffff gggg", 24)[0] == (f"aaaa bbbb cccc{mark}", Break.CLAUSE)


@pytest.mark.parametrize("dash", [" — ", " – ", " - ", "—"])
def test_dashes_are_clause_marks(dash):
    first, after = pieces(f"aaaa bbbb cccc{dash}dddd eeee ffff gggg", 24)[0]
    assert (first, after) == (f"aaaa bbbb cccc{dash}".strip(), Break.CLAUSE)


def test_full_width_marks_need_no_space():
    assert pieces("河边的老人，每天早晨都会来到石桥上看水", 10)[0] == ("河边的老人，", Break.CLAUSE)


def test_a_decimal_comma_is_no_clause_mark():
    found = pieces("the value was 37,0 and it was less", 26)
    assert found == [("the value was 37,0", Break.NONE), ("and it was less", Break.SENTENCE)]


def test_text_without_any_place_to_cut_is_cut_by_length():
    found = [len(piece) for piece, _ in pieces("x" * 25, 10)]
    assert sum(found) == 25
    assert max(found) <= 10


def test_letters_keep_their_accents_and_joined_signs_their_parts():
    accented = "e\u0301" * 20
    assert all(not piece.startswith("\u0301") for piece, _ in pieces(accented, 7))
    astronaut = "👩\u200d🚀" * 10
    for piece, _ in pieces(astronaut, 7):
        assert not piece.startswith("\u200d")
        assert not piece.endswith("\u200d")
