"""The cast of a script: who is spoken by which voice, and the turns of a document given to them. Pure.

A turn is a paragraph, or a line of one, that begins with `NAME:` or `NAME (aside):`. Knows nothing of voices but names.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from jobs.account import DEFAULT_SKIP, Why
from jobs.errors import BadOption
from jobs.reading.cleaning import LINE_END
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip
from jobs.reading.marks import part_of, refuse_items

MAX_LABEL_CHARS = 120
_LABEL = re.compile(
    rf"(?P<name>[^\W\d_][^:：()\[\]{{}}]{{0,{MAX_LABEL_CHARS}}})"
    rf"(?:\([^()]{{0,{MAX_LABEL_CHARS}}}\) ?)?(?::(?![0-9/\\])|：)"  # no time (10:30), no address (https://)
)
_WORD = re.compile(r"[^\W_]\S*")
_MAX_LABEL_WORDS = 3
_DIRECTION = re.compile(r" ?\([^()]{1,200}\)")
_BREAK = "<br"
"""How a line break of HTML begins, which Markdown may hold."""


def parse_cast(text: str) -> dict[str, str]:
    """The voices by name of `ANNA=alice,BEN=bob`; names that differ only in case are the same.

    Raises:
        BadOption: an entry is not NAME=VOICE, or a name stands twice.
    """
    cast: dict[str, str] = {}
    for entry in text.split(","):
        name, _, voice = (part.strip() for part in entry.partition("="))
        if not name or not voice or "=" in voice:
            msg = f"--cast {entry.strip()!r} is not possible; write NAME=VOICE, separated by commas: ANNA=alice,BEN=bob"
            raise BadOption(msg)
        if _key(name) in map(_key, cast):
            msg = f"--cast names {name!r} twice (names are compared without case); give each name one voice"
            raise BadOption(msg)
        cast[name] = voice
    return cast


def with_cast(document: Document, cast: Mapping[str, str], *, skip: Iterable[Why] = DEFAULT_SKIP) -> Document:
    """The document with the turns of a script given to their voices; names in the cast are not spoken.

    The voice holds for the turn, also after a pause mark in it; a voice mark inside goes before it. With
    `Why.DIRECTIONS` in `skip`, `(laughs)` at the start of a turn is not spoken. Warnings name labels that the cast does
    not have and names that no turn has.

    Raises:
        BadOption: the source is made of items or cues.
    """
    refuse_items(document, "--cast")
    voices = {_key(name): voice for name, voice in cast.items()}
    director = _Director(_line_starts(document), voices, directions=Why.DIRECTIONS not in skip)
    chapters = tuple(replace(chapter, paragraphs=tuple(director.chapter(chapter))) for chapter in document.chapters)
    unused = [name for name in cast if _key(name) not in director.used]
    warnings = [f"no voice in --cast for {name}; its label is read" for name in director.unknown.values()]
    warnings += [f"--cast has a voice for {name}, but no paragraph begins with {name}:" for name in unused]
    return replace(
        document,
        chapters=tuple(chapter for chapter in chapters if chapter.paragraphs),
        skipped=(*document.skipped, *director.skipped),
        warnings=(*document.warnings, *warnings),
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn that is going on: `before` is the voice its text has by a mark, `voice` the one the cast gives it."""

    before: str | None
    voice: str | None


