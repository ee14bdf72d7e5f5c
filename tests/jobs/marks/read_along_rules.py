"""The rules of EPUB 3 media overlays, checked on a finished archive from outside; knows nothing of how it is made.

OCF 3.3 section 4.2 (archive), EPUB 3.3 sections 5 (package), 7 (navigation), 9 (overlays).
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from urllib.parse import unquote

import av
from lxml import etree

NS = {
    "opf": "http://www.idpf.org/2007/opf",
    "dc": "http://purl.org/dc/elements/1.1/",
    "h": "http://www.w3.org/1999/xhtml",
    "smil": "http://www.w3.org/ns/SMIL",
    "epub": "http://www.idpf.org/2007/ops",
}
AUDIO_TYPES = {"audio/mp4", "audio/mpeg", "audio/ogg; codecs=opus"}
CLOCK = re.compile(r"(?:(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)|(\d+(?:\.\d+)?)s)\Z")


@dataclass(frozen=True)
class Heard:
    """One `par`: the text of its element, the audio file, and when (seconds)."""

    document: str
    id: str
    text: str
    audio: str
    begin_s: Fraction
    end_s: Fraction


@dataclass
class Book:
    """A read-along book that holds to the rules; building it checks them."""

    data: bytes
    pars: list[Heard] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.zip = zipfile.ZipFile(io.BytesIO(self.data))
        self.names = self.zip.namelist()
        assert self.zip.testzip() is None
        assert len(set(self.names)) == len(self.names)
        self._check_mimetype()
        container = self.xml("META-INF/container.xml")
        self.path = container.xpath("//*[local-name()='rootfile']/@full-path")[0]
        self.package = self.xml(self.path)
        self._check_package()
        self.durations_s: dict[str, float] = {}
        for item in self.package.xpath("//opf:item[@media-overlay]", namespaces=NS):
            self._check_overlay(item)
        self._check_metadata()

    def read(self, name: str) -> bytes:
        return self.zip.read(name)

    def xml(self, name: str) -> etree._Element:
        return etree.fromstring(self.read(name))

    def resolved(self, href: str, base: str) -> str:
        assert not re.search(r"[\s\"<>]", href), href
        return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href)))

    def _check_mimetype(self) -> None:
        first = self.zip.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
        assert self.read("mimetype") == b"application/epub+zip"
        assert self.data[30:58] == b"mimetypeapplication/epub+zip"
        assert {info.date_time for info in self.zip.infolist()} == {(1980, 1, 1, 0, 0, 0)}

    def _check_package(self) -> None:
        package = self.package
        assert package.get("version") == "3.0"
        unique = package.get("unique-identifier")
        assert package.xpath(f"//dc:identifier[@id='{unique}']/text()", namespaces=NS)
        assert len(package.xpath("//opf:meta[@property='dcterms:modified']", namespaces=NS)) == 1
        ids = package.xpath("//@id")
        assert len(set(ids)) == len(ids)
        items = package.xpath("/opf:package/opf:manifest/opf:item", namespaces=NS)
        self.items = {self.resolved(item.get("href"), self.path): item for item in items}
        assert len(self.items) == len(items)
        assert set(self.items) <= set(self.names)
        assert len([item for item in items if "nav" in item.get("properties", "").split()]) == 1
        for reference in package.xpath("//opf:itemref/@idref | //opf:item/@media-overlay", namespaces=NS):
            assert reference in ids
        for meta in package.xpath("//opf:meta[@refines]", namespaces=NS):
            assert meta.get("refines")[1:] in ids

    def _check_overlay(self, item: etree._Element) -> None:
        document = self.resolved(item.get("href"), self.path)
        overlay = next(one for one in self.items.values() if one.get("id") == item.get("media-overlay"))
        assert overlay.get("media-type") == "application/smil+xml"
        assert item.get("media-type") == "application/xhtml+xml"
        name = self.resolved(overlay.get("href"), self.path)
        smil = self.xml(name)
        assert (smil.tag, smil.get("version")) == (f"{{{NS['smil']}}}smil", "3.0")
        (sequence,) = smil.xpath("/smil:smil/smil:body/smil:seq", namespaces=NS)
        assert self.resolved(sequence.get(f"{{{NS['epub']}}}textref"), name) == document
        page = self.xml(document)
        order = {node.get("id"): place for place, node in enumerate(page.iter()) if node.get("id")}
        assert len(order) == len(page.xpath("//@id"))
        last, total_s = -1, Fraction(0)
        assert len(sequence) > 0
        for par in sequence:
            text, audio = par
            target, _, anchor = text.get("src").partition("#")
            assert self.resolved(target, name) == document
            assert order[anchor] >= last
            last = order[anchor]
            begin_s, end_s = clock_s(audio.get("clipBegin")), clock_s(audio.get("clipEnd"))
            recording = self.resolved(audio.get("src"), name)
            assert 0 <= begin_s < end_s <= Fraction(self.length_s(recording)) + Fraction(1, 10_000)
            node = page.xpath(f"//h:span[@id='{anchor}']", namespaces=NS)[0]
            assert not node.xpath(".//h:p | .//h:div | .//h:li | .//h:td | .//h:h1", namespaces=NS)
            said = "".join(seen(node)).strip()
            assert said
            self.pars.append(Heard(document, anchor, " ".join(said.split()), recording, begin_s, end_s))
            total_s += end_s - begin_s
        (length,) = self.package.xpath(
            f"//opf:meta[@property='media:duration'][@refines='#{overlay.get('id')}']/text()", namespaces=NS
        )
        assert abs(clock_s(length) - total_s) < Fraction(len(sequence), 500_000)
        (style,) = [
            self.resolved(href, document)
            for href in page.xpath("/h:html/h:head/h:link[@rel='stylesheet']/@href", namespaces=NS)
            if href.endswith("read-along.css")
        ]
        (active,) = self.package.xpath("//opf:meta[@property='media:active-class']/text()", namespaces=NS)
        assert f".{active}" in self.read(style).decode()

    def _check_metadata(self) -> None:
        metas = self.package.xpath("//opf:meta[@property='media:duration'][not(@refines)]/text()", namespaces=NS)
        total_s = sum((par.end_s - par.begin_s for par in self.pars), Fraction(0))
        assert len(metas) == 1
        assert abs(clock_s(metas[0]) - total_s) < Fraction(max(1, len(self.pars)), 500_000)
        assert self.package.xpath("//opf:meta[@property='media:narrator']/text()", namespaces=NS)
        by_audio: dict[str, list[Heard]] = {}
        for par in self.pars:
            by_audio.setdefault(par.audio, []).append(par)
        for clips in by_audio.values():
            for one, after in pairwise(clips):
                assert one.end_s <= after.begin_s

    def length_s(self, recording: str) -> float:
        """How long a recording decodes to."""
        item = self.items[recording]
        assert item.get("media-type") in AUDIO_TYPES
        if recording not in self.durations_s:
            assert self.zip.getinfo(recording).compress_type == zipfile.ZIP_STORED
            with av.open(io.BytesIO(self.read(recording))) as file:
                stream = file.streams.audio[0]
                samples = sum(frame.samples for frame in file.decode(stream))
                self.durations_s[recording] = samples / stream.rate
        return self.durations_s[recording]


def clock_s(value: str) -> Fraction:
    """A clock value of SMIL 3.0 in seconds."""
    match = CLOCK.match(value)
    assert match is not None, value
    if match[4]:
        return Fraction(match[4])
    return int(match[1]) * 3600 + int(match[2]) * 60 + Fraction(match[3])


def seen(node: etree._Element) -> list[str]:
    """Text and what stands for pictures, in order."""
    parts = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            parts += [child.get("alt") or "", *seen(child)]
        parts.append(child.tail or "")
    return parts
