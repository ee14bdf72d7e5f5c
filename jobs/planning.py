"""From a document to a plan, and from a plan to the tasks of the queue. Pure; knows no reader, model, queue or store.

plan = build_plan(read_source(data, name), name=name, kind=kind, data_sha256=digest, language="en", limits=limits)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from jobs.errors import BadOption
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SourceInfo, take_key, take_seed
from jobs.reading.cleaning import speakable
from jobs.reading.cutter import Piece
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind
from jobs.reading.problems import Code, bad_source
from jobs.reading.segments import segment_pieces
from jobs.spec import JobSpec, SegmentTask, SourceKind

_WHOLE = frozenset({ParagraphKind.HEADING, ParagraphKind.ITEM, ParagraphKind.CUE})
"""Paragraphs that are one segment whenever they fit: a title, and what is asked for as a whole by id or by time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model sets: `max_chars` of the longest safe segment; short ones are joined up to `pack_chars` (0: not)."""

    max_chars: int
    pack_chars: int

    def __post_init__(self) -> None:
        if self.max_chars < 1 or self.pack_chars < 0:
            msg = f"max_chars is {self.max_chars} and must be 1 or more; pack_chars is {self.pack_chars}, 0 or more"
            raise BadOption(msg)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A segment that has no number yet."""

    paragraph: Paragraph
    piece: Piece
    first: bool


def build_plan(
    document: Document, *, name: str, kind: SourceKind, data_sha256: str, language: str, limits: Limits
) -> Plan:
    """The chapters and segments of a document. `language` is the job's; a JSONL line may ask for another.

    Chapters without anything to speak are left out; the others are numbered in reading order.

    Raises:
        BadSource: `no_text`, there is nothing to speak.
    """
    chapters: list[ChapterPlan] = []
    segments: list[SegmentPlan] = []
    for chapter in document.chapters:
        drafts = list(_drafts(chapter, language, limits))
        if drafts:
            drafts[-1] = replace(drafts[-1], piece=replace(drafts[-1].piece, after=Break.CHAPTER))
            first = len(segments)
            segments += [
                _segment(draft, document, first + index, chapter=len(chapters), language=language)
                for index, draft in enumerate(drafts)
            ]
            chapters.append(ChapterPlan(chapter=len(chapters), title=chapter.title, segments=len(drafts)))
    if not segments:
        raise bad_source(Code.NO_TEXT, f"{name} holds nothing to speak; give a source with words in it")
    source = SourceInfo(
        name=name,
        kind=kind,
        sha256=data_sha256,
        chars=document.chars,
        encoding=document.encoding,
        title=document.title,
        author=document.author,
        language=document.language,
        warnings=document.warnings,
        cover_type=document.cover_type,
    )
    return Plan(source=source, chapters=tuple(chapters), segments=tuple(segments))


def tasks_of(plan: Plan, spec: JobSpec, job: str) -> list[SegmentTask]:
    """The task of each segment, in order. A segment's own voice and seed go before the job's.

    Raises:
        BadOption: a segment asks for a voice whose revision the spec does not know (`item_voices`).
    """
    return [_task(segment, spec, job) for segment in plan.segments]


def _drafts(chapter: Chapter, language: str, limits: Limits) -> Iterator[_Draft]:
    """The segments of a chapter. A scene break lengthens the pause before it; symbols are never spoken."""
    held: list[_Draft] = []
    for paragraph in chapter.paragraphs:
        spoken = _paragraph(paragraph, language, limits)
        if spoken:
            yield from held
            held = spoken
        elif held and held[-1].piece.after is Break.PARAGRAPH:
            held[-1] = replace(held[-1], piece=replace(held[-1].piece, after=Break.SCENE))
    yield from held


def _paragraph(paragraph: Paragraph, language: str, limits: Limits) -> list[_Draft]:
    text = paragraph.text
    if paragraph.kind is ParagraphKind.SCENE_BREAK or not speakable(text):
        return []
    end_break = Break.HEADING if paragraph.kind is ParagraphKind.HEADING else Break.PARAGRAPH
    if paragraph.kind in _WHOLE and len(text) <= limits.max_chars:
        pieces = [Piece(0, len(text), end_break)]
    else:
        pack_chars = limits.max_chars if paragraph.kind in _WHOLE else limits.pack_chars
        spoken_in = paragraph.lang if paragraph.kind is ParagraphKind.ITEM and paragraph.lang else language
        pieces = segment_pieces(text, spoken_in, max_chars=limits.max_chars, pack_chars=pack_chars)
        pieces = [piece for piece in pieces if speakable(text[piece.start : piece.end])]
        pieces[-1] = replace(pieces[-1], after=end_break)
    return [_Draft(paragraph, piece, first=index == 0) for index, piece in enumerate(pieces)]


def _segment(draft: _Draft, document: Document, segment: int, *, chapter: int, language: str) -> SegmentPlan:
    paragraph, piece = draft.paragraph, draft.piece
    spoken = paragraph.text[piece.start : piece.end]
    lead = len(spoken) - len(spoken.lstrip())
    start, end = paragraph.place(piece.start + lead, piece.start + len(spoken.rstrip()))
    return SegmentPlan(
        segment=segment,
        chapter=chapter,
        text=document.text[start:end],
        spoken=spoken.strip(),
        source_start=start,
        source_end=end,
        break_after=piece.after,
        language=paragraph.lang if paragraph.kind is ParagraphKind.ITEM and paragraph.lang else language,
        voice=paragraph.voice,
        seed=paragraph.seed,
        item=paragraph.item,
        start_s=paragraph.start_s if draft.first else None,
    )


def _task(segment: SegmentPlan, spec: JobSpec, job: str) -> SegmentTask:
    voice = segment.voice or spec.voice
    seed = take_seed(spec.seed if segment.seed is None else segment.seed, segment.spoken)
    return SegmentTask(
        job=job,
        segment=segment.segment,
        chapter=segment.chapter,
        model=spec.model,
        spoken=segment.spoken,
        voice=voice,
        language=segment.language,
        speed=spec.speed,
        seed=seed,
        take=take_key(
            model=spec.model,
            voice=voice,
            voice_revision=_revision(voice, spec, segment),
            language=segment.language,
            spoken=segment.spoken,
            speed=spec.speed,
            seed=seed,
            numerics=spec.numerics,
        ),
        store_url=spec.store_url,
        live=spec.live,
    )


def _revision(voice: str, spec: JobSpec, segment: SegmentPlan) -> str:
    if voice == spec.voice:
        return spec.voice_revision
    if voice not in spec.item_voices:
        known = ", ".join(sorted({spec.voice, *spec.item_voices}))
        msg = f"segment {segment.segment} asks for voice {voice!r}; this job knows {known}: submit it again"
        raise BadOption(msg)
    return spec.item_voices[voice]
