"""Content documents of an EPUB as EPUB 3 wants them: XHTML in UTF-8, with its sentences in spans. Pure but for parsing.

A document is written only if it is well-formed and its text stays the same; else it goes into the book as it is,
without marks, and a warning says so.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from urllib.parse import quote

from lxml import etree

from jobs.marks.read_along_spans import Marked, Passage, Spans
from jobs.marks.read_along_tags import TAG, Tags, can_be_scanned
from jobs.reading.markup.archive import Archive
from jobs.reading.markup.html import decode_markup, xml_parser
from jobs.reading.markup.package import Package

XHTML_TYPE = "application/xhtml+xml"
XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_NAMES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_ENCODING = re.compile(r"""(encoding\s*=\s*)(["'])[^"']*\2""")
_DECLARATION = re.compile(r"<\?xml\s")
_CHARSET = re.compile(r"""(charset\s*=\s*)(["']?)[\w.:-]+\2""", re.IGNORECASE)
_XHTML_CHARSET = re.compile(r"""(["'])\s*application/xhtml\+xml\s*;\s*charset=""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A document with its spans, in reading order."""

    data: bytes
    marked: tuple[Marked, ...]


def page_warnings(data: bytes, name: str, paths: Sequence[str]) -> list[str]:
    """Which documents of an EPUB cannot be marked, of some paths. Raises BadSource when any file of it is damaged."""
    archive = Archive.of(data, name)
    archive.check()
    types = {item.path: item.media_type for item in Package.of(archive).items.values()}
    found = ((path, _fault(archive, path, types.get(path, ""))) for path in paths)
    return [f"{path} {fault}; read along, its sentences are not marked" for path, fault in found if fault]


def page_text(archive: Archive, path: str) -> str:
    """The decoded text of a document, in which its places count. Raises BadSource."""
    return decode_markup(archive.read(path), f"{archive.name}: {path}").text


def marked_page(text: str, passages: Sequence[Passage], style: str) -> MarkedPage | None:
    """A document with its passages in spans and a link to a style sheet; None if it is not well-formed XHTML.

    Args:
        text: as `page_text` gives it.
        passages: in the order of their places.
        style: the address of the style sheet, as the document names it.
    """
    before = _parsed(modern(text))
    if before is None or etree.QName(before).namespace != XHTML_NAMESPACE:
        return None
    spans = Spans(text, passages)
    made = modern(_linked(spans.written(), style))
    after = _parsed(made)
    if after is None or _said(after) != _said(before):
        return None
    return MarkedPage(made.encode(), tuple(spans.marked))


def modern(text: str) -> str:
    """A document as XHTML 5 in UTF-8: its document type, the encoding it names, and HTML's named characters.

    One that is no XML stays as it is, or at least stays no XML.
    """
    if not can_be_scanned(text):
        return text
    match = next((one for one in TAG.finditer(text) if one.group().startswith("<!DOCTYPE")), None)
    own = match is not None and "[" in match.group()
    parts: list[str] = []
    at = 0
    for tag in TAG.finditer(text):
        between = text[at : tag.start()]
        parts.append(between if own else _NAMED.sub(_character, between))
        parts.append(_modern_tag(tag.group(), own=own))
        at = tag.end()
    return "".join((*parts, text[at:]))


def contents_of(text: str) -> list[str]:
    """What a package must say of a document: that there is `svg`, `mathml` or a script in it."""
    names = {tag.name for tag in Tags(text).tags}
    kinds = (("svg", "svg"), ("math", "mathml"), ("script", "scripted"))
    return [kind for name, kind in kinds if name in names]


def modern_page(text: str) -> bytes | None:
    """A document without marks as `modern` makes it; None if it is not well-formed and better left as it is."""
    made = modern(text)
    return None if _parsed(made) is None else made.encode()


def relative(path: str, base: str) -> str:
    """The address of a file of the archive as a document of it at `base` names it."""
    return quote(posixpath.relpath(path, posixpath.dirname(base) or "."))


def _fault(archive: Archive, path: str, media_type: str) -> str:
    """Why a document cannot be marked; empty if it can."""
    if media_type != XHTML_TYPE:
        return f"is {media_type or 'of no type'}, not {XHTML_TYPE}"
    root = _parsed(modern(page_text(archive, path)))
    if root is None:
        return "is not well-formed XML"
    return "" if etree.QName(root).namespace == XHTML_NAMESPACE else "is not in the namespace of XHTML"


def _parsed(text: str) -> etree._Element | None:
    try:
        return etree.fromstring(text.strip().encode(), xml_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None


def _said(root: etree._Element) -> str:
    return "".join(_texts(root))


def _texts(root: etree._Element) -> Iterator[str]:
    return (str(text) for text in root.itertext())


def _linked(text: str, style: str) -> str:
    """With a link to the style sheet at the end of its head."""
    tags = Tags(text)
    head = tags.named("head", closes=True)
    if head is None:
        return text
    prefix = f"{head.prefix}:" if head.prefix else ""
    link = f'<{prefix}link rel="stylesheet" type="text/css" href="{html.escape(style)}"/>'
    return f"{text[: head.start]}{link}{text[head.start :]}"


def _modern_tag(tag: str, *, own: bool) -> str:
    """One tag; `own`: the document declares entities of its own, which stay."""
    if tag.startswith("<!DOCTYPE"):
        return tag if own or "PUBLIC" not in tag.upper() else "<!DOCTYPE html>"
    if _DECLARATION.match(tag):
        return _ENCODING.sub(r"\1\2utf-8\2", tag)
    if tag.startswith(("<!", "<?")):
        return tag
    if "meta" in tag[:16].lower():
        tag = _XHTML_CHARSET.sub(r"\1text/html; charset=", _CHARSET.sub(r"\1\2utf-8\2", tag))
    return tag if own else _NAMED.sub(_character, tag)


def _character(match: re.Match[str]) -> str:
    """What HTML means by a name; a name that is none stays."""
    name = match[1]
    return match.group() if name in _XML_NAMES or f"{name};" not in html5 else html.escape(html5[f"{name};"])
