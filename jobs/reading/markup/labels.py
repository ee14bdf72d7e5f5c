"""What an element of a page is to a listener, as the reason why it is not spoken. Pure.

Knows elements, the words of `epub:type` and `role`, and the class names that tools write; knows no files, no offsets
and no text beyond what tells a mark from a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from jobs.account import Why
from jobs.reading.markup.classes import class_reason, is_site_class
from jobs.reading.markup.page import Page
from jobs.reading.markup.tags import BLOCKS

_OPS = "{http://www.idpf.org/2007/ops}"
_WORD_KEYS = (_OPS + "type", "epub:type", "epub-type", "role")
_NOTHING: frozenset[str] = frozenset()
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOTE_WORDS = _names(
    "footnote footnotes endnote endnotes rearnote rearnotes note notes doc-footnote doc-endnote doc-endnotes"
)
REFERENCE_WORDS = _names("noteref doc-noteref")
_BY_ELEMENT = {
    **dict.fromkeys(("template", "base", "link", "meta", "param"), Why.MARKUP),
    **dict.fromkeys(("rt", "rp", "rtc"), Why.RUBY),
    **dict.fromkeys(("noscript", "object", "audio", "video", "canvas", "map", "x-iframe", "x-noframes"), Why.HIDDEN),
    **dict.fromkeys(("x-noembed", "case"), Why.HIDDEN),
    **dict.fromkeys(("button", "select", "textarea", "datalist", "progress", "meter", "output"), Why.OUTSIDE),
    "title": Why.METADATA,
    **dict.fromkeys(("annotation", "annotation-xml"), Why.SYMBOL),
    "svg": Why.ILLUSTRATIONS,
    "figcaption": Why.ILLUSTRATIONS,
}
_BY_WORD = {
    **dict.fromkeys(NOTE_WORDS, Why.NOTES),
    **dict.fromkeys((*REFERENCE_WORDS, "backlink", "doc-backlink", "referrer"), Why.NOTE_MARKS),
    **dict.fromkeys(("pagebreak", "page-list", "doc-pagebreak", "doc-pagelist"), Why.PAGE_NUMBERS),
    **dict.fromkeys(("toc", "toc-brief", "landmarks", "loa", "loi", "lot", "lov", "doc-toc"), Why.CONTENTS),
    **dict.fromkeys(("index", "doc-index"), Why.INDEX),
    **dict.fromkeys(("bibliography", "doc-bibliography", "biblioentry", "doc-biblioentry"), Why.BIBLIOGRAPHY),
    **dict.fromkeys(("copyright-page", "imprint", "imprimatur", "colophon", "doc-colophon"), Why.FRONT),
    **dict.fromkeys(("halftitlepage", "halftitle", "cover"), Why.FRONT),
    **dict.fromkeys(("pullquote", "doc-pullquote"), Why.OUTSIDE),
}
_FURNITURE_ROLES = _names("navigation search banner contentinfo complementary toolbar menu menubar dialog alertdialog")
_FURNITURE = _names("nav aside form search menu")
_PAGE_CLASS = re.compile(r"(?:^|[\s_-])(?:pagenum|pageno|page-?number|page_number|pgnum|pb|pagebreak)(?:$|[\s_-])")
_PAGE_TEXT = re.compile(r"[\[({]?\s*(?:pg?\.?|page)?\s*(?:\d{1,5}|[ivxlcdm]{1,9})\s*[\])}]?", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:^|\s)(?:code|highlight|sourcecode|programlisting|prettyprint|hljs|language-\S+)(?:$|\s)")
_CAPTION_CLASS = re.compile(r"(?:^|\s)(?:caption|figcaption|fig-caption|figure-caption|wp-caption-text)(?:$|\s)")
_NOTE_TEXT = re.compile(r"[\[(]?\s*(?:\d{1,4}[a-z]?|[a-z]|[ivx]{1,6}|[*†‡§¶‖#]{1,3}|[¹²³⁰⁴-⁹]{1,4})\s*[\])]?\.?")
_EDITORIAL = re.compile(
    r"\[\s?(?:\d{1,3}|[a-z*†‡§]|(?:note|nb|n|fn)\.?\s\d{1,3}|[a-z ]{1,30}\sneeded|who\?|when\?|where\?|which\?|why\?|"
    r"by whom\?|according to whom\?|dubious(?:\s?[\u2013-]\s?discuss)?|failed verification|sic)\s?\]",
    re.IGNORECASE,
)
"""What editors of a page put behind its words, raised and in brackets."""
_STRUCK = _names("del s strike")
_HEADINGS = _names("h1 h2 h3 h4 h5 h6 dt")
_DROP_CAP = re.compile(r"[\"'“‘«„]?[^\W\d_]")
_BETWEEN_MARKS = re.compile(r"\s?[,;\u2013-]\s?|\s")
_BACK_ARROW = re.compile(r"[\[(]?[↩↑↵⏎⤴^←\ufe0e\ufe0f]{1,4}[\])]?")
_BACK_WORD = re.compile(r"[\[(]?(?:back|return)[\])]?", re.IGNORECASE)
_BEFORE_BACK = re.compile(r"[.!?…:;\])\"'”’»—–]\s*\Z")


@dataclass(slots=True)
class Links:
    """What links between marks and notes have told: note bodies, and the links that are marks (see `notes`)."""

    bodies: set[etree._Element] = field(default_factory=set)
    marks: set[etree._Element] = field(default_factory=set)


@dataclass(slots=True)
class Labels:
    """Says of elements why they are not spoken. `skip` is what may be left out; `site`: there may be furniture.

    `rejected` are elements that look like furniture but hold most of the page, `outside` such that look like none.
    """

    page: Page
    skip: frozenset[Why]
    links: Links
    site: bool = False
    rejected: set[etree._Element] = field(default_factory=set)
    outside: set[etree._Element] = field(default_factory=set)

    def of(self, node: etree._Element) -> Why | None:
        """Why an element is not spoken, None when it is."""
        return next((why for why in self._reasons(node) if why in self.skip or why not in Why.choosable()), None)

    def _reasons(self, node: etree._Element) -> Iterator[Why]:
        tag = str(node.tag)
        if node in self.links.bodies:
            yield Why.NOTES
        if node in self.links.marks or (tag in {"a", "sup"} and self._is_mark(node)):
            yield Why.NOTE_MARKS
        if (why := _BY_ELEMENT.get(tag)) is not None:
            yield why
        if tag == "math" and node.get("alttext"):
            yield Why.SYMBOL
        if tag in _STRUCK and _is_replaced(node, self.page):
            yield Why.HIDDEN
        if tag == "dialog" and node.get("open") is None:
            yield Why.HIDDEN
        if tag == "pre" and _is_code(node, self.page):
            yield Why.CODE
        if node.attrib:
            yield from self._attribute_reasons(node, tag)
        if tag == "nav":
            yield Why.OUTSIDE if self.site else Why.CONTENTS
        if self.site and (node in self.outside or (node not in self.rejected and is_furniture(node))):
            yield Why.OUTSIDE

    def _is_mark(self, node: etree._Element) -> bool:
        """A note mark that nothing declares; a word back is one at the end of a note only."""
        if is_note_mark(node, self.page):
            return True
        if node.tag == "sup" and _EDITORIAL.fullmatch(_short(node, self.page)):
            return True
        if not _BACK_WORD.fullmatch(_short(node, self.page)) or not is_back_link(node, self.page):
            return False
        return any(above in self.links.bodies or words_of(above) & NOTE_WORDS for above in node.iterancestors())

    def _attribute_reasons(self, node: etree._Element, tag: str) -> Iterator[Why]:
        if (hidden := node.get("hidden")) is not None and not (hidden == "aria" and is_drop_cap(node, self.page)):
            yield Why.HIDDEN
        yield from (why for word in sorted(words_of(node)) if (why := _BY_WORD.get(word)) is not None)
        classes = (node.get("class") or "").lower()
        named = _PAGE_CLASS.search(classes) or (node.get("id") or "").lower().startswith(("page_", "pg_", "pgepubid_p"))
        if named and tag in {"span", "a", "div", "p", "small", "sup"} and _PAGE_TEXT.fullmatch(_short(node, self.page)):
            yield Why.PAGE_NUMBERS
        if (why := class_reason(node, tag)) is not None:
            yield why
        if tag == "a" and _is_heading_link(node, self.page):
            yield Why.OUTSIDE
        if _CAPTION_CLASS.search(classes) and tag in {"p", "div", "span", "figcaption"}:
            yield Why.ILLUSTRATIONS


def local_name(node: etree._Element) -> str:
    """The name of an element in lower case, without its namespace."""
    return str(node.tag).rpartition("}")[2].lower()


def declared_language(node: etree._Element) -> str | None:
    """The language an element declares for its content, None if it declares none."""
    return node.get(_XML_LANG) or node.get("xml:lang") or node.get("lang") or None


def words_of(node: etree._Element) -> frozenset[str]:
    """What `epub:type` and `role` say an element is, in a tree of a `Page` or a plain one."""
    attributes = node.attrib
    if not attributes:
        return _NOTHING
    said = [str(attributes[key]) for key in _WORD_KEYS if key in attributes]
    return frozenset(" ".join(said).lower().split()) if said else _NOTHING


def text_of(node: etree._Element) -> str:
    """All text in an element of a plain tree, with single spaces."""
    return " ".join("".join(str(text) for text in node.itertext()).split())


def is_furniture(node: etree._Element) -> bool:
    """Whether an element is a part of the site around the text, by its name or role."""
    if node.tag in _FURNITURE:
        return True
    if node.keys() and (words_of(node) & _FURNITURE_ROLES or is_site_class(node)):
        return True
    if node.tag not in {"header", "footer"}:
        return False
    above = node.getparent()
    return above is not None and above.tag == "body"


def note_text(text: str) -> bool:
    """Whether the text of a link is a note's number or sign, such as `3`, `[3]` or `*`."""
    return _NOTE_TEXT.fullmatch(text) is not None


