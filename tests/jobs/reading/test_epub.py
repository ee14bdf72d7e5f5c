"""EPUB books made on the spot: facts, order, contents, notes, cover, pages as they come."""

import io
import zipfile

import pytest

from jobs.account import Why
from jobs.reading import read_source
from tests.helpers_account import check_account
from tests.helpers_reading import METADATA, epub, plan_of, planned_of, spoken, xhtml

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


def said(data):
    return [paragraph.text for chapter in read(data).chapters for paragraph in chapter.paragraphs]


def left_out(data):
    document = read(data)
    return [(document.text[skip.start : skip.end], skip.why) for skip in document.skipped]


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
    assert left_out(data) == [("b\nText b.", Why.OUTSIDE)]


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
    assert document.text == "Text1 goes on.\n\nNote body.\nAfterword."
    assert said(epub(files)) == ["Text goes on.", "Afterword."]
    assert left_out(epub(files)) == [("1", Why.NOTE_MARKS), ("Note body.", Why.NOTES)]


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
    assert said(epub({"a.xhtml": xhtml(page)})) == [heard]


def test_old_pages_with_a_document_type_and_another_encoding():
    page = (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://x.org/a.dtd">'
        "<html><body><p>café&nbsp;bar</p></body></html>"
    )
    assert said(epub({"a.xhtml": page.encode("latin-1")})) == ["café bar"]


CHAPTER = xhtml("<h1>One</h1>" + "<p>The text of a chapter goes on and on.</p>" * 20)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (xhtml("<p>Copyright © 2020 Ann.</p><p>All rights reserved. ISBN 1</p>"), Why.FRONT),
        (xhtml("<p>First published here. All rights reserved.</p><p>Text copyright 2020 by Ann.</p>"), Why.FRONT),
        (xhtml('<section epub:type="copyright-page"><p>By Ann.</p></section>'), Why.FRONT),
        (xhtml('<section epub:type="halftitlepage"><p>Book</p></section>'), Why.FRONT),
        (xhtml('<nav epub:type="loi"><a href="a.xhtml">Boat</a></nav>'), Why.CONTENTS),
        (xhtml("".join(f'<p><a href="a.xhtml#{n}">Part {n}</a></p>' for n in range(3))), Why.CONTENTS),
        (xhtml("<h1>Index</h1><p>apple, 3</p><p>boat, 5–7</p><p>cat, <i>see</i> dog</p>"), Why.INDEX),
        (xhtml('<section epub:type="index"><p>apple</p></section>'), Why.INDEX),
        (xhtml("<h1>Bibliography</h1><p>Smith, 1999.</p><p>Doe, 2003.</p><p>Bell, A. 1977.</p>"), Why.BIBLIOGRAPHY),
        (xhtml('<section epub:type="endnotes"><h1>Notes</h1><p>1. x</p></section>'), Why.NOTES),
    ],
)
def test_documents_that_are_not_spoken(page, why):
    assert {found for _, found in left_out(epub({"a.xhtml": CHAPTER, "b.xhtml": page}))} == {why}
    assert list(chapters(epub({"a.xhtml": CHAPTER, "b.xhtml": page}))) == ["One"]


@pytest.mark.parametrize(
    "page",
    [
        xhtml("<p>For Bo.</p>"),
        xhtml('<section epub:type="titlepage"><p>A Book, © 2020</p></section>'),
        xhtml('<section epub:type="preface"><h1>Preface</h1><p>Words.</p></section>'),
        xhtml('<h1>Links</h1><p>See <a href="a.xhtml">the first chapter</a> for all of it.</p>'),
        xhtml("<p>He looked for the ISBN, saw “all rights reserved” and the copyright 1984 on it.</p>"),
        xhtml("<h1>Index</h1><p>He pointed.</p><p>She saw.</p><p>It was dark.</p>"),
        xhtml('<aside epub:type="sidebar"><p>Beside.</p></aside>'),
    ],
)
def test_documents_that_are_spoken(page):
    assert left_out(epub({"a.xhtml": CHAPTER, "b.xhtml": page})) == []


@pytest.mark.parametrize("kind", ["copyright-page", "toc", "index", "notes"])
def test_the_guide_says_what_documents_are(kind):
    files = {"a.xhtml": CHAPTER, "b.xhtml": xhtml("<p>Beside.</p>")}
    made = epub(files, guide=f'<guide><reference type="{kind}" href="b.xhtml"/></guide>')
    assert [text for text, _ in left_out(made)] == ["Beside."]
    alone = epub({"b.xhtml": CHAPTER}, guide=f'<guide><reference type="{kind}" href="b.xhtml"/></guide>')
    assert left_out(alone) == []


def test_marks_inside_a_paragraph_do_not_divide_it():
    page = xhtml(
        '<p>It was<a epub:type="noteref" href="#f">1</a><aside epub:type="footnote" id="f"><p>Note.</p></aside> so. '
        'Go <span epub:type="pagebreak" title="3"> 3 </span>on.</p>'
    )
    assert said(epub({"a.xhtml": page})) == ["It was so. Go on."]


