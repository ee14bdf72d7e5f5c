"""Whatever tags a page has, each of its characters is in the tree once, with its place."""

import random
import re

import pytest

from jobs.errors import BadSource
from jobs.reading.markup.html import read_page

TAGS = re.findall(
    r"\S+",
    "a abbr article aside b body br button caption center col colgroup dd details div dl dt em fieldset figure form "
    "frame frameset h1 head header hr html i iframe image img input label li main map math nav nobr noembed noframes "
    "noscript object ol optgroup option p picture pre q rb rp rt ruby select slot small span sub sup svg table tbody "
    "td template textarea th title tr u ul video wbr x-y",
)


def marks(page):
    """The numbers of the runs that are in the tree, as often as they are."""
    texts = [text for node in page.root.iter() for text in (node.text, node.tail, node.get("alt"))]
    return [int(number) for text in texts for number in re.findall("\ue000([0-9]+)\ue001", text or "")]


@pytest.mark.parametrize("seed", range(200))
def test_no_text_gets_lost_in_a_soup_of_tags(seed):
    chance = random.Random(seed)
    pieces = ["<{}>", "</{}>", "<{} a='b' />", "text {} &amp; ", "<img alt='{}'>"]
    soup = "".join(chance.choice(pieces).format(chance.choice(TAGS)) for _ in range(chance.randint(2, 30))) + "end"
    page = read_page(soup, "x.html")
    seen = marks(page)
    assert len(seen) == len(set(seen))
    assert [run.text for number, run in enumerate(page.runs) if run.text.strip() and number not in set(seen)] == []


@pytest.mark.parametrize("seed", range(20))
def test_no_text_gets_lost_in_a_deep_soup_of_tags(seed):
    chance = random.Random(seed)
    tags = chance.sample(TAGS, 5)
    pieces = ["<{}>", "<{}>", "</{}>", "text {} "]
    soup = "".join(chance.choice(pieces).format(chance.choice(tags)) for _ in range(3000)) + "end"
    page = read_page(soup, "x.html")
    seen = marks(page)
    assert len(seen) == len(set(seen))
    assert [run.text for number, run in enumerate(page.runs) if run.text.strip() and number not in set(seen)] == []


@pytest.mark.parametrize(
    "soup", ["<" * 2000, "<a " * 2000, '<a b="' * 2000, "<a b=\"x><a b='" * 999, "<!--" * 999, "&" * 999]
)
def test_places_are_those_of_the_page(soup):
    page = read_page(f"<p>x &lt; y{soup}", "x.html")
    source = f"<p>x &lt; y{soup}"
    for run in page.runs:
        assert len(run.text) == len(run.places)
        assert all(source[place] in {char, "&"} for char, place in zip(run.text, run.places, strict=True))


def test_unclosed_parts_are_warned_of():
    assert "comment" in read_page("x<!-- y", "x.html").warnings[0]
    assert "<script>" in read_page("x<script>y", "x.html").warnings[0]


def test_an_empty_page_has_no_text():
    with pytest.raises(BadSource) as caught:
        read_page(" \n<!-- x -->", "x.html")
    assert caught.value.problems[0].code == "no_text"
