"""Spans around sentences: the document's own characters stay, each span holds its sentence, markup stays whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from jobs.account import DEFAULT_SKIP, Why
from jobs.marks.read_along_pages import marked_page, modern
from jobs.marks.read_along_spans import Passage, Spans
from jobs.planning import PlanOptions
from jobs.reading.markup.places import places_of
from jobs.reading.options import ReadingOptions
from tests.helpers_reading import epub, planned_of, xhtml

PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title></head><body>{}</body></html>"


def spans_of(body: str, *sentences: str) -> list[list[str]]:
    """What each sentence's spans hold (as written, tags too) after the document was marked."""
    text = PAGE.format(body)
    passages = [Passage(f"s{number}", ranges_of(text, sentence)) for number, sentence in enumerate(sentences)]
    spans = Spans(text, passages)
    made = spans.written()
    assert re.sub(r'<span id="s[^"]*">(.*?)', "", made).count("<span>") == 0
    etree.fromstring(made)
    bare = Spans(made, ()).written()
    assert bare == made
    found: list[list[str]] = [[] for _ in sentences]
    for mark in spans.marked:
        opening = f'<span id="{mark.id}">'
        start = made.index(opening) + len(opening)
        found[mark.passage].append(made[start : _end_of(made, start)])
    return found


def _end_of(made: str, start: int) -> int:
    depth = 1
    for match in re.finditer(r"<(/?)span\b[^>]*?(/?)>", made[start:]):
        depth += -1 if match[1] else 0 if match[2] else 1
        if not depth:
            return start + match.start()
    raise AssertionError(made)


def ranges_of(text: str, sentence: str) -> tuple[tuple[int, int], ...]:
    """Where the words of a sentence are: it is searched letter by letter over tags."""
    pattern = r"(?:\s|<[^>]*>)*".join(re.escape(char) for char in "".join(sentence.split()))
    match = re.search(pattern, text)
    assert match is not None, (text, sentence)
    cuts = [match.start()]
    for tag in re.finditer(r"<[^>]*>", match.group()):
        cuts += [match.start() + tag.start(), match.start() + tag.end()]
    cuts.append(match.end())
    return tuple((start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True) if end > start)


@pytest.mark.parametrize(
    ("body", "sentences", "expected"),
    [
        ("<p>One. Two.</p>", ("One.", "Two."), [["One."], ["Two."]]),
        ("<p>\n One <em>is</em> here. Two.</p>", ("One is here.", "Two."), [["One <em>is</em> here."], ["Two."]]),
        ("<p><b>One</b> is.</p>", ("One is.",), [["<b>One</b> is."]]),
        ("<p>He said <em>no.</em> She.</p>", ("He said no.", "She."), [["He said <em>no.</em>"], ["She."]]),
        ("<p><i>One. Two</i> more.</p>", ("One.", "Two more."), [["One."], ["Two", "more."]]),
        ("<p>One <b>two. Three</b> four.</p>", ("One two.", "Three four."), [["One", "two."], ["Three", "four."]]),
        ("<p><i><b>T</b></i>he man.</p>", ("The man.",), [["<i><b>T</b></i>he man."]]),
        ("<p>“<i>Stop</i>!” he said.</p>", ("“Stop!”", "he said."), [["“<i>Stop</i>!”"], ["he said."]]),
        ("<p>One<br/>two<br></br>three.</p>", ("One two three.",), [["One<br/>two<br></br>three."]]),
        (
            "<p>A<sup><a href='#n'>1</a></sup> b. C.</p>",
            ("A 1 b.", "C."),
            [["A<sup><a href='#n'>1</a></sup> b."], ["C."]],
        ),
        ("<table><tr><td>One</td><td>two.</td></tr></table>", ("One two.",), [["One", "two."]]),
        ("<ul><li>One.</li><li><p>Two.</p></li></ul>", ("One.", "Two."), [["One."], ["Two."]]),
        ("<div>One<p>two</p>three.</div>", ("One two three.",), [["One", "two", "three."]]),
        ("<p>One<!-- a < b --> two.</p>", ("One",), [["One"]]),
        ("<p><a id='x'/>One.</p>", ("One.",), [["One."]]),
        ("<p><ruby>漢<rt>kan</rt></ruby>です。</p>", ("漢", "です。"), [["<ruby>漢<rt>kan</rt></ruby>"], ["です。"]]),
        ("<p><ruby>漢<rt>kan</rt>字<rt>ji</rt></ruby>。</p>", ("漢", "字"), [["漢"], ["字"]]),
        ("<p><span class='a'>One. Two.</span></p>", ("One.", "Two."), [["One."], ["Two."]]),
        ("<p><span class='a'>One.</span></p>", ("One.",), [["<span class='a'>One.</span>"]]),
    ],
)
def test_a_sentence_is_one_span_where_it_can_be(body: str, sentences: tuple[str, ...], expected: list) -> None:
    assert spans_of(body, *sentences) == expected


def test_a_picture_that_is_spoken_is_marked_as_a_whole() -> None:
    text = PAGE.format('<h1><img src="a.png" alt="Chapter One"/></h1><p>It was.</p>')
    at = text.index("Chapter One")
    spans = Spans(text, [Passage("s", ((at, at + 7),)), Passage("u", ((at + 8, at + 11),))])
    assert '<h1><span id="s"><img src="a.png" alt="Chapter One"/></span></h1>' in spans.written()
    assert [(mark.passage, mark.id) for mark in spans.marked] == [(0, "s"), (1, "s")]


