"""From a document to a plan. Pure; knows no reader, model, queue or store.

planned = build_plan(document, Origin("book.txt", SourceKind.TXT, digest), language="en-US", limits=limits)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from jobs.account import Why
from jobs.accounting import Said, account_of
from jobs.errors import SourceProblem
from jobs.language_tags import base_language, language_tag
from jobs.narration import Limits, Narration, narrate
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SentencePlan, SourceInfo
from jobs.reading.cast import with_cast
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip, SourceFile
from jobs.reading.languages import language_of
from jobs.reading.marks import with_marks
from jobs.reading.markup.places import BookPlaces
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions
from jobs.reading.problems import Code, bad_source
from jobs.reading.splitting.cutter import Piece
from jobs.speaking.speaker import DEFAULT_SPEAKING, Speaker, SpeakingOptions
from jobs.spec import SourceKind

_NO_ORNAMENT = re.compile("[?!¿¡‽\U0001f000-\U0001faff]")
_LOWER_CASE = re.compile(r"(?<!\w)[^\W\d_A-Z]{2,40}(?!\w)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document came from: the name of its source, what it was read as, the SHA-256 of its bytes."""

    name: str
    kind: SourceKind
    sha256: str


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a user chooses about a plan. `cast` leads from the names of a script to voices."""

    reading: ReadingOptions = DEFAULT_OPTIONS
    speaking: SpeakingOptions = DEFAULT_SPEAKING
    markup: bool = False
    cast: Mapping[str, str] = field(default_factory=dict)
    whole_items: bool = True
    """An item of JSONL is one segment whenever it fits; else it is cut into sentences, so that it is heard sooner."""


DEFAULT_PLAN_OPTIONS = PlanOptions()


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with what is only of use beside it: offsets count in `text`; `places` (`read_along`) are its pages'."""

    plan: Plan
    sentences: tuple[SentencePlan, ...]
    text: str
    files: tuple[SourceFile, ...] = ()
    problems: tuple[SourceProblem, ...] = ()
    places: BookPlaces | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A segment that has no number yet."""

    narration: Narration
    piece: Piece
    first: bool
    pause_s: float | None = None


@dataclass
class _Planner:
    """Goes through a document once and keeps what it finds."""

    language: str
    limits: Limits
    speaker: Speaker
    headings: bool
    chapters: list[ChapterPlan] = field(default_factory=list)
    segments: list[SegmentPlan] = field(default_factory=list)
    sentences: list[SentencePlan] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def chapter(self, chapter: Chapter) -> None:
        """Chapters without anything to speak are left out; the others are numbered in reading order."""
        number, first = len(self.chapters), len(self.segments)
        drafts = list(self._drafts(chapter))
        if not drafts:
            return
        drafts[-1] = _with_break(drafts[-1], Break.CHAPTER)
        for draft in drafts:
            self.segments.append(_segment(draft, len(self.segments), chapter=number, language=self.language))
        self.chapters.append(ChapterPlan(chapter=number, title=chapter.title, segments=len(self.segments) - first))

    def _drafts(self, chapter: Chapter) -> Iterator[_Draft]:
        """The segments of a chapter. A scene break lengthens the pause before it; symbols are never spoken."""
        held: list[_Draft] = []
        paragraphs = -1
        for paragraph in chapter.paragraphs:
            spoken = self._paragraph(paragraph)
            if spoken:
                if held and paragraph.continues:
                    held[-1] = _with_break(held[-1], held[-1].narration.inner_break)
                paragraphs += not paragraph.continues or paragraphs < 0
                self._sentences(spoken[0].narration, chapter=len(self.chapters), paragraph=paragraphs)
                yield from held
                held = spoken
            elif held:
                held[-1] = _after_silence(held[-1], paragraph)
        yield from held

    def _paragraph(self, paragraph: Paragraph) -> list[_Draft]:
        why = self._silent(paragraph)
        if why is not None:
            if paragraph.text:
                self.skips.append(Skip(paragraph.source_start, paragraph.source_end, why))
            return []
        narration = narrate(paragraph, language=self._language(paragraph), speaker=self.speaker)
        pieces = narration.pieces(self.limits)
        bounds = [0, *(place for piece in pieces for place in (piece.start, piece.end)), len(narration.spoken)]
        between = zip(bounds[::2], bounds[1::2], strict=True)
        self.said.append(Said(narration, tuple((start, end) for start, end in between if end > start)))
        drafts = [_Draft(narration, piece, first=index == 0) for index, piece in enumerate(pieces)]
        if drafts:
            drafts[-1] = replace(drafts[-1], pause_s=paragraph.pause_s)
        return drafts

    def _silent(self, paragraph: Paragraph) -> Why | None:
        """Why nothing of a paragraph is spoken; None if it is."""
        if _is_scene_break(paragraph):
            return Why.SCENE_BREAK
        return Why.HEADINGS if paragraph.kind is ParagraphKind.HEADING and not self.headings else None

    def _language(self, paragraph: Paragraph) -> str:
        """What its source declares, else what its script says, else the job's; the job's own form of it where equal."""
        found = paragraph.lang or language_of(paragraph.text, self.language)
        return self.language if base_language(found) == base_language(self.language) else found

    def _sentences(self, narration: Narration, *, chapter: int, paragraph: int) -> None:
        text = narration.paragraph.text
        for sentence in narration.sentences:
            written = text[sentence.start : sentence.end]
            end = sentence.start + len(written.rstrip())
            start = sentence.start + len(written) - len(written.lstrip())
            source_start, source_end = narration.paragraph.place(start, end)
            self.sentences.append(
                SentencePlan(
                    chapter=chapter,
                    paragraph=paragraph,
                    text=text[start:end],
                    spoken=narration.spoken[sentence.spoken_start : sentence.spoken_end].strip(),
                    source_start=source_start,
                    source_end=source_end,
                    language=narration.language,
                    voice=narration.paragraph.voice,
                )
            )


def build_plan(
    document: Document, origin: Origin, *, language: str, limits: Limits, options: PlanOptions = DEFAULT_PLAN_OPTIONS
) -> Planned:
    """The chapters, segments and account of a document. `language` is the job's; a JSONL line may ask for another.

    Raises:
        BadSource: `no_text`, there is nothing to speak; `bad_mark`, a mark that says nothing.
        BadOption: marks are asked for in a kind of source that has none.
    """
    if options.markup:
        document = with_marks(document)
    if options.cast:
        document = with_cast(document, options.cast, skip=options.reading.skip)
    speaker = Speaker(options.speaking, frozenset(_LOWER_CASE.findall(document.text)))
    planner = _Planner(language, limits, speaker, headings=Why.HEADINGS not in options.reading.skip)
    for chapter in document.chapters:
        planner.chapter(chapter)
    if not planner.segments:
        raise bad_source(Code.NO_TEXT, f"{origin.name} holds nothing to speak; give a source with words in it")
    account = account_of(document, planner.said, planner.skips)
    plan = Plan(
        source=_source(document, origin, (*document.warnings, *speaker.warnings)),
        chapters=tuple(planner.chapters),
        segments=tuple(planner.segments),
        account=account,
    )
    return Planned(plan, tuple(planner.sentences), document.text, document.files, document.problems)


def _source(document: Document, origin: Origin, warnings: tuple[str, ...]) -> SourceInfo:
    return SourceInfo(
        name=origin.name,
        kind=origin.kind,
        sha256=origin.sha256,
        chars=document.chars,
        encoding=document.encoding,
        title=document.title,
        author=document.author,
        language=document.language,
        warnings=warnings,
        cover_type=document.cover_type,
    )


def _with_break(draft: _Draft, after: Break) -> _Draft:
    return replace(draft, piece=replace(draft.piece, after=after))


def _asked_language(paragraph: Paragraph, language: str) -> str:
    """The job's language, but for an item that asks for another, or for another form of it."""
    if paragraph.kind is not ParagraphKind.ITEM or not paragraph.lang:
        return language
    asked = language_tag(paragraph.lang)
    return language if asked == base_language(language) else asked


