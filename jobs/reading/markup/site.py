"""Where the text of a web page is: its main element, and what only looks like furniture. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from jobs.reading.markup.labels import is_furniture, words_of
from jobs.reading.markup.page import Page

_MOST = 0.5
_UNREAD = frozenset({"title", "template", "noscript", "select", "textarea", "button"})


@dataclass(slots=True)
class Site:
    """`mains` hold the text; none when the page does not say where it is. `rejected` is no furniture after all."""

    mains: frozenset[etree._Element] = frozenset()
    rejected: set[etree._Element] = field(default_factory=set)


def site_of(page: Page) -> Site:
    """Find both in one pass over the text."""
    chars = 0
    before: list[int] = []
    mains: list[tuple[etree._Element, int]] = []
    articles: list[tuple[etree._Element, int]] = []
    furniture: list[tuple[etree._Element, int]] = []
    for event, node in etree.iterwalk(page.root, events=("start", "end")):
        if event == "start":
            before.append(chars)
            chars += page.chars_of(node.text) if node.tag not in _UNREAD else 0
        else:
            inside = chars - before.pop()
            if node.tag == "main" or "main" in words_of(node):
                mains.append((node, inside))
            elif node.tag == "article":
                articles.append((node, inside))
            elif is_furniture(node):
                furniture.append((node, inside))
            chars += page.chars_of(node.tail)
    site = Site(rejected={node for node, inside in furniture if inside > _MOST * chars})
    title = _title_header(page.root)
    if title is not None:
        site.rejected.add(title)
    known = {node for node, _ in furniture}
    outside = sum(inside for node, inside in furniture if known.isdisjoint(node.iterancestors()))
    for found in (mains, articles):
        if len(found) == 1:
            node, inside = found[0]
            # Furniture counts for nothing: a long menu makes no article short.
            if inside > _MOST * max(1, chars - outside):
                lacks_title = next(node.iter("h1"), None) is None
                site.mains = frozenset({node, title}) if title is not None and lacks_title else frozenset({node})
            break
    return site


def _title_header(root: etree._Element) -> etree._Element | None:
    """The `header` of the page if it holds the first `h1`: the title of the text, and no furniture."""
    first = next(root.iter("h1"), None)
    headers = () if first is None else first.iterancestors("header")
    return next((node for node in headers if (above := node.getparent()) is not None and above.tag == "body"), None)
