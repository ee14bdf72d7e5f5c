"""JSONL: one object a line, each an utterance of its own: {"id", "text", "voice"?, "seed"?, "lang"?}.

All lines are checked before anything is read: one error names every bad line. The items are one chapter.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePath

from pydantic import Field, ValidationError

from jobs.errors import BadSource, SourceProblem
from jobs.reading.chapters import TextSink
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Chapter, Document, ParagraphKind
from jobs.spec import Frozen

FIELDS = "id, text, voice, seed, lang"
_NO_PLACE = "the line"


class Item(Frozen):
    """One line. `voice` and `seed` override the job's; `lang` says what language the text is in."""

    id: str = Field(min_length=1)
    text: str
    voice: str | None = Field(default=None, min_length=1)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    lang: str | None = Field(default=None, min_length=1)


def read_jsonl(data: bytes, name: str) -> Document:
    """Read a JSONL source.

    Raises:
        BadSource: with one problem per bad line (bad_json, bad_item, duplicate_id, empty_text); or `no_text`.
    """
    decoded = decode(data, name)
    items = _items(decoded.text, name)
    sink = TextSink()
    paragraphs = []
    for item in items:
        paragraph = sink.paragraph(ParagraphKind.ITEM, item.text, lang=item.lang)
        assert paragraph is not None, f"item {item.id} has no text and was not refused"
        paragraphs.append(replace(paragraph, item=item.id, voice=item.voice, seed=item.seed))
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
            problems.append(SourceProblem("duplicate_id", msg, number))
        else:
            first_line[item.id] = number
            items.append(item)
    if problems:
        raise BadSource(*problems)
    if not items:
        raise BadSource(SourceProblem("no_text", f"{name} has no lines; each must be an object with {FIELDS}"))
    return items


def _item(line: str, number: int) -> Item | SourceProblem:
    try:
        value = json.loads(line, object_pairs_hook=_unique)
    except RecursionError:
        return SourceProblem("bad_json", "not a JSON object: nested too deeply", number)
    except ValueError as error:
        return SourceProblem("bad_json", f"not JSON: {error}", number)
    if not isinstance(value, dict):
        return SourceProblem("bad_json", f"a JSON {type(value).__name__}, not an object with {FIELDS}", number)
    try:
        item = Item.model_validate(value)
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, entry['loc'])) or _NO_PLACE}: {entry['msg']}" for entry in error.errors())
        return SourceProblem("bad_item", f"{found} (fields are {FIELDS})", number)
    if not speakable(clean(item.text)[0]):
        return SourceProblem("empty_text", f"item {item.id!r} has no text to speak: {item.text[:40]!r}", number)
    return item


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names differ: JSON would let the last one win without a word."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        msg = f"the name {twice!r} stands twice in one object"
        raise ValueError(msg)
    return dict(pairs)
