"""Bytes to characters: byte order mark, the name a user gives, a declared name, strict UTF-8, else what fits. Pure.

Never the encoding of the machine. Statistics are asked only about long text in Chinese, Japanese or Korean, which they
know well; the rest is Windows-1252 byte by byte. What was chosen is named; every guess, also that of Windows-1252, and
what was not read is warned of. A page that says it is of one byte a character, but is UTF-8, is read as UTF-8.
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
MIN_GUESS_BYTES = 200
"""Bytes above ASCII from which statistics are asked; with fewer they took Chinese for Korean."""
_MAX_BAD_A_SEQUENCE = 20
"""Other bytes for each sequence that is certainly UTF-8, up to which the text is UTF-8 that something was pasted to."""
_UTF_8_SEQUENCE = re.compile(
    rb"\xe2[\x80-\x84][\x80-\xbf]|\xf0\x9f[\x80-\xbf]{2}|(?<=[a-z])[\xc2-\xdf][\x80-\xbf]"
    rb"|[\xc2-\xdf][^\x00-\x7f\x82\x84\x85\x8b\x91-\x94\x96\x97\x9b\xa0\xab\xb0\xb4\xb7\xbb\xc0-\xff]"
    rb"|[\xc2-\xdf](?![\x85\x91\x92\x96\x97])[\x80-\xbf](?=[a-z])"
)
"""What Windows-1252 never means by it: a capital with an accent after a small letter, before a sign such as `©`, or
before a quotation mark inside a word. `CAFÉ”` is a sequence of UTF-8 too, by chance."""
_SAMPLE_BYTES = 200_000
_MIN_ZERO_SHARE = 0.7
_MAX_ODD_ZERO_SHARE = 0.02
_ISO_2022_JP = (b"\x1b$B", b"\x1b$@")
_JAPANESE = ("cp932", "euc_jp")
# What the statistics call a family, and its widest member.
_EAST_ASIAN = {
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "hz"), "gb18030"),
    **dict.fromkeys(("big5", "cp950", "big5hkscs"), "big5hkscs"),
    **dict.fromkeys(("shift_jis", "cp932", "shift_jis_2004", "shift_jisx0213"), "cp932"),
    **dict.fromkeys(("euc_jp", "euc_jis_2004", "euc_jisx0213"), "euc_jp"),
    **dict.fromkeys(("euc_kr", "cp949"), "cp949"),
}
_HIRAGANA = re.compile("[\u3041-\u309f]")
_EAST_ASIAN_CHAR = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff5e\u2010-\u2026]")
_MIN_HIRAGANA_SHARE = 0.2
_MIN_EAST_ASIAN_SHARE = 0.9
_NO_DOCUMENTS = frozenset({"utf_7", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined"})
"""What Python can decode and no document is in: a megabyte that was made for it takes punycode hours, the others make
NULs and half characters."""
_NO_DECLARATIONS = _NO_DOCUMENTS | {"utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"}
"""And wide encodings: a page whose name for itself was legible is not one."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` without a byte order mark, and the name of the encoding that gave it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, name: str, *, declared: str | None = None, asked: str | None = None) -> Decoded:
    """The characters of a source; `asked` is the encoding a user named, which is taken whatever the bytes look like.

    `declared` is an encoding the source names itself (XML declaration, meta charset).

    Raises:
        BadSource: `bad_encoding`, the bytes do not fit their byte order mark or what was asked for, or that is unknown.
    """
    if asked is not None:
        return _as_asked(data, name, asked)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_with_mark(data, encoding, name), encoding)
    if declared is not None and (known := _known(declared)) not in {None, "utf-8"}:
        if _one_byte_each(str(known)) and (text := _fits(data, "utf-8")) is not None and _UTF_8_SEQUENCE.search(data):
            return Decoded(text, "utf-8", (f"{name} says it is {declared}, but its bytes are UTF-8; read as utf-8",))
        try:
            return Decoded(data.decode(str(known)), str(known))
        except UnicodeDecodeError:
            found = decode(data, name)
            warning = f"{name} says it is {declared}, but its bytes are not; read as {found.encoding}"
            return Decoded(found.text, found.encoding, (warning, *found.warnings))
    wide = unmarked_wide(data)
    if wide is not None:
        return Decoded(data.decode(wide), wide, (_guessed(name, wide),))
    if any(mark in data for mark in _ISO_2022_JP) and (text := _fits(data, "iso2022_jp")) is not None:
        return Decoded(text, "iso2022_jp", (_guessed(name, "iso2022_jp"),))
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _east_asian(data, name) or _mixed(data, name)


