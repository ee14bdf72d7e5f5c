"""The package of an EPUB: its archive, its metadata, its reading order, its table of contents, its cover.

EPUB 2 and 3 (W3C EPUB 3.3 sections 4 and 5; NCX of EPUB 2). Everything is read in memory and within bounds; nothing is
written to a disk, and no name from the archive is used as a path of this machine.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote, urlsplit

from lxml import etree

from jobs.errors import BadSource, SourceProblem
from jobs.reading.html import decode_markup, parse_xhtml, xml_parser
from jobs.reading.markup import local_name, text_of, words_of
from jobs.reading.problems import Code, bad_source

MAX_ENTRIES = 50_000
MAX_ENTRY_BYTES = 64 * 1024 * 1024
MAX_TEXT_BYTES = 128 * 1024 * 1024
"""Of all documents together: a thousand times a long novel is refused."""
MAX_RATIO = 200
"""Text packs 3 to 20 times; deflate reaches 1,032 on nothing but one repeated byte."""
RATIO_FROM_BYTES = 1024 * 1024
# What zipfile raises on damaged archives: also plain ValueError (a negative place) and struct.error (a short header).
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
_PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""All that EPUB allows (OCF ZIP container)."""
_COVERS = ((b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"))


@dataclass(frozen=True, slots=True)
class TocEntry:
    """One line of the table of contents: `anchor` is an id in the document, None for its beginning; depth from 1."""

    path: str
    anchor: str | None
    title: str
    depth: int


@dataclass(frozen=True, slots=True)
class _Item:
    path: str
    media_type: str
    properties: frozenset[str]


@dataclass
class Archive:
    """An EPUB's files by name. `name` is what the user calls it."""

    zip: zipfile.ZipFile
    name: str
    read_bytes: int = 0

    @classmethod
    def of(cls, data: bytes, name: str) -> Archive:
        """Raises BadSource: `bad_zip` or `zip_bomb`."""
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            msg = f"{name} is not an EPUB: {error or 'no archive'}; download or export it again"
            raise bad_source(Code.BAD_ZIP, msg) from None
        if len(archive.infolist()) > MAX_ENTRIES:
            msg = f"{name} has {len(archive.infolist())} files in it, up to {MAX_ENTRIES} are allowed"
            raise bad_source(Code.ZIP_BOMB, msg)
        return cls(archive, name)

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self.zip.NameToInfo

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            BadSource: missing (`bad_epub`), broken (`bad_zip`), protected (`encrypted`), or too large (`zip_bomb`).
        """
        if not self.has(path):
            raise self.bad(Code.BAD_EPUB, f"names {path}, but has no such file; export it again")
        info = self.zip.getinfo(path)
        packed_too_well = info.file_size > RATIO_FROM_BYTES and info.file_size > MAX_RATIO * info.compress_size
        self.read_bytes += info.file_size
        if packed_too_well or info.file_size > MAX_ENTRY_BYTES or self.read_bytes > MAX_TEXT_BYTES:
            limits = f"{MAX_ENTRY_BYTES} bytes a file, {MAX_TEXT_BYTES} in all, packed {MAX_RATIO} times at most"
            sizes = f"{info.file_size} bytes out of {info.compress_size}"
            raise self.bad(Code.ZIP_BOMB, f"unpacks {path} to {sizes}; allowed are {limits}")
        if info.flag_bits & 1:
            raise self.bad(Code.ENCRYPTED, f"needs a password for {path}; give a copy without protection")
        if info.compress_type not in _PACKINGS:
            raise self.bad(Code.BAD_ZIP, f"packs {path} in a way that EPUB does not allow; export it again")
        try:
            return self.zip.read(info)
        except _BROKEN as error:
            raise self.bad(Code.BAD_ZIP, f"has a broken file, {path}: {error}; download or export it again") from None

    def xml(self, path: str) -> etree._Element:
        """A file as a strict XML tree. Raises BadSource as `read` does, and `bad_epub` when it is not XML."""
        text = self.read(path)
        try:
            return etree.fromstring(text, xml_parser())
        except (etree.XMLSyntaxError, ValueError) as error:
            raise self.bad(Code.BAD_EPUB, f"has a {path} that is not XML: {error}; export it again") from None

    def xhtml(self, path: str) -> tuple[etree._Element, tuple[str, ...]]:
        """A content document as a tree, and warnings of its decoding."""
        decoded = decode_markup(self.read(path), f"{self.name}: {path}")
        return parse_xhtml(decoded.text, f"{self.name}: {path}"), decoded.warnings

    def bad(self, code: Code, what: str) -> BadSource:
        """An error about this archive."""
        return BadSource(SourceProblem(code, f"{self.name} {what}"))


@dataclass
class Package:
    """The package document (`.opf`) and what it leads to."""

    archive: Archive
    path: str
    root: etree._Element
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, archive: Archive) -> Package:
        """Raises BadSource `bad_epub` when the archive is no EPUB."""
        if not archive.has("META-INF/container.xml"):
            raise archive.bad(Code.BAD_EPUB, "is an archive but no EPUB: it has no META-INF/container.xml")
        container = archive.xml("META-INF/container.xml")
        path = next((node.get("full-path") for node in _named(container, "rootfile") if node.get("full-path")), None)
        if path is None:
            raise archive.bad(Code.BAD_EPUB, "names no package document in META-INF/container.xml; export it again")
        return cls(archive, path, archive.xml(path))

    def fact(self, name: str) -> list[str]:
        """The values of one Dublin Core element (`title`, `creator`, `language`)."""
        metadata = next(_named(self.root, "metadata"), self.root)
        values = (text_of(node) for node in _named(metadata, name))
        return [value for value in values if value]

    @cached_property
    def items(self) -> dict[str, _Item]:
        """The manifest by id."""
        items: dict[str, _Item] = {}
        for node in _named(next(_named(self.root, "manifest"), self.root), "item"):
            path, _ = self.resolve(node.get("href", ""), self.path)
            properties = frozenset(node.get("properties", "").split())
            items.setdefault(node.get("id", ""), _Item(path, node.get("media-type", ""), properties))
        return items

    def reading_order(self) -> list[str]:
        """The documents of the spine, in its order: each once, without those beside the reading order and contents.

        Raises:
            BadSource: `encrypted` when one of them is; `bad_epub` when there is none.
        """
        spine = next(_named(self.root, "spine"), None)
        refs = [] if spine is None else list(_named(spine, "itemref"))
        apart = sum(node.get("linear") == "no" for node in refs)
        if apart:
            self.warnings.append(f"{apart} x document beside the reading order (linear=no) not spoken")
        contents = {item.path for item in self.items.values() if "nav" in item.properties} | self._guide_contents()
        paths = [
            item.path
            for node in refs
            if node.get("linear") != "no" and (item := self.items.get(node.get("idref", ""))) is not None
        ]
        order = [path for path in dict.fromkeys(paths) if path not in contents]
        if not order:
            raise self.archive.bad(Code.BAD_EPUB, "has no documents in its reading order (spine); export it again")
        locked = self._locked().intersection(order)
        if locked:
            msg = f"is protected (DRM): {len(locked)} of {len(order)} documents are encrypted; give an open copy"
            raise self.archive.bad(Code.ENCRYPTED, msg)
        return order

    def contents(self) -> list[TocEntry]:
        """The table of contents: of the navigation document, else of the NCX, else nothing."""
        nav = next((item for item in self.items.values() if "nav" in item.properties), None)
        if nav is not None and self.archive.has(nav.path):
            entries = list(self._nav_entries(nav.path))
            if entries:
                return entries
        ncx = next((item for item in self.items.values() if item.media_type == "application/x-dtbncx+xml"), None)
        return list(self._ncx_entries(ncx.path)) if ncx is not None and self.archive.has(ncx.path) else []

    def cover(self) -> tuple[bytes | None, str]:
        """The cover image and its media type; None when there is none that a player could show."""
        named = {node.get("content", "") for node in _named(self.root, "meta") if node.get("name") == "cover"}
        wanted = [item for key, item in self.items.items() if "cover-image" in item.properties or key in named]
        for item in wanted:
            if self.archive.has(item.path):
                data = self.archive.read(item.path)
                kind = next((kind for magic, kind in _COVERS if data.startswith(magic)), None)
                if kind is not None:
                    return data, kind
                self.warnings.append(f"cover {item.path} is not a JPEG or PNG image and is left out")
        return None, ""

    def resolve(self, href: str, base: str) -> tuple[str, str | None]:
        """(path in the archive, anchor) of a link written in the document `base`."""
        try:
            parts = urlsplit(href)
        except ValueError:  # no link at all, such as `http://[`: it leads nowhere
            return "", None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(parts.path))) if parts.path else base
        return path, unquote(parts.fragment) or None

    def _guide_contents(self) -> set[str]:
        """Contents pages by the guide of EPUB 2; a place inside a document does not make it a contents page."""
        marks = (node for node in _named(self.root, "reference") if node.get("type", "").lower() == "toc")
        links = [self.resolve(node.get("href", ""), self.path) for node in marks]
        return {path for path, anchor in links if anchor is None}

    def _locked(self) -> set[str]:
        if not self.archive.has("META-INF/encryption.xml"):
            return set()
        references = _named(self.archive.xml("META-INF/encryption.xml"), "CipherReference")
        return {unquote(node.get("URI", "")) for node in references}

    def _nav_entries(self, path: str) -> Iterator[TocEntry]:
        root, _ = self.archive.xhtml(path)
        navs = list(_named(root, "nav"))
        toc = next((nav for nav in navs if words_of(nav) & {"toc", "doc-toc"}), navs[0] if navs else None)
        for link in () if toc is None else _named(toc, "a"):
            target, anchor = self.resolve(link.get("href", ""), path)
            title = text_of(link)
            if link.get("href") and title:
                yield TocEntry(target, anchor, title, sum(local_name(above) == "ol" for above in link.iterancestors()))

    def _ncx_entries(self, path: str) -> Iterator[TocEntry]:
        for point in _named(self.archive.xml(path), "navPoint"):
            children = {local_name(child): child for child in point.iterchildren(etree.Element)}
            if "content" in children and "navlabel" in children:
                target, anchor = self.resolve(children["content"].get("src", ""), path)
                title = text_of(children["navlabel"])
                depth = 1 + sum(local_name(above) == "navpoint" for above in point.iterancestors())
                if title:
                    yield TocEntry(target, anchor, title, depth)


def _named(root: etree._Element, name: str) -> Iterator[etree._Element]:
    wanted = name.lower()
    return (node for node in root.iter(etree.Element) if local_name(node) == wanted)
