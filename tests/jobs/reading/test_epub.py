"""EPUB books made on the spot: order, contents, notes, cover, and archives that mean harm."""

import io
import zipfile

import pytest

from jobs.errors import BadSource
from jobs.reading import epub_package, read_source
from tests.helpers_reading import CONTAINER, METADATA, archive, epub, plan_of, spoken, xhtml

NAV = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)


def nav(*entries):
    items = "".join(f'<li><a href="{href}">{title}</a></li>' for href, title in entries)
    return xhtml(f'<nav epub:type="landmarks"><a href="x">no</a></nav><nav epub:type="toc"><ol>{items}</ol></nav>')


def read(data):
    return read_source(data, "book.epub")


def chapters(data):
    document = read(data)
    return {chapter.title: [paragraph.text for paragraph in chapter.paragraphs] for chapter in document.chapters}


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


def test_facts_of_the_package():
    document = read(epub({"a.xhtml": xhtml("<p>Text.</p>")}))
    assert (document.title, document.author, document.language) == ("A Book", "Ann Author", "en-GB")
    metadata = (
        "<dc:title> Two\n words </dc:title><dc:title>Sub</dc:title><dc:creator>A</dc:creator><dc:creator>B</dc:creator>"
    )
    document = read(epub({"a.xhtml": xhtml("<p>Text.</p>")}, metadata=metadata))
    assert (document.title, document.author, document.language) == ("Two words", "A, B", "")
    assert read(epub({"a.xhtml": xhtml("<p>x</p>")}, metadata="")).title == "book"


def test_the_order_is_that_of_the_spine():
    files = {name: xhtml(f"<h1>{name[0]}</h1><p>Text {name[0]}.</p>") for name in ("a.xhtml", "b.xhtml", "c.xhtml")}
    spine = '<itemref idref="c"/><itemref idref="b" linear="no"/><itemref idref="a"/><itemref idref="c"/>'
    data = epub(files, spine=spine)
    assert list(chapters(data)) == ["c", "a"]
    assert read(data).warnings == ("1 x document beside the reading order (linear=no) not spoken",)


def test_chapters_of_the_table_of_contents():
    files = {
        "nav.xhtml": nav(("one.xhtml", "The First"), ("two.xhtml#b", "The Third"), ("two.xhtml#a", "The Second")),
        "title.xhtml": xhtml("<p>A title page.</p>"),
        "one.xhtml": xhtml("<h2>I</h2><p>Text one.</p><h2>Inside</h2><p>More.</p>"),
        "more.xhtml": xhtml("<p>One goes on.</p>"),
        "two.xhtml": xhtml('<p>End of one.</p><h1 id="a">Second</h1><p>Two.</p><p>x <a id="b"/>Three.</p>'),
    }
    assert chapters(epub(files, manifest=NAV)) == {
        "A Book": ["A title page."],
        "The First": ["I", "Text one.", "Inside", "More.", "One goes on.", "End of one."],
        "The Second": ["Second", "Two."],
        "The Third": ["x Three."],
    }


def test_links_that_lead_nowhere_divide_nothing():
    files = {
        "nav.xhtml": nav(
            ("http://[", "Broken"), ("gone.xhtml", "Gone"), ("a.xhtml#none", "No such id"), ("a.xhtml", "One")
        ),
        "a.xhtml": xhtml('<p>x<a epub:type="noteref" href="//[#n">1</a></p>'),
    }
    assert chapters(epub(files, manifest=NAV)) == {"One": ["x"]}


def test_only_two_levels_of_the_contents_are_chapters():
    deep = (
        '<nav epub:type="toc"><ol><li><a href="a.xhtml">Part</a><ol><li><a href="b.xhtml">Chapter</a><ol>'
        '<li><a href="b.xhtml#s">Section</a></li></ol></li></ol></li></ol></nav>'
    )
    files = {
        "nav.xhtml": xhtml(deep),
        "a.xhtml": xhtml("<p>One.</p>"),
        "b.xhtml": xhtml('<p>Two.</p><h3 id="s">S</h3><p>Three.</p>'),
    }
    assert chapters(epub(files, manifest=NAV)) == {"Part": ["One."], "Chapter": ["Two.", "S", "Three."]}


def test_a_document_the_contents_forgot_opens_a_chapter_by_its_heading():
    files = {
        "nav.xhtml": nav(("a.xhtml", "First")),
        "a.xhtml": xhtml("<p>One.</p>"),
        "b.xhtml": xhtml("<h1>Second</h1><p>Two.</p>"),
    }
    assert list(chapters(epub(files, manifest=NAV))) == ["First", "Second"]


