"""Whole HTML pages as tools, sites and people write them; what must be heard was written down before the trial."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.jobs.reading.held_out import Held, held_file, wrong_in

ALL = PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.TABLES, Why.IMAGES}))


def page(name, body, *says, **more):
    return Held(
        name, f"<!DOCTYPE html><html><title>T-t</title><body>{body}</body></html>", says or None, "p.html", **more
    )


PAGES = [
    Held(
        "news",
        held_file("page_news.html"),
        ("Flood hits town", "By Ann Lee", "The river rose on Monday.", "Nobody was hurt."),
        "p.html",
        gone=("cookies", "Accept", "Facebook", "Most read", "2024", "Photo"),
        why={"We use cookies.": "outside", "The street. Photo: AP": "illustrations", "A street": "images"},
    ),
    Held(
        "wikipedia",
        held_file("page_wiki.html"),
        ("Tern", "Terns are seabirds. They fly.", "Name", "The name is old."),
        "p.html",
        chapters=("Tern", "Name"),
        why={
            "Bird, A. (1999)": "notes",
            "Birds of the sea": "outside",
            "Categories: Birds": "outside",
            "Animalia": "tables",
            "A tern in flight": "illustrations",
        },
    ),
    Held(
        "word",
        held_file("page_word.html"),
        ("My Book", "One", "It was “late” said Jim. He left—fast.", "· First"),
        "p.html",
        encoding="cp1252",
        why={"The footnote.": "notes"},
    ),
    Held(
        "sphinx",
        held_file("page_sphinx.html"),
        ("Guide", "Use run() now .", "Warning", "Take care."),
        "p.html",
        why={"¶": "outside", "import</span> x": "code"},
    ),
    Held(
        "gutenberg",
        held_file("page_gutenberg.html"),
        ("THE BOAT", "CHAPTER I", "It was cold. She rowed.", "O boat,", "my boat."),
        "p.html",
        why={
            "This ebook is for": "licence",
            "Updated editions": "licence",
            "Very cold.": "notes",
            "[Pg 2]": "page_numbers",
        },
        chapters=("Chapter I",),
    ),
    Held(
        "mail",
        held_file("page_mail.html"),
        ("Hi Bob,", "It works now.", "Ann", "On Monday, Bob wrote:", "Does it?"),
        "p.html",
    ),
    Held(
        "blog",
        held_file("page_blog.html"),
        ("Tea time", "I like tea a lot, and I drink it."),
        "p.html",
        gone=("Nice", "Tweet", "My Blog"),
    ),
    page(
        "header with the only h1",
        "<header><nav>Home</nav><h1>The Well</h1><p>By Ann</p></header><p>It was deep and dark. Nobody went.</p>",
        "The Well",
        "By Ann",
        "It was deep and dark. Nobody went.",
        why={"Home": "outside"},
    ),
    page(
        "pandoc title block",
        "<header id='title-block-header'><h1 class='title'>Tea</h1><p class='author'>Ann</p></header><nav id='TOC' "
        "role='doc-toc'><ul><li><a href='#a'>A</a></li></ul></nav><h2 id='a'>A</h2><p>Text of it.</p>",
        "Tea",
        "Ann",
        "A",
        "Text of it.",
    ),
    page(
        "unclosed script",
        "<p>One.</p><script>var a=1;<p>Two words.</p><p>Three.</p>",
        keep=("One.", "Two words.", "Three."),
    ),
    page("unclosed style", "<p>One.</p><style>p{}<p>Two words.</p>", keep=("One.", "Two words.")),
    page(
        "unclosed tags",
        "<div><p>One<p>Two <b>bold<p>three</i></div><ul><li>a<li>b<table><tr><td>c",
        "One",
        "Two bold",
        "three",
        "a",
        "b",
        "c",
    ),
    page(
        "upper case",
        "<CENTER><H1>ONE</H1></CENTER><P ALIGN=LEFT>Text one.<P>Text two.<HR><P>End.",
        "ONE",
        "Text one.",
        "Text two.",
        "End.",
    ),
    page("divs in divs", "<div>" * 60 + "deep" + "</div>" * 60 + "<div>a<div>b</div>c</div>", "deep", "a", "b", "c"),
    page("definitions", "<dl><dt>Tern<dd>A bird.<dt>Boat<dd><p>Floats.</p></dl>", "Tern", "A bird.", "Boat", "Floats."),
    page(
        "lists",
        "<ol start=3><li>one<ul><li>in</li></ul></li><li><p>two</p><p>more</p></li></ol>",
        "one",
        "in",
        "two",
        "more",
    ),
    page(
        "layout table",
        "<table width=100%><tr><td><font>Menu</font></td><td><h1>Story</h1><p>Once.</p><p>Twice.</p></td></tr></table>",
        "Menu",
        "Story",
        "Once.",
        "Twice.",
    ),
    page(
        "talk in a table",
        "<table><tr><td>ANN</td><td>Where is he?</td></tr><tr><td>BOB</td><td>Gone.</td></tr></table>",
        *("ANN", "Where is he?", "BOB", "Gone."),
    ),
    page(
        "columns of paragraphs",
        "<table><tr><td>Menu</td><td>More</td></tr><tr><td><p>One.</p><p>Two.</p></td><td><p>Three</p></td></tr></table>",
        *("Menu", "More", "One.", "Two.", "Three"),
    ),
    page(
        "title of the site and of the text",
        "<header><h1>The Daily</h1></header><main><h1>Flood</h1><p>Text of it.</p></main>",
        *("Flood", "Text of it."),
        why={"The Daily": "outside"},
    ),
    page(
        "title above the main part",
        "<header><h1>Flood</h1></header><main><p>Text of it.</p></main>",
        *("Flood", "Text of it."),
    ),
    page("words with a name", "<p>We <span class=share>share</span> it all.</p>", "We share it all."),
    page("dialog", "<div role=dialog>We use cookies</div><p>Text of the page.</p>", "Text of the page."),
    page("breaks of xml", "<p>a<br></br>b<br></br><br></br>c<br><br><br><br>d</p>", "a b", "c", "d"),
    page("heading of two lines", "<h2>CHAPTER I<br/>The Gate</h2><p>It was.</p>", "CHAPTER I The Gate", "It was."),
    page("layout of one cell", "<table><tr><td><p>One.</p><p>Two.</p></td></tr></table>", "One.", "Two."),
    page(
        "data table",
        (
            "<table><thead><tr><th>Day</th><th>Rain</th></tr></thead><tbody><tr><td>Mon"
            "</td><td>3 mm</td></tr></tbody></table><p>End.</p>"
        ),
        "Day: Mon, Rain: 3 mm",
        "End.",
        options=ALL,
    ),
    page(
        "data table left out",
        "<table><tr><th>Day<th>Rain<tr><td>Mon<td>3 mm</table><p>End.</p>",
        "End.",
        why={"Mon": "tables"},
    ),
    page(
        "table with caption",
        "<table><caption>Rain</caption><tr><th>Day<th>mm<tr><td>Mon<td>3<tr><td>Tue<td></table>",
        "Rain",
        "Day: Mon, mm: 3",
        "Day: Tue",
        options=ALL,
    ),
    page(
        "row names", "<table><tr><th>Born<td>1901<tr><th>Died<td>1950</table>", "Born, 1901", "Died, 1950", options=ALL
    ),
    page(
        "poem in verses",
        "<p class=poem><span>O boat,</span><br><span class=i2>my boat</span><br><br><span>comes home.</span></p>",
        "O boat, my boat",
        "comes home.",
    ),
    page("poem set by hand", "<pre>O boat,\n   my boat\n\nhome.</pre>", keep=("O boat,", "my boat", "home.")),
    page("scene breaks", "<p>a</p><p>* * *</p><p>b</p><hr/><p>c</p><p>⁂</p><p>&nbsp;</p><p>d</p>", "a", "b", "c", "d"),
    page(
        "images",
        "<p><img alt='A red boat'></p><figure><img alt='Second'><figcaption>Fig. 1</figcaption></figure><p>End.</p>",
        "End.",
        why={"A red boat": "images", "Second": "images", "Fig. 1": "illustrations"},
    ),
    page("images kept", "<p>See <img alt='a red boat'>here.</p>", "See a red boat here.", options=ALL),
    page(
        "hidden",
        "<p hidden>no1</p><div style='color:red;display:none'>no2</div><p aria-hidden=true>no3"
        "</p><p style='visibility:hidden'>no4</p>"
        "<template>no5</template><noscript>no6</noscript><p>yes</p>",
        "yes",
        gone=("no",),
        why={"no1": "hidden", "no2": "hidden", "no6": "hidden"},
    ),
    page(
        "form",
        (
            "<p>Text of a page, long enough.</p><form><label>Name</label><input value=x>"
            "<select><option>A</select><button>Go</button></form>"
        ),
        "Text of a page, long enough.",
    ),
    page("details", "<details><summary>More</summary><p>Body.</p></details>", "More", "Body."),
    page(
        "quotes",
        "<blockquote><p>One.</p><p>Two.</p><footer>— <cite>Ann</cite></footer></blockquote>",
        "One.",
        "Two.",
        "— Ann",
    ),
    page(
        "hebrew", "<p dir=rtl lang=he>&#8207;הספר, 3.12.</p><p lang=ar>ما هذا؟ نعم.</p>", "הספר, 3.12.", "ما هذا؟ نعم."
    ),
    page(
        "chinese",
        "<h2>第一章 风</h2><p>　　风很大。“你好！”他说。</p>",
        keep=("风很大。", "“你好！”", "他说。"),
        chapters=("第一章 风",),
    ),
    page(
        "two articles",
        "<article><h2>One</h2><p>First.</p></article><article><h2>Two</h2><p>Second.</p></article>",
        "One",
        "First.",
        "Two",
        "Second.",
    ),
    page("text after the end", "<p>One.</p></body></html><p>Two.</p>", "One.", "Two."),
    page("breaks as paragraphs", "One line.<br><br>Two line.<BR>\n<BR/>Three", "One line.", "Two line.", "Three"),
    page(
        "header link",
        "<h2 id=a>Setup <a class='anchor' href='#a' aria-hidden='true'>#</a></h2><p>Do it.</p>",
        "Setup",
        "Do it.",
    ),
    page(
        "main twice named",
        "<div class=nav>Menu</div><div role=main><p>The text of the page.</p></div>",
        "The text of the page.",
        why={"Menu": "outside"},
    ),
    Held(
        "utf-16",
        "\ufeff<html><body><p>Caf\xe9 ouvert.</p></body></html>".encode("utf-16-le"),
        ("Café ouvert.",),
        "p.html",
        encoding="utf-16",
    ),
    Held(
        "latin-1 declared",
        b"<html><meta charset='iso-8859-1'><p>Caf\xe9 \x93ouvert\x94.</p></html>",
        ("Café “ouvert”.",),
        "p.html",
    ),
    Held(
        "saved page",
        "<!DOCTYPE html>\n<!-- saved from url=(0020)http://example.com/ -->\n<html><body><p>Kept.</p></body></html>",
        ("Kept.",),
        "p.html",
    ),
    Held("fragment", "Just text &amp; a<b>b</b>c.\n\nStill the same.", ("Just text & abc. Still the same.",), "p.html"),
    Held(
        "xhtml",
        (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
            '<title/><script/></head><body><p>A<br/>b<a id="x"/>c</p></body></html>'
        ),
        ("A bc",),
        "p.xhtml",
    ),
]


@pytest.mark.parametrize("held", PAGES, ids=lambda held: held.id)
def test_pages(held):
    assert wrong_in(held) == {}
