"""Where a sentence that is too long is cut."""

import pytest

from jobs.plan import Break
from jobs.reading.splitting.cutter import Piece, cut, safe_chars, visible_chars


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


@pytest.mark.parametrize(
    "atom",
    [
        *(
            "5 000 kg",
            "120 km",
            "5 million",
            "20 %",
            "5 p.m.",
            "7 o’clock",
            "Mr. Smith",
            "Dr. Day",
            "J. Smith",
            "No. 9",
        ),
        *("e.g. pears", "U.S. Navy", "Sept. 5", "⟦ˈmɒz ɛləm⟧", "« oui »", "5 Uhr", "$ 5", "§ 12"),
    ],
)
def test_what_is_heard_as_one_is_not_cut(atom):
    for before in range(1, 12):
        text = "one " * before + atom + " two" * 12
        for piece, _ in pieces(text, 30):
            assert (atom in piece) or not set(piece.split()) - {"one", "two"}


PHONEMES = "⟦" + "ab " * 33 + "a⟧"


@pytest.mark.parametrize(
    ("text", "max_chars", "wanted"),
    [
        (PHONEMES, 50, [PHONEMES]),
        (f"The {PHONEMES}.", 50, ["The", f"{PHONEMES}."]),
        (f"The {PHONEMES}, and so on.", 50, ["The", f"{PHONEMES}", ", and so on."]),
        ("one ⟦ab cd ef⟧ two", 8, ["one", "⟦ab cd ef⟧", "two"]),
        ("⟦abcdefg⟧⟦hijklmn⟧", 12, ["⟦abcdefg⟧", "⟦hijklmn⟧"]),
        ("Then say [[hello to you]] and go on", 25, ["Then say", "[[hello to you]]", "and go on"]),
        ("a [[hello to you all]] b", 10, ["a [[hello", "to you", "all]] b"]),
    ],
)
def test_phonemes_and_what_is_for_the_model_are_whole(text, max_chars, wanted):
    assert [piece for piece, _ in pieces(text, max_chars)] == wanted


@pytest.mark.parametrize("span", ["[[a b c]]", "⟦a b c⟧", "[[abcdefg]]"])
def test_a_span_is_whole_wherever_it_stands(span):
    for before in range(40):
        for text in ("one " * (before // 4) + "x" * (before % 4) + span + " two" * 9, "x" * before + span + "y" * 30):
            assert any(span in piece for piece, _ in pieces(text, 24))


def test_phonemes_that_do_not_end_are_cut_all_the_same():
    found = pieces("⟦" + "ab " * 60, 20)
    assert all(len(piece) <= 20 for piece, _ in found)


def test_a_conjunction_goes_before_another_space():
    text = "and the river went on " * 6
    assert [piece for piece, _ in pieces(text.strip(), 50)] == ["and the river went on and the river went on"] * 3


@pytest.mark.parametrize(
    ("text", "max_chars", "wanted"),
    [
        ("雨が降ると彼は言ったそして東京の街を歩きながら", 20, ["雨が降ると彼は言ったそして", "東京の街を歩きながら"]),
        ("我用Python写了一个程序来处理它", 12, ["我用Python写了", "一个程序来处理它"]),
        ("ヨーロッパーーーへ行ったっきり", 10, None),
        ("彼は「行こう」と言い「来い」と言った人", 8, None),
        ("นี่คือประโยคยาวมากที่ไม่มีช่องว่างเลย", 12, None),
        ("क्षत्रियों" * 8, 11, ["क्षत्रियों"] * 8),
        ("🇩🇪" * 9, 7, ["🇩🇪" * 3] * 3),
        ("👍🏽" * 8, 5, ["👍🏽" * 2] * 4),
        ("word " * 3 + "a" * 28 + " end of it all", 30, ["word word word", "a" * 28, "end of it all"]),
        ("Oui ! » dit il « Non ! » et puis il part vers la mer", 20, None),
    ],
)
def test_text_with_few_spaces(text, max_chars, wanted):
    found = [piece for piece, _ in pieces(text, max_chars)]
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    assert all(len(piece) <= max_chars for piece in found)
    assert all(piece[0] not in "」』。、，！？!?»ーっゃゅょะาำิีุู" for piece in found)
    assert all(piece[-1] not in "「『«เแโใไ" for piece in found)
    if wanted is not None:
        assert found == wanted


@pytest.mark.parametrize("mark", ["!", "。", ".", "…", "”", "?!", ". , ", "“ ", "⟦", "("])
def test_a_run_of_marks_is_cut_too(mark):
    text = "word" + mark * 500
    found = cut(text, Piece(0, len(text), Break.SENTENCE), 50)
    assert "".join(text[piece.start : piece.end] for piece in found) == text
    assert all(visible_chars(text, piece.start, piece.end) <= 50 for piece in found)


@pytest.mark.parametrize(
    ("language", "chars"),
    [
        ("en", 200), ("en-GB", 200), ("de", 200), ("ru", 200), ("hi", 200), ("xx", 200), ("zh", 100), ("zh-TW", 100),
        ("zh_CN", 100), ("ja", 100), ("JA-JP", 100), ("ko", 100), ("th", 153), ("ar", 166), ("he", 166), ("fa", 166),
    ],
)  # fmt: skip
def test_a_limit_is_a_time_and_not_a_number_of_signs(language, chars):
    assert safe_chars(200, language) == chars


def test_a_limit_is_never_nothing():
    assert safe_chars(1, "zh") == 1
