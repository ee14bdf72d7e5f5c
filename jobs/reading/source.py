"""The door of this package: a file or its bytes, of a kind that is told or read off the name, to a Document."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import BinaryIO

from jobs.account import Why
from jobs.reading.decoding import unmarked_wide
from jobs.reading.document import Document
from jobs.reading.note_marks import without_note_marks
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source
from jobs.spec import SourceKind

MAX_SOURCE_BYTES = 256 * 1024 * 1024
"""Far above any book; a larger file is a mistake or an attack."""
MAX_CONTROL_SHARE = 0.05
"""Text has next to no control bytes, binary files about a tenth and more."""

ENDINGS = {
    ".txt": SourceKind.TXT,
    ".text": SourceKind.TXT,
    ".md": SourceKind.MARKDOWN,
    ".markdown": SourceKind.MARKDOWN,
    ".html": SourceKind.HTML,
    ".htm": SourceKind.HTML,
    ".xhtml": SourceKind.HTML,
    ".epub": SourceKind.EPUB,
    ".jsonl": SourceKind.JSONL,
    ".ndjson": SourceKind.JSONL,
    ".srt": SourceKind.SRT,
    ".vtt": SourceKind.VTT,
}
# File signatures, each as specific as the format allows: a text may begin with "BM", "MZ" or "ID3 tags".
_SIGNATURES = (
    (rb"\xff\xd8\xff", "a JPEG image"),
    (rb"\x89PNG\r\n", "a PNG image"),
    (rb"GIF8[79]a", "a GIF image"),
    (rb"RIFF.{4}(WAVE|WEBP|AVI )", "a RIFF sound or image"),
    (rb"%PDF-", "a PDF"),
    (rb"PK(\x03\x04|\x05\x06)", "a ZIP archive (an epub, docx or odt, perhaps)"),
    (rb"\x1f\x8b", "a gzip archive"),
    (rb"BZh[1-9]1AY", "a bzip2 archive"),
    (rb"\xfd7zXZ\x00", "an xz archive"),
    (rb"7z\xbc\xaf", "a 7z archive"),
    (rb"Rar!\x1a", "a RAR archive"),
    (rb"\xd0\xcf\x11\xe0", "an old Office document"),
    (rb"\{\\rtf1", "an RTF document"),
    (rb".{60}BOOKMOBI", "a Mobipocket book"),
    (rb"ID3[\x02-\x04]", "an MP3"),
    (rb"OggS\x00", "an Ogg file"),
    (rb"fLaC\x00", "a FLAC file"),
    (rb".{4}ftyp", "an MP4 file"),
    (rb"\x7fELF", "a program"),
    (rb"SQLite format 3\x00", "a database"),
)
_SIGNATURE = tuple((re.compile(pattern, re.DOTALL), what) for pattern, what in _SIGNATURES)
_PLAIN_NOTE_MARKS = frozenset({SourceKind.MARKDOWN, SourceKind.HTML, SourceKind.EPUB})
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r")) + b"\x7f"
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def load_source(path: Path) -> bytes:
    """The bytes of a source file.

    Raises:
        BadSource: it is missing, a folder, not to be read, or too large.
    """
    if path.is_dir():
        raise bad_source(Code.DIRECTORY, f"{path} is a folder; give the files in it one by one")
    try:
        with path.open("rb") as file:
            return read_bounded(file, str(path))
    except FileNotFoundError:
        raise bad_source(Code.MISSING, f"{path} does not exist; check the spelling and the current folder") from None
    except OSError as error:
        raise bad_source(Code.UNREADABLE, f"{path} cannot be read: {error.strerror or error}") from None


def read_bounded(file: BinaryIO, name: str) -> bytes:
    """All of a file or pipe, unless it is too large: a device may have no end. Raises BadSource."""
    data = file.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise bad_source(Code.TOO_LARGE, f"{name} has more than the {MAX_SOURCE_BYTES} bytes that are read; split it")
    return data


def kind_of(name: str) -> SourceKind:
    """What a source is read as, by the ending of its name.

    Raises:
        BadSource: `unknown_kind`, no reader goes by that ending.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in ENDINGS:
        what = f"ends in {ending!r}" if ending else "has no ending"
        kinds = f"sources end in {', '.join(ENDINGS)}"
        msg = f"{name} {what}; {kinds} - else name the kind ({', '.join(SourceKind)}), or convert the file"
        raise bad_source(Code.UNKNOWN_KIND, msg)
    return ENDINGS[ending]


def read_source(
    source: Path | bytes,
    name: str | None = None,
    *,
    kind: SourceKind | None = None,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> Document:
    """Read a source: a path, or bytes with the name to call them by. `kind` overrides the ending of the name.

    Raises:
        BadSource: it cannot be read (codes: directory, missing, unreadable, too_large, unknown_kind, not_text,
            bad_encoding, no_text, bad_zip, bad_epub, encrypted, zip_bomb, bad_html, bad_srt, bad_vtt; for jsonl one
            problem per line when none is good).
    """
    data = load_source(source) if isinstance(source, Path) else source
    called = name or (source.name if isinstance(source, Path) else "the source")
    kind = kind or kind_of(called)
    if not data:
        raise bad_source(Code.NO_TEXT, f"{called} is empty: there is nothing to speak")
    if len(data) > MAX_SOURCE_BYTES:
        raise bad_source(Code.TOO_LARGE, f"{called} has {len(data)} bytes, up to {MAX_SOURCE_BYTES} are read; split it")
    if kind is not SourceKind.EPUB:
        _check_text(data, called, kind, asked=options.encoding is not None)
    document = _reader(kind)(data, called, options)
    if kind in _PLAIN_NOTE_MARKS and Why.NOTE_MARKS in options.skip:
        return without_note_marks(document)
    return document


def _reader(kind: SourceKind) -> Callable[[bytes, str, ReadingOptions], Document]:
    """The reader of a kind, imported when it is needed: the parsers take longer to load than `--help` may take."""
    match kind:
        case SourceKind.EPUB:
            from jobs.reading.markup.epub import read_epub

            return read_epub
        case SourceKind.HTML:
            from jobs.reading.markup.html import read_html

            return read_html
        case SourceKind.JSONL:
            from jobs.reading.jsonl import read_jsonl

            return read_jsonl
        case SourceKind.MARKDOWN:
            from jobs.reading.markdown.reader import read_markdown

            return read_markdown
        case SourceKind.SRT:
            from jobs.reading.subtitles.srt import read_srt

            return read_srt
        case SourceKind.TXT:
            from jobs.reading.text.txt import read_txt

            return read_txt
        case SourceKind.VTT:
            from jobs.reading.subtitles.srt import read_vtt

            return read_vtt


def _check_text(data: bytes, name: str, kind: SourceKind, *, asked: bool) -> None:
    """Refuse what is no text; with an encoding that was asked for, control bytes may be halves of characters."""
    for pattern, what in _SIGNATURE:
        if pattern.match(data):
            raise bad_source(
                Code.NOT_TEXT, f"{name} is {what}, not {kind} text; export its text, or name its true kind"
            )
    if asked or data.startswith(_MARKS) or unmarked_wide(data) is not None:
        return
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > MAX_CONTROL_SHARE * len(data):
        share = f"{controls} of its {len(data)} bytes are control codes"
        raise bad_source(Code.NOT_TEXT, f"{name} is not text: {share}; export its text, or save it as UTF-8")
