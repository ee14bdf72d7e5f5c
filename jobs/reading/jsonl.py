"""JSONL: one object a line, each an utterance of its own: {"id", "text", "voice"?, "seed"?, "lang"?}.

A line that cannot be read is a problem of the document and is passed over; with no good line, one error names them all.
Every 200 items are a chapter, so that no step of a job has more to do than that. Offsets lead into the line as it is
written: an escape (`\\u00e9`) is one character.
"""

from __future__ import annotations

import itertools
import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from jobs.account import Why
from jobs.errors import BadSource, SourceProblem
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source
from jobs.spec import Frozen

FIELDS = "id, text, voice, seed, lang"
CHAPTER_ITEMS = 200
"""Items of a chapter at most; its audio is written (and, after a crash, written again) in one step."""
_NO_PLACE = "the line"
_BYTE_ORDER_MARK = "\ufeff"
_STRING = re.compile(r'"(?P<inside>[^"\\]*(?:\\.[^"\\]*)*)"(?P<colon>[ \t\r\n]*:)?')
_WRITTEN = re.compile(
    r"(?P<plain>[^\\]+)|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
"""A run of plain characters, or one escape: a pair of surrogates is one character."""


def _whole(text: str) -> str:
    """Refuse half a surrogate pair: JSON can write one, no file can hold it."""
    if re.search("[\ud800-\udfff]", text):
        msg = "holds half a character (a lone \\ud800 to \\udfff)"
        raise ValueError(msg)
    return text


Text = Annotated[str, AfterValidator(_whole)]
Name = Annotated[Text, Field(min_length=1)]


class Item(Frozen):
    """One line. `voice` and `seed` override the job's; `lang` says what language the text is in."""

    id: Name
    text: Text
    voice: Name | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    lang: Name | None = None


@dataclass
class _Reader:
    """Takes the lines in order. `first_line` has the line in which each id was first used."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    escapes: list[tuple[int, int]] = field(default_factory=list)
    first_line: dict[str, int] = field(default_factory=dict)

    def line(self, line: str, number: int, start: int) -> None:
        """One line that is not blank; `start` is its place in the source."""
        item = _item(line.lstrip(_BYTE_ORDER_MARK), number)  # files that were joined have marks inside
        if isinstance(item, Item) and item.id in self.first_line:
            msg = f"id {item.id!r} was used in line {self.first_line[item.id]} already; ids must differ"
            item = SourceProblem(Code.DUPLICATE_ID, msg, number)
        if isinstance(item, SourceProblem):
            self.problems.append(item)
            self.skipped.append(Skip(start, start + len(line.rstrip()), Why.BAD_LINE))
            return
        self.first_line[item.id] = number
        self.paragraphs.append(self._paragraph(item, line, start))

    def _paragraph(self, item: Item, line: str, start: int) -> Paragraph:
        inside, place = _text_value(line)
        offsets: array[int] = array("Q")
        for match in _WRITTEN.finditer(inside):
            at, end = start + place + match.start(), start + place + match.end()
            if match["plain"] is None:
                offsets.append(at)
                self.escapes.append((at, end))
            else:
                offsets.extend(range(at, end))
        text, kept = clean(item.text, offsets)
        return Paragraph(ParagraphKind.ITEM, text, kept, lang=item.lang, item=item.id, voice=item.voice, seed=item.seed)


def read_jsonl(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read a JSONL source. Bad lines are in `problems` (bad_json, bad_item, duplicate_id, empty_text).

    Raises:
        BadSource: with all problems when no line is good; `no_text` when there is no line.
    """
    decoded = decode(data, name, asked=options.encoding)
    reader = _Reader()
    for number, start, line in _lines(decoded.text):
        reader.line(line, number, start)
    if not reader.paragraphs:
        if reader.problems:
            raise BadSource(*reader.problems)
        raise bad_source(Code.NO_TEXT, f"{name} has no lines; each must be an object with {FIELDS}")
    title = PurePath(name).stem
    return Document(
        title=title,
        author="",
        language="",
        chapters=_chapters(title, reader.paragraphs),
        text=decoded.text,
        encoding=decoded.encoding,
        warnings=decoded.warnings,
        skipped=tuple(reader.skipped),
        escapes=tuple(reader.escapes),
        problems=tuple(reader.problems),
    )


def _chapters(title: str, items: list[Paragraph]) -> tuple[Chapter, ...]:
    """The items in reading order; what fits into one chapter has the title of the source."""
    if len(items) <= CHAPTER_ITEMS:
        return (Chapter(title, tuple(items)),)
    parts = [items[first : first + CHAPTER_ITEMS] for first in range(0, len(items), CHAPTER_ITEMS)]
    ends = itertools.accumulate(len(part) for part in parts)
    return tuple(
        Chapter(f"items {end - len(part) + 1}–{end}", tuple(part)) for part, end in zip(parts, ends, strict=True)
    )


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Number, place and content of each line that is not blank."""
    start = 0
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines(): a text may hold U+2028
        if line.replace(_BYTE_ORDER_MARK, "").strip():
            yield number, start, line
        start += len(line) + 1


def _text_value(line: str) -> tuple[str, int]:
    """The value of "text" as it is written, without its quotes, and its place in a line that is a valid item.

    A string with a colon after it is a name; no other value of an item holds names.
    """
    name = ""
    for match in _STRING.finditer(line):
        if match["colon"] is not None:
            name = json.loads(f'"{match["inside"]}"')
        elif name == "text":
            return match["inside"], match.start("inside")
    msg = f"a valid item has no text: {line[:80]!r}"
    raise ValueError(msg)


def _item(line: str, number: int) -> Item | SourceProblem:
    try:
        value = json.loads(line, object_pairs_hook=_unique)
    except RecursionError:
        return SourceProblem(Code.BAD_JSON, "not a JSON object: nested too deeply", number)
    except ValueError as error:
        return SourceProblem(Code.BAD_JSON, f"not JSON: {error}", number)
    if not isinstance(value, dict):
        return SourceProblem(Code.BAD_JSON, f"a JSON {type(value).__name__}, not an object with {FIELDS}", number)
    try:
        item = Item.model_validate(value)
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(map(str, entry['loc'])) or _NO_PLACE}: {entry['msg']}" for entry in error.errors()
        )
        return SourceProblem(Code.BAD_ITEM, f"{found} (fields are {FIELDS})", number)
    if not speakable(clean(item.text)[0]):
        return SourceProblem(Code.EMPTY_TEXT, f"item {item.id!r} has no text to speak: {item.text[:40]!r}", number)
    return item


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names differ: JSON would let the last one win without a word."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        msg = f"the name {twice!r} stands twice in one object"
        raise ValueError(msg)
    return dict(pairs)
