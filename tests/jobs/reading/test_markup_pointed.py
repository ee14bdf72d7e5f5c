"""Notes of pages and books that nothing leads back from: a mark points at them."""

import pytest

from jobs.account import Why
from tests.helpers_account import check_account
from tests.helpers_reading import epub, planned_of, xhtml

MARKED = '<p>He won.<sup><a href="#f7">7</a></sup> She lost.</p><p>Next.</p>'
STORY = ["He won.", "She lost.", "Next."]
NOTES = {
    "div": MARKED + '<div class="footnote" id="f7">7 Seven note.</div>',
    "paragraph": MARKED + '<p class="footnote" id="f7">Seven note.</p>',
    "unnamed": MARKED + '<p id="f7">7. Seven note.</p>',
    "aside": MARKED + '<aside class="footnote" id="f7">7 Seven note.</aside>',
    "anchor": MARKED + '<p><a id="f7"></a>7. Seven note.</p>',
    "goes on": MARKED + '<div class="footnote"><p><a id="f7">7</a> Seven note.</p><p>More.</p></div>',
    "heading": MARKED + '<h2>Notes</h2><p id="f7">7. Seven note.</p><p>More.</p>',
    "by its id": MARKED.replace("#f7", "#fn7") + '<p id="fn7">Seven note.</p>',
    "sign": MARKED.replace('<sup><a href="#f7">7</a></sup>', '<a href="#f7">*</a>')
    + '<div class="footnotes"><p id="f7">* Seven note.</p></div>',
    "brackets": MARKED.replace('<sup><a href="#f7">7</a></sup>', '<a href="#f7">[7]</a>')
    + '<p id="f7">[7] Seven note.</p>',
}
SPOKEN = {
    "story after a note": (MARKED + '<p id="f7">7. Seven.</p><p>So on.</p>', ["So on."]),
    "a heading": (MARKED + '<div id="f7"><h2>7</h2><p>It rained.</p></div>', ["seven", "It rained."]),
    "a chapter": (MARKED + f'<div id="f7">7 {"It rained. " * 300}</div>', ["It rained."]),
    "another number": (MARKED + '<p id="f7">70 men came.</p>', ["seventy men came."]),
    "a list of verses": ('<p>See <sup><a href="#v7">7</a></sup></p><p id="v7">7 It rained.</p>', ["seven It rained."]),
    "no mark": ('<p>Turn to<a href="#p7">7</a></p><p id="p7">7 It rained.</p>', ["seven It rained."]),
    "before it": ('<p id="p7">7 It rained.</p><p>He won.<sup><a href="#p7">7</a></sup></p>', ["seven It rained."]),
}


@pytest.mark.parametrize("kind", ["a.html", "b.epub"])
@pytest.mark.parametrize("name", NOTES)
def test_what_a_mark_points_at_is_its_note(name, kind):
    planned = planned_of(NOTES[name] if kind == "a.html" else epub({"c.xhtml": xhtml(NOTES[name])}), kind)
    check_account(planned)
    assert [sentence.spoken for sentence in planned.sentences] == STORY
    assert any("Seven note." in one.was for one in planned.plan.account.skipped if one.why is Why.NOTES)


@pytest.mark.parametrize("kind", ["a.html", "b.epub"])
@pytest.mark.parametrize("name", SPOKEN)
def test_what_may_be_text_is_spoken(name, kind):
    body, heard = SPOKEN[name]
    planned = planned_of(body if kind == "a.html" else epub({"c.xhtml": xhtml(body)}), kind)
    check_account(planned)
    said = [sentence.spoken for sentence in planned.sentences]
    assert all(one in said for one in heard)


@pytest.mark.parametrize("back", ["1.", '<a href="c0.xhtml#r">1.</a>'])
@pytest.mark.parametrize("heading", ["Notes", "Endnotes"])
def test_a_document_of_notes_goes_with_its_heading(back, heading):
    marks = (
        '<p><i id="r"></i>He won.<sup><a href="c1.xhtml#x">1</a></sup> Yes.<sup><a href="c1.xhtml#y">2</a></sup></p>'
    )
    notes = f'<h2>{heading}</h2><p id="x">{back} One note.</p><p>More.</p><p id="y">2. Two note.</p>'
    planned = planned_of(epub({"c0.xhtml": xhtml(marks), "c1.xhtml": xhtml(notes)}), "b.epub")
    check_account(planned)
    assert [sentence.spoken for sentence in planned.sentences] == ["He won.", "Yes."]
