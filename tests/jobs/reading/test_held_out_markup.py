"""HTML pages as tools, sites and people write them; what must be heard was written down before they were tried."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.jobs.reading.held_out import Held, wrong_in

ALL = PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.TABLES, Why.IMAGES}))


def page(name, body, *says, **more):
    return Held(name, f"<!DOCTYPE html><html><title>T-t</title><body>{body}</body></html>", says, "p.html", **more)


def line(name, body, says, **more):
    return page(name, f"<p>{body}</p>", says, **more)


LINES = [
    line("drop cap", '<span class="dropcap">O</span>nce upon a time.', "Once upon a time."),
    line("drop cap of calibre", '<span class="c2">T</span><span class="c3">HE</span> door.', "THE door."),
    line("drop cap image", '<img class="cap" src="o.png" alt="O"/>nce upon a time.', "Once upon a time."),
    line("drop cap image in a span", "<span class=cap><img alt='T'></span>he end.", "The end."),
    line("image before a word", "<img alt='Q'> once upon.", "once upon.", why={"Q": "images"}),
    line("small caps", "M<span class='sc'>c</span>Donald <small>SPOKE</small>.", "McDonald SPOKE."),
    line("ordinals", "The 1<sup>st</sup>, 2<sup>nd</sup> and M<sup>me</sup> X.", "The 1st, 2nd and Mme X."),
    line("power", "It rose 10<sup>2</sup> fold.", "It rose 10² fold.", spoken=("It rose ten squared fold.",)),
    line("root", "So x<sup>1/2</sup> and (a)<sup>3/4</sup>.", "So x^1/2 and (a)^3/4."),
    line("two notes", "A word<sup>1,2</sup> on.", "A word on."),
    line("variable", "So x<sup>2</sup> and y<sup>n</sup>.", "So x² and yⁿ."),
    line("negative", "It is 10<sup>-3</sup>, 10<sup>−6</sup> m.", "It is 10⁻³, 10⁻⁶ m."),
    line("ion", "Ca<sup>2+</sup> and Na<sup>+</sup> ions.", "Ca²⁺ and Na⁺ ions."),
    line("area", "It has 5 km<sup>2</sup> of sand.", "It has 5 km² of sand."),
    line("bracket power", "Take (a+b)<sup>2</sup> now.", "Take (a+b)² now."),
    line("italic power", "See <i>x</i><sup><i>2</i></sup>.", "See x²."),
    line("chemistry", "H<sub>2</sub>O, CO<sub>2</sub> and a<sub>n</sub>.", "H2O, CO2 and an."),
    line("set fraction", "Add 1<sup>1</sup>/<sub>2</sub> cups.", "Add 1 1/2 cups."),
    line("set fraction alone", "Add <sup>3</sup>&frasl;<sub>4</sub> cup.", "Add 3⁄4 cup."),
    line("isotope", "Some <sup>14</sup>C was left.", "Some 14C was left."),
    line("old captain", "Cap<sup>n</sup> Jones spoke.", "Capn Jones spoke."),
    line("unlinked mark", "It ended.<sup>3</sup> Then more.", "It ended. Then more.", why={"3": "note_marks"}),
    line("unlinked mark after a quote", "“No,”<sup>12</sup> he said.", "“No,” he said.", why={"12": "note_marks"}),
    line("mark after a word", "Odd word<sup>7</sup> here.", "Odd word⁷ here.", spoken=("Odd word here.",)),
    line("price", "Now $19<sup>99</sup> each.", "Now $19.99 each."),
    line("comment in a word", "won<!-- x -->derful", "wonderful"),
    line("comment between words", "one <!-- -- > <b>x</b> -->two", "one two"),
    line("emphasis in a word", "un<em>be</em>liev<b>able</b> <i>it</i>’s", "unbelievable it’s"),
    line(
        "soft hyphens",
        "un&shy;break\u00adable zero\u200bwidth a&zwnj;b long<wbr>word",
        "unbreakable zerowidth ab longword",
    ),
    line(
        "entities",
        "Tom &amp; Jerry&#8217;s &ldquo;caf&eacute;&rdquo;&#x2026; &lt;3 a&thinsp;b",
        "Tom & Jerry’s “café”… <3 a b",
    ),
    line("twice escaped", "AT&amp;amp;T &nosuch; R&D &copy2020", "AT&amp;T &nosuch; R&D ©2020"),
    line("french spaces", "« Quoi&nbsp;? » dit-il&#8239;; «&nbsp;Rien&nbsp;!&nbsp;»", "« Quoi ? » dit-il ; « Rien ! »"),
    line("german quotes", "<q>Ja</q>, „nein“, sagte »er«.", "Ja, „nein“, sagte »er«."),
    line("poem of breaks", "Line one,<br/>line two,<br>\n   line three.", "Line one, line two, line three."),
    line("break without space", "end<br/>begin<BR>again", "end begin again"),
    line("ruby with brackets", "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です", "漢字です"),
    line("ruby without", "<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です", "漢字です", why={"かん": "ruby"}),
    line("ruby of bases", "<ruby><rb>東<rb>京<rt>とう<rt>きょう</ruby>へ", "東京へ"),
    line("formula", "So <math><mi>x</mi><mo>=</mo><mn>2</mn></math> holds.", "So x = 2 holds."),
    line("formula's power", "So <math><msup><mi>x</mi><mn>2</mn></msup></math>, then.", "So x², then."),
    line("fraction", "So <math><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>=</mo><mi>c</mi></math>.", "So a / b = c."),
    line("formula's source", "A<math><mi>x</mi><annotation>\\x</annotation></math>B", "A x B", why={"\\x": "symbol"}),
    line("put for it", "He <del>old</del><ins>new</ins> it.", "He new it.", why={"old": "hidden"}),
    line("struck for it", "<s>old</s><ins>new</ins> it", "new it", why={"old": "hidden"}),
    line("struck alone", "He del<del>eted</del> it", "He deleted it"),
    line("letter of a note", "Then Tom<sup>a</sup> ran.<sup>b</sup>", "Then Tom ran."),
    line(
        "letters of words",
        "Capt<sup>n</sup>, M<sup>e</sup>, Prof.<sup>a</sup>, XX<sup>e</sup>",
        "Captn, Me, Prof.a, XXe",
    ),
    line(
        "letters inside", "Fern<sup>a</sup>ndo, 1<sup>a</sup>, x<sup>a</sup>, sin<sup>a</sup>", "Fernando, 1a, xa, sina"
    ),
    line("editors", "Yes.<sup>[citation needed]</sup> So<sup>[who?]</sup> it<sup>[note 2]</sup> is.", "Yes. So it is."),
    line("raised aside", "Yes<sup>[he laughed]</sup> he did", "Yes[he laughed] he did"),
    line("formula with words", "So <math alttext='x is 2'><mi>x</mi></math> holds.", "So x is 2 holds."),
    line("word's tags", "<st1:place w:st='on'>London</st1:place> is<o:p></o:p> here", "London is here"),
    line("upper case tags", "<B>Old</B> <FONT COLOR=red>page</FONT><A NAME=x>s</A>.", "Old pages."),
    line("deleted and put in", "<del>one</del> <ins>two</ins> <s>three</s> <mark>four</mark>", "one two three four"),
    line("code in a line", "Run <code>ls</code> or <kbd>Ctrl</kbd> <var>n</var>.", "Run ls or Ctrl n."),
    line("short forms", "<abbr title='World'>WHO</abbr> at <time datetime=x>noon</time>", "WHO at noon"),
    line(
        "page number",
        "The <span class='pagenum'><a id='Page_12'>[12]</a></span>cat",
        "The cat",
        why={"[12]": "page_numbers"},
    ),
    line("page number in a word", "won<span class='pagenum'>[Pg 4]</span>derful", "wonderful"),
    line("page block", "the<span class='pagenum' style='display:block'>12</span>cat", "the cat"),
    page("page div", "<p>the<div class='pagenum'>12</div>cat sat.</p>", "the", "cat sat."),
    page("block spans", "<span style='display:block'>Top</span><span style='display: block;'>Low</span>", "Top", "Low"),
    line("emoji image", "Well <img class=emoji alt='😀' src=x> done", "Well done"),
    line("screen reader double", "<span aria-hidden=true>Onc</span><span class=sr-only>Once</span> more", "Once more"),
    line("hidden drop cap", "<span class=dropcap aria-hidden=true>O</span>nce more", "Once more"),
    line(
        "footnote of pandoc",
        "A<a href='#fn1' class='footnote-ref' id='fnref1' role='doc-noteref'><sup>1</sup></a> b.",
        "A b.",
    ),
    line("citation", "It is.<sup id=cite_ref-1 class=reference><a href='#cite_note-1'>[1]</a></sup> So", "It is. So"),
    line(
        "citation needed",
        "It is.<sup class='noprint Inline-Template'>[<i><a href='/w'>citation needed</a></i>]</sup> So",
        "It is. So",
    ),
    line("rtl", "<bdo dir=rtl>שלום</bdo>&rlm; <bdi>עולם</bdi>.", "שלום עולם."),
    line("named old", "caf&eacute &AMP &quot;x&QUOT; 5 &lt 6 &gt 4", 'café & "x" 5 < 6 > 4'),
    line("xml in html", "<![CDATA[raw &amp;]]> text<br /><a id='x'/>on", "raw &amp; text on"),
    line("nested links", "<a href=a>one <a href=b>two</a> three</a>", "one two three"),
    line("space in tags", "one<b> two </b>three<i> </i>four", "one two three four"),
    line("line ends in a tag", "one <a\n href='x'\n>two</a\n> three", "one two three"),
    line("data in attributes", "<span data-x='<p>no</p>' title=\"a>b\">yes</span>", "yes", gone=("no",)),
    line("mathjax", "So <script type='math/tex'>x^2</script>it is", "So it is"),
    line("superscript word", "Acme<sup>®</sup> and 20<sup>o</sup> C", "Acme® and 20° C"),
]


@pytest.mark.parametrize("held", LINES, ids=lambda held: held.id)
def test_words_of_a_paragraph(held):
    assert wrong_in(held) == {}
