"""What of a web page is the site around the text, where no name of an element says so, and what is not. Pure.

What stands beside the main element may be the beginning or the end of the text as well: only lists of links, headers,
footers and what is named so (a menu, comments) are outside for standing there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from jobs.reading.markup.labels import is_furniture, words_of
from jobs.reading.markup.page import Page
from jobs.reading.markup.tags import BLOCKS

_MOST = 0.5
"""Of the text of a page in one element: more than all the rest, so it is the text, whatever it is called."""
_LINKED = 0.5
"""Of the text of a list of links is inside them: a word or two may head it."""
_MIN_LINKS = 2
"""One link alone in its paragraph may be a line of the text."""
_MAX_LINK_CHARS = 150
"""Of a link in a list of links; a longer one is text that leads somewhere."""
_UNREAD = frozenset({"title", "template", "noscript", "select", "textarea", "button"})
_NAMES = frozenset(
    {"nav", "navbar", "navigation", "main-nav", "site-nav", "menu", "main-menu", "toolbar", "sidebar", "share"}
) | frozenset({"comments", "respond"})
_EDGES = frozenset({"header", "footer"})
_SENTENCE = re.compile(r"[.!?…][\"'”’»)]?$")


@dataclass(slots=True)
class Site:
    """`mains` hold text, whatever they stand in. `rejected` is no furniture after all; `outside` is, by its look."""

    mains: frozenset[etree._Element] = frozenset()
    rejected: set[etree._Element] = field(default_factory=set)
    outside: set[etree._Element] = field(default_factory=set)


@dataclass(slots=True)
class _Measured:
    """Characters in an element, those of them in links, and how many links it has that are no sentences."""

    chars: int
    linked: int
    links: int


@dataclass(slots=True)
class _Survey:
    """All elements of a page, measured in one pass over its text."""

    page: Page
    measured: dict[etree._Element, _Measured] = field(default_factory=dict)
    mains: list[etree._Element] = field(default_factory=list)
    articles: list[etree._Element] = field(default_factory=list)
    furniture: list[etree._Element] = field(default_factory=list)
    chars: int = 0
    linked: int = 0
    links: int = 0

    def run(self) -> None:
        """Measure it all."""
        before: list[_Measured] = []
        for event, node in etree.iterwalk(self.page.root, events=("start", "end")):
            if event == "start":
                before.append(_Measured(self.chars, self.linked, self.links))
                self.chars += self.page.chars_of(node.text) if node.tag not in _UNREAD else 0
                continue
            start = before.pop()
            if node.tag == "a" and node.get("href") is not None:
                self.linked = start.linked + self.chars - start.chars
                self.links += self.chars - start.chars <= _MAX_LINK_CHARS and not self._is_sentence(node)
            inside = _Measured(self.chars - start.chars, self.linked - start.linked, self.links - start.links)
            self.measured[node] = inside
            self._sort(node)
            self.chars += self.page.chars_of(node.tail)

    def _is_sentence(self, link: etree._Element) -> bool:
        return _SENTENCE.search(self.page.text_of(link)) is not None

    def _sort(self, node: etree._Element) -> None:
        if node.tag == "main" or "main" in words_of(node):
            self.mains.append(node)
        elif node.tag == "article":
            self.articles.append(node)
        elif is_furniture(node):
            self.furniture.append(node)

    def main(self) -> etree._Element | None:
        """The one element that holds most of the text. Furniture counts for nothing: a menu makes no article short."""
        found = self.mains or self.articles
        known = set(self.furniture)
        outside = sum(self.measured[node].chars for node in known if known.isdisjoint(node.iterancestors()))
        if len(found) != 1 or self.measured[found[0]].chars <= _MOST * max(1, self.chars - outside):
            return None
        return found[0]

    def is_beside(self, node: etree._Element) -> bool:
        """Whether what stands beside the main element is no text: a list of links, or named so."""
        if node.tag not in BLOCKS:
            return False
        inside = self.measured[node]
        if inside.links >= _MIN_LINKS and inside.linked > _LINKED * inside.chars:
            return True
        return not _NAMES.isdisjoint(f"{node.get('class') or ''} {node.get('id') or ''}".lower().split())


def site_of(page: Page) -> Site:
    """Find what there is of a site."""
    survey = _Survey(page)
    survey.run()
    most = {node for node in survey.furniture if survey.measured[node].chars > _MOST * survey.chars}
    site = Site(rejected=most)
    title, main = _title_header(page.root), survey.main()
    if title is not None and (main is None or next(main.iter("h1"), None) is None):
        site.rejected.add(title)
    if main is None:
        return site
    site.mains = frozenset({main})
    above = set(main.iterancestors())
    site.rejected |= above
    kept = above | {node for head in page.root.iter("h1") for node in head.iterancestors()}
    inside = [iter(page.root)]
    while inside:
        node = next(inside[-1], None)
        if node is None:
            inside.pop()
        elif node is main:
            continue
        elif node not in kept and (survey.is_beside(node) or (node.tag in _EDGES and node.getparent() in above)):
            site.outside.add(node)
        else:
            inside.append(iter(node))
    return site


def _title_header(root: etree._Element) -> etree._Element | None:
    """The `header` of the page if it holds the first `h1`: the title of the text, and no furniture."""
    first = next(root.iter("h1"), None)
    headers = () if first is None else first.iterancestors("header")
    return next((node for node in headers if (above := node.getparent()) is not None and above.tag == "body"), None)
