"""HTML pages, and the parsing of HTML and XHTML for all who need it. Chapters start at headings."""

from __future__ import annotations

import html
import re
from html.entities import html5
from pathlib import PurePath

from lxml import etree

from jobs.reading.chapters import ChapterBuilder, TextSink, checked, left_out_warnings
from jobs.reading.decoding import Decoded, decode
from jobs.reading.document import Document, Paragraph, ParagraphKind
from jobs.reading.markup import Extraction, TextBlock, declared_language, local_name, note_targets, text_of
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source

_DECLARED = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_DECLARED_BYTES = 4096
_XHTML = re.compile(r"^\s*<\?xml\s|<html[^>]*\sxmlns=", re.IGNORECASE)
_PROLOG = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_html(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read one HTML page.

    Raises:
        BadSource: `bad_html`, it cannot be parsed at all; `no_text`.
    """
    decoded = decode_markup(data, name)
    parse = parse_xhtml if _XHTML.search(decoded.text[:_DECLARED_BYTES]) else parse_html
    root = parse(decoded.text, name)
    builder, sink = ChapterBuilder(), TextSink()
    notes = frozenset(target[1:] for target in note_targets(root) if target.startswith("#"))
    extraction = Extraction(notes)
    for block in extraction.blocks(root):
        paragraph = paragraph_of(block, sink)
        if paragraph is not None and block.level is not None and paragraph.kind is ParagraphKind.HEADING:
            builder.heading(paragraph, block.level)
        elif paragraph is not None:
            builder.add(paragraph)
    title = _head_text(root, "title") or PurePath(name).stem
    document = Document(
        title=title,
        author=_meta(root, "author"),
        language=declared_language(root) or "",
        chapters=builder.finish(title),
        text=sink.text,
        encoding=decoded.encoding,
        warnings=decoded.warnings + left_out_warnings(extraction.left_out),
    )
    return checked(document, name)


def decode_markup(data: bytes, name: str) -> Decoded:
    """The characters of an HTML or XHTML source, by the encoding it declares."""
    match = _DECLARED.search(data[:_DECLARED_BYTES])
    declared = (match[1] or match[2]).decode("ascii") if match else None
    return decode(data, name, declared=declared)


def parse_html(text: str, name: str) -> etree._Element:
    """The tree of an HTML page, mended where it is broken. Raises BadSource `bad_html`."""
    parser = etree.HTMLParser(no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(_NOT_XML.sub(" ", _PROLOG.sub("", text, count=1)), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise bad_source(Code.BAD_HTML, f"{name} cannot be read as HTML: {error}") from None
    # A tree that hit a limit of the parser ends there without an exception: the rest of the text would be lost.
    limit = next((entry.message.strip() for entry in parser.error_log if entry.level_name == "FATAL"), None)
    if limit is not None:
        raise bad_source(Code.BAD_HTML, f"{name} cannot be read to its end as HTML ({limit}); simplify or split it")
    if root is None:
        raise bad_source(Code.NO_TEXT, f"{name} is an empty page: there is nothing to speak")
    return root


def parse_xhtml(text: str, name: str) -> etree._Element:
    """The tree of an XHTML document; what is not well-formed is read as HTML.

    The document type goes first, so nothing it declares is ever expanded or fetched; HTML's own named characters
    (`&nbsp;`) are put in, as a document type would have done.
    """
    body = _DOCTYPE.sub("", _PROLOG.sub("", text, count=1), count=1)
    named = _NOT_XML.sub(" ", _NAMED.sub(_character, body))
    try:
        return etree.fromstring(named.strip(), xml_parser())
    except (etree.XMLSyntaxError, ValueError):
        return parse_html(body, name)


def xml_parser() -> etree.XMLParser:
    """A parser that expands no entity, loads no document type, asks no network and refuses huge trees."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def paragraph_of(block: TextBlock, sink: TextSink) -> Paragraph | None:
    """A block as a paragraph of the document's text; None when it holds no character."""
    if block.rule:
        return Paragraph(ParagraphKind.SCENE_BREAK, "", ())
    kind = ParagraphKind.BODY if block.level is None else ParagraphKind.HEADING
    return sink.paragraph(kind, block.text, lang=block.lang)


def _character(match: re.Match[str]) -> str:
    if match[1] in _XML_ENTITIES:
        return match.group()
    return html.unescape(match.group()) if f"{match[1]};" in html5 else match.group()


def _head_text(root: etree._Element, tag: str) -> str:
    node = next((node for node in root.iter(etree.Element) if local_name(node) == tag), None)
    return "" if node is None else text_of(node)


def _meta(root: etree._Element, key: str) -> str:
    for node in root.iter(etree.Element):
        if local_name(node) == "meta" and (node.get("name") or "").lower() == key:
            return " ".join((node.get("content") or "").split())
    return ""
