"""What holds for all Markdown: every word is heard or told, places rise and lead back, the account adds up."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading import read_source
from jobs.reading.options import ReadingOptions
from tests.helpers_reading import planned_of

# fmt: off
BLOCKS = [
    "\n", "\n\n", "\r\n", "\r", "> ", "- ", "* ", "1. ", "12) ", "# ", "### ",
    "    ", "\t", "---\n", "===\n", "***\n",
    "```\n", "~~~py\n", "\n| a | b |\n|---|---|\n| c | d |\n", "[^1]: ", "[^n]: ", "- [ ] ", "> [!TIP]\n",
    "::: note\n",
]
INLINE = [
    "word", "Two words. ", " ", "  ", "*", "**", "_", "~~", "`", "``", "\\", "\\*", "|", "\\|", "&amp;", "&#39;",
    "&nbsp;", "[", "]", "[^1]", "[^n]", "^[a note]", "![", "!", "5", "é", "你好", "\u00ad", "\u2028", "\f", "{#x}",
    "[pause: 1s]",
    "[voice: x]", "[voice]", "1984", "#", "…", "<sighs>",
]
ADDRESSES = [
    "[w](http://a.b/c)", '[w](<c d> "t")', "![alt](i.png)", "<http://a.b>", "<b>", "</b>", "<br>", "<!-- c -->", "<!--",
    "<div>\n", "</div>\n", "<span hidden>", "</span>", "<sup><a href='#f'>1</a></sup>", "\n[r]: http://a.b 't'\n",
    "[r]", "<script>", "</script>", "<img alt='cat'>", "-->", "<h2>z</h2>\n",
    "<", ">", "(", ")", ": ",
]
# fmt: on
PLAIN = st.lists(st.sampled_from(BLOCKS + INLINE), max_size=50).map("".join)
ANY = st.lists(st.sampled_from(BLOCKS + INLINE + ADDRESSES), max_size=50).map("".join)
SKIPS = st.sampled_from([DEFAULT_SKIP, frozenset[Why]()])


def document_of(text, skip):
    return read_source(f"Tale.\n\n{text}".encode(), "x.md", options=ReadingOptions(skip=skip))


def paragraphs_of(document):
    return [paragraph for chapter in document.chapters for paragraph in chapter.paragraphs]


@settings(max_examples=400, deadline=None)
@given(PLAIN, SKIPS)
def test_every_word_is_heard_or_told(text, skip):
    document = document_of(text, skip)
    found = {place for paragraph in paragraphs_of(document) for place in paragraph.offsets}
    found |= {place for one in document.skipped for place in range(one.start, one.end)}
    found |= {place for start, end in document.escapes for place in range(start, end)}
    lost = [place for place, char in enumerate(document.text) if char.isalnum() and place not in found]
    # What names a listing, note, admonition or anchor.
    signs = {"py", "note", "1", "n", "TIP", "x"}
    words = "".join(document.text[place] if place in lost else " " for place in range(len(document.text))).split()
    assert [word for word in words if word not in signs] == []


@settings(max_examples=400, deadline=None)
@given(ANY, SKIPS)
def test_places_rise_and_lead_back(text, skip):
    document = document_of(text, skip)
    escapes = dict(document.escapes)
    for paragraph in paragraphs_of(document):
        places = list(paragraph.offsets)
        assert places == sorted(places)
        assert not places or places[-1] < len(document.text)
        for char, place in zip(paragraph.text, places, strict=True):
            put_in = document.text[place] == "|" and places.count(place) > 1  # the name of a column
            assert put_in or place in escapes or document.text[place] == char or char == " "
    for one in document.skipped:
        assert 0 <= one.start < one.end <= len(document.text)


@settings(max_examples=150, deadline=None)
@given(ANY, SKIPS)
def test_the_account_adds_up(text, skip):
    planned = planned_of(f"Tale.\n\n{text}", "x.md", options=PlanOptions(reading=ReadingOptions(skip=skip)))
    totals = planned.plan.account.totals()
    assert (
        totals.spoken_chars + totals.replaced_chars + totals.skipped_chars == totals.source_chars == len(planned.text)
    )
    passages = sorted((*planned.plan.account.skipped, *planned.plan.account.replaced), key=lambda one: one.start)
    assert all(one.end <= after.start for one, after in pairwise(passages))
