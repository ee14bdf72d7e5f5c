"""Single documents of EPUB books as makers write them; what must be heard was written down before the trial."""

import pytest

from jobs.errors import BadSource
from jobs.reading import read_source
from tests.helpers_reading import METADATA, archive, epub, xhtml
from tests.jobs.reading.books import one
from tests.jobs.reading.held_out import wrong_in

DOCUMENTS = [
    one(
        "indesign",
        (
            '<div class="Basic-Text-Frame"><p class="Body"><span class="CharOverride-1">Th'
            '</span><span class="CharOverride-2">ey</span> went.<span class="_idGenDropcap-1"> '
            '</span><span><a class="_idFootnoteLink _idGenColorInherit" '
            'href="#footnote-001" id="footnote-001-backlink">1'
            '</a></span></p></div><section class="_idFootnotes"><div class="_idFootnote">'
            '<aside id="footnote-001" epub:type="footnote"><p><a href="#footnote-001-backlink">1'
            "</a> Note.</p></aside></div></section>"
        ),
        "They went.",
        why={"Note.": "notes"},
    ),
    one("drop cap image", '<p><img alt="I" src="i.png"/>t was late.</p>', "It was late."),
    one(
        "image between words",
        (
            '<p>a <img alt="A boat" src="i.png"/> b and c<img alt="dot"/> d<svg xmlns="http://www.w3.org/2000/svg">'
            "<text> x </text></svg> e</p>"
        ),
        "a b and c d e",
        why={"A boat": "images", "dot": "images", "x": "illustrations"},
    ),
    one("powers", "<p>10<sup>2</sup>, 1<sup>st</sup>, H<sub>2</sub>O.</p>", "10², 1st, H2O."),
    one("entities", "<p>Caf&eacute;&nbsp;&mdash; &ldquo;x&rdquo; R&D &amp; co</p>", "Café — “x” R&D & co"),
    one("cdata", "<p><![CDATA[a < b & c]]></p>", "a < b & c"),
    one("not well formed", "<p>One<br>two <b>three</p><p>four &nbsp five", "One two three", "four five"),
    one("upper case", "<P>One</P><BR/><DIV>two</DIV>", "One", "two"),
    one(
        "japanese",
        (
            "<p><ruby>吾輩<rp>（</rp><rt>わがはい</rt><rp>）</rp></ruby>は<ruby><rb>猫</rb><rt>ねこ"
            '</rt></ruby>である。</p><p><span class="tcy">12</span>月</p>'
        ),
        "吾輩は猫である。",
        "12月",
    ),
    one(
        "poem",
        (
            '<div class="poem"><p class="stanza"><span class="line">One line,<br/></span>'
            '<span class="line">two line.</span></p></div><blockquote epub:type="z3998:verse">'
            '<p><span>Three</span><br/><span class="i1">four.</span></p></blockquote>'
        ),
        "One line, two line.",
        "Three four.",
    ),
    one("scene breaks", '<p>a</p><hr class="tb"/><p>b</p><p class="center">* * *</p><p>c</p><p>—</p>', "a", "b", "c"),
    one("soft hyphens", "<p>un\u00adder&#173;stand zero\u200bwidth \ufeffword</p>", "understand zerowidth word"),
    one(
        "pull quote and sidebar",
        (
            '<p>One.</p><aside epub:type="pullquote"><p>Two.</p></aside><aside epub:type="sidebar">'
            "<p>Three.</p></aside><aside><p>Four.</p></aside>"
        ),
        "One.",
        "Three.",
        "Four.",
    ),
    one(
        "switch",
        (
            '<p>One <epub:switch><epub:case required-namespace="x"><b>no</b></epub:case>'
            "<epub:default>yes</epub:default></epub:switch>.</p>"
        ),
        "One yes.",
    ),
    one("utf-16", xhtml("<p>Café.</p>").replace("utf-8", "utf-16").encode("utf-16"), "Café."),
    one("latin-1", xhtml("<p>Café.</p>").replace("utf-8", "iso-8859-1").encode("latin-1"), "Café."),
]


@pytest.mark.parametrize("held", DOCUMENTS, ids=lambda held: held.id)
def test_documents(held):
    assert wrong_in(held) == {}


DRM = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><e:EncryptedData '
    'xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:CipherData><e:CipherReference URI="OPS/a.xhtml"/></e:CipherData></e:EncryptedData>'
    "</encryption>"
)
GOOD = {"a.xhtml": xhtml("<p>One.</p>")}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no_text"),
        (b"PK\x03\x04 broken", "bad_zip"),
        (epub(GOOD)[:200], "bad_zip"),
        (archive({"a.txt": "x"}), "bad_epub"),
        (epub(GOOD, spine="<x/>"), "bad_epub"),
        (epub(GOOD, spine='<itemref idref="zz"/>'), "bad_epub"),
        (epub(GOOD | {"META-INF/encryption.xml": DRM}), "encrypted"),
        (epub({"a.xhtml": xhtml("<p> </p><img alt='x'/>")}), "no_text"),
        (epub({"a.xhtml": "x" * 3_000_000}), "zip_bomb"),
        (epub(GOOD, metadata=METADATA + "<"), "bad_epub"),
    ],
)
def test_what_is_refused(data, code):
    with pytest.raises(BadSource) as refused:
        read_source(data, "book.epub")
    assert refused.value.problems[0].code == code
