"""Blocks of text out of an HTML or XHTML tree: what a reader hears, in order, and what was left out.

Knows elements and the EPUB and ARIA words for notes; knows no files, chapters or offsets. Never recursive: the depth of
a hostile tree costs nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

_OPS = "{http://www.idpf.org/2007/ops}"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT = _names(
    "head script style template noscript nav svg math iframe object audio video canvas map button select textarea "
    "input datalist rp rt rtc img picture source track area base meta link param"
)
"""Elements whose content is not text for a listener."""
BLOCKS = _names(
    "html body address article aside blockquote caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup legend li main menu ol p pre section summary table tbody td tfoot th "
    "thead title tr ul"
)
"""Elements that begin and end a paragraph."""
NOTE_WORDS = _names("footnote footnotes endnote endnotes rearnote rearnotes doc-footnote doc-endnote doc-endnotes")
REFERENCE_WORDS = _names("noteref doc-noteref")
_PLACE_WORDS = _names("pagebreak page-list doc-pagebreak doc-pagelist")
_LIST_WORDS = _names("toc landmarks loa loi lot lov doc-toc")
_NOTE_TEXT = re.compile(r"[\[(]?\s*(?:\d{1,4}|[a-z]|[*†‡§¶]{1,3})\s*[\])]?$")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text between block boundaries (raw: white space is as in the source). `level` is that of a heading, 1 to 6.

    `anchors` are the ids met since the block before. `rule` is a horizontal rule; then there is no text.
    """

    text: str
    level: int | None = None
    lang: str | None = None
    rule: bool = False
    anchors: tuple[str, ...] = ()


@dataclass
class Extraction:
    """Walks one tree. `notes` are the ids of note bodies that marks elsewhere point at; `left_out` counts by kind."""

    notes: frozenset[str] = frozenset()
    left_out: Counter[str] = field(default_factory=Counter)
    _text: list[str] = field(default_factory=list)
    _anchors: list[str] = field(default_factory=list)
    _levels: list[int] = field(default_factory=list)
    _langs: list[str | None] = field(default_factory=lambda: [None])

    def blocks(self, root: etree._Element) -> Iterator[TextBlock]:
        """The text blocks below `root`, in document order."""
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        silent: etree._Element | None = None
        for event, node in walk:
            if event in {"comment", "pi"}:
                if silent is None:
                    self._text.append(node.tail or "")
            elif event == "start" and silent is None:
                if self._is_silent(node):
                    silent = node
                    walk.skip_subtree()
                else:
                    yield from self._enter(node)
            elif event == "end":
                if silent is None:
                    yield from self._leave(node)
                elif silent is node:
                    silent = None
                    if local_name(node) in BLOCKS:
                        yield from self._flush()
                if silent is None and node is not root:
                    self._text.append(node.tail or "")
        yield from self._flush()

    def _enter(self, node: etree._Element) -> Iterator[TextBlock]:
        tag = local_name(node)
        if tag in BLOCKS:
            yield from self._flush()
        self._langs.append(declared_language(node) or self._langs[-1])
        if re.fullmatch("h[1-6]", tag):
            self._levels.append(int(tag[1]))
        if (anchor := node.get("id") or (node.get("name") if tag == "a" else None)) is not None:
            self._anchors.append(anchor)
        if tag == "hr":
            yield from self._flush()
            yield TextBlock("", rule=True, anchors=self._taken_anchors())
        self._text.append("\n" if tag == "br" else node.text or "")

    def _leave(self, node: etree._Element) -> Iterator[TextBlock]:
        tag = local_name(node)
        if tag in BLOCKS:
            yield from self._flush()
        if re.fullmatch("h[1-6]", tag):
            self._levels.pop()
        self._langs.pop()

    def _flush(self) -> Iterator[TextBlock]:
        text = "".join(self._text)
        self._text.clear()
        if text.strip():
            level = self._levels[-1] if self._levels else None
            yield TextBlock(text, level, self._langs[-1], anchors=self._taken_anchors())

    def _taken_anchors(self) -> tuple[str, ...]:
        anchors = tuple(self._anchors)
        self._anchors.clear()
        return anchors

    def _is_silent(self, node: etree._Element) -> bool:
        tag = local_name(node)
        what = self._left_out_as(node, tag)
        if what is not None and text_of(node):
            self.left_out[what] += 1
        if what is not None or tag in SILENT or words_of(node) & _PLACE_WORDS:
            self._anchors += [anchor for anchor in (node.get("id"),) if anchor is not None]
            return True
        return False

    def _left_out_as(self, node: etree._Element, tag: str) -> str | None:
        """The name under which a piece of text is counted as left out; None when it is spoken (or is no text)."""
        words = words_of(node)
        if words & NOTE_WORDS or node.get("id") in self.notes:
            return "note"
        if words & REFERENCE_WORDS or (tag in {"a", "sup"} and _is_note_mark(node)):
            return "note mark"
        if words & _LIST_WORDS:
            return "contents list"
        style = node.get("style", "").replace(" ", "").lower()
        if node.get("hidden") is not None or node.get("aria-hidden") == "true" or "display:none" in style:
            return "hidden text"
        if tag == "pre" and [local_name(child) for child in node] == ["code"] and not (node.text or "").strip():
            return "code listing"
        return None


def local_name(node: etree._Element) -> str:
    """The name of an element in lower case, without its namespace."""
    return str(node.tag).rpartition("}")[2].lower()


def declared_language(node: etree._Element) -> str | None:
    """The language an element declares for its content, None if it declares none."""
    return node.get(_XML_LANG) or node.get("xml:lang") or node.get("lang") or None


def words_of(node: etree._Element) -> frozenset[str]:
    """What `epub:type` and `role` say an element is."""
    said = f"{node.get(_OPS + 'type', '')} {node.get('epub:type', '')} {node.get('role', '')}"
    return frozenset(said.lower().split())


def note_targets(root: etree._Element) -> frozenset[str]:
    """The link targets (`file#id` as written) of all marks that are declared to refer to notes."""
    return frozenset(
        href
        for node in root.iter(etree.Element)
        if words_of(node) & REFERENCE_WORDS and (href := node.get("href")) is not None and "#" in href
    )


def text_of(node: etree._Element) -> str:
    """All text in an element, with single spaces."""
    return " ".join("".join(str(text) for text in node.itertext()).split())


def _is_note_mark(node: etree._Element) -> bool:
    """A superscript link inside a document whose text is a number, letter or sign: an undeclared note mark.

    Only the mark is left out, never what it points at: a mark beside the note's text points back into the book.
    """
    child = node[0] if len(node) == 1 else None
    link = node if local_name(node) == "a" else child
    raised = local_name(node) == "sup" or (child is not None and local_name(child) == "sup")
    if link is None or not raised or local_name(link) != "a" or "#" not in (link.get("href") or ""):
        return False
    return _NOTE_TEXT.match(text_of(node)) is not None
