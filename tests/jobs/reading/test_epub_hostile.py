"""Archives that mean harm, are damaged or are no EPUB: refused with a reason, never expanded, never a crash."""

import io
import random
import zipfile

import pytest

from jobs.errors import BadSource
from jobs.reading import read_source
from jobs.reading.markup import archive as bounds
from tests.helpers_reading import CONTAINER, archive, epub, xhtml


def read(data):
    return read_source(data, "book.epub")


def code_of(data):
    with pytest.raises(BadSource) as caught:
        read(data)
    (problem,) = caught.value.problems
    return problem.code


def outcome(data):
    try:
        return "read" if read(data).text.startswith("Text.") else "other text"
    except BadSource as error:
        return error.problems[0].code


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize(
    "page",
    [
        f'<!DOCTYPE html [<!ENTITY e0 "lol">{BOMB}]><html><body><p>before &e11; after</p></body></html>',
        f'<!DOCTYPE html [<!ENTITY e0 "]>lol">{BOMB}]><html><body><p>before &e11; after</p></body></html>',
        '<!DOCTYPE html [<!ENTITY e SYSTEM "file:///etc/passwd">]><html><body><p>before &e; after</p></body></html>',
        '<?xml version="1.0"?><!DOCTYPE p SYSTEM "http://127.0.0.1:9/x.dtd"><html><p>before &e; after</p></html>',
    ],
)
def test_entities_are_never_expanded(page):
    text = read(epub({"a.xhtml": page})).text
    assert "before" in text
    assert "after" in text
    assert len(text) < 2000
    assert "root:" not in text


def with_package(made, old, new):
    with zipfile.ZipFile(io.BytesIO(made)) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist() if name != "mimetype"}
    files["OPS/book.opf"] = files["OPS/book.opf"].replace(old, new)
    return archive(files)


def test_entities_in_the_package_are_never_expanded():
    made = epub({"a.xhtml": xhtml("<p>x</p>")}, metadata="<dc:title>T&e11;</dc:title>")
    head = '<?xml version="1.0"?>'
    assert code_of(with_package(made, head, f'{head}<!DOCTYPE package [<!ENTITY e0 "lol">{BOMB}]>')) == "bad_epub"
    outside = '<!DOCTYPE package [<!ENTITY e11 SYSTEM "file:///etc/passwd">]>'
    assert read(with_package(made, head, head + outside)).title in {"T", "T&e11;"}


def test_files_that_unpack_to_too_much(monkeypatch):
    data = epub({"a.xhtml": xhtml("<p>" + "a" * 3_000_000 + "</p>")})
    assert code_of(data) == "zip_bomb"
    monkeypatch.setattr(bounds, "MAX_RATIO", 2000)
    monkeypatch.setattr(bounds, "MAX_ENTRY_BYTES", 1_000_000)
    assert code_of(data) == "zip_bomb"
    monkeypatch.setattr(bounds, "MAX_ENTRY_BYTES", 10_000_000)
    assert read(data).chars == 3_000_000
    monkeypatch.setattr(bounds, "MAX_TEXT_BYTES", 3_000_000)
    assert code_of(data) == "zip_bomb"


def test_too_many_files(monkeypatch):
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 3)
    assert code_of(epub({"a.xhtml": xhtml("<p>x</p>")})) == "zip_bomb"


def test_protected_books_are_refused_but_protected_fonts_are_not():
    def encryption(path):
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
            f'<CipherReference URI="{path}"/></CipherData></EncryptedData></encryption>'
        )

    page = xhtml("<p>x</p>")
    assert code_of(epub({"a.xhtml": page, "META-INF/encryption.xml": encryption("OPS/a.xhtml")})) == "encrypted"
    assert read(epub({"a.xhtml": page, "META-INF/encryption.xml": encryption("OPS/font.otf")})).text == "x"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"PK\x03\x04 not really", "bad_zip"),
        (b"just text", "bad_zip"),
        (archive({"a.txt": "x"}), "bad_epub"),
        (archive({"META-INF/container.xml": "not xml"}), "bad_epub"),
        (archive({"META-INF/container.xml": "<container/>"}), "bad_epub"),
        (archive({"META-INF/container.xml": CONTAINER}), "bad_epub"),
        (archive({"META-INF/container.xml": CONTAINER, "OPS/book.opf": "<package>"}), "bad_epub"),
        (archive({"META-INF/container.xml": CONTAINER, "OPS/book.opf": "<package/>"}), "bad_epub"),
        (epub({"a.xhtml": xhtml("<p>x</p>")}, spine='<itemref idref="none"/>'), "bad_epub"),
        (epub({}, manifest='<item id="g" href="gone.xhtml"/>', spine='<itemref idref="g"/>'), "bad_epub"),
        (epub({"a.xhtml": xhtml("<img alt='x'/>")}), "no_text"),
        (epub({"a.xhtml": ""}), "no_text"),
        (epub({}, manifest='<item id="u" href="../../../etc/passwd"/>', spine='<itemref idref="u"/>'), "bad_epub"),
    ],
)
def test_what_is_no_epub(data, code):
    assert code_of(data) == code


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_a_damaged_archive_is_an_error_of_the_source(at):
    """Whatever byte is wrong, the book is read or refused, never anything else."""
    data = bytearray(epub({"a.xhtml": xhtml("<p>" + "Text. " * 50 + "</p>")}))
    place = len(data) * at // 100
    data[place] ^= 0xFF
    assert outcome(bytes(data)) in {"read", "bad_zip", "bad_epub", "zip_bomb", "encrypted"}


def test_a_place_before_the_start_of_the_file_is_damage():
    data = epub({"a.xhtml": xhtml("<p>x</p>")})
    end = data.rindex(b"PK\x05\x06")
    directory = int.from_bytes(data[end + 16 : end + 20], "little") + 10_000
    assert code_of(data[: end + 16] + directory.to_bytes(4, "little") + data[end + 20 :]) == "bad_zip"


def test_packings_that_epub_does_not_allow():
    with zipfile.ZipFile(target := io.BytesIO(), "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("META-INF/container.xml", CONTAINER)
    assert code_of(target.getvalue()) == "bad_zip"


def test_a_truncated_archive():
    data = epub({"a.xhtml": xhtml("<p>x</p>")})
    assert {code_of(data[:size]) for size in range(1, len(data) - 25, 50)} == {"bad_zip"}


def test_random_damage_is_read_or_refused():
    chance = random.Random(4)
    made = epub({"a.xhtml": xhtml("<h1>One</h1>" + "<p>Text &amp; more <b>text</b>.</p>" * 20), "b.xhtml": xhtml("B")})
    outcomes = set()
    for _ in range(300):
        data = bytearray(made)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        outcomes.add(outcome(bytes(data[: len(data) - chance.choice((0, 0, 0, chance.randrange(len(data))))])))
    known = {
        "read",
        "other text",
        "bad_zip",
        "bad_epub",
        "zip_bomb",
        "encrypted",
        "bad_html",
        "no_text",
        "bad_encoding",
    }
    assert outcomes <= known
    assert {"bad_zip", "other text"} <= outcomes
