"""HTML pages: what is heard, what is left out and why, and where each character is in the page."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.errors import BadSource
from jobs.plan import Break
from jobs.planning import PlanOptions
from jobs.reading import read_source
from jobs.reading.document import ParagraphKind
from jobs.reading.options import ReadingOptions
from tests.helpers_account import check_account
from tests.helpers_reading import plan_of, planned_of, read

NOTE_PAIR = "<p>Text<a id='r1' href='#n1'>[1]</a> goes on.</p><p><a id='n1' href='#r1'>[1]</a> A note.</p>"
PANDOC = (
    "<p>Text<sup id='fnref1'><a href='#fn1'>1</a></sup> on.</p><section class='footnotes'><hr><h2>Notes</h2><ol>"
    "<li id='fn1'><p>A note. <a href='#fnref1'>↩</a></p></li></ol></section>"
)
WIKI = (
    "<p>Go<sup class=reference id=cite_ref-1><a href='#cite_note-1'>[1]</a></sup> on.</p><h2>Notes</h2>"
    "<ol class=references><li id=cite_note-1><a href='#cite_ref-1'>^</a> A note</li></ol>"
)
RAIN = "<table><tr><th>Day<th>Rain<tr><td> Mon \n</td> <td><p>3 mm</p><tr><td>Tue<td></table>after"


def document_of(body, *, keep=()):
    options = ReadingOptions(skip=DEFAULT_SKIP - set(keep))
    return read_source(f"<html><title>T</title><body>{body}".encode(), "x.html", options=options)


def paragraphs(document):
    return [paragraph for chapter in document.chapters for paragraph in chapter.paragraphs]


def said(body, *, keep=()):
    return [one.text for one in paragraphs(document_of(body, keep=keep)) if one.kind is not ParagraphKind.SCENE_BREAK]


def left_out(body):
    document = document_of(body)
    return [
        (document.text[skip.start : skip.end], skip.why) for skip in document.skipped if skip.why is not Why.METADATA
    ]


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("<p>One<p>Two<div>Three</div>Four", ["One", "Two", "Three", "Four"]),
        ("a<br>b<wbr>c &nbsp; &amp; &eacute; &#8212;", ["a bc & é —"]),
        ("a<br>b<br><br>c<br/>\n<br>d", ["a b", "c", "d"]),
        ("<p>H<sub>2</sub>O, 10<sup>2</sup>, x<sup>1</sup></p>", ["H2O, 10², x¹"]),
        ("<p>Text<!-- no --> goes <b>on</b> <i>and</i> on</p>", ["Text goes on and on"]),
        ("<p>zero\u200bwidth soft&shy;hyphen <a href='b'>link</a> <del>old</del><q>said</q></p>", None),
        ("<ul><li>one<li>two</ul><ol><li>a<ul><li>b</ul></ol>", ["one", "two", "a", "b"]),
        ("<dl><dt>t<dd>d</dl><blockquote>q</blockquote><center>c</center>", ["t", "d", "q", "c"]),
        ("<p>a<p>* * *<p>b<hr>c", ["a", "b", "c"]),
        ("<table><tr><td>Layout<td>two</table>", ["Layout", "two"]),
        ("<table role=presentation><tr><td>A<td>B<tr><td>C</table>", ["A", "B", "C"]),
        ("<pre>a poem\n  of lines</pre><p>use <code>ls</code>", ["a poem of lines", "use ls"]),
        ("<details><summary>S</summary>body</details>", ["S", "body"]),
        ("<form><p>All of a page inside a form.</form>", ["All of a page inside a form."]),
        ("<article>One</article><article>Two</article>", ["One", "Two"]),
        ("<h1>Index</h1><p>She looked.</p><p>He left.</p><p>Gone.</p>", ["Index", "She looked.", "He left.", "Gone."]),
        (
            "<h1>T</h1><p>Lead.</p><article><p>Long text of it.</p></article><p>End <a href=a>of it</a>.</p>",
            ["T", "Lead.", "Long text of it.", "End of it."],
        ),
        (
            "<section><header><h2>First</h2></header><p>Lead.</section><article>All the text of it is here.</article>",
            ["First", "Lead.", "All the text of it is here."],
        ),
        ("<form><p>Lead.</p><div><main>All the text of it.</main></div></form>", ["Lead.", "All the text of it."]),
        ("<P>UP</P><o:p>a</o:p>b<svg:g>", ["UP", "ab"]),
        ("<p>E <math alttext='x squared'><mi>x</mi></math> y", ["E x squared y"]),
        ("<body><p>again</body><p>after</html>tail", ["again", "after", "tail"]),
    ],
)
def test_what_is_heard(body, heard):
    assert said(body) == (heard or ["zerowidth softhyphen link oldsaid"])


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("a < b and c > d <3 x", ["a < b and c > d <3 x"]),
        ("<p title='a > b'>x</p><p class=a\">y</p>", ["x", "y"]),
        ('<a href="u>lost</a> <a href="v">kept</a>', ["lost kept"]),
        ("x <a href='y", ["x <a href='y"]),
        ("x <!-- no end", ["x no end"]),
        ("x<script>if (a<b) {}</script>y<style>p{}</style>z<script src=s />t", ["xyzt"]),
        ("<title>no end <p>text", ["no end", "text"]),
        ("<![CDATA[data &amp; <b>]]>text", ["data &amp; <b>text"]),
        ("<?php echo 1 ?>y</>z</ x>", ["yz"]),
        ("&lt;b&gt; &amp;amp; &copy 5 &#150; &#x41; AT&T; &unknown;", ["<b> &amp; © 5 – A AT&T; &unknown;"]),
        ("\x00a\x0bb\ufffe", ["a b"]),
        ("<plaintext>p <b>q", ["p q"]),
        ("<p>x</p></div></p></b>y<i>z", ["x", "yz"]),
        ("<div>First para</p>Second para</div>", ["First para", "Second para"]),
        ("<p>two<div>three</p>four</div>", ["two", "three", "four"]),
        ("<ul>a</li>b</ul>c", ["a", "b", "c"]),
        ("<p>one</br>two<br></br>three", ["one two three"]),
    ],
)
def test_broken_pages_lose_no_word(body, heard):
    assert said(body) == heard


@pytest.mark.parametrize(
    ("body", "heard", "why", "text"),
    [
        ("<p>word<sup><a href='#n'>12</a></sup> next</p>", "word next", Why.NOTE_MARKS, "12"),
        ("<p>word<a href='#n'><sup>[3]</sup></a> next</p>", "word next", Why.NOTE_MARKS, "[3]"),
        ("<p>a<sup><a href='#n'>*</a></sup></p>", "a", Why.NOTE_MARKS, "*"),
        ("<p>a <a href='#r'>↩</a></p>", "a", Why.NOTE_MARKS, "↩"),
        ("<p role='doc-footnote'>no</p>x", "x", Why.NOTES, "no"),
        ("<section epub:type='toc'>no</section>x", "x", Why.CONTENTS, "no"),
        ("<p>P<span class='pagenum'>[Pg 12]</span> q", "P q", Why.PAGE_NUMBERS, "[Pg 12]"),
        ("<p>P<span epub:type=pagebreak id=p1> 12 </span>q", "P q", Why.PAGE_NUMBERS, "12"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt></ruby>字", "漢字", Why.RUBY, "(</rp><rt>かん"),
        ("<p>a<img alt='A boat'>b", "ab", Why.IMAGES, "A boat"),
        ("<p>a<svg><text>no</text></svg>b", "ab", Why.ILLUSTRATIONS, "no"),
        ("<figure><figcaption>Fig. 1</figcaption></figure>x", "x", Why.ILLUSTRATIONS, "Fig. 1"),
        ("<p>a <span style='display : none'>no</span>b</p>", "a b", Why.HIDDEN, "no"),
        ("<p>a <span aria-hidden=true>no</span>b</p>", "a b", Why.HIDDEN, "no"),
        ("<p hidden>no</p>x", "x", Why.HIDDEN, "no"),
        ("<pre><code>no()</code></pre>x", "x", Why.CODE, "no()"),
        ("<pre class='sourceCode'><i>no</i></pre>x", "x", Why.CODE, "no"),
        ("<math alttext='r'><mi>q</mi></math>x", "r x", Why.SYMBOL, "q"),
        ("<table><tr><td>A<td>B<tr><td>C</table>x", "x", Why.TABLES, "A<td>B<tr><td>C"),
        ("<nav>no</nav>x", "x", Why.OUTSIDE, "no"),
        ("<header>no</header><p>x y z", "x y z", Why.OUTSIDE, "no"),
        ("<div role=search>no</div>x y z", "x y z", Why.OUTSIDE, "no"),
        ("<aside>no</aside>x y z", "x y z", Why.OUTSIDE, "no"),
        (
            "<article>x y z</article><ul><li><a href=a>n</a> <a href=b>o</a></ul>",
            "x y z",
            Why.OUTSIDE,
            "n</a> <a href=b>o",
        ),
        ("<div id=comments>no</div><main>x y z</main>", "x y z", Why.OUTSIDE, "no"),
        ("<div><main>x y z</main><footer>no</footer></div>", "x y z", Why.OUTSIDE, "no"),
        ("<p>x y z<textarea>no</textarea>", "x y z", Why.OUTSIDE, "no"),
    ],
)
def test_what_is_left_out_and_why(body, heard, why, text):
    assert said(body) == [heard]
    assert left_out(body) == [(text, why)]


def test_a_mark_without_stars_ends_a_book_only_where_it_begins_a_paragraph():
    told = "That was the end of Project Gutenberg as such."
    assert said(f"<p>Story.<p>{told}<p>More.<p>End of Project Gutenberg's X, by Y<p>Licence") == [
        "Story.",
        told,
        "More.",
    ]


def test_what_is_left_out_is_told_block_by_block():
    body = "<p>Text of the page.</p><div class=advert><p>An <b>ad</b></p>\n<p>of two.</p></div><aside>Beside</aside>"
    assert left_out(body) == [(text, Why.OUTSIDE) for text in ("An <b>ad", "of two.", "Beside")]


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        (NOTE_PAIR, ["Text goes on."]),
        (PANDOC, ["Text on."]),
        (WIKI, ["Go on."]),
        ("<p>a<a epub:type='noteref' href='#q'>q</a>b</p><div id='q'>no</div>", ["ab"]),
        ("<p>He went <a href='#g'>back</a> home. They <a href='#r'>return</a>.", ["He went back home. They return."]),
        ("<p>a<a href='#n' id=r>[1]</a></p><p id=n>[1] Note. <a href='#r'>back</a></p>", ["a"]),
        ("<p>Go<a href='#n' id=r>1</a></p><p id=n>We went <a href='#r'>back</a> home.", ["Go1", "We went back home."]),
        ("<p>x</p><ol class=footnotes><li>Note. <a href='#r'>Return</a></li></ol>", ["x"]),
        ("<p>x</p><div class=notes><p>I will <a href='#r'>return</a></p></div>", ["x", "I will return"]),
        # A link alone is no mark, and a plain target no note.
        ("<p>word<a href='#top'>12</a> next</p>", ["word12 next"]),
        ("<p>word<sup><a href='#n'>nd</a></sup> next</p><p id=n>x", ["wordnd next", "x"]),
        ("<p>word<sup><a href='#n'>1</a></sup></p><p id=n>Kept", ["word", "Kept"]),
        ("<div class=notes><p>A chapter of notes without links.</p></div>", ["A chapter of notes without links."]),
    ],
)
def test_notes_are_known_by_links_that_lead_both_ways(body, heard):
    assert said(body) == heard


@pytest.mark.parametrize(
    ("body", "heard", "why"),
    [
        ("<h2>Contents</h2><ul><li><a href='#a'>One</a><li><a href='#b'>Two</a></ul><h2>One</h2>x", ["One", "x"], "c"),
        ("<h2>References</h2><p>Smith, J. (1999).<p>Doe, 2003.<p>——. B. 1977.<h2>End</h2><p>x", ["End", "x"], "b"),
        ("<p>x<h2>Index</h2><p>apple, 3, 4<p>boat, 7–9<h3>C</h3><p>cat, see dog", ["x"], "i"),
    ],
)
def test_sections_by_heading_and_look(body, heard, why):
    assert said(body) == heard
    reason = {"c": Why.CONTENTS, "b": Why.BIBLIOGRAPHY, "i": Why.INDEX}[why]
    assert {found for _, found in left_out(body)} == {reason}
    assert len(said(body, keep=[reason])) > len(heard)


@pytest.mark.parametrize(
    "told",
    [
        ("References", "In 1884 he asked."),
        ("References", "In 1884 he asked.", "In 1885 he came.", "London, 1886, was where he died."),
        ("Bibliography", "J. Smith, who came in 1884, said no.", "A. Bell, in 1885, was ill.", "C. Dow (1886) had it."),
        ("Index", "He came in 1884", "She went in 1885", "They died in 1886."),
        ("Register", "And see what came.", "But see who came.", "See what they did."),
        ("Index", "She was 19.", "Apples, 3, they had.", "He said, see them!"),
        ("Contents", "He came in 1884", "She was ill", "We were civil"),
        ("Index", "Zoe, 3", "Yan, 4", "Xul, 5"),
    ],
)
def test_sentences_below_such_a_heading_are_spoken(told):
    assert said(f"<h1>{told[0]}</h1><p>{'<p>'.join(told[1:])}") == list(told)


def test_only_the_entries_of_an_index_or_a_bibliography_are_left_out():
    index = "<h1>Index</h1><p>Pictures are marked.<h3>B</h3><p>Boats <a href=#p>7</a><p>Cats<p>big, 4<p>Eels. See Fish"
    books = (
        "<h1>References</h1><p>All are good.<p>Bell, Ann. Sea. 1977.<p>[2] J. Roe, X, 1988.<p>Doe, J. (1999). Had he?"
    )
    books += "<p>——. Y. 1989."
    assert said(index) == ["Index", "Pictures are marked."]
    assert said(books) == ["References", "All are good."]


@pytest.mark.parametrize(
    ("body", "why", "heard"),
    [
        (RAIN, Why.TABLES, ["Day: Mon, Rain: 3 mm", "Day: Tue", "after"]),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", Why.TABLES, ["a, b", "c, d"]),
        ("<p>a<img alt='A &amp; boat'>b", Why.IMAGES, ["a A & boat b"]),
        ("<p>a<sup><a href='#n'>2</a></sup> b", Why.NOTE_MARKS, ["a2 b"]),
        (NOTE_PAIR, Why.NOTES, ["Text goes on.", "A note."]),
        ("<pre><code>x = 1</code></pre>", Why.CODE, ["x = 1"]),
        ("<p hidden>h", Why.HIDDEN, ["h"]),
    ],
)
def test_what_is_kept_is_spoken(body, why, heard):
    assert said(body, keep=[why]) == heard


@pytest.mark.parametrize("body", [RAIN, PANDOC, WIKI, "x &notit; &NotEqualTilde; &lt;<br>a<img alt='b'> c"])
@pytest.mark.parametrize("skip", [DEFAULT_SKIP, frozenset()])
def test_the_account_of_a_page_is_whole(body, skip):
    check_account(planned_of(f"<p>Words.{body}", "x.html", options=PlanOptions(reading=ReadingOptions(skip=skip))))


def test_offsets_lead_into_the_page():
    page = "<title>T</title><p>One <b>two</b>.\n Fish &amp; chips,&nbsp;caf&eacute;.<p>Two<br>lines."
    document = read(page, "x.html")
    assert document.text == page
    first, second = paragraphs(document)
    assert first.text == "One two. Fish & chips, café."
    for char, offset in zip(first.text, first.offsets, strict=True):
        assert page[offset] in {char, "&"} or char == " "
    assert {page[start:end] for start, end in document.escapes} == {"&amp;", "&nbsp;", "&eacute;", "<br>"}
    assert page[second.source_start : second.source_end] == "Two<br>lines."


def test_chapters_start_at_headings():
    text = "<title>T</title><h1>Part</h1><h2>One</h2><p>a<hr><p>b<h3>Sub</h3><p>c<h2>Two</h2><p>d"
    plan = plan_of(text, "x.html")
    assert [chapter.title for chapter in plan.chapters] == ["Part: One", "Two"]
    breaks = [Break.HEADING, Break.HEADING, Break.SCENE, Break.PARAGRAPH]
    assert [one.break_after for one in plan.segments] == [
        *breaks,
        Break.HEADING,
        Break.CHAPTER,
        Break.HEADING,
        Break.CHAPTER,
    ]


def test_facts():
    document = read(
        "<html lang=de><head><title> My\n page </title><meta name=Author content='Ann'></head><p>x", "x.html"
    )
    assert (document.title, document.author, document.language) == ("My page", "Ann", "de")
    assert read("<p>x", "page.html").title == "page"


def test_xhtml_is_read_as_such():
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><head><title/><script src="x"/>'
        '<meta name="author" content="Ann"/></head><body><p>Un<a id="x"/> mot&nbsp;ici.</p></body></html>\n'
    )
    for text in (page, f'<?xml version="1.0"?>\n<!DOCTYPE html>{page}'):
        document = read(text, "x.xhtml")
        assert [one.text for one in paragraphs(document)] == ["Un mot ici."]
        assert (document.text, document.language, document.author) == (text, "fr", "Ann")


def test_languages_of_paragraphs():
    document = read("<html lang=en><p>one<div lang=fr><p>deux</div><p>three", "x.html")
    assert [paragraph.lang for paragraph in document.chapters[0].paragraphs] == ["en", "fr", "en"]


def test_declared_and_asked_encodings():
    page = "<html><head><meta charset={}></head><p>Привет"
    assert [one.text for one in paragraphs(read(page.format("windows-1251").encode("cp1251"), "x.html"))] == ["Привет"]
    assert read(page.format("koi8-r").encode("koi8-r"), "x.html").encoding == "koi8-r"
    wrong = page.format("utf-8").encode("cp1251")
    asked = read_source(wrong, "x.html", options=ReadingOptions(encoding="cp1251"))
    assert [one.text for one in paragraphs(asked)] == ["Привет"]


@pytest.mark.parametrize("times", [256, 3000, 20_000])
@pytest.mark.parametrize(
    "deep", ["<i>one<br>", "<center>one", "<dl><dd>one", "<ul><li><b>one", "<div><p>one</p>", "<table><tr><td>one"]
)
def test_no_depth_of_a_page_costs_text(deep, times):
    document = read(deep * times + "<h2>End</h2><p>last", "x.html")
    assert sum(one.text.count("one") for one in paragraphs(document)) == times
    assert [one.text for one in paragraphs(document)][-2:] == ["End", "last"]
    assert document.chapters[-1].title == "End"


def test_deep_elements_that_end_part_their_text():
    page = "<p>start" + "<div>" * 300 + "deep" + "</div>" * 300 + "<p>after <i>it</i><h2>Two</h2>end"
    assert said(page) == ["start", "deep", "after it", "Two", "end"]


@pytest.mark.parametrize("page", ["<html></html>", "<script>x</script>", "<!-- -->", "<p>&nbsp;</p>", "<", "<p>* * *"])
def test_nothing_to_speak(page):
    with pytest.raises(BadSource) as caught:
        read(page, "x.html")
    assert caught.value.problems[0].code == "no_text"