def is_back_link(node: etree._Element, page: Page) -> bool:
    """Whether a link is an arrow back, or the word, alone at the end of its block after the end of a sentence.

    "He went back home." may link any of its words.
    """
    text = _short(node, page)
    if not text or _BACK_ARROW.fullmatch(text):
        return bool(text)
    if not _BACK_WORD.fullmatch(text):
        return False
    at = node
    before: list[str] = []
    while at.tag not in BLOCKS and (above := at.getparent()) is not None:
        if any(page.chars_of(one.tail) or page.text_of(one) for one in at.itersiblings()) or page.chars_of(at.tail):
            return False
        before += [_ending(one.tail, page) or page.text_of(one) for one in at.itersiblings(preceding=True)]
        before.append(_ending(above.text, page))
        at = above
    told = next((piece for piece in before if piece.strip()), "")
    return not told or _BEFORE_BACK.search(told) is not None


def is_note_mark(node: etree._Element, page: Page) -> bool:
    """A superscript link inside a document whose text is a number, letter or sign: an undeclared note mark.

    Also an arrow that leads back from a note. Only the mark is left out, never what it points at: a mark beside the
    note's text points back into the book.
    """
    if node.tag == "sup" and len(node) > 1:
        linked = all(one.tag == "a" and "#" in (one.get("href") or "") for one in node)
        return linked and all(note_text(mark) for mark in _BETWEEN_MARKS.split(_short(node, page)))
    child = node[0] if len(node) == 1 else None
    link = node if node.tag == "a" else child
    if link is None or link.tag != "a" or "#" not in (link.get("href") or ""):
        return False
    text = _short(node, page)
    raised = node.tag == "sup" or (child is not None and child.tag == "sup")
    return (raised and note_text(text)) or _BACK_ARROW.fullmatch(text) is not None


