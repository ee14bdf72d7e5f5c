"""EPUB books made on the spot: facts, order, contents, notes, cover, pages as they come."""

import io
import zipfile

import pytest

from jobs.reading import read_source
from tests.helpers_reading import METADATA, epub, plan_of, spoken, xhtml

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
