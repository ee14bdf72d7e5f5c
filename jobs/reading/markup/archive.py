"""The archive of an EPUB: its files by name, within bounds, as bytes, XML trees and pages.

Everything is read in memory; nothing is written to a disk, and no name from the archive is used as a path of this
machine.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from lxml import etree

from jobs.errors import BadSource, SourceProblem
from jobs.reading.markup.html import decode_markup, parse_xhtml, xml_parser
from jobs.reading.markup.page import Page, page_of
from jobs.reading.problems import Code, bad_source

MAX_ENTRIES = 50_000
MAX_ENTRY_BYTES = 64 * 1024 * 1024
MAX_TEXT_BYTES = 128 * 1024 * 1024
"""Of all documents together: a thousand times a long novel is refused."""
MAX_BOOK_BYTES = 2 * 1024 * 1024 * 1024
"""Of all files together, pictures and recordings too, where they are copied."""
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
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,8}|#x[0-9a-fA-F]{1,7});)")


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

    def find(self, path: str) -> str | None:
        """The name of a file as the archive has it: case, `%20` and accents are often written in another way."""
        if path in self.zip.NameToInfo:
            return path
        return self._folded.get(_folded(path))

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return self.find(path) is not None

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {_folded(name): name for name in reversed(self.zip.namelist())}

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            BadSource: missing (`bad_epub`), broken (`bad_zip`), protected (`encrypted`), or too large (`zip_bomb`).
        """
        found = self.find(path)
        if found is None:
            raise self.bad(Code.BAD_EPUB, f"names {path}, but has no such file; export it again")
        info = self.zip.getinfo(found)
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
        data = self.read(path).removeprefix(codecs.BOM_UTF8).strip(b" \t\r\n")
        try:
            return etree.fromstring(data, xml_parser())
        except (etree.XMLSyntaxError, ValueError) as error:
            mended = data if b"<!DOCTYPE" in data else _BARE_AMPERSAND.sub(b"&amp;", data)
            try:
                return etree.fromstring(mended, xml_parser())
            except (etree.XMLSyntaxError, ValueError):
                msg = f"has a {path} that is not XML: {error}; export it again"
                raise self.bad(Code.BAD_EPUB, msg) from None

    def xhtml(self, path: str) -> etree._Element:
        """A content document as a plain tree."""
        called = f"{self.name}: {path}"
        return parse_xhtml(decode_markup(self.read(path), called).text, called)

    def page(self, path: str) -> tuple[Page, str, tuple[str, ...]]:
        """A content document to be spoken, its encoding, and warnings of its reading."""
        called = f"{self.name}: {path}"
        decoded = decode_markup(self.read(path), called)
        page = page_of(decoded.text, lambda plain: parse_xhtml(plain, called))
        return page, decoded.encoding, (*decoded.warnings, *(f"{called}: {warning}" for warning in page.warnings))

    def check(self) -> None:
        """Read every file once, those too that hold no text, for whoever is to copy the book.

        Raises:
            BadSource: one is broken (`bad_zip`) or protected (`encrypted`), or they are too large (`zip_bomb`).
        """
        total_bytes = sum(info.file_size for info in self.zip.infolist())
        if total_bytes > MAX_BOOK_BYTES:
            msg = f"has {total_bytes} bytes of files in it; up to {MAX_BOOK_BYTES} are allowed"
            raise self.bad(Code.ZIP_BOMB, msg)
        for info in self.zip.infolist():
            if info.flag_bits & 1:
                raise self.bad(Code.ENCRYPTED, f"needs a password for {info.filename}; give a copy without protection")
            try:
                with self.zip.open(info) as file:
                    while file.read(1 << 20):
                        pass
            except _BROKEN as error:
                msg = f"has a broken file, {info.filename}: {error}; download or export it again"
                raise self.bad(Code.BAD_ZIP, msg) from None

    def bad(self, code: Code, what: str) -> BadSource:
        """An error about this archive."""
        return BadSource(SourceProblem(code, f"{self.name} {what}"))


def _folded(name: str) -> str:
    plain = unquote(name).replace("\\", "/").removeprefix("./").lstrip("/")
    return unicodedata.normalize("NFC", plain).casefold()
