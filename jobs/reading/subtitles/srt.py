"""Subtitles (SubRip and WebVTT): every cue is a paragraph with the time it wants to begin at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

from jobs.account import Why
from jobs.reading.chapters import checked
from jobs.reading.cleaning import clean, speakable
from jobs.reading.decoding import decode
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source
from jobs.reading.subtitles.cues import Cue, Cues, said

_TOLD_CHARS = 80
"""How much of a passage a warning quotes."""


@dataclass
class _Reader:
    source: str
    skipped: list[Skip] = field(default_factory=list)
    escapes: list[tuple[int, int]] = field(default_factory=list)
    silent: int = 0

    def cue(self, cue: Cue) -> Paragraph | None:
        """A cue as a paragraph; None when it has no words."""
        found = said(self.source, cue)
        text, offsets = clean(found.text, found.offsets)
        self.skipped += found.skipped
        if not speakable(text):
            self.silent += 1
            if text:
                self.skipped.append(Skip(offsets[0], offsets[-1] + 1, Why.SYMBOL))
            return None
        self.escapes += found.escapes
        return Paragraph(ParagraphKind.CUE, text, offsets, start_s=cue.start_s)


def read_srt(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read SubRip subtitles, in the order of their times; formatting is dropped, cues without words too.

    Raises:
        BadSource: `bad_srt`, no cue was found; `no_text`, no cue has words.
    """
    return _read(data, name, options, web=False)


def read_vtt(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read WebVTT subtitles as `read_srt` does; notes, style blocks and names of cues are not spoken.

    Raises:
        BadSource: `bad_vtt`, no cue was found; `no_text`, no cue has words.
    """
    return _read(data, name, options, web=True)


def _read(data: bytes, name: str, options: ReadingOptions, *, web: bool) -> Document:
    decoded = decode(data, name, asked=options.encoding)
    cues = Cues(decoded.text, web)
    found = sorted(cues.read(), key=lambda cue: cue.start_s)
    if not found:
        code, what = (Code.BAD_VTT, "WebVTT") if web else (Code.BAD_SRT, "SubRip")
        example = "00:01.000 --> 00:02.500" if web else "00:00:01,000 --> 00:00:02,500"
        raise bad_source(code, f"{name} holds no {what} cues: no line like {example} was found")
    reader = _Reader(decoded.text)
    spoken = tuple(paragraph for paragraph in map(reader.cue, found) if paragraph is not None)
    title = PurePath(name).stem
    warnings = [f"{reader.silent} of {len(found)} cues have no words and are not spoken"] if reader.silent else []
    if cues.lead:
        told = cues.lead[:_TOLD_CHARS] + ("…" if len(cues.lead) > _TOLD_CHARS else "")
        warnings.append(f"what stands before the first cue has no time and is not spoken: {told!r}")
    document = Document(
        title=title,
        author="",
        language="",
        chapters=(Chapter(title, spoken),),
        text=decoded.text,
        encoding=decoded.encoding,
        warnings=(*decoded.warnings, *warnings),
        skipped=(*cues.skipped, *reader.skipped),
        escapes=tuple(reader.escapes),
    )
    return checked(document, name)