def unmarked_wide(data: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` for bytes that are one without its mark (mostly ASCII, so every other byte is 0)."""
    half = len(data) // 2
    if len(data) % 2 or not half or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return None
    even, odd = data[0::2].count(0), data[1::2].count(0)
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        few = others <= _MAX_ODD_ZERO_SHARE * half
        if few and zeros >= _MIN_ZERO_SHARE * half and _fits(data, encoding) is not None:
            return encoding
    return None


def _as_asked(data: bytes, name: str, asked: str) -> Decoded:
    try:
        known = _asked_name(asked)
        text = data.decode(known)
    except UnicodeDecodeError as error:
        msg = f"{name} is not {asked}: byte {error.start} does not fit; name its true encoding, or leave it out"
        raise bad_source(Code.BAD_ENCODING, msg) from None
    except (LookupError, ValueError):  # unknown, or a codec that is no text encoding, such as hex
        allowed = "utf-8, utf-16, cp1252, iso-8859-2, gb18030, big5, cp932, euc-kr, koi8-r and what else Python knows"
        msg = f"the encoding {asked!r} of {name} is not known; allowed are {allowed}: leave it out to have it found out"
        raise bad_source(Code.BAD_ENCODING, msg) from None
    return Decoded(text.removeprefix("\ufeff"), known)


def _asked_name(asked: str) -> str:
    """Python's name of an encoding. Raises LookupError: it knows none, or no document is in it."""
    known = codecs.lookup(asked.strip()).name
    if _underlined(known) in _NO_DOCUMENTS:
        raise LookupError(known)
    return known


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
    if _underlined(info.name) in _NO_DECLARATIONS:
        return None
    return "cp1252" if info.name in {"iso8859-1", "ascii"} else info.name  # as the WHATWG Encoding Standard reads them


def _underlined(encoding: str) -> str:
    return encoding.replace("-", "_")


def _one_byte_each(encoding: str) -> bool:
    return len(bytes(range(256)).decode(encoding, "replace")) == 256


def _fits(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _guessed(name: str, encoding: str) -> str:
    return f"{name} does not say its encoding; its bytes are {encoding}: if words look wrong, name the true one"


def _east_asian(data: bytes, name: str) -> Decoded | None:
    """Chinese, Japanese or Korean in an encoding of its own, when there is enough of it to be sure."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    if high < MIN_GUESS_BYTES or high <= MAX_WESTERN_SHARE * len(data):
        return None
    for encoding in _JAPANESE:  # hiragana settles it: the statistics took EUC-JP for Korean or Thai
        text = _fits(data, encoding)
        if text is not None and _share(_HIRAGANA, text) >= _MIN_HIRAGANA_SHARE and _looks_east_asian(text):
            return Decoded(text, encoding, (_guessed(name, encoding),))
    from charset_normalizer import from_bytes  # here: it takes longer to load than `--help` may take

    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    guess = _EAST_ASIAN.get(best.encoding) if best is not None else None
    text = None if guess is None else _fits(data, guess)
    if guess is None or text is None or not _looks_east_asian(text):
        return None
    return Decoded(text, guess, (_guessed(name, guess),))


def _looks_east_asian(text: str) -> bool:
    return _share(_EAST_ASIAN_CHAR, text) >= _MIN_EAST_ASIAN_SHARE


def _share(pattern: re.Pattern[str], text: str) -> float:
    """How many of the characters above ASCII a pattern of one character knows."""
    sample = text[:_SAMPLE_BYTES]
    above = sum(char > "\x7f" for char in sample)
    return len(pattern.findall(sample)) / above if above else 0.0


def _mixed(data: bytes, name: str) -> Decoded:
    """Windows-1252, or UTF-8 with some Windows-1252 bytes in it.

    It is UTF-8 when most of its special characters are, or when some certainly are beside few other bytes.
    """
    escaped = data.decode("utf-8", "surrogateescape")
    bad = list(_ESCAPED.finditer(escaped))
    good = sum(char > "\x7f" for char in escaped) - len(bad)
    western = len(bad) <= MAX_WESTERN_SHARE * len(data)
    certain = len(_UTF_8_SEQUENCE.findall(data)) if western and good else 0
    if good > len(bad) or (certain and len(bad) <= _MAX_BAD_A_SEQUENCE * certain):
        text = _ESCAPED.sub(lambda match: _byte(ord(match.group()) - 0xDC00), escaped)
        places = ", ".join(str(match.start()) for match in bad[:_MAX_PLACES])
        warning = f"{name} is UTF-8 but for {len(bad)} bytes, read as Windows-1252 (at characters {places}{_more(bad)})"
        return Decoded(text, "utf-8", (warning,))
    text = data.decode("cp1252", "replace")
    warnings = []
    holes = [index for index, char in enumerate(text) if char == "\ufffd"]
    if holes:
        places = ", ".join(map(str, holes[:_MAX_PLACES]))
        unknown = f"{len(holes)} bytes that Windows-1252 does not know (at {places}{_more(holes)})"
        warnings.append(f"{name} has {unknown}; left out")
    doubt = (
        ": if words look wrong, name its true encoding"
        if western
        else ", but looks like no Western text: save it as UTF-8"
    )
    first = next(index for index, byte in enumerate(data) if byte > 0x7F)
    warnings.append(f"{name} is not UTF-8 and was read as Windows-1252 (cp1252), first at character {first}{doubt}")
    return Decoded(text, "cp1252", tuple(warnings))


def _byte(value: int) -> str:
    return bytes([value]).decode("cp1252", "replace")


def _more(places: list[re.Match[str]] | list[int]) -> str:
    return ", …" if len(places) > _MAX_PLACES else ""