@dataclass
class _Director:
    """Goes through the paragraphs in order. `unknown` are labels without a voice, by their key.

    `line_starts` are places of the source, rising. `starts`: no word of the turn was spoken so far. `alone`: its label
    is a paragraph of its own, and what it labels is the next one.
    """

    line_starts: Sequence[int]
    voices: Mapping[str, str]
    directions: bool
    skipped: list[Skip] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    parts: list[Paragraph] = field(default_factory=list)
    turn: _Turn | None = None
    starts: bool = False
    alone: bool = False

    def chapter(self, chapter: Chapter) -> list[Paragraph]:
        """The paragraphs of a chapter, parted into turns."""
        self.parts, self.turn, self.starts, self.alone = [], None, False, False
        for paragraph in chapter.paragraphs:
            if paragraph.kind is ParagraphKind.BODY:
                self._paragraph(paragraph)
            else:
                self.parts.append(paragraph)
                self.alone = False
        return self.parts

    def _paragraph(self, paragraph: Paragraph) -> None:
        if not paragraph.continues and not self.alone:
            self.turn, self.starts = None, False
        bounds = [0, *self._turn_starts(paragraph), len(paragraph.text)]
        for start, end in pairwise(bounds):
            part = part_of(paragraph, start, end)
            if part is None:
                continue
            if start > 0:
                part = replace(part, continues=False)
            self._part(part if end == bounds[-1] else replace(part, pause_s=None))

    def _turn_starts(self, paragraph: Paragraph) -> Iterator[int]:
        """Where lines of the source inside a paragraph begin a turn."""
        text, offsets = paragraph.text, paragraph.offsets
        first = bisect_right(self.line_starts, paragraph.source_start)
        for place in self.line_starts[first : bisect_left(self.line_starts, paragraph.source_end)]:
            at = bisect_left(offsets, place)
            match = _LABEL.match(text, at + (text[at : at + 1] == " "))
            if match and (_key(match["name"]) in self.voices or match["name"].isupper()):
                yield match.start()

    def _part(self, part: Paragraph) -> None:
        match = None if part.continues else self._label(part.text)
        rest = part if match is None else self._begin(part, match)
        if rest is None:
            # Nothing but the label: a pause after it belongs to what was before; the turn begins with what follows.
            self.starts = True
            self._hand_back(part.pause_s)
            return
        if self.turn is not None and self.turn.voice is not None and rest.voice == self.turn.before:
            rest = replace(rest, voice=self.turn.voice)
        self.parts.append(replace(rest, continues=rest.continues and not self.starts))
        self.starts = self.alone = False

    def _begin(self, part: Paragraph, match: re.Match[str]) -> Paragraph | None:
        """Begin the turn of a label; returns what is spoken of this part, None if nothing is."""
        key, label_end = _key(match["name"]), match.end()
        voice = self.voices.get(key)
        self.turn = _Turn(part.voice, voice)
        if voice is None:
            self.unknown.setdefault(key, " ".join(match["name"].split()))
        else:
            self.used.add(key)
            self.skipped.append(Skip(*part.place(0, label_end), Why.SPEAKER))
        direction = None if self.directions else _DIRECTION.match(part.text, label_end)
        text_start = label_end
        if direction is not None:
            text_start = direction.end()
            self.skipped.append(Skip(*part.place(label_end, text_start), Why.DIRECTIONS))
        if voice is not None:
            rest = part_of(part, text_start, len(part.text))
            self.alone = rest is None and direction is None
            return rest
        offsets = array("Q", [*part.offsets[:label_end], *part.offsets[text_start:]])
        return replace(part, text=part.text[:label_end] + part.text[text_start:], offsets=offsets)

    def _label(self, text: str) -> re.Match[str] | None:
        """The label at the start of a text: one of the cast, or what looks like a name."""
        match = _LABEL.match(text)
        if match is None:
            return None
        return match if _key(match["name"]) in self.voices or _is_name(match["name"]) else None

    def _hand_back(self, pause_s: float | None) -> None:
        if pause_s is not None and self.parts:
            last = self.parts[-1]
            self.parts[-1] = replace(last, pause_s=(last.pause_s or 0.0) + pause_s)


def _line_starts(document: Document) -> Sequence[int]:
    """The places of a source where a line begins to a listener, rising."""
    if document.line_starts is not None:
        return document.line_starts
    text = document.text
    starts = array("Q", [match.end() for match in LINE_END.finditer(text)])
    breaks = [end for start, end in document.escapes if text[start : start + len(_BREAK)].lower() == _BREAK]
    return array("Q", sorted([*starts, *breaks])) if breaks else starts


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _is_name(text: str) -> bool:
    """Whether the words before a colon look like somebody's name: few, and none begins with a small letter."""
    words = text.split()
    return len(words) <= _MAX_LABEL_WORDS and all(_WORD.match(word) and not word[0].islower() for word in words)
