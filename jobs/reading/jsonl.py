"""JSONL: one object a line, each an utterance of its own: {"id", "text", "voice"?, "seed"?, "lang"?}.

All lines are checked before anything is read: one error names every bad line. The items are one chapter.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from jobs.errors import BadSource, SourceProblem
from jobs.reading.chapters import TextSink
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source
from jobs.spec import Frozen

FIELDS = "id, text, voice, seed, lang"
_NO_PLACE = "the line"


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


def read_jsonl(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read a JSONL source.

    Raises:
        BadSource: with one problem per bad line (bad_json, bad_item, duplicate_id, empty_text); or `no_text`.
    """
    decoded = decode(data, name)
    items = _items(decoded.text, name)
    sink = TextSink()
    paragraphs = [_paragraph(item, sink) for item in items]
    title = PurePath(name).stem
    return Document(
        title=title,
        author="",
        language="",
        chapters=(Chapter(title, tuple(paragraphs)),),
        text=sink.text,
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _paragraph(item: Item, sink: TextSink) -> Paragraph:
    text, _ = clean(item.text)
    return Paragraph(
        ParagraphKind.ITEM, text, sink.put(text), lang=item.lang, item=item.id, voice=item.voice, seed=item.seed
    )


def _items(text: str, name: str) -> list[Item]:
    items: list[Item] = []
    problems: list[SourceProblem] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines(): a text may hold U+2028
        if not line.strip():
            continue
        item = _item(line, number)
        if isinstance(item, SourceProblem):
            problems.append(item)
        elif item.id in first_line:
            msg = f"id {item.id!r} was used in line {first_line[item.id]} already; ids must differ"
            problems.append(SourceProblem(Code.DUPLICATE_ID, msg, number))
        else:
            first_line[item.id] = number
            items.append(item)
    if problems:
        raise BadSource(*problems)
    if not items:
        raise bad_source(Code.NO_TEXT, f"{name} has no lines; each must be an object with {FIELDS}")
    return items


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
