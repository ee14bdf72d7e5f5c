"""What every reader yields: a Document of chapters of paragraphs, each with its place in the source.

A paragraph's text is clean already (see `cleaning`); `offsets` leads each of its characters back to the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobs.account import Why
from jobs.errors import SourceProblem


class ParagraphKind(StrEnum):
    """What a paragraph is to a listener."""

    BODY = "body"
    HEADING = "heading"
    SCENE_BREAK = "scene_break"
    """A rule or a line of symbols: a pause, never spoken."""
    ITEM = "item"
    """One line of a JSONL source."""
    CUE = "cue"
    """One subtitle."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of text that no segment may cross.

    `offsets` has one entry per character of `text`: its index in `Document.text` (rising, not always by one: what was
    removed between two characters leaves a gap). `lang` is what the source declares for it, None if nothing. `item`,
    `seed` comes from a JSONL line, `voice` from one too, a mark or a cast; `start_s` from a subtitle. `continues`: it
    goes on with the paragraph before it (a mark stands between them). `pause_s`: the pause a mark asks for after it.
    """

    kind: ParagraphKind
    text: str
    offsets: Sequence[int]
    lang: str | None = None
    item: str | None = None
    voice: str | None = None
    seed: int | None = None
    start_s: float | None = None
    continues: bool = False
    pause_s: float | None = None

    def __post_init__(self) -> None:
        if len(self.text) != len(self.offsets):
            msg = f"a paragraph has {len(self.text)} characters and {len(self.offsets)} offsets; it needs one for each"
            raise ValueError(msg)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of `Document.text` that `text[start:end]` (not empty) came from."""
        return self.offsets[start], self.offsets[end - 1] + 1

    @property
    def source_start(self) -> int:
        """Where its first character is in `Document.text`; 0 when it has no text."""
        return self.offsets[0] if self.offsets else 0

    @property
    def source_end(self) -> int:
        """One past its last character in `Document.text`; 0 when it has no text."""
        return self.offsets[-1] + 1 if self.offsets else 0


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled run of paragraphs. `title` is for people (the headings to be spoken are paragraphs); it may be empty."""

    title: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """Characters [start, end) of `Document.text` that a reader leaves out, and why.

    Whatever a paragraph's offsets name is spoken all the same; what neither names is markup or white space.
    """

    start: int
    end: int
    why: Why


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file inside the source (EPUB): its text begins at `start` of `Document.text` and ends where the next begins."""

    start: int
    name: str


@dataclass(frozen=True, slots=True)
class Document:
    """A source that was read.

    `text` is what offsets count in: the decoded source (without byte order mark); for EPUB the text of all documents of
    the spine, `files` name them. `language` is what the source declares, else empty. `encoding` names how bytes became
    characters. `warnings` tell people what was guessed or repaired. `cover_type` is `image/jpeg` or `image/png`.
    `skipped` may be in any order. `escapes` are ranges [start, end) that stand for one character of a paragraph, whose
    offset is their start (`&amp;`). `line_starts` are the places where a line begins inside a paragraph, rising (HTML:
    what follows `<br>`); None where each line of `text` is one. `problems` are lines that could not be read (JSONL);
    the rest is in `chapters`.
    """

    title: str
    author: str
    language: str
    chapters: tuple[Chapter, ...]
    text: str
    encoding: str
    warnings: tuple[str, ...] = ()
    cover: bytes | None = None
    cover_type: str = ""
    skipped: tuple[Skip, ...] = ()
    escapes: tuple[tuple[int, int], ...] = ()
    line_starts: tuple[int, ...] | None = None
    files: tuple[SourceFile, ...] = ()
    problems: tuple[SourceProblem, ...] = ()

    @property
    def chars(self) -> int:
        """Characters of `text`."""
        return len(self.text)
