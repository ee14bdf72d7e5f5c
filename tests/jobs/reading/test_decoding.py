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
    assert decode("Élève très âgé, café".encode("cp1252"), "x.txt").warnings == ()


def test_a_bad_byte_does_not_spoil_utf_8():
    text = "“Grüße”, sagte er. " * 20
    data = text.encode() + b"caf\xe9"
    decoded = decode(data, "x.txt")
    assert decoded.text == text + "café"
    assert decoded.encoding == "utf-8"
    assert f"at characters {len(text) + 3}" in decoded.warnings[0]


def test_a_declared_encoding_is_used_when_the_bytes_fit():
    assert decode("Привет".encode("cp1251"), "x", declared="windows-1251").text == "Привет"
    wrong = decode(b"\xe9t\xe9", "x", declared="shift_jis")
    assert wrong.encoding == "cp1252"
    assert "says it is shift_jis" in wrong.warnings[0]


@pytest.mark.parametrize("declared", ["hex", "no such", "unicode_escape", "utf-16", "utf-8", ""])
def test_declarations_that_mean_nothing_are_passed_over(declared):
    assert decode("é".encode(), "x", declared=declared).text == "é"
