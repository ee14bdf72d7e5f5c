"""What every reader yields: a Document of chapters of paragraphs, each with its place in the source.

A paragraph's text is clean already (see `cleaning`); `offsets` leads each of its characters back to the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


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
    `voice` and `seed` come from a JSONL line, `start_s` from a subtitle.
    """

    kind: ParagraphKind
    text: str
    offsets: Sequence[int]
    lang: str | None = None
    item: str | None = None
    voice: str | None = None
    seed: int | None = None
    start_s: float | None = None

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
class Document:
    """A source that was read.

    `text` is what offsets count in: the decoded source for txt and md, the text that was taken out of it for the
    other kinds. `language` is what the source declares, else empty. `encoding` names how bytes became characters.
    `warnings` tell people what was left out or repaired. `cover_type` is `image/jpeg` or `image/png`.
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

    @property
    def chars(self) -> int:
        """Characters of `text`."""
        return len(self.text)
