"""HTML pages, and the parsing of HTML and XHTML for all who need it. Chapters start at headings."""

from __future__ import annotations

import html
import re
from html.entities import html5
from pathlib import PurePath
from urllib.parse import unquote

from lxml import etree

from jobs.account import Why
from jobs.reading.chapters import ChapterBuilder, checked
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import Decoded, decode
from jobs.reading.document import Document, Paragraph, ParagraphKind, Skip
from jobs.reading.markup.block import TextBlock
from jobs.reading.markup.extraction import Extraction
from jobs.reading.markup.labels import Labels, declared_language
from jobs.reading.markup.notes import find_notes
from jobs.reading.markup.page import Page, page_of
from jobs.reading.markup.sections import judge, without_licence
from jobs.reading.markup.site import site_of
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source

_DECLARED = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_DECLARED_BYTES = 4096
_XHTML = re.compile(r"^\s*<\?xml\s|<html[^>]{0,2000}\sxmlns=", re.IGNORECASE)
_PROLOG = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_OF_LIBRARY = re.compile(r"^The Project Gutenberg e-?book of |\s*\| Project Gutenberg$|\s+-\s+Project Gutenberg$", re.I)
"""What a library puts around the title of a book."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_html(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read one HTML page.

    Raises:
        BadSource: `bad_html`, it cannot be parsed at all; `no_text`; `bad_encoding`.
    """
    decoded = decode_markup(data, name, asked=options.encoding)
    page = read_page(decoded.text, name)
    links = find_notes({"": page}, _within_page)
    site = site_of(page)
    labels = Labels(page, options.skip, links, site=True, rejected=site.rejected, outside=site.outside)
    extraction = Extraction(labels, mains=site.mains)
    blocks = list(extraction.blocks(page.root))
    builder, skipped = ChapterBuilder(), extraction.skipped
    emptied = any(skip.why is Why.NOTES for skip in skipped)
    inside = without_licence(blocks) if Why.LICENCE in options.skip else range(len(blocks))
    skipped += [
        skip_of(block, Why.LICENCE) for block in (*blocks[: inside.start], *blocks[inside.stop :]) if block.text
    ]
    blocks = blocks[inside.start : inside.stop]
    for block, why in zip(blocks, judge(blocks, options.skip, emptied=emptied), strict=True):
        if why is not None:
            skipped.append(skip_of(block, why))
        elif (paragraph := paragraph_of(block)) is not None:
            if block.level is not None and paragraph.kind is ParagraphKind.HEADING:
                builder.heading(paragraph, block.level)
            else:
                builder.add(paragraph)
    title = _head_text(page) or PurePath(name).stem
    document = Document(
        title=title,
        author=_meta(page.root, "author"),
        language=declared_language(page.root) or "",
        chapters=builder.finish(title),
        text=decoded.text,
        encoding=decoded.encoding,
        warnings=(*decoded.warnings, *(f"{name}: {warning}" for warning in page.warnings)),
        skipped=tuple(skipped),
        escapes=tuple(page.escapes),
        line_starts=tuple(extraction.line_starts),
    )
    return checked(document, name)


def read_page(text: str, name: str) -> Page:
    """The page of an HTML or XHTML source. Raises BadSource `bad_html`, `no_text`."""
    parse = parse_xhtml if _XHTML.search(text[:_DECLARED_BYTES]) else parse_html
    return page_of(text, lambda plain: parse(plain, name))


def decode_markup(data: bytes, name: str, *, asked: str | None = None) -> Decoded:
    """The characters of an HTML or XHTML source, by the encoding it declares."""
    match = _DECLARED.search(data[:_DECLARED_BYTES])
    declared = (match[1] or match[2]).decode("ascii") if match else None
    return decode(data, name, declared=declared, asked=asked)


def parse_html(text: str, name: str) -> etree._Element:
    """The tree of an HTML page, mended where it is broken. Raises BadSource `bad_html`."""
    parser = etree.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8")
    plain = _NOT_XML.sub(" ", _PROLOG.sub("", text, count=1))
    if not plain.strip():
        raise bad_source(Code.NO_TEXT, f"{name} is an empty page: there is nothing to speak")
    try:
        root = etree.fromstring(plain.encode("utf-8", "replace"), parser)
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


def paragraph_of(block: TextBlock) -> Paragraph | None:
    """A block as a paragraph; None when it holds no character. Symbols alone are a scene break."""
    if block.rule:
        return Paragraph(ParagraphKind.SCENE_BREAK, "", ())
    text, offsets = clean(block.text, block.offsets)
    if not text:
        return None
    if not speakable(text):
        return Paragraph(ParagraphKind.SCENE_BREAK, text, offsets, lang=block.lang)
    kind = ParagraphKind.BODY if block.level is None else ParagraphKind.HEADING
    return Paragraph(kind, text, offsets, lang=block.lang)


def skip_of(block: TextBlock, why: Why) -> Skip:
    """A block that is not spoken."""
    return Skip(block.offsets[0], block.offsets[-1] + 1, why)


def _within_page(href: str, path: str) -> tuple[str, str | None]:
    """Where a link of a page alone in the world leads; to other pages: nowhere."""
    return path, unquote(href[1:]) or None if href.startswith("#") else None


def _character(match: re.Match[str]) -> str:
    if match[1] in _XML_ENTITIES:
        return match.group()
    return html.unescape(match.group()) if f"{match[1]};" in html5 else match.group()


def _head_text(page: Page) -> str:
    node = next(page.root.iter("title"), None)
    return "" if node is None else _OF_LIBRARY.sub("", page.text_of(node))


def _meta(root: etree._Element, key: str) -> str:
    for node in root.iter("meta"):
        if (node.get("name") or "").lower() == key:
            return " ".join((node.get("content") or "").split())
    return ""
