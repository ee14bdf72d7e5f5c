"""What can be wrong with a source, as codes for programs."""

from __future__ import annotations

from enum import StrEnum

from jobs.errors import BadSource, SourceProblem


class Code(StrEnum):
    """`SourceProblem.code` of every error of this package."""

    DIRECTORY = "directory"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    UNKNOWN_KIND = "unknown_kind"
    NOT_TEXT = "not_text"
    BAD_ENCODING = "bad_encoding"
    NO_TEXT = "no_text"
    BAD_ZIP = "bad_zip"
    ZIP_BOMB = "zip_bomb"
    BAD_EPUB = "bad_epub"
    ENCRYPTED = "encrypted"
    BAD_HTML = "bad_html"
    BAD_SRT = "bad_srt"
    BAD_VTT = "bad_vtt"
    BAD_JSON = "bad_json"
    BAD_ITEM = "bad_item"
    DUPLICATE_ID = "duplicate_id"
    EMPTY_TEXT = "empty_text"
    BAD_MARK = "bad_mark"


def bad_source(code: Code, message: str) -> BadSource:
    """The error of one problem with a whole source."""
    return BadSource(SourceProblem(code, message))