def is_drop_cap(node: etree._Element, page: Page) -> bool:
    """Whether an element, or the text that stands for an image, is the first letter of the word that goes on after it.

    The word goes on with no white space between, perhaps after elements that end here.
    """
    letter = "".join(run.text for run in page.runs_of(node.get("alt"))).strip() or _short(node, page)
    if not _DROP_CAP.fullmatch(letter):
        return False
    after: etree._Element | None = node
    while after is not None and not after.tail and after.getnext() is None and after.tag not in BLOCKS:
        after = after.getparent()
    if after is None or after.tag in BLOCKS:
        return False
    following = next(page.runs_of(after.tail), None)
    return following is not None and following.text[:1].isalpha()


def _is_heading_link(node: etree._Element, page: Page) -> bool:
    """A sign beside a heading that links to it."""
    if not (node.get("href") or "").startswith("#"):
        return False
    text = _short(node, page)
    headed = any(above.tag in _HEADINGS for above in islice(node.iterancestors(), 2))
    return headed and 0 < len(text) <= 2 and not text.isalnum()


def _is_replaced(node: etree._Element, page: Page) -> bool:
    """Whether what is struck out has what stands for it right after it; with a space between both may be text."""
    after = node.getnext()
    return after is not None and after.tag == "ins" and not node.tail and page.text_of(after) != ""


def _ending(marks: str | None, page: Page) -> str:
    return "".join(run.text for run in page.runs_of(marks))


def _short(node: etree._Element, page: Page) -> str:
    """The text of a small element; of a large one nothing: it is no mark."""
    text: list[str] = []
    for count, marks in enumerate(node.itertext()):
        text += [run.text for run in page.runs_of(str(marks))]
        if count > 8 or sum(map(len, text)) > 80:
            return ""
    return " ".join("".join(text).split())


def _is_code(node: etree._Element, page: Page) -> bool:
    """A listing: `pre` around one `code`, or named so by a tool. Plain `pre` is text set by hand, a poem perhaps."""
    alone = len(node) == 1 and node[0].tag in {"code", "samp", "kbd"}
    if alone and not any(page.chars_of(text) for text in (node.text, node[0].tail)):
        return True
    above = node.getparent()
    classes = [(one.get("class") or "").lower() for one in (node, above) if one is not None]
    return any(_CODE_CLASS.search(names) for names in classes)
