"""Bytes to characters, and what is said of it."""

import pytest

from jobs.errors import BadSource
from jobs.reading.decoding import decode


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks(encoding):
    decoded = decode("Ümläut 中".encode(encoding), "x")
    assert (decoded.text, decoded.encoding) == ("Ümläut 中", encoding)


def test_big_endian_marks():
    assert decode(b"\xfe\xff" + "é".encode("utf-16-be"), "x").text == "é"
    assert decode(b"\x00\x00\xfe\xff" + "é".encode("utf-32-be"), "x").text == "é"


def test_bytes_that_do_not_fit_their_mark_are_an_error():
    with pytest.raises(BadSource, match="byte 2 does not fit"):
        decode(b"\xff\xfea", "x.txt")


def test_windows_1252_with_its_holes_named():
    decoded = decode(b"caf\xe9 \x93ok\x94 \x81 end", "x.txt")
    assert (decoded.text, decoded.encoding) == ("café “ok” \ufffd end", "cp1252")
    assert "1 bytes" in decoded.warnings[0]
    assert "at 10" in decoded.warnings[0]


@pytest.mark.parametrize("encoding", ["gb18030", "shift_jis", "koi8-r"])
def test_text_of_other_scripts_is_warned_of(encoding):
    text = {"gb18030": "河边的老人", "shift_jis": "雨が降る", "koi8-r": "Привет, мир"}[encoding]
    assert any("no Western text" in warning for warning in decode(text.encode(encoding), "x.txt").warnings)


def test_a_bad_byte_does_not_spoil_utf_8():
    text = "“Grüße”, sagte er. " * 20
    data = text.encode() + b"caf\xe9"
    decoded = decode(data, "x.txt")
    assert decoded.text == text + "café"
    assert decoded.encoding == "utf-8"
    assert f"at characters {len(text) + 3}" in decoded.warnings[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [("Élève très âgé, café", 0), ("CAFÉ “CAFÉ” ÇÔ", 3), ("“MAÇÃ” – disse", 0), ("It said «é…» and “à”.", 8)],
)
def test_windows_1252_is_a_guess_and_told_with_its_first_place(text, place):
    decoded = decode(text.encode("cp1252"), "x.txt")
    assert (decoded.text, decoded.encoding) == (text, "cp1252")
    (warning,) = decoded.warnings
    assert f"Windows-1252 (cp1252), first at character {place}: if words look wrong" in warning


@pytest.mark.parametrize(
    ("before", "after"),
    [("café one", "\xa0"), ("café one ", "“x” it’s"), ("voilà ", "“”"), ("It’s ", "“"), ("naïve", " He said é." * 20)],
)
def test_some_sequences_of_utf_8_beside_few_other_bytes_are_utf_8(before, after):
    decoded = decode(before.encode() + after.encode("cp1252"), "x.txt")
    assert (decoded.text, decoded.encoding) == (before + after, "utf-8")
    assert f"at characters {next(i for i, c in enumerate(before + after) if i >= len(before) and c > '~')}" in str(
        decoded.warnings
    )


@pytest.mark.parametrize(
    ("text", "declared"), [("café", "iso-8859-1"), ("it’s", "windows-1252"), ("Привет", "windows-1251")]
)
def test_utf_8_that_is_declared_as_one_byte_a_character(text, declared):
    decoded = decode(text.encode(), "x.html", declared=declared)
    assert (decoded.text, decoded.encoding) == (text, "utf-8")
    assert decoded.warnings == (f"x.html says it is {declared}, but its bytes are UTF-8; read as utf-8",)
    assert decode("联通".encode("gbk"), "x.html", declared="gbk").text == "联通"


def test_a_declared_encoding_is_used_when_the_bytes_fit():
    assert decode("Привет".encode("cp1251"), "x", declared="windows-1251").text == "Привет"
    wrong = decode(b"\xe9t\xe9", "x", declared="shift_jis")
    assert wrong.encoding == "cp1252"
    assert "says it is shift_jis" in wrong.warnings[0]


@pytest.mark.parametrize("declared", ["hex", "no such", "unicode_escape", "utf-16", "utf-8", ""])
def test_declarations_that_mean_nothing_are_passed_over(declared):
    assert decode("é".encode(), "x", declared=declared).text == "é"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_its_mark(encoding):
    decoded = decode("He said “no”, and left.".encode(encoding), "x.txt")
    assert (decoded.text, decoded.encoding) == ("He said “no”, and left.", encoding)
    assert encoding in decoded.warnings[0]


LONG = {
    "gb18030": "河边的老人每天早上都到石桥上看水。他说这条河比他的父亲还要老，没有人知道它从哪里来。" * 6,
    "big5hkscs": "河邊的老人每天早上都到石橋上看水。他說這條河比他的父親還要老，沒有人知道它從哪裡來。" * 6,
    "cp932": "雨が降る夜に、彼は橋の上で友だちを待っていた。コーヒーが飲みたいと思った。" * 6,
    "euc_jp": "雨が降る夜に、彼は橋の上で友だちを待っていた。コーヒーが飲みたいと思った。" * 6,
    "cp949": "비가 오는 밤에 그는 다리 위에서 친구를 기다리고 있었다. 아무도 오지 않았다. " * 6,
    "iso2022_jp": "雨が降る夜に、彼は橋の上で友だちを待っていた。",
}


@pytest.mark.parametrize("encoding", LONG)
def test_long_text_of_east_asia_is_found_out(encoding):
    decoded = decode(LONG[encoding].encode(encoding), "x.txt")
    assert (decoded.text, decoded.encoding) == (LONG[encoding], encoding)
    assert encoding in decoded.warnings[0]


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp1253", "cp1250", "cp1252"])
def test_other_long_text_is_never_guessed(encoding):
    text = {
        "cp1253": "Ο γέρος πήγαινε στο ποτάμι. ",
        "cp1250": "Příliš žluťoučký kůň. ",
        "cp1252": "Très élevé, café. ",
    }
    data = (text.get(encoding, "Старик приходил к реке и смотрел. ") * 60).encode(encoding)
    assert decode(data, "x.txt").encoding == "cp1252"


@pytest.mark.parametrize("asked", ["koi8-r", "KOI8-R ", "koi8_r"])
def test_what_a_user_asks_for_is_taken(asked):
    assert decode("Привет".encode("koi8-r"), "x.txt", declared="cp1251", asked=asked).text == "Привет"
    assert decode("\ufeffПривет".encode(), "x.txt", asked="utf-8").text == "Привет"
    assert decode("中".encode("utf-16-le"), "x.txt", asked="utf-16-le").text == "中"


@pytest.mark.parametrize(
    ("asked", "data", "told"),
    [
        ("no-such", b"a", "not known; allowed are utf-8"),
        ("hex", b"61", "not known"),
        *((name, b"a", "not known") for name in ("punycode", "IDNA", " u7 ", "unicode_escape", "raw-unicode-escape")),
        ("utf-8", b"caf\xe9", "byte 3 does not fit"),
        ("ascii", b"caf\xe9", "byte 3 does not fit"),
    ],
)
def test_what_a_user_asks_for_must_be_known_and_fit(asked, data, told):
    with pytest.raises(BadSource, match=told) as caught:
        decode(data, "x.txt", asked=asked)
    assert [problem.code for problem in caught.value.problems] == ["bad_encoding"]