def test_notes_that_only_links_declare_are_found_over_documents():
    files = {
        "a.xhtml": xhtml('<p>Said he<a id="r1" href="n.xhtml#n1">[1]</a>.</p>'),
        "n.xhtml": xhtml('<h1>Notes</h1><p id="n1"><a href="a.xhtml#r1">[1]</a> A note.</p>'),
    }
    assert said(epub(files)) == ["Said he."]
    assert left_out(epub(files)) == [("[1]", Why.NOTE_MARKS), ("[1] A note.", Why.NOTES), ("Notes", Why.NOTES)]


@pytest.mark.parametrize("headings", ["<h2>01</h2><h2>The Gate</h2>", "<h2>The Gate</h2>"])
def test_a_number_in_the_contents_is_joined_with_the_heading(headings):
    files = {"nav.xhtml": nav(("a.xhtml", "01")), "a.xhtml": xhtml(f"{headings}<p>Text.</p>")}
    assert list(chapters(epub(files, manifest=NAV))) == ["01: The Gate"]


def test_a_chapter_that_is_not_spoken_gives_its_name_to_no_other():
    files = {
        "nav.xhtml": nav(("c.xhtml", "Rights"), ("a.xhtml", "One")),
        "c.xhtml": xhtml("<p>All rights reserved.</p>"),
        "d.xhtml": xhtml("<p>For Bo.</p>"),
        "a.xhtml": CHAPTER,
    }
    assert list(chapters(epub(files, manifest=NAV))) == ["A Book", "One"]


def test_what_is_missing_in_the_spine_is_warned_of():
    spine = '<itemref idref="none"/><itemref idref="a"/><itemref idref="g"/><itemref idref="i"/>'
    manifest = '<item id="g" href="gone.xhtml"/><item id="i" href="a.png" media-type="image/png"/>'
    document = read(epub({"a.xhtml": CHAPTER, "a.png": PNG}, spine=spine, manifest=manifest))
    assert [name in warning for name, warning in zip(("none", "gone", "a.png"), document.warnings, strict=True)] == [
        True,
        True,
        True,
    ]


@pytest.mark.parametrize("href", ["A%20b.xhtml", "a B.XHTML", "./x/../a b.xhtml"])
def test_paths_in_other_case_or_encoding(href):
    manifest = f'<item id="q" href="{href}" media-type="application/xhtml+xml"/>'
    assert said(epub({"A b.xhtml": xhtml("<p>x</p>")}, manifest=manifest, spine='<itemref idref="q"/>')) == ["x"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings_of_documents(encoding):
    page = xhtml("<p>Café</p>").replace("utf-8", encoding[:6].rstrip("-"))
    assert said(epub({"a.xhtml": page.encode(encoding)})) == ["Café"]


@pytest.mark.parametrize("lead", [b"\xef\xbb\xbf", b"\n  ", b"\xef\xbb\xbf\n"])
def test_a_package_with_something_before_it(lead):
    made = epub({"a.xhtml": xhtml("<p>x</p>")}, metadata="<dc:title>Fish & Chips</dc:title>")
    with zipfile.ZipFile(io.BytesIO(made)) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as packed:
        for name, data in files.items():
            packed.writestr(name, lead + data if name.endswith(".opf") else data)
    assert read(buffer.getvalue()).title == "Fish & Chips"


def test_the_text_is_that_of_all_documents_and_files_name_them():
    files = {"a.xhtml": xhtml("<p>One\n <b>two</b></p>\n<p>Three</p>"), "e.xhtml": xhtml("<p/>"), "z.xhtml": xhtml("Z")}
    document = read(epub(files))
    assert document.text == "One two\nThree\n\nZ"
    assert [(file.name, file.start) for file in document.files] == [
        ("OPS/a.xhtml", 0),
        ("OPS/e.xhtml", 15),
        ("OPS/z.xhtml", 15),
    ]
    for chapter in document.chapters:
        for paragraph in chapter.paragraphs:
            assert paragraph.text == document.text[paragraph.source_start : paragraph.source_end]
    check_account(planned_of(epub(files), "x.epub"))


@pytest.mark.parametrize(
    ("name", "kind"), [("nav.xhtml", "application/xhtml+xml"), ("t.ncx", "application/x-dtbncx+xml")]
)
@pytest.mark.parametrize("text", ["", "no markup <", '\ufffd<?xml version="1.0" encoding="utf-8"?><a>'])
def test_a_broken_table_of_contents_costs_no_book(name, kind, text):
    manifest = f'<item id="n" href="{name}" media-type="{kind}" properties="{"nav" if "nav" in name else ""}"/>'
    assert list(chapters(epub({"a.xhtml": CHAPTER, name: text}, manifest=manifest))) == ["One"]