def _is_scene_break(paragraph: Paragraph) -> bool:
    """A rule or a line of ornaments; marks of a sentence and emoji alone are nothing, and no pause."""
    return paragraph.kind is ParagraphKind.SCENE_BREAK and _NO_ORNAMENT.search(paragraph.text) is None


def _after_silence(draft: _Draft, paragraph: Paragraph) -> _Draft:
    """A segment that a paragraph follows of which nothing is spoken: its pause is obeyed, a scene break heard."""
    if paragraph.pause_s is not None:
        draft = replace(draft, pause_s=paragraph.pause_s)
    if _is_scene_break(paragraph) and draft.piece.after is Break.PARAGRAPH and not paragraph.continues:
        draft = _with_break(draft, Break.SCENE)
    return draft


def _segment(draft: _Draft, segment: int, *, chapter: int, language: str) -> SegmentPlan:
    paragraph, piece = draft.narration.paragraph, draft.piece
    text, start, end = draft.narration.text_of(piece.start, piece.end)
    sentences, continues = draft.narration.marks_of(piece.start, piece.end)
    return SegmentPlan(
        segment=segment,
        chapter=chapter,
        text=text,
        spoken=draft.narration.spoken[piece.start : piece.end].strip(),
        source_start=start,
        source_end=end,
        break_after=piece.after,
        language=_asked_language(paragraph, language),
        voice=paragraph.voice,
        seed=paragraph.seed,
        item=paragraph.item,
        start_s=paragraph.start_s if draft.first else None,
        pause_s=draft.pause_s,
        sentences=sentences,
        continues=continues,
    )
