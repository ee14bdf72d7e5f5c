"""Bytes to characters: byte order mark, declared name, strict UTF-8, else Windows-1252 byte by byte. Pure.

Never the encoding of the machine, and no statistics: what was chosen is named, what could not be read is warned of.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from jobs.reading.problems import Code, bad_source

# Longest first: the mark of UTF-32 LE begins with that of UTF-16 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPED = re.compile("[\udc80-\udcff]")
_MAX_PLACES = 5
MAX_WESTERN_SHARE = 0.3
"""Western text has a tenth of its bytes above ASCII; Cyrillic, Greek, Chinese or Japanese most of them."""
# Names Python knows that no page means, and wide encodings: a page whose name for itself was legible is not one.
_NO_DECLARATIONS = frozenset(
    {"utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be", "utf_7"}
    | {"unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined"}
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` without a byte order mark, and the name of the encoding that gave it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, name: str, *, declared: str | None = None) -> Decoded:
    """The characters of a source; `declared` is an encoding the source names itself (XML declaration, meta charset).

    Raises:
        BadSource: `bad_encoding`, the bytes do not fit their byte order mark.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_with_mark(data, encoding, name), encoding)
    if declared is not None and (known := _known(declared)) not in {None, "utf-8"}:
        try:
            return Decoded(data.decode(str(known)), str(known))
        except UnicodeDecodeError:
            found = decode(data, name)
            warning = f"{name} says it is {declared}, but its bytes are not; read as {found.encoding}"
            return Decoded(found.text, found.encoding, (warning, *found.warnings))
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _mixed(data, name)


def _with_mark(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        msg = f"{name} begins with the mark of {encoding}, but byte {error.start} does not fit; save it as UTF-8"
        raise bad_source(Code.BAD_ENCODING, msg) from None


def _known(declared: str) -> str | None:
    """Python's name of a declared encoding that only maps bytes to text, None if there is none."""
    try:
        info = codecs.lookup(declared.strip())
        b"a".decode(info.name)  # refuses codecs that are no text encodings, such as hex
    except (LookupError, UnicodeError, ValueError):
        return None
    if info.name.replace("-", "_") in _NO_DECLARATIONS:
        return None
    return "cp1252" if info.name in {"iso8859-1", "ascii"} else info.name  # as the WHATWG Encoding Standard reads them


def _mixed(data: bytes, name: str) -> Decoded:
    """Windows-1252, or UTF-8 with some Windows-1252 bytes in it when most of its special characters are UTF-8."""
    escaped = data.decode("utf-8", "surrogateescape")
    bad = list(_ESCAPED.finditer(escaped))
    good = sum(char > "\x7f" for char in escaped) - len(bad)
    if good > len(bad):
        text = _ESCAPED.sub(lambda match: _byte(ord(match.group()) - 0xDC00), escaped)
        places = ", ".join(str(match.start()) for match in bad[:_MAX_PLACES])
        warning = f"{name} is UTF-8 but for {len(bad)} bytes, read as Windows-1252 (at characters {places}{_more(bad)})"
        return Decoded(text, "utf-8", (warning,))
    text = data.decode("cp1252", "replace")
    warnings = []
    if len(bad) > MAX_WESTERN_SHARE * len(data):
        doubt = "is not UTF-8 and was read as Windows-1252, but looks like no Western text: save it as UTF-8"
        warnings.append(f"{name} {doubt}")
    holes = [index for index, char in enumerate(text) if char == "\ufffd"]
    if holes:
        places = ", ".join(map(str, holes[:_MAX_PLACES]))
        unknown = f"{len(holes)} bytes that Windows-1252 does not know (at {places}{_more(holes)})"
        warnings.append(f"{name} has {unknown}; left out")
    return Decoded(text, "cp1252", tuple(warnings))


def _byte(value: int) -> str:
    return bytes([value]).decode("cp1252", "replace")


def _more(places: list[re.Match[str]] | list[int]) -> str:
    return ", …" if len(places) > _MAX_PLACES else ""