def test_text_in_a_drawing_is_marked_by_the_drawing() -> None:
    text = PAGE.format("<p>See <svg xmlns='http://www.w3.org/2000/svg'><g><text>One</text></g></svg> there.</p>")
    at = text.index("One")
    made = Spans(text, [Passage("s", ((at, at + 3),))]).written()
    assert re.search(r'See <span id="s"><svg .*</svg></span> there', made)
    etree.fromstring(made)


def test_the_prefix_of_a_document_is_that_of_its_spans() -> None:
    text = "<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:head/><h:body><h:p>One.</h:p></h:body></h:html>"
    made = Spans(text, [Passage("s", ((text.index("One"), text.index("One") + 4),))]).written()
    assert '<h:p><h:span id="s">One.</h:span></h:p>' in made


def test_modern_text_has_no_old_document_type_and_no_names_of_characters() -> None:
    old = (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd">\n'
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><meta http-equiv='Content-Type' "
        "content='application/xhtml+xml; charset=iso-8859-1'/></head><body><p title='&eacute;'>a&nbsp;&amp;&lt;b"
        "&unknown;<!-- &nbsp; --><![CDATA[&nbsp;]]></p></body></html>"
    )
    assert modern(old) == (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><meta http-equiv='Content-Type' "
        "content='text/html; charset=utf-8'/></head><body><p title='é'>a\xa0&amp;&lt;b&unknown;"
        "<!-- &nbsp; --><![CDATA[&nbsp;]]></p></body></html>"
    )
    own = "<!DOCTYPE html [<!ENTITY nbsp 'x'>]><html xmlns='http://www.w3.org/1999/xhtml'><p>&nbsp;</p></html>"
    assert modern(own) == own


@pytest.mark.parametrize("body", ["<p>One<br>two</p>", "<p>One &unknown; two</p>", "<p>One</div>"])
def test_a_document_that_is_not_well_formed_is_not_marked(body: str) -> None:
    text = PAGE.format(body)
    at = text.index("One")
    assert marked_page(text, [Passage("s", ((at, at + 3),))], "s.css") is None


WORDS = st.sampled_from(
    ["One", "two three", "four.", "Five!", "“Six", "seven?”", "Mr. Eight", "9.5", "&amp;", "é", "\n"]
)
MARKUP = st.recursive(
    WORDS,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{' '.join(parts)}</{tag}>",
        st.sampled_from(["em", "b", "span", "a", "i", "sup", "ruby"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
BLOCK = st.builds(
    lambda tag, parts: f"<{tag}>{' '.join(parts)}</{tag}>",
    st.sampled_from(["p", "h2", "div", "li", "blockquote"]),
    st.lists(
        st.one_of(MARKUP, st.just("<br/>"), st.just("<img src='a' alt='Ten.'/>"), st.just("<!-- x -->")), max_size=8
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(BLOCK, min_size=1, max_size=5), st.integers(20, 200))
def test_any_book_keeps_its_text_and_has_each_sentence_in_its_spans(blocks: list[str], max_chars: int) -> None:
    page = xhtml("<p>It begins.</p>" + "".join(blocks))
    data = epub({"a.xhtml": page})
    options = PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.IMAGES, Why.NOTE_MARKS}))
    planned = planned_of(data, "b.epub", max_chars=max_chars, options=options)
    places = places_of(data, "b.epub", options.reading)
    assert places.text == planned.text
    skipped = [(one.start, one.end) for one in planned.plan.account.skipped]
    passages = []
    for segment in planned.plan.segments:
        found = places.ranges(segment.source_start, segment.source_end, skipped)
        passages.append(Passage(f"tts-{segment.segment}", tuple((one.start, one.end) for one in found)))
    made = marked_page(page, passages, "s.css")
    assert made is not None
    root = etree.fromstring(made.data)
    assert "".join(root.itertext()) == "".join(etree.fromstring(page.encode()).itertext())
    by_id = {node.get("id"): node for node in root.iter("{*}span") if node.get("id")}
    assert len(by_id) == len({mark.id for mark in made.marked}) == len(root.xpath("//@id"))
    order = [node.get("id") for node in root.iter("{*}span") if node.get("id")]
    assert order == list(dict.fromkeys(mark.id for mark in made.marked))
    for number, segment in enumerate(planned.plan.segments):
        heard = "".join(_seen(by_id[mark.id]) for mark in made.marked if mark.passage == number)
        wanted = "".join(char for char in segment.text if char.isalnum())
        shared = any(passages[number].ranges[0][0] < passages[other].ranges[-1][1] for other in range(number))
        shared |= any(passages[number].ranges[-1][1] > one.ranges[0][0] for one in passages[number + 1 :])
        said = "".join(char for char in heard if char.isalnum())
        # A number that is cut ("nine / point five") is heard in two segments and marked by one span.
        assert wanted == said or (shared and (wanted in said or said in wanted)), (
            segment.text,
            heard,
            made.data.decode(),
        )
    for node in by_id.values():
        assert not list(node.iter("{*}p", "{*}h2", "{*}div", "{*}li", "{*}blockquote"))
    bare = re.sub(r'<span id="tts-[^"]*">', "\0", made.data.decode())
    assert bare.count("\0") == len(by_id)


def _seen(node: etree._Element) -> str:
    """Text and what stands for pictures, in order."""
    parts = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            parts.append((child.get("alt") or "") + _seen(child))
        parts.append(child.tail or "")
    return "".join(parts)
