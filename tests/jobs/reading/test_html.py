"""HTML pages."""

import pytest

from jobs.errors import BadSource
from jobs.plan import Break
from tests.helpers_reading import plan_of, read, spoken


def said(body):
    return spoken(plan_of(f"<html><body>{body}", "x.html"))


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("<p>One<p>Two<div>Three</div>Four", ["One", "Two", "Three", "Four"]),
        ("a<br>b<wbr>c &nbsp; &amp; &eacute; &#8212;", ["a bc & é —"]),
        ("<p>H<sub>2</sub>O, 10<sup>2</sup></p>", ["H2O, 102"]),
        ("<p>Text<!-- no --> goes <b>on</b> <i>and</i> on</p>", ["Text goes on and on"]),
        ("<p>word<sup><a href='#n'>12</a></sup> next</p>", ["word next"]),
        ("<p>word<a href='#n'><sup>[3]</sup></a> next</p>", ["word next"]),
        ("<p>word<a href='#top'>12</a> next</p>", ["word12 next"]),
        ("<p>word<sup><a href='#n'>nd</a></sup> next</p>", ["wordnd next"]),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", ["漢字"]),
        ("<ul><li>one<li>two</ul>", ["one", "two"]),
        ("<table><tr><td>A<td>B<tr><td>C</table>", ["A", "B", "C"]),
        ("<p>a<img alt='no'>b<svg><text>no</text></svg>c</p>", ["abc"]),
        ("<p>a <span style='display: none'>no</span><span aria-hidden=true>no</span>b</p>", ["a b"]),
        ("<pre>a poem\n  of lines</pre>", ["a poem of lines"]),
        ("<pre><code>no()</code></pre>x", ["x"]),
        ("<nav>no</nav><script>no</script><style>no</style><template>no</template>x", ["x"]),
        ("<p role='doc-footnote'>no</p><section epub:type='toc'>no</section>x", ["x"]),
        ("<p>a<a epub:type='noteref' href='#q'>q</a>b</p><div id='q'>no</div>", ["ab"]),
    ],
)
def test_what_is_heard(body, heard):
    assert said(body) == heard


def test_what_is_left_out_is_counted():
    document = read(
        "<p>a<p hidden>no</p><p hidden>no</p><aside role='doc-footnote'>no</aside><pre><code>no</code></pre>", "x.html"
    )
    assert document.warnings == ("1 x code listing not spoken", "2 x hidden text not spoken", "1 x note not spoken")


def test_chapters_start_at_headings():
    text = "<title>T</title><h1>Part</h1><h2>One</h2><p>a<hr><p>b<h3>Sub</h3><p>c<h2>Two</h2><p>d"
    plan = plan_of(text, "x.html")
    assert [chapter.title for chapter in plan.chapters] == ["Part: One", "Two"]
    assert [segment.break_after for segment in plan.segments] == [
        Break.HEADING,
        Break.HEADING,
        Break.SCENE,
        Break.PARAGRAPH,
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
        '<meta name="author" content="Ann"/></head><body><p>Un<a id="x"/> mot&nbsp;ici.</p></body></html>'
    )
    for text in (page, f'<?xml version="1.0"?>\n<!DOCTYPE html>{page}'):
        document = read(text, "x.xhtml")
        assert (document.text, document.language, document.author) == ("Un mot ici.", "fr", "Ann")


def test_languages_of_paragraphs():
    document = read("<html lang=en><p>one<div lang=fr><p>deux</div><p>three", "x.html")
    assert [paragraph.lang for paragraph in document.chapters[0].paragraphs] == ["en", "fr", "en"]


def test_declared_encodings():
    page = "<html><head><meta charset={}></head><p>Привет"
    assert read(page.format("windows-1251").encode("cp1251"), "x.html").text == "Привет"
    assert read(page.format("koi8-r").encode("koi8-r"), "x.html").encoding == "koi8-r"


def test_offsets_count_in_the_text_that_was_taken_out():
    document = read("<p>One <b>two</b>. Three.<p>Four.", "x.html")
    assert document.text == "One two. Three.\n\nFour."
    plan = plan_of("<p>One <b>two</b>. Three.<p>Four.", "x.html")
    assert [document.text[one.source_start : one.source_end] for one in plan.segments] == [
        "One two.",
        "Three.",
        "Four.",
    ]


def test_a_page_too_deep_to_read_is_refused_not_cut_short():
    page = "<p>start" + "<div>" * 300 + "deep" + "</div>" * 300 + "<p>after"
    with pytest.raises(BadSource) as caught:
        read(page, "x.html")
    assert caught.value.problems[0].code == "bad_html"


@pytest.mark.parametrize("page", ["<html></html>", "<script>x</script>", "<!-- -->", "<p>&nbsp;</p>", "<", "<p>* * *"])
def test_nothing_to_speak(page):
    with pytest.raises(BadSource) as caught:
        read(page, "x.html")
    assert caught.value.problems[0].code == "no_text"
