"""The plan as text a person can edit, and back: `# ` starts a chapter, a line is a segment, a blank line a paragraph.

A line that did not change keeps its segment whole: its take, its voice, its pause. A changed one, and each part of one
that was divided, keeps what belongs to its place: the voice, the language, the seed; the id of a JSONL item; the first
part the time of a subtitle, the last part the pause. The account says what was edited.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from jobs.edit_account import account_after
from jobs.edit_origins import Line, Roots, beside, roots_of
from jobs.edit_sentences import marks_of, with_beginnings
from jobs.errors import BadSource, SourceProblem
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan
from jobs.reading.cleaning import clean, speakable
from jobs.reading.languages import language_of
from jobs.reading.splitting.cutter import safe_chars
from jobs.spec import SourceKind

HELP = (
    "## Edit what will be spoken, save and close. `# ` starts a chapter, each line is one segment, a blank line",
    "## starts a paragraph. Lines with ## are ignored; a line that is to be spoken with a # at its start begins with",
    "## a backslash: \\#. An empty file calls the job off.",
)
PARAGRAPH_BREAKS = frozenset({Break.PARAGRAPH, Break.SCENE, Break.HEADING, Break.CHAPTER})


def plan_text(plan: Plan) -> str:
    """The plan as editable text."""
    lines = [*HELP, ""]
    chapter = None
    for segment in plan.segments:
        if segment.chapter != chapter:
            chapter = segment.chapter
            lines += [f"# {clean(plan.chapters[chapter].title)[0]}", ""]
        line = _line_of(segment)
        lines.append(f"\\{line}" if line.startswith(("#", "\\")) else line)
        if segment.break_after in PARAGRAPH_BREAKS:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def edited_plan(plan: Plan, text: str, *, source_text: str, max_chars: int) -> Plan:
    """The plan that an edited text asks for. `source_text` is what the offsets of the plan count in.

    Raises:
        BadSource: nothing is left; or one problem for each changed line that is longer than the model can speak at
            once, has nothing to speak, or is new in a JSONL source (it has no id).
    """
    titles, lines = _read(text, plan.source.title or plan.source.name)
    if not lines:
        raise BadSource(SourceProblem("no_text", "nothing is left to speak; the job was not submitted"))
    old = [_line_of(segment) for segment in plan.segments]
    roots = roots_of(old, lines, guess=plan.source.kind is not SourceKind.JSONL)
    edit = _Edit(plan, old, lines, roots)
    places = range(len(lines))
    problems = [problem for index in places if (problem := edit.problem(index, max_chars=max_chars)) is not None]
    if problems:
        raise BadSource(*problems)
    account = account_after(plan, old, lines, roots, source_text=source_text)
    return _assembled(plan.model_copy(update={"account": account}), titles, edit.segments())


def _read(text: str, first_title: str) -> tuple[list[str], list[Line]]:
    """The titles of the chapters and the lines to be spoken."""
    titles: list[str] = []
    lines: list[Line] = []
    blank = True
    for number, raw in enumerate(text.split("\n"), start=1):
        line = clean(raw)[0]
        if line.startswith("##"):
            continue
        if line == "#" or line.startswith("# "):
            titles.append(line.removeprefix("#").strip())
        elif line:
            titles = titles or [first_title]
            lines.append(Line(number, line.removeprefix("\\"), len(titles) - 1, blank))
        blank = not line or line.startswith("#")
    return titles, lines


@dataclass
class _Edit:
    """Makes the segments of an edited text. `done` are old lines whose break stands in the new plan already."""

    plan: Plan
    old: Sequence[str]
    lines: Sequence[Line]
    roots: Sequence[Roots | None]
    done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.made: defaultdict[int, list[int]] = defaultdict(list)
        for index, root in enumerate(self.roots):
            for part in () if root is None else root.olds:
                self.made[part].append(index)
        self.beside = beside(self.lines, self.roots)

    def problem(self, index: int, *, max_chars: int) -> SourceProblem | None:
        """What is wrong with a line; nothing if it did not change."""
        line, root = self.lines[index], self.roots[index]
        if self._same(index):
            return None
        limit_chars = safe_chars(max_chars, language_of(line.spoken, self._near(index).language))
        length = len(line.spoken)
        if length > limit_chars:
            message = f"{length} characters in one line, the model speaks at most {limit_chars} at once; split it"
            return SourceProblem("segment_too_long", message, line.number)
        if not speakable(line.spoken):
            message = f"{line.spoken[:40]!r} has nothing to speak; delete the line, or put ## before it"
            return SourceProblem("nothing_to_speak", message, line.number)
        if root is None and self.plan.source.kind is SourceKind.JSONL:
            message = "a new line has no item id; add it to the JSONL file instead"
            return SourceProblem("no_item", message, line.number)
        return None

    def segments(self) -> list[SegmentPlan]:
        """The segments of the lines, numbered, with the breaks that the text shows between them."""
        segments: list[SegmentPlan] = []
        at: int | None = None
        for index, line in enumerate(self.lines):
            root = self.roots[index]
            if segments:
                segments[-1] = self._closed(segments[-1], line, at, root.olds[0] if root else None)
            segments.append(self._segment(index).model_copy(update={"segment": index, "chapter": line.chapter}))
            at = root.olds[-1] if root else at
        pairs = zip([None, *self.roots], self.roots, strict=False)
        return with_beginnings(segments, [bool(one and two and one.olds[-1] + 1 == two.olds[0]) for one, two in pairs])

    def _same(self, index: int) -> bool:
        root = self.roots[index]
        return root is not None and self.old[root.main] == self.lines[index].spoken

    def _near(self, index: int) -> SegmentPlan:
        """The segment that a line takes its voice and language from; for one that stands alone: the job's own."""
        root = self.roots[index]
        if root is not None:
            return self.plan.segments[root.main]
        near = [self.plan.segments[place] for place in self.beside[index]]
        if near and all((one.voice, one.language) == (near[0].voice, near[0].language) for one in near):
            return near[0]
        return self.plan.segments[0].model_copy(update={"voice": None})

    def _segment(self, index: int) -> SegmentPlan:
        root, near, spoken = self.roots[index], self._near(index), self.lines[index].spoken
        if root is None:
            places = self.beside[index]
            place = self.plan.segments[places[0]].source_end if places else 0
            parts = {"source_start": place, "source_end": place, "seed": None, "item": None, "start_s": None}
            rest = {"pause_s": None, "break_after": Break.SENTENCE}
            marks = {"sentences": marks_of(spoken, near.language), "continues": False}
            return near.model_copy(update={"text": spoken, "spoken": spoken, **marks, **parts, **rest})
        if self._same(index) and len(root.olds) == len(self.made[root.main]) == 1:
            return near
        olds = [self.plan.segments[part] for part in root.olds]
        first, last = self.made[root.olds[0]][0] == index, self.made[root.olds[-1]][-1] == index
        same = self._same(index)
        return near.model_copy(
            update={
                "text": near.text if same else spoken,
                "spoken": near.spoken if same else spoken,
                "sentences": near.sentences if same else marks_of(spoken, near.language),
                "continues": same and near.continues,
                "source_start": min(one.source_start for one in olds),
                "source_end": max(one.source_end for one in olds),
                "start_s": olds[0].start_s if first else None,
                "pause_s": olds[-1].pause_s if last else None,
                "break_after": olds[-1].break_after if last else Break.SENTENCE,
            }
        )

    def _closed(self, last: SegmentPlan, line: Line, at: int | None, following: int | None) -> SegmentPlan:
        """The segment before a line with its break. `at`, `following`: the old lines before and after the gap."""
        kept = last.break_after
        if last.chapter != line.chapter:
            kept = Break.CHAPTER
        elif line.blank:
            kept = self._between(kept, at, following)
        elif kept in PARAGRAPH_BREAKS:
            kept = Break.SENTENCE
        return last.model_copy(update={"break_after": kept})

    def _between(self, kept: Break, at: int | None, following: int | None) -> Break:
        """The break between paragraphs. That of a line that no longer ends its paragraph is not lost."""
        passed: list[int] = []
        if at is not None and at != following:
            passed = [at]
            if following is not None and not any(place in self.made for place in range(at + 1, following)):
                passed = list(range(at, max(following, at + 1)))
        open_breaks = {self.plan.segments[place].break_after for place in passed if place not in self.done}
        self.done.update(passed)
        if Break.SCENE in open_breaks:
            return Break.SCENE
        if kept in PARAGRAPH_BREAKS and kept is not Break.CHAPTER:
            return kept
        return Break.HEADING if Break.HEADING in open_breaks and len(passed) == 1 else Break.PARAGRAPH


def _line_of(segment: SegmentPlan) -> str:
    """What is spoken, as a line."""
    return clean(segment.spoken)[0]


def _assembled(plan: Plan, titles: list[str], segments: list[SegmentPlan]) -> Plan:
    """Number the chapters that have text; a heading without text is dropped. A title that stayed is as it was."""
    spoken_in = sorted({segment.chapter for segment in segments})
    renumbered = {old: new for new, old in enumerate(spoken_in)}
    segments[-1] = segments[-1].model_copy(update={"break_after": Break.CHAPTER})
    moved = tuple(segment.model_copy(update={"chapter": renumbered[segment.chapter]}) for segment in segments)
    counts = Counter(segment.chapter for segment in moved)
    known: defaultdict[str, deque[str]] = defaultdict(deque)
    for chapter in plan.chapters:
        known[clean(chapter.title)[0]].append(chapter.title)
    named = [known[title].popleft() if known[title] else title for title in titles]
    chapters = tuple(
        ChapterPlan(chapter=new, title=named[old], segments=counts[new]) for old, new in renumbered.items()
    )
    return Plan(source=plan.source, chapters=chapters, segments=moved, account=plan.account)
