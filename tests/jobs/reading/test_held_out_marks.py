"""Notes and raised or lowered numbers of HTML pages, in the designs of many tools; written down before the trial."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.helpers_reading import epub
from tests.jobs.reading.held_out import Held, wrong_in

ALL = PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.TABLES}))
NOTES = {
    "asciidoctor": "<p>A<sup class='footnote'>[<a id='_fr_1' class='footnote' href='#_fd_1' title='V'>1"
    "</a>]</sup> b.</p>"
    "<div id='footnotes'><hr><div class='footnote' id='_fd_1'><a href='#_fr_1'>1</a>. Note text.</div></div>",
    "docbook": "<p>A<sup class='footnote'>[<a href='#ftn.1' id='id1' class='footnote'>1"
    "</a>]</sup> b.</p><div class='footnotes'>"
    "<br/><hr/><div id='ftn.1' class='footnote'><p><sup>[<a href='#id1'>1</a>] </sup>Note text.</p></div></div>",
    "markdown-it": "<p>A<sup class='footnote-ref'><a href='#fn1' id='fnref1'>[1]</a></sup> b."
    "</p><hr><section class='footnotes'><ol><li "
    "id='fn1'><p>Note text. <a href='#fnref1' class='footnote-backref'>↩︎</a></p></li></ol></section>",
    "tex4ht": "<p>A<span class='footnote-mark'><a href='#fn1x0' id='fn1x0-bk'><sup class='ts'>1"
    "</sup></a></span> b.</p><div class='footnotes'>"
    "<p><span class='footnote-mark'><a href='#fn1x0-bk' id='fn1x0'><sup>1</sup></a></span>Note text.</p></div>",
    "gutenberg": "<p>A<a name='FNanchor_1_1' id='FNanchor_1_1'></a><a href='#Footnote_1_1' class='fnanchor'>[1]"
    "</a> b.</p><div class="
    "'footnote'><p><a id='Footnote_1_1'></a><a href='#FNanchor_1_1'><span class='label'>[1]"
    "</span></a> Note text.</p></div>",
    "sidenote": "<p>A<label for='s1' class='margin-toggle sidenote-number'></label>"
    "<input type=checkbox id=s1 class=margin-toggle>"
    "<span class='sidenote'>Note text.</span> b.</p>",
    "popup": "<p>A<sup><a epub:type='noteref' href='#n1'>*</a></sup> b.</p><aside epub:type='footnote' id='n1'>"
    "<p>Note text.</p></aside>",
    "stars": "<p>A<a href='#n' id='m'>*</a> b.</p><p id='n'><a href='#m'>*</a> Note text.</p>",
    "wikipedia group": "<p>A<sup class='reference' id='cite_ref-3'><a href='#cite_note-3'>[note 1]"
    "</a></sup> b.</p><ol class='references'>"
    "<li id='cite_note-3'><span class='mw-cite-backlink'>^ <a href='#cite_ref-3'>"
    "<sup><i><b>a</b></i></sup></a></span> Note text.</li></ol>",
    "two marks": "<p>A<sup><a href='#f1' id='r1'>1</a>,<a href='#f2' id='r2'>2</a></sup> b."
    "</p><p id='f1'><a href='#r1'>1</a> One."
    "</p><p id='f2'><a href='#r2'>2</a> Note text.</p>",
    "definition list": "<p>A<a href='#f1' id='r1'><sup>a</sup></a> b.</p><dl class='footnotes'>"
    "<dt id='f1'><a href='#r1'>a</a></dt><dd>Note text.</dd></dl>",
    "table of notes": "<p>A<a class='footnote-reference' href='#id2' id='id1'>[1]</a> b.</p>"
    "<table class='docutils footnote' id='id2'><tr>"
    "<td class='label'><a class='fn-backref' href='#id1'>[1]</a></td><td>Note text.</td></tr></table>",
}
LINES = {
    "base of a number": ("Read 101<sub>2</sub> as five.", "Read 101₂ as five."),
    "log": ("Take log<sub>2</sub> 8 and x<sub>1</sub>.", "Take log2 8 and x1."),
    "sugar": ("C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> is sweet.", "C6H12O6 is sweet."),
    "power in a span": ("About 10<sup><span class='n'>6</span></sup> of them.", "About 10⁶ of them."),
    "sulphate": ("SO<sub>4</sub><sup>2−</sup> here.", "SO4²⁻ here."),
    "french": ("Le XIX<sup>e</sup> siècle, la 1<sup>re</sup> et n<sup>o</sup> 5.", "Le XIXe siècle, la 1re et no 5."),
    "raised words": ("A<sup>up</sup> and <sup>down</sup> here.", "Aup and down here."),
    "raised bracket": ("It was so<sup>[3]</sup> then.", "It was so then."),
    "several marks": ("He said so<sup>1,2</sup> and left<sup>3–5</sup>. Gone.", "He said so and left. Gone."),
    "root as a power": ("It is 2<sup>1/2</sup> here.", "It is 2^1/2 here."),
    "degrees": ("At 20<sup>o</sup>C or 68<sup>0</sup> F and 1<sup>o</sup> lugar.", "At 20°C or 68° F and 1o lugar."),
    "range as a power": ("Some 10<sup>2–3</sup> m.", "Some 10²⁻³ m."),
    "power with a letter": ("So 2<sup>n</sup> and 2<sup>2n</sup>.", "So 2ⁿ and 2²ⁿ."),
}


@pytest.mark.parametrize("name", NOTES)
def test_notes_are_left_out_where_they_stand(name):
    source = f"<!DOCTYPE html><html><title>T-t</title><body>{NOTES[name]}</body></html>"
    assert wrong_in(Held(name, source, ("A b.",), "p.html", why={"Note text.": "notes"})) == {}


@pytest.mark.parametrize("name", LINES)
def test_raised_and_lowered(name):
    body, says = LINES[name]
    assert wrong_in(Held(name, f"<html><title>T-t</title><p>{body}</p></html>", (says,), "p.html")) == {}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("<tr><th>Day<th>Rain<tr><th>Mon<td>3<tr><th>Tue<td>4", ("Day: Mon, Rain: 3", "Day: Tue, Rain: 4")),
        ("<tr><th>Day<th>Rain<th>Snow<tr><td>Mon<td>3<td>", ("Day, Rain, Snow", "Day: Mon, Rain: 3")),
        ("<tr><td><th>Rain<tr><th>Mon<td>3", ("Rain", "Mon, 3")),
        ("<tr><th colspan=2>All<tr><td>Mon<td>3", ("All", "Mon, 3")),
    ],
)
def test_no_word_of_a_kept_table_is_lost(body, says):
    source = f"<html><title>T-t</title><table>{body}</table></html>"
    assert wrong_in(Held("table", source, says, "p.html", options=ALL)) == {}


@pytest.mark.parametrize(
    "body", ["<p>a<img alt='😀'>b</p>", "<p>x</p><table><tr><td>a<td>&gt; b<tr><td>😀<td>c</table>"]
)
@pytest.mark.parametrize("name", ["p.html", "book.epub"])
def test_what_is_put_in_has_a_place_of_its_own(body, name):
    """A character that is dropped cannot stand for the words before it as well: the account would count it twice."""
    source = epub({"a.xhtml": body}) if name == "book.epub" else body
    options = PlanOptions(reading=ReadingOptions(skip=frozenset()))
    assert wrong_in(Held("put in", source, name=name, options=options)) == {}
