"""EPUB books as makers write them; what must be heard was written down before they were tried."""

import pytest

from tests.jobs.reading.books import NAV, NCX, book, nav, ncx
from tests.jobs.reading.held_out import wrong_in

PAD = "".join(f"<p>Long text of the chapter, part {number}, that goes on and on.</p>" for number in range(20))
SE_HEAD = (
    '<section id="chapter-1" role="doc-chapter" epub:type="chapter"><hgroup>'
    '<h2><span epub:type="label">Chapter</span> <span epub:type="ordinal z3998:roman">I'
    '</span></h2><p epub:type="title">The Gate</p></hgroup>'
)
ENDNOTES = (
    '<section epub:type="endnotes" role="doc-endnotes"><h2 epub:type="title">Endnotes'
    '</h2><ol><li id="note-1" epub:type="endnote"><p>A note. <a href="a.xhtml#noteref-1" role="doc-backlink" '
    'epub:type="backlink">↩︎</a></p></li></ol></section>'
)
INDEX = "<h1>Index</h1><p>Boats, 3, 17–19</p><p>Terns, 22</p><p>Wind, <i>see</i> Weather</p><p>Weather, 9</p>"
BOOKS = [
    book(
        "standard ebooks",
        {
            "a.xhtml": SE_HEAD
            + (
                '<p><abbr epub:type="z3998:name-title">Mr.</abbr> Bell sat.<a href="end.xhtml#note-1" id="noteref-1" '
                'epub:type="noteref">1</a> <i xml:lang="fr">Oui</i>.</p></section>'
            ),
            "end.xhtml": ENDNOTES,
            "loi.xhtml": '<nav epub:type="loi"><ol><li><a href="a.xhtml#i">A map</a></li></ol></nav>',
            "imprint.xhtml": '<section epub:type="imprint"><p>This ebook is thanks to volunteers.</p></section>',
        },
        "Chapter I",
        "The Gate",
        "Mr. Bell sat. Oui.",
        why={"A note.": "notes", "A map": "contents", "This ebook": "front"},
    ),
    book(
        "gutenberg",
        {
            "a.xhtml": (
                '<section class="pg-boilerplate pgheader" id="pg-header"><h2>The Project Gutenberg eBook of The '
                "Boat</h2><p>This ebook is for the use of anyone.</p></section><h1>THE BOAT"
                "</h1><p>By Ann</p>"
            ),
            "b.xhtml": (
                '<div class="chapter"><h2>CHAPTER I</h2><p>It was <span class="x-ebookmaker-pageno" title="[3]">'
                '<a id="Page_3"></a></span>cold, and the<span class="pginternal">re</span> we '
                '<span class="pagenum" id="Page_4">[Pg 4]</span>sat.</p></div>'
            ),
            "c.xhtml": (
                '<section class="pg-boilerplate" id="pg-footer"><p>*** END OF THE PROJECT GUTENBERG EBOOK THE BOAT '
                "***</p><p>Updated editions will replace it.</p></section>"
            ),
        },
        "THE BOAT",
        "By Ann",
        "CHAPTER I",
        "It was cold, and there we sat.",
        why={"This ebook": "licence", "Updated editions": "licence", "[Pg 4]": "page_numbers"},
    ),
    book(
        "gutenberg of old",
        {
            "a.xhtml": (
                "<p>The Project Gutenberg EBook of The Boat, by Ann</p><p>This eBook is for anyone."
                "</p><p>*** START OF THIS PROJECT GUTENBERG EBOOK THE BOAT ***</p><h1>The Boat"
                "</h1><p>It floats.</p>"
            ),
            "b.xhtml": (
                "<p>The end.</p><p>*** END OF THIS PROJECT GUTENBERG EBOOK THE BOAT ***</p><p>Updated editions.</p>"
            ),
            "c.xhtml": "<p>1.A. By reading this work.</p>",
        },
        "The Boat",
        "It floats.",
        "The end.",
        why={"This eBook is for anyone.": "licence", "Updated editions.": "licence", "1.A. By reading": "licence"},
    ),
    book(
        "calibre",
        {
            "a.xhtml": (
                '<div class="calibre"><h2 id="calibre_toc_1" class="calibre1"><span class="bold">1'
                '</span></h2><p class="calibre2"><span class="c3">T</span>he <span class="calibre4">door'
                '</span>.</p><div class="mbp_pagebreak" id="calibre_pb_1"></div></div>'
            ),
            "toc.ncx": ncx(("a.xhtml#calibre_toc_1", "1")),
        },
        "1",
        "The door.",
        chapters=("1",),
        manifest=NCX,
    ),
    book(
        "ncx only",
        {
            "a.xhtml": "<h1>A</h1><p>One.</p>",
            "b.xhtml": "<p>Two.</p>",
            "toc.ncx": ncx(("a.xhtml", "The A"), ("b.xhtml", "The B")),
        },
        "A",
        "One.",
        "Two.",
        chapters=("The A", "The B"),
        manifest=NCX,
    ),
    book(
        "nested contents",
        {
            "nav.xhtml": nav(("p.xhtml", "Part One", [("a.xhtml", "A", [("a.xhtml#s", "Section")]), ("b.xhtml", "B")])),
            "p.xhtml": "<h1>Part One</h1>",
            "a.xhtml": "<h2>A</h2><p>One.</p><h3 id='s'>S</h3><p>In.</p>",
            "b.xhtml": "<h2>B</h2><p>Two.</p>",
        },
        "Part One",
        "A",
        "One.",
        "S",
        "In.",
        "B",
        "Two.",
        chapters=("Part One", "A", "B"),
        manifest=NAV,
    ),
    book(
        "entries inside one file",
        {
            "nav.xhtml": nav(("a.xhtml#one", "One"), ("a.xhtml#two", "Two"), ("a.xhtml#three", "Three")),
            "a.xhtml": (
                "<p>Before.</p><h2 id='one'>I</h2><p>1st.</p><p><a id='two'/>2nd.</p><div id='three'><p>3rd.</p></div>"
            ),
        },
        "Before.",
        "I",
        "1st.",
        "2nd.",
        "3rd.",
        chapters=("A Book", "One", "Two", "Three"),
        manifest=NAV,
    ),
    book(
        "entry to a span in a paragraph",
        {
            "nav.xhtml": nav(("a.xhtml", "One"), ("a.xhtml#x", "Two")),
            "a.xhtml": "<p>Begin.</p><p>It is <span id='x'>here</span>.</p>",
        },
        "Begin.",
        "It is here.",
        chapters=("One", "Two"),
        manifest=NAV,
    ),
    book(
        "number and title",
        {"nav.xhtml": nav(("a.xhtml", "01")), "a.xhtml": "<h1>01</h1><h2>The Gate</h2><p>Text.</p>"},
        "01",
        "The Gate",
        "Text.",
        chapters=("01: The Gate",),
        manifest=NAV,
    ),
    book(
        "no contents",
        {"a.xhtml": "<h1>One</h1><p>1st.</p>", "b.xhtml": "<p>goes on.</p>", "c.xhtml": "<h1>Two</h1><p>2nd.</p>"},
        "One",
        "1st.",
        "goes on.",
        "Two",
        "2nd.",
    ),
    book(
        "front matter",
        {
            "cover.xhtml": '<div epub:type="cover"><img src="c.jpg" alt="Cover of the book"/></div>',
            "half.xhtml": '<section epub:type="halftitlepage"><h1>A Book</h1></section>',
            "title.xhtml": '<section epub:type="titlepage"><h1>A Book</h1><p>Ann Author</p></section>',
            "copy.xhtml": "<p>Copyright © 2020 Ann Author</p><p>All rights reserved.</p><p>ISBN 978-0-00-000000-2</p>",
            "ded.xhtml": '<section epub:type="dedication"><p>For Bob.</p></section>',
            "epi.xhtml": (
                '<section epub:type="epigraph"><blockquote><p>Go.</p><cite>— Eve</cite></blockquote></section>'
            ),
            "a.xhtml": "<h1>One</h1>" + PAD,
        },
        keep=("Ann Author", "For Bob.", "Go.", "— Eve", "One", "part 19"),
        gone=("Copyright", "ISBN", "Cover of"),
        why={"All rights reserved.": "front", "Cover of the book": "front"},
    ),
    book(
        "back matter",
        {
            "a.xhtml": "<h1>One</h1>" + PAD,
            "also.xhtml": "<h1>Also by Ann Author</h1><p>The Well</p>",
            "about.xhtml": "<h1>About the Author</h1><p>Ann lives in Bath.</p>",
            "index.xhtml": INDEX,
            "bib.xhtml": '<section epub:type="bibliography"><h1>Sources</h1><p>Smith, J. 1999.</p></section>',
        },
        keep=("Also by Ann Author", "Ann lives in Bath."),
        gone=("Boats", "Terns", "Smith"),
        why={"Terns, 22": "index", "Smith, J. 1999.": "bibliography"},
    ),
    book(
        "contents page in the spine",
        {
            "toc.xhtml": "<h2>Contents</h2><p><a href='a.xhtml'>One</a></p><p><a href='b.xhtml'>Two</a></p>",
            "a.xhtml": "<h2>One</h2><p>1st.</p>",
            "b.xhtml": "<h2>Two</h2><p>2nd.</p>",
        },
        "One",
        "1st.",
        "Two",
        "2nd.",
    ),
    book(
        "linear no",
        {"a.xhtml": "<p>One.</p>", "n.xhtml": "<p>Popup.</p>", "b.xhtml": "<p>Two.</p>"},
        "One.",
        "Two.",
        spine='<itemref idref="a"/><itemref idref="n" linear="no"/><itemref idref="b"/>',
        why={"Popup.": "outside"},
    ),
    book(
        "order of the spine",
        {"c10.xhtml": "<p>Ten.</p>", "c2.xhtml": "<p>Two.</p>", "c1.xhtml": "<p>One.</p>"},
        "One.",
        "Two.",
        "Ten.",
        spine='<itemref idref="c1"/><itemref idref="c2"/><itemref idref="c10"/>',
    ),
    book(
        "missing spine items",
        {"a.xhtml": "<p>One.</p>"},
        "One.",
        spine='<itemref idref="a"/><itemref idref="zz"/><itemref idref="gone"/>',
        manifest='<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>',
    ),
    book(
        "names with blanks and accents",
        {"text/a%20b.xhtml": "<p>no</p>", "text/c d é.xhtml": "<p>Yes.</p>"},
        "Yes.",
        spine='<itemref idref="x"/>',
        manifest='<item id="x" href="text/c%20d%20%C3%A9.xhtml" media-type="application/xhtml+xml"/>',
    ),
    book(
        "pages of print",
        {
            "a.xhtml": (
                '<p>The<span epub:type="pagebreak" role="doc-pagebreak" id="p5" title="5">5'
                '</span> cat<div class="pagenum">6</div>sat<span class="pagenum" style="display:block">7'
                "</span>down.</p>"
            ),
            "nav.xhtml": nav(
                ("a.xhtml", "A"), more='<nav epub:type="page-list"><ol><li><a href="a.xhtml#p5">5</a></li></ol></nav>'
            ),
        },
        "The cat sat down.",
        manifest=NAV,
    ),
    book(
        "popups",
        {
            "a.xhtml": (
                '<p>Word<a epub:type="noteref" href="#n1"><sup>1</sup></a>, more.</p><aside epub:type="footnote" '
                'id="n1"><p>Note.</p></aside><p>End.</p>'
            )
        },
        "Word, more.",
        "End.",
        why={"Note.": "notes"},
    ),
    book(
        "notes in their own document",
        {
            "a.xhtml": '<p>Word<a id="r1" href="notes.xhtml#n1"><sup>1</sup></a> on.</p>',
            "notes.xhtml": '<h1>Notes</h1><p id="n1"><a href="a.xhtml#r1">1</a>. A note of the book.</p>',
        },
        "Word on.",
        why={"A note of the book.": "notes"},
    ),
    book(
        "guide",
        {"c.xhtml": "<p>Rights of all kinds.</p>", "a.xhtml": "<p>One.</p>", "n.xhtml": "<p>1. Note.</p>"},
        "One.",
        guide=(
            '<guide><reference type="copyright-page" href="c.xhtml"/><reference type="notes" href="n.xhtml"/>'
            '<reference type="text" href="a.xhtml"/></guide>'
        ),
        why={"Rights": "front", "1. Note.": "notes"},
    ),
    book("broken contents", {"nav.xhtml": b"<nav", "a.xhtml": "<h1>A</h1><p>One.</p>"}, "A", "One.", manifest=NAV),
    book(
        "contents that lead nowhere",
        {
            "nav.xhtml": nav(("zz.xhtml", "Z"), ("a.xhtml#zz", "Y"), ("http://x/", "W")),
            "a.xhtml": "<h1>A</h1><p>One.</p>",
        },
        "A",
        "One.",
        manifest=NAV,
    ),
]


@pytest.mark.parametrize("held", BOOKS, ids=lambda held: held.id)
def test_books(held):
    assert wrong_in(held) == {}
