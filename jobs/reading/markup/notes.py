"""Notes that nothing declares, found by links from marks to them, and back. Pure.

A link alone tells little: books link figures, chapters and indexes. A mark whose target begins a paragraph that leads
back to where the mark is, is a note in every book; where nothing leads back both must look the part (see `pointed`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from jobs.reading.markup.labels import REFERENCE_WORDS, Links, is_back_link, note_text, words_of
from jobs.reading.markup.page import Page
from jobs.reading.markup.pointed import goes_on, is_note_of, looks_raised, small_text, stands_on_text
from jobs.reading.markup.tags import BLOCKS

Resolve = Callable[[str, str], tuple[str, str | None]]
"""(link, document it is written in) → (document, anchor)."""
_NOTE_BLOCKS = frozenset({"p", "li", "div", "dd", "dt", "aside", "td", "section", "blockquote", "small"}) | {
    "table",
    "tr",
}
_NOTE_NAME = re.compile(r"(?:^|[\s_-])(?:foot|end|rear|cite_?)?(?:notes?|fn|ftn|edn|ref|references)(?:$|[\s_:.-]|\d)")
_MAX_BEFORE = 40
"""Empty elements before an anchor that still begins its paragraph."""
_MAX_LISTED = 400
"""Characters of a note list for each link back in it: with more it is a text that has some links."""


@dataclass(frozen=True, slots=True)
class _Link:
    node: etree._Element
    path: str
    target: tuple[str, str]
    text: str
    declared: bool


@dataclass(slots=True)
class _Finder:
    pages: Mapping[str, Page]
    resolve: Resolve
    anchors: dict[tuple[str, str], etree._Element] = field(default_factory=dict)
    links: list[_Link] = field(default_factory=list)
    leading: dict[etree._Element, list[_Link]] = field(default_factory=dict)
    inside: dict[etree._Element, list[_Link]] = field(default_factory=dict)
    order: dict[etree._Element, int] = field(default_factory=dict)
    notes: dict[etree._Element, str] = field(default_factory=dict)
    texts: dict[etree._Element, str] = field(default_factory=dict)
    found: Links = field(default_factory=Links)

    def collect(self) -> None:
        """All anchors, and all links that have one."""
        for path, page in self.pages.items():
            for node in page.root.iter(etree.Element):
                for anchor in (node.get("id"), node.get("name")):
                    if anchor is not None:
                        self.anchors.setdefault((path, anchor), node)
                        self.order.setdefault(node, len(self.order))
                href = node.get("href")
                if href is not None and "#" in href and node.tag == "a":
                    target, anchor = self.resolve(href, path)
                    declared = bool(words_of(node) & REFERENCE_WORDS)
                    if anchor is not None and (declared or _small(node)):
                        self.order.setdefault(node, len(self.order))
                        self.links.append(_Link(node, path, (target, anchor), page.text_of(node), declared))

    def pair(self) -> None:
        """Marks and their notes."""
        for link in self.links:
            block = _block_of(link.node)
            if block is not None and (note_text(link.text) or is_back_link(link.node, self.pages[link.path])):
                self.leading.setdefault(block, []).append(link)
        marked: set[etree._Element | None] = set()
        for link in self.links:
            target = self.anchors.get(link.target)
            body = None if target is None else self._body(target, link.target[0])
            at = _block_of(link.node)
            if body is None or body in marked or body in link.node.iterancestors():  # what holds a mark is no note
                continue
            if link.declared:
                self.found.bodies.update(_whole(body))
            elif note_text(link.text) and (back := self._back(link, self._links_in(body))) is not None:
                marked.add(at)
                self.found.marks |= {link.node, back.node}
            elif target is not None and self._points(link, target, body):
                marked.add(at)
                self.found.marks.add(link.node)
            else:
                continue
            self.notes.setdefault(body, link.target[0])
            self.found.bodies.update(_whole(body))

    def go_on(self) -> None:
        """The blocks that go on with the notes of marks."""
        targets = {node for link in self.links if (node := self.anchors.get(link.target)) is not None}
        targets |= self.found.bodies
        known: dict[etree._Element, bool] = {}
        for body, path in self.notes.items():
            self.found.bodies.update(goes_on(body, targets, self.pages[path], known))

    def _points(self, link: _Link, target: etree._Element, body: etree._Element) -> bool:
        """Whether a link that nothing leads back to is a mark, and what it points at its note."""
        at, path = _block_of(link.node), link.target[0]
        if at is None or not note_text(link.text) or not looks_raised(link.node, link.text):
            return False
        if link.path == path and self.order[target] < self.order[link.node]:
            return False
        if body not in self.texts:
            self.texts[body] = small_text(body, self.pages[path])
        return is_note_of(link.text, body, target, self.texts[body]) and stands_on_text(
            link.node, at, self.pages[link.path]
        )

    def _body(self, target: etree._Element, path: str) -> etree._Element | None:
        """The note an anchor names: its element, or the block that the anchor begins."""
        if target.tag in _NOTE_BLOCKS:
            return target
        block = _block_of(target)
        return block if block is not None and self._begins(block, target, self.pages[path]) else None

    def _begins(self, block: etree._Element, target: etree._Element, page: Page) -> bool:
        """Whether there is no text in a block before an anchor in it."""
        node = target
        for _ in range(_MAX_BEFORE):
            if node is block:
                return True
            before = node.getprevious()
            above = node.getparent()
            if before is not None and page.chars_of(before.tail):
                return False
            if before is not None and page.text_of(before):
                return False
            if above is None or (before is None and page.chars_of(above.text)):
                return False
            node = above if before is None else before
        return False

    def _back(self, mark: _Link, links: list[_Link]) -> _Link | None:
        """The link of a note that leads to the paragraph of its mark, which stands within text there."""
        at = _block_of(mark.node)
        for link in links:
            target = self.anchors.get(link.target)
            if target is None or at is None or link.node is mark.node:
                continue
            if (_block_of(target) is at or target is at) and not self._begins(at, mark.node, self.pages[mark.path]):
                return link
        return None

    def _links_in(self, body: etree._Element) -> list[_Link]:
        if body not in self.inside:
            self.inside[body] = [link for node in body.iter(etree.Element) for link in self.leading.get(node, ())]
        return self.inside[body]


def find_notes(pages: Mapping[str, Page], resolve: Resolve) -> Links:
    """The note bodies and undeclared marks of all documents together."""
    finder = _Finder(pages, resolve)
    finder.collect()
    finder.pair()
    finder.go_on()
    for page in pages.values():
        finder.found.bodies.update(_listed(page))
    return finder.found


def _whole(body: etree._Element) -> Iterator[etree._Element]:
    """A note with what goes on with it: the row of its cell, the definitions of its term."""
    row = body.getparent() if body.tag == "td" else None
    yield body if row is None else row
    after = body.getnext() if body.tag == "dt" else None
    while after is not None and after.tag == "dd":
        yield after
        after = after.getnext()


def _listed(page: Page) -> Iterator[etree._Element]:
    """Lists that are named after notes and lead back from them."""
    done: set[etree._Element] = set()
    for node in page.root.iter("ol", "ul", "dl", "section", "div", "aside"):
        if any(above in done for above in node.iterancestors()):
            continue
        named = f"{node.get('class') or ''} {node.get('id') or ''}".lower()
        if named.strip() and _NOTE_NAME.search(named):
            links = [link for link in node.iter("a") if "#" in (link.get("href") or "") and _small(link)]
            backs = [link for link in links if _is_back(link, page)]
            if backs and len(page.text_of(node)) <= _MAX_LISTED * len(backs):
                done.add(node)
                yield node


def _is_back(link: etree._Element, page: Page) -> bool:
    href = (link.get("href") or "").lower()
    text = page.text_of(link)
    anchor = href.rpartition("#")[2]
    return is_back_link(link, page) or (note_text(text) and ("ref" in anchor or "anchor" in anchor))


def _block_of(node: etree._Element) -> etree._Element | None:
    return next((above for above in node.iterancestors() if above.tag in BLOCKS), None)


def _small(node: etree._Element) -> bool:
    """Whether a link holds little: a number, perhaps inside a few elements."""
    return sum(1 for _ in zip(node.iter(), range(9), strict=False)) <= 8
