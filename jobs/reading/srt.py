"""Subtitles: every cue is a paragraph with the time it wants to begin at. Read leniently by pysubs2."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import pysubs2

from jobs.errors import BadSource
from jobs.reading.chapters import TextSink, checked
from jobs.reading.decoding import decode
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source


def read_srt(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> Document:
    """Read SubRip subtitles, in the order of their times; formatting is dropped, cues without words too.

    Raises:
        BadSource: `bad_srt`, no cue was found; `no_text`, no cue has words.
    """
    decoded = decode(data, name)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")  # pysubs2 would keep the \r in the text
    try:
        subtitles = pysubs2.SSAFile.from_string(text, format_="srt")
    except (pysubs2.Pysubs2Error, ValueError) as error:
        raise _no_cues(name, str(error)) from None
    if not subtitles.events:
        raise _no_cues(name, "no line like 00:00:01,000 --> 00:00:02,500 was found")
    subtitles.sort()
    sink = TextSink()
    cues = [_cue(event, sink) for event in subtitles.events]
    title = PurePath(name).stem
    spoken = tuple(cue for cue in cues if cue is not None)
    silent = len(cues) - len(spoken)
    warnings = (f"{silent} of {len(cues)} cues have no words and are not spoken",) if silent else ()
    document = Document(
        title=title,
        author="",
        language="",
        chapters=(Chapter(title, spoken),),
        text=sink.text,
        encoding=decoded.encoding,
        warnings=decoded.warnings + warnings,
    )
    return checked(document, name)


def _cue(event: pysubs2.SSAEvent, sink: TextSink) -> Paragraph | None:
    paragraph = sink.paragraph(ParagraphKind.CUE, event.plaintext)
    if paragraph is None or paragraph.kind is ParagraphKind.SCENE_BREAK:
        return None
    return replace(paragraph, start_s=event.start / 1000)


def _no_cues(name: str, why: str) -> BadSource:
    return bad_source(Code.BAD_SRT, f"{name} holds no SubRip cues: {why}")
