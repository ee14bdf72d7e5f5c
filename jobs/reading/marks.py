"""Marks a writer puts into a text for `--markup`: `[pause: 1.5s]` and `[voice: name]`. Pure.

They part a paragraph where they stand; knows nothing of voices but that they have names.
Note and page marks of plain text are in `signs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from jobs.account import Why
from jobs.errors import BadOption, BadSource, SourceProblem
from jobs.reading.cleaning import LINE_END, speakable
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip
from jobs.reading.problems import Code

MARK = re.compile(r"(?<!\[)\[[ \t]*(?P<name>pause|voice)[ \t]*(?P<value>:[^\[\]]*)?\](?!\])", re.IGNORECASE)
"""A mark as it is written. Text in double square brackets is for the model and is none."""
DEFAULT_PAUSE_S = 1.0
MAX_PAUSE_S = 60.0
_PAUSE = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?(?P<unit>m?s)?", re.IGNORECASE)
_PARTED = frozenset({ParagraphKind.BODY, ParagraphKind.HEADING})
_TIMED = frozenset({ParagraphKind.ITEM, ParagraphKind.CUE})


def refuse_items(document: Document, what: str) -> None:
    """Raise BadOption when a document is made of items or cues: `what` is an option that does nothing for them."""
    if any(paragraph.kind in _TIMED for chapter in document.chapters for paragraph in chapter.paragraphs):
        msg = (
            f"{what} is for running text, not for a source of items (JSONL) or subtitles; leave {what} out: "
            'lines of a jsonl have "voice", subtitles have times'
        )
        raise BadOption(msg)


def part_of(paragraph: Paragraph, start: int, end: int) -> Paragraph | None:
    """A paragraph with only `text[start:end]` of it, without blanks at its ends; None when nothing is left."""
    inside = paragraph.text[start:end]
    start, end = start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())
    if start >= end:
        return None
    return replace(paragraph, text=paragraph.text[start:end], offsets=paragraph.offsets[start:end])


def with_marks(document: Document) -> Document:
    """The document with its marks obeyed: they part paragraphs, set voices and pauses, and are not spoken.

    A voice holds until the next voice mark, over paragraphs and chapters; `[voice]` goes back to that of the job. A
    pause belongs to the part before it in its chapter; at the start of a chapter there is none, which is warned of.

    Raises:
        BadSource: `bad_mark`, one problem for each mark that says nothing that can be done.
        BadOption: the source is made of items or cues.
    """
    refuse_items(document, "--markup")
    reader = _Reader(document.text)
    chapters = tuple(
        Chapter(_without_marks(chapter.title), tuple(reader.chapter(chapter))) for chapter in document.chapters
    )
    if reader.problems:
        raise BadSource(*reader.problems)
    return replace(
        document,
        title=_without_marks(document.title),
        chapters=tuple(chapter for chapter in chapters if chapter.paragraphs),
        skipped=(*document.skipped, *reader.skipped),
        warnings=(*document.warnings, *reader.warnings),
    )


@dataclass
class _Reader:
    """Goes through the paragraphs in order; `voice` is the one that holds, `last` the last part that has words."""

    source: str
    voice: str | None = None
    skipped: list[Skip] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    parts: list[Paragraph] = field(default_factory=list)
    last: int | None = None
    line: int = 1
    counted: int = 0

    def chapter(self, chapter: Chapter) -> list[Paragraph]:
        """The paragraphs of a chapter, parted."""
        self.parts, self.last = [], None
        for paragraph in chapter.paragraphs:
            if paragraph.kind in _PARTED:
                self._paragraph(paragraph)
            else:
                self.parts.append(paragraph)
        return self.parts

    def _paragraph(self, paragraph: Paragraph) -> None:
        end, continues = 0, paragraph.continues
        for match in MARK.finditer(paragraph.text):
            continues |= self._part(paragraph, (end, match.start()), continues=continues)
            end = match.end()
            place = paragraph.place(match.start(), end)
            self.skipped.append(Skip(*place, Why.MARK))
            self._obey(match, place[0])
        self._part(paragraph, (end, len(paragraph.text)), continues=continues)

    def _part(self, paragraph: Paragraph, place: tuple[int, int], *, continues: bool) -> bool:
        """Add a part if there is anything in it; says whether."""
        part = part_of(paragraph, *place)
        if part is None:
            return False
        if speakable(part.text):
            self.last = len(self.parts)
        self.parts.append(replace(part, voice=self.voice or paragraph.voice, continues=continues))
        return True

    def _obey(self, match: re.Match[str], at: int) -> None:
        value = (match["value"] or "")[1:].strip()
        wants = "" if match["value"] is None else value or " "
        if match["name"].lower() == "voice":
            if wants == " ":
                self._problem(match.group(), at, "names no voice; write [voice: NAME], or [voice] for that of the job")
            self.voice = value or None
            return
        pause_s = _pause_s(wants)
        if pause_s is None:
            allowed = f"more than 0 and up to {MAX_PAUSE_S:g} seconds, as [pause: 1.5s], [pause: 500ms] or [pause: 2]"
            self._problem(match.group(), at, f"is no pause; allowed is {allowed}")
        else:
            self._pause(pause_s, match.group(), at)

    def _pause(self, pause_s: float, mark: str, at: int) -> None:
        """Give a pause to the last part that is spoken; two marks in a row add up."""
        if self.last is not None:
            part = self.parts[self.last]
            self.parts[self.last] = replace(part, pause_s=(part.pause_s or 0.0) + pause_s)
            return
        self.warnings.append(
            f"line {self._line(at)}: {mark} is at the start of a chapter, where nothing is paused after"
        )

    def _problem(self, mark: str, at: int, what: str) -> None:
        self.problems.append(SourceProblem(Code.BAD_MARK, f"{mark} {what}", self._line(at)))

    def _line(self, at: int) -> int:
        """The line of a place in the source; places are asked for in rising order."""
        self.line += sum(1 for _ in LINE_END.finditer(self.source, self.counted, at))
        self.counted = max(self.counted, at)
        return self.line


def _pause_s(value: str) -> float | None:
    """The seconds of a pause mark; None when they are not possible."""
    if not value:
        return DEFAULT_PAUSE_S
    match = _PAUSE.fullmatch(value)
    if match is None:
        return None
    seconds = float(match["number"]) / (1000 if (match["unit"] or "").lower() == "ms" else 1)
    return seconds if 0 < seconds <= MAX_PAUSE_S else None


def _without_marks(title: str) -> str:
    return " ".join(_text_between(title)) if MARK.search(title) else title


def _text_between(text: str) -> Iterator[str]:
    """The words of a text that are in no mark."""
    end = 0
    for match in MARK.finditer(text):
        yield from text[end : match.start()].split()
        end = match.end()
    yield from text[end:].split()
