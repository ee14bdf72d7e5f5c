"""The package document of a read-along book: items, overlays, metadata; and what makes an EPUB 2 package one of EPUB 3.

EPUB 3.3 sections 5 (package), 7 (navigation) and 9.3 (overlays in the package). Nothing here asks a clock: the date a
package must have, where its source has none, is the one its file has in the source's archive.
"""

from __future__ import annotations

import hashlib
import html
import posixpath
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lxml import etree

from jobs.marks.read_along_pages import XHTML_TYPE, relative
from jobs.marks.read_along_smil import SMIL_TYPE
from jobs.reading.markup.labels import local_name
from jobs.reading.markup.package import Package, TocEntry

_DC = "http://purl.org/dc/elements/1.1/"
_OPF = "http://www.idpf.org/2007/opf"
_OURS = ("media:duration", "media:active-class", "media:narrator", "media:playback-active-class")
_NAVIGATION = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
<head><title>{title}</title></head>
<body><nav epub:type="toc" id="toc"><h1>{title}</h1>
{entries}
</nav></body></html>
"""


@dataclass
class PackageEdit:
    """Changes of one package document. `is_old`: its source was an EPUB 2; `dropped`: files that it names no more."""

    package: Package

    def __post_init__(self) -> None:
        self.root = self.package.root
        self.is_old = not self.root.get("version", "2").strip().startswith("3")
        self.namespace = etree.QName(self.root).namespace or ""
        self.metadata, self.manifest = self._child("metadata"), self._child("manifest")
        self._ids = {node.get("id", "") for node in self.root.iter(etree.Element)}
        self.dropped: list[str] = []
        self._drop_overlays()
        self._documents: defaultdict[str, list[etree._Element]] = defaultdict(list)
        for node in self.manifest.iterchildren(etree.Element):
            if node.get("media-type") == XHTML_TYPE:
                self._documents[self.package.resolve(node.get("href", ""), self.package.path)[0]].append(node)

    def data(self) -> bytes:
        """The package document as it is now."""
        return etree.tostring(self.root, xml_declaration=True, encoding="utf-8", pretty_print=False) + b"\n"

    def add_item(self, path: str, media_type: str, properties: str = "") -> str:
        """Put a file into the manifest; returns its id."""
        attributes = {"id": self._new_id(path), "href": relative(path, self.package.path), "media-type": media_type}
        if properties:
            attributes["properties"] = properties
        node = self._add(self.manifest, "item", attributes)
        if media_type == XHTML_TYPE:
            self._documents[path].append(node)
        return attributes["id"]

    def add_meta(self, name: str, text: str, refines: str = "") -> None:
        """A `meta` of EPUB 3."""
        node = self._add(self.metadata, "meta", {"property": name} | ({"refines": f"#{refines}"} if refines else {}))
        node.text = text

    def set_overlay(self, path: str, overlay: str) -> None:
        """Say that a document has an overlay (the id of its item)."""
        for node in self._documents.get(path, ()):
            node.set("media-overlay", overlay)

    def documents(self) -> list[str]:
        """The paths of all XHTML documents of the manifest."""
        return list(self._documents)

    def set_property(self, path: str, name: str) -> None:
        """Say of a document what is in it (`svg`, `mathml`, `scripted`)."""
        for node in self._documents.get(path, ()):
            if name not in node.get("properties", "").split():
                node.set("properties", f"{node.get('properties', '')} {name}".strip())

    def modernise(self, changed: str, fallback_id: str) -> None:
        """What EPUB 3 asks of every package: version, an identifier, a date of change. `changed` as `YYYY-MM-DD…Z`."""
        if self.is_old:
            self.root.set("version", "3.0")
            self._hoist_old_metadata()
            self._keep_one_date()
            self._refine_old_attributes()
            self._mark_cover()
        unique = self.root.get("unique-identifier", "")
        if not any(node.get("id") == unique for node in self._dublin("identifier")):
            self._set_identifier(fallback_id)
        if not self._properties("dcterms:modified"):
            self.add_meta("dcterms:modified", changed)

    def has_navigation(self) -> bool:
        """Whether there is a navigation document."""
        return any("nav" in item.properties for item in self.package.items.values())

    def _child(self, name: str) -> etree._Element:
        found = next((node for node in self.root.iterchildren(etree.Element) if local_name(node) == name), None)
        return self._add(self.root, name, {}) if found is None else found

    def _add(self, parent: etree._Element, name: str, attributes: dict[str, str]) -> etree._Element:
        if not self.namespace:
            return etree.SubElement(parent, name, attributes)
        prefix = {parent.prefix: self.namespace}  # as its parent is written: many readers know no `opf:meta`
        return etree.SubElement(parent, f"{{{self.namespace}}}{name}", attributes, nsmap=prefix)

    def _new_id(self, path: str) -> str:
        name = f"tts-{posixpath.basename(path).replace('.', '-')}"
        while name in self._ids:
            name += "-x"
        self._ids.add(name)
        return name

    def _properties(self, name: str) -> list[etree._Element]:
        return [node for node in self.metadata.iter(etree.Element) if node.get("property") == name]

    def _dublin(self, name: str) -> list[etree._Element]:
        return list(self.metadata.iter(f"{{{_DC}}}{name}"))

    def _drop_overlays(self) -> None:
        """The overlays that a source has already: its sentences are marked anew, for another voice."""
        for name in _OURS:
            for node in self._properties(name):
                _remove(node)
        for node in list(self.manifest.iterchildren(etree.Element)):
            node.attrib.pop("media-overlay", "")
            if node.get("media-type") == SMIL_TYPE:
                self.dropped.append(self.package.resolve(node.get("href", ""), self.package.path)[0])
                _remove(node)

    def _hoist_old_metadata(self) -> None:
        """`dc-metadata` and `x-metadata` of the oldest packages: their children are those of `metadata`."""
        for node in list(self.metadata.iterchildren(etree.Element)):
            if local_name(node) in {"dc-metadata", "x-metadata"}:
                for child in list(node):
                    self.metadata.append(child)
                _remove(node)

    def _refine_old_attributes(self) -> None:
        """`opf:role` and `opf:file-as` become `meta` elements; schemes and events have none in EPUB 3."""
        for node in list(self.metadata.iter(etree.Element)):
            if not str(node.tag).startswith(f"{{{_DC}}}"):
                continue
            for name in [key for key in node.attrib if str(key).startswith(f"{{{_OPF}}}")]:
                value, local = str(node.attrib.pop(name)), etree.QName(name).localname
                if local not in {"role", "file-as"} or not value:
                    continue
                if not node.get("id"):
                    node.set("id", self._new_id(etree.QName(node).localname))
                self.add_meta(local, value, node.get("id", ""))
                if local == "role":
                    self.metadata[-1].set("scheme", "marc:relators")

    def _keep_one_date(self) -> None:
        """The date of publication, else the first: EPUB 3 has one."""
        dates = self._dublin("date")
        kept = next((node for node in dates if node.get(f"{{{_OPF}}}event") == "publication"), None)
        kept = dates[0] if kept is None and dates else kept
        for node in dates:
            if node is not kept:
                _remove(node)

    def _mark_cover(self) -> None:
        names = {node.get("content") for node in self.metadata.iter(etree.Element) if node.get("name") == "cover"}
        for node in self.manifest.iterchildren(etree.Element):
            if node.get("id") in names and node.get("media-type", "").startswith("image/"):
                node.set("properties", "cover-image")
                return

    def _set_identifier(self, identifier: str) -> None:
        known = self._dublin("identifier")
        if known:
            node = known[0]
        else:
            node = etree.SubElement(self.metadata, f"{{{_DC}}}identifier")
            node.text = identifier
        if not node.get("id"):
            node.set("id", self._new_id("identifier"))
        self.root.set("unique-identifier", node.get("id", ""))


def navigation(entries: Sequence[TocEntry], path: str, title: str) -> bytes:
    """A navigation document at `path` of a table of contents, which must not be empty."""
    lines: list[str] = []
    depth = 0
    for entry in entries:
        wanted = min(entry.depth, depth + 1) if depth else 1
        if wanted > depth:
            lines.append("<ol>")
        else:
            lines += ["</li>", *["</ol></li>"] * (depth - wanted)]
        depth = wanted
        anchor = f"#{quote(entry.anchor)}" if entry.anchor else ""
        lines.append(f'<li><a href="{relative(entry.path, path)}{anchor}">{html.escape(entry.title)}</a>')
    lines += ["</li></ol>"] * depth
    return _NAVIGATION.format(title=html.escape(title or "Contents"), entries="\n".join(lines)).encode()


def identifier_of(data: bytes) -> str:
    """A name for a book that has none: always the same for the same bytes."""
    return f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(data).digest()[:16], version=4)}"


def _remove(node: etree._Element) -> None:
    parent = node.getparent()
    if parent is not None:
        parent.remove(node)