def test_contents_of_an_epub_2():
    ncx = (
        '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://example.org/ncx.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        '<navPoint id="p"><navLabel><text>Alpha</text></navLabel>'
        '<content src="a%20b.xhtml"/><navPoint id="q"><navLabel><text>Beta</text></navLabel>'
        '<content src="c.xhtml#x"/></navPoint></navPoint></navMap></ncx>'
    )
    manifest = (
        '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        '<item id="ab" href="a%20b.xhtml" media-type="application/xhtml+xml"/>'
    )
    files = {"toc.ncx": ncx, "c.xhtml": xhtml('<p id="x">Two.</p>')}
    made = epub(files, manifest=manifest, spine='<itemref idref="ab"/><itemref idref="c"/>')
    with zipfile.ZipFile(buffer := io.BytesIO(made), "a") as packed:
        packed.writestr("OPS/a b.xhtml", xhtml("<p>One.</p>"))
    assert chapters(buffer.getvalue()) == {"Alpha": ["One."], "Beta": ["Two."]}


def test_a_contents_page_of_the_guide_is_not_spoken():
    files = {"toc.xhtml": xhtml("<p>Chapter 1 ... 3</p>"), "a.xhtml": xhtml("<p>One.</p>")}
    guide = '<guide><reference type="toc" href="toc.xhtml"/><reference type="toc" href="a.xhtml#x"/></guide>'
    assert spoken(plan_of(epub(files, guide=guide), "x.epub")) == ["One."]


def test_notes_in_a_document_of_their_own_are_not_spoken():
    files = {
        "a.xhtml": xhtml('<p>Text<a epub:type="noteref" href="n.xhtml#n1">1</a> goes on.</p>'),
        "n.xhtml": xhtml('<div id="n1">Note body.</div><p>Afterword.</p>'),
    }
    document = read(epub(files))
    assert document.text == "Text goes on.\n\nAfterword."
    assert document.warnings == ("1 x note not spoken", "1 x note mark not spoken")


def test_the_anchor_of_an_unspoken_element_still_starts_its_chapter():
    files = {
        "nav.xhtml": nav(("a.xhtml#p1", "One"), ("a.xhtml#p2", "Two")),
        "a.xhtml": xhtml(
            '<span epub:type="pagebreak" id="p1">1</span><p>x</p><span epub:type="pagebreak" id="p2">2</span><p>y</p>'
        ),
    }
    assert chapters(epub(files, manifest=NAV)) == {"One": ["x"], "Two": ["y"]}


@pytest.mark.parametrize(("image", "kind"), [(JPEG, "image/jpeg"), (PNG, "image/png")])
@pytest.mark.parametrize("way", ["properties", "meta"])
def test_covers(image, kind, way):
    mark = ' properties="cover-image"' if way == "properties" else ""
    metadata = METADATA + ('<meta name="cover" content="c"/>' if way == "meta" else "")
    manifest = f'<item id="c" href="i/cover.img" media-type="{kind}"{mark}/>'
    document = read(epub({"a.xhtml": xhtml("<p>x</p>"), "i/cover.img": image}, manifest=manifest, metadata=metadata))
    assert (document.cover, document.cover_type) == (image, kind)


def test_a_cover_of_another_kind_is_left_out_with_a_warning():
    manifest = '<item id="c" href="c.svg" media-type="image/svg+xml" properties="cover-image"/>'
    document = read(epub({"a.xhtml": xhtml("<p>x</p>"), "c.svg": "<svg/>"}, manifest=manifest))
    assert (document.cover, document.cover_type) == (None, "")
    assert "c.svg" in document.warnings[0]


@pytest.mark.parametrize(
    ("page", "heard"),
    [
        ("<p>Fish &amp; chips &mdash; caf&eacute;&nbsp;bar</p>", "Fish & chips — café bar"),
        ("<p>Not <b>well <i>formed</b> &unknown; text", "Not well formed &unknown; text"),
        ("<p>Tab\x07bell</p>", "Tab bell"),
        ("<title/><p>Self-closed <a id='x'/>marks<script/> are fine</p>", "Self-closed marks are fine"),
    ],
)
def test_pages_as_they_come(page, heard):
    assert read(epub({"a.xhtml": xhtml(page)})).text == heard


def test_old_pages_with_a_document_type_and_another_encoding():
    page = (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://x.org/a.dtd">'
        "<html><body><p>café&nbsp;bar</p></body></html>"
    )
    assert read(epub({"a.xhtml": page.encode("latin-1")})).text == "café bar"


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
    monkeypatch.setattr(epub_package, "MAX_RATIO", 2000)
    monkeypatch.setattr(epub_package, "MAX_ENTRY_BYTES", 1_000_000)
    assert code_of(data) == "zip_bomb"
    monkeypatch.setattr(epub_package, "MAX_ENTRY_BYTES", 10_000_000)
    assert read(data).chars == 3_000_000
    monkeypatch.setattr(epub_package, "MAX_TEXT_BYTES", 3_000_000)
    assert code_of(data) == "zip_bomb"


def test_too_many_files(monkeypatch):
    monkeypatch.setattr(epub_package, "MAX_ENTRIES", 3)
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
