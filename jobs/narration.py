"""From a paragraph to what is spoken of it: sentences, replacements, pieces within the model's limit. Pure.

narration = narrate(paragraph, language="en-US", speaker=speaker)
pieces = narration.pieces(limits)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from jobs.errors import BadOption
from jobs.plan import Break, SentenceMark
from jobs.reading.cleaning import speakable
from jobs.reading.document import Paragraph, ParagraphKind
from jobs.reading.splitting.cutter import Piece, safe_chars
from jobs.reading.splitting.segments import segment_pieces
from jobs.reading.splitting.sentences import sentence_spans
from jobs.speaking.aligned import Aligned, Run, dropped, runs_of, without_double_spaces
from jobs.speaking.base import Replacement
from jobs.speaking.speaker import Speaker

_WHOLE = frozenset({ParagraphKind.HEADING, ParagraphKind.ITEM, ParagraphKind.CUE})
"""Paragraphs that are one segment whenever they fit: a title, and what is asked for as a whole by id or by time."""
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»›)\]」』]*\s*$")
_CLAUSE_END = re.compile(r"[,;:—،，、；：][\"'”’»›)\]」』]*\s*$")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model sets: `max_chars` of the longest safe segment; short ones are joined up to `pack_chars` (0: not).

    `whole_items`: a title, a cue or an item is one segment whenever it fits, else as few as can be.
    """

    max_chars: int
    pack_chars: int
    whole_items: bool = True

    def __post_init__(self) -> None:
        if self.max_chars < 1 or self.pack_chars < 0:
            msg = f"max_chars is {self.max_chars} and must be 1 or more; pack_chars is {self.pack_chars}, 0 or more"
            raise BadOption(msg)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a paragraph: `start` and `end` in its text, `spoken_start` and `spoken_end` in what is spoken."""

    start: int
    end: int
    spoken_start: int
    spoken_end: int


@dataclass(frozen=True)
class Narration:
    """What is spoken of one paragraph. Sentences in which nothing can be spoken are not among `sentences`."""

    paragraph: Paragraph
    language: str
    aligned: Aligned
    sentences: tuple[Sentence, ...]

    @cached_property
    def spoken(self) -> str:
        """All that is spoken of it."""
        return self.aligned.text

    @cached_property
    def _spoken_ends(self) -> list[int]:
        return [sentence.spoken_end for sentence in self.sentences]

    def pieces(self, limits: Limits) -> list[Piece]:
        """The segments, in `spoken`; the last one's break is what the end of this paragraph is by itself."""
        if not self.sentences:
            return []
        max_chars = safe_chars(limits.max_chars, self.language)
        whole = limits.whole_items and self.paragraph.kind in _WHOLE
        if whole and len(self.spoken.strip()) <= max_chars:
            pieces = [Piece(0, len(self.spoken), Break.SENTENCE)]
        else:
            spans = [(sentence.spoken_start, sentence.spoken_end) for sentence in self.sentences]
            pack_chars = max_chars if whole else limits.pack_chars
            found = segment_pieces(self.spoken, spans, max_chars=max_chars, pack_chars=pack_chars)
            pieces = [piece for piece in found if speakable(self.spoken[piece.start : piece.end])]
        return [*pieces[:-1], replace(pieces[-1], after=self.end_break)]

    @property
    def end_break(self) -> Break:
        """What stands after it when nothing else follows."""
        return Break.HEADING if self.paragraph.kind is ParagraphKind.HEADING else Break.PARAGRAPH

    @property
    def inner_break(self) -> Break:
        """What stands after it when the same paragraph goes on (a mark stands between the two)."""
        if _SENTENCE_END.search(self.paragraph.text):
            return Break.SENTENCE
        return Break.CLAUSE if _CLAUSE_END.search(self.paragraph.text) else Break.NONE

    def text_of(self, start: int, end: int) -> tuple[str, int, int]:
        """(text, start, end in the source) of `spoken[start:end]`, without blanks at their ends."""
        said = self.spoken[start:end]
        start, end = start + len(said) - len(said.lstrip()), start + len(said.rstrip())
        first, last = self.aligned.place(start, end)
        written = self.paragraph.text[first:last]
        first, last = first + len(written) - len(written.lstrip()), first + len(written.rstrip())
        return (written.strip(), *self.paragraph.place(first, last))

    def marks_of(self, start: int, end: int) -> tuple[tuple[SentenceMark, ...], bool]:
        """The sentences that begin in the segment `spoken[start:end]`, and whether it goes on with one before it.

        As in `SegmentPlan`: empty where it is one sentence from its start. Offsets are those of the segment's texts.
        """
        said = self.spoken[start:end]
        start, end = start + len(said) - len(said.lstrip()), start + len(said.rstrip())
        first, last = self.aligned.place(start, end)
        written = self.paragraph.text[first:last]
        first += len(written) - len(written.lstrip())
        marks: list[SentenceMark] = []
        for one in self.sentences[bisect_right(self._spoken_ends, start) :]:
            if one.spoken_start >= end:
                break
            whole = self.spoken[one.spoken_start : one.spoken_end]
            begin = one.spoken_start + len(whole) - len(whole.lstrip())
            if begin < start < one.spoken_end and not speakable(self.spoken[begin:start]):
                begin = start  # marks alone came before it, and were left out
            if start <= begin < end:
                marks.append(SentenceMark(text_start=max(0, one.start - first), spoken_start=begin - start))
        continues = not marks or marks[0].spoken_start > 0
        return (() if len(marks) == 1 and not continues else tuple(marks)), continues


def narrate(paragraph: Paragraph, *, language: str, speaker: Speaker) -> Narration:
    """What is spoken of a paragraph in a language."""
    text = paragraph.text
    spans = sentence_spans(text, language)
    heading = paragraph.kind is ParagraphKind.HEADING
    runs: list[Run] = []
    sentences: list[Sentence] = []
    at = 0
    for start, end in spans:
        replacements = speaker.replacements(text[start:end].rstrip(), language, heading=heading)
        sentence_runs = _sentence(text[start:end], start, replacements)
        spoken = sum(len(run.now) for run in sentence_runs)
        if spoken:
            sentences.append(Sentence(start, end, at, at + spoken))
        runs += sentence_runs
        at += spoken
    return Narration(paragraph, language, Aligned(tuple(runs)), tuple(sentences))


def _sentence(text: str, start: int, replacements: Sequence[Replacement]) -> list[Run]:
    """The runs of a sentence; of one that has nothing to say nothing is left."""
    runs = without_double_spaces(runs_of(text, start, replacements))
    return runs if speakable("".join(run.now for run in runs)) else dropped(runs)
