"""The package of an EPUB: its metadata, its reading order, its table of contents, its cover.

EPUB 2 and 3 (W3C EPUB 3.3 sections 4 and 5; NCX of EPUB 2).
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote, urlsplit

from lxml import etree

from jobs.account import Why
from jobs.errors import BadSource
from jobs.reading.markup.archive import Archive
from jobs.reading.markup.labels import local_name, text_of, words_of
from jobs.reading.markup.page import Page
from jobs.reading.problems import Code

_NO_DOCUMENTS = ("image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", "audio/", "video/", "font/")
_ROLES = {
    **dict.fromkeys(("toc", "loi", "lot", "loa", "lov"), Why.CONTENTS),
    **dict.fromkeys(("copyright-page", "copyright", "colophon", "imprint", "imprimatur"), Why.FRONT),
    **dict.fromkeys(("halftitlepage", "half-title-page", "halftitle-page", "cover"), Why.FRONT),
    **dict.fromkeys(("notes", "footnotes", "endnotes", "rearnotes"), Why.NOTES),
    "index": Why.INDEX,
    "bibliography": Why.BIBLIOGRAPHY,
}
"""What guide (EPUB 2) and landmarks (EPUB 3) call documents."""
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


@dataclass(frozen=True, slots=True)
class SpineDocument:
    """A document of the spine; `why` none of it is spoken by what the package says of it, else None."""

    path: str
    why: Why | None


@dataclass
class Package:
    """The package document (`.opf`) and what it leads to."""

    archive: Archive
    path: str
    root: etree._Element
    warnings: list[str] = field(default_factory=list)
    encoding: str = "utf-8"
    _trees: dict[str, etree._Element] = field(default_factory=dict)

    @classmethod
    def of(cls, archive: Archive) -> Package:
        """Raises BadSource `bad_epub` when the archive is no EPUB."""
        if not archive.has("META-INF/container.xml"):
            alone = [name for name in archive.zip.namelist() if name.lower().endswith(".opf")]
            if len(alone) != 1:
                raise archive.bad(Code.BAD_EPUB, "is an archive but no EPUB: it has no META-INF/container.xml")
            return cls(archive, alone[0], archive.xml(alone[0]), ["it has no META-INF/container.xml"])
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

    def spine(self) -> list[SpineDocument]:
        """The documents of the spine, in its order, each once; what is missing is warned of.

        Raises:
            BadSource: `encrypted` when one of them is; `bad_epub` when there is none.
        """
        spine = next(_named(self.root, "spine"), None)
        roles = self._roles()
        order: dict[str, SpineDocument] = {}
        for ref in () if spine is None else _named(spine, "itemref"):
            path = self._spine_path(ref.get("idref", ""))
            if path is not None:
                apart = (ref.get("linear") or "").strip().lower() == "no"
                order.setdefault(path, SpineDocument(path, Why.OUTSIDE if apart else roles.get(path)))
        if not order:
            reasons = f" ({'; '.join(self.warnings)})" if self.warnings else ""
            raise self.archive.bad(Code.BAD_EPUB, f"has no documents in its reading order{reasons}; export it again")
        locked = self._locked().intersection(order)
        if locked:
            msg = f"is protected (DRM): {len(locked)} of {len(order)} documents are encrypted; give an open copy"
            raise self.archive.bad(Code.ENCRYPTED, msg)
        if len([one for one in order.values() if one.why is not Why.OUTSIDE]) == 1:
            # A book of one document is that document, whatever the guide calls it.
            return [one if one.why is Why.OUTSIDE else SpineDocument(one.path, None) for one in order.values()]
        return list(order.values())

    def pages(self, spine: list[SpineDocument]) -> dict[str, Page]:
        """The documents of the spine by path, without those that are empty.

        Raises:
            BadSource: as `Archive.read`; `bad_html`; `no_text` when all are empty.
        """
        pages: dict[str, Page] = {}
        empty: BadSource | None = None
        encodings: Counter[str] = Counter()
        for document in spine:
            try:
                page, encoding, warnings = self.archive.page(document.path)
            except BadSource as error:
                if error.problems[0].code != Code.NO_TEXT:
                    raise
                empty = error
                continue
            pages[document.path] = page
            encodings[encoding] += 1
            self.warnings += warnings
        if empty is not None and not pages:
            raise empty
        self.encoding = encodings.most_common(1)[0][0].removesuffix("-sig")
        return pages

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
        if parts.scheme or parts.netloc:
            return "", None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(parts.path))) if parts.path else base
        return self.archive.find(path) or path, unquote(parts.fragment) or None

    def _spine_path(self, idref: str) -> str | None:
        """The file of an item of the spine; None, with a warning, when there is none that can be read."""
        item = self.items.get(idref)
        if item is None:
            self.warnings.append(f"the spine names {idref!r}, which the manifest does not have; left out")
            return None
        found = self.archive.find(item.path)
        if found is None:
            self.warnings.append(f"the spine names {item.path}, which is not in the archive; left out")
        elif item.media_type.startswith(_NO_DOCUMENTS):
            self.warnings.append(f"{item.path} in the spine is {item.media_type}, no document; left out")
            return None
        return found

    def _roles(self) -> dict[str, Why]:
        """Why whole documents are not spoken: navigation, and what the guide or the landmarks say.

        A place inside a document says nothing of the document.
        """
        navs = [item.path for item in self.items.values() if "nav" in item.properties]
        roles: dict[str, Why] = {}
        for node in _named(self.root, "reference"):
            self._add_role(roles, node.get("type", ""), node.get("href", ""), self.path)
        for path in navs:
            if self.archive.has(path):
                marks = (
                    nav
                    for nav in _named(self._contents_tree(path, self.archive.xhtml), "nav")
                    if "landmarks" in words_of(nav)
                )
                for link in (link for nav in marks for link in _named(nav, "a")):
                    self._add_role(roles, " ".join(words_of(link)), link.get("href", ""), path)
        return roles | {self.archive.find(path) or path: Why.CONTENTS for path in navs}

    def _add_role(self, roles: dict[str, Why], said: str, href: str, base: str) -> None:
        path, anchor = self.resolve(href, base)
        why = next((_ROLES[word] for word in said.lower().split() if word in _ROLES), None)
        if why is not None and anchor is None:
            roles.setdefault(path, why)

    def _contents_tree(self, path: str, load: Callable[[str], etree._Element]) -> etree._Element:
        """A navigation document (needed twice) or NCX; a book is read without one that cannot be read."""
        if path not in self._trees:
            try:
                self._trees[path] = load(path)
            except BadSource as error:
                if error.problems[0].code not in {Code.BAD_HTML, Code.NO_TEXT, Code.BAD_EPUB}:
                    raise
                self.warnings.append(f"the table of contents is not used: {error}")
                self._trees[path] = etree.Element("none")
        return self._trees[path]

    def _locked(self) -> set[str]:
        """The files that are encrypted. Fonts may be: their obfuscation hides no text."""
        if not self.archive.has("META-INF/encryption.xml"):
            return set()
        references = _named(self.archive.xml("META-INF/encryption.xml"), "CipherReference")
        paths = (unquote(node.get("URI", "")).lstrip("/") for node in references)
        return {self.archive.find(path) or path for path in paths}

    def _nav_entries(self, path: str) -> Iterator[TocEntry]:
        navs = list(_named(self._contents_tree(path, self.archive.xhtml), "nav"))
        toc = next((nav for nav in navs if words_of(nav) & {"toc", "doc-toc"}), navs[0] if navs else None)
        for link in () if toc is None else _named(toc, "a"):
            target, anchor = self.resolve(link.get("href", ""), path)
            title = text_of(link)
            if link.get("href") and title:
                yield TocEntry(target, anchor, title, sum(local_name(above) == "ol" for above in link.iterancestors()))

    def _ncx_entries(self, path: str) -> Iterator[TocEntry]:
        for point in _named(self._contents_tree(path, self.archive.xml), "navPoint"):
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
