"""The plan as text a person can edit, and back: `# ` starts a chapter, a line is a segment, a blank line a paragraph.

A line that did not change keeps its segment whole: its take, its voice, its pause. A changed one keeps what belongs to
its place (the id, voice and seed of a JSONL item, the time of a subtitle). The account says what was edited.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from jobs.account import ACCOUNT_SAMPLE_CHARS, Account, Passage, Why
from jobs.errors import BadSource, SourceProblem
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan
from jobs.reading.cleaning import clean, speakable
from jobs.spec import SourceKind

HELP = (
    "## Edit what will be spoken, save and close. `# ` starts a chapter, each line is one segment, a blank line",
    "## starts a paragraph. Lines with ## are ignored; a line that is to be spoken with a # at its start begins with",
    "## a backslash: \\#. An empty file calls the job off.",
)
PARAGRAPH_BREAKS = frozenset({Break.PARAGRAPH, Break.SCENE, Break.HEADING, Break.CHAPTER})


@dataclass(frozen=True, slots=True)
class _Line:
    """One line to be spoken: its number in the edited text, whether a blank line or a heading stood before it."""

    number: int
    spoken: str
    chapter: int
    blank: bool


def plan_text(plan: Plan) -> str:
    """The plan as editable text."""
    lines = [*HELP, ""]
    chapter = None
    for segment in plan.segments:
        if segment.chapter != chapter:
            chapter = segment.chapter
            lines += [f"# {clean(plan.chapters[chapter].title)[0]}", ""]
        lines.append(f"\\{segment.spoken}" if segment.spoken.startswith(("#", "\\")) else segment.spoken)
        if segment.break_after in PARAGRAPH_BREAKS:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def edited_plan(plan: Plan, text: str, *, max_chars: int) -> Plan:
    """The plan that an edited text asks for.

    Raises:
        BadSource: nothing is left; or one problem for each line that is longer than the model can speak at once, has
            nothing to speak, or is new in a JSONL source (it has no id).
    """
    titles, lines = _read(text, plan.source.title or plan.source.name)
    if not lines:
        raise BadSource(SourceProblem("no_text", "nothing is left to speak; the job was not submitted"))
    old_lines, new_lines = [clean(segment.spoken)[0] for segment in plan.segments], [line.spoken for line in lines]
    moves = _moves(old_lines, new_lines)
    origins = _origins(old_lines, new_lines, moves)
    olds = [None if origin is None else plan.segments[origin] for origin in origins]
    problems = [
        problem
        for line, old in zip(lines, olds, strict=True)
        if (problem := _problem(line, old, plan.source.kind, max_chars)) is not None
    ]
    if problems:
        raise BadSource(*problems)
    segments: list[SegmentPlan] = []
    for line, old in zip(lines, olds, strict=True):
        _close(segments, line)
        segments.append(_segment(plan, old, line, segment=len(segments)))
    account = _account(plan, new_lines, origins, moves)
    return _assembled(plan.model_copy(update={"account": account}), titles, segments)


def _read(text: str, first_title: str) -> tuple[list[str], list[_Line]]:
    """The titles of the chapters and the lines to be spoken."""
    titles: list[str] = []
    lines: list[_Line] = []
    blank = True
    for number, raw in enumerate(text.split("\n"), start=1):
        line = clean(raw)[0]
        if line.startswith("##"):
            continue
        if line == "#" or line.startswith("# "):
            titles.append(line.removeprefix("#").strip())
        elif line:
            titles = titles or [first_title]
            lines.append(_Line(number, line.removeprefix("\\"), len(titles) - 1, blank))
        blank = not line or line.startswith("#")
    return titles, lines


@dataclass(frozen=True, slots=True)
class _Move:
    """Old lines in whose place new ones stand; `kind` as difflib has it."""

    kind: str
    old: range
    new: range


def _moves(old: Sequence[str], new: Sequence[str]) -> list[_Move]:
    """How the new lines come from the old ones, in order."""
    found = SequenceMatcher(None, old, new).get_opcodes()
    return [_Move(kind, range(start, end), range(first, last)) for kind, start, end, first, last in found]


def _origins(old: Sequence[str], new: Sequence[str], moves: Sequence[_Move]) -> list[int | None]:
    """For each new line the old one it comes from: the same text, else the one in whose place it stands, else None."""
    origins: list[int | None] = [None] * len(new)
    changed: list[tuple[int, int]] = []
    for move in moves:
        if len(move.old) == len(move.new):
            pairs = list(zip(move.old, move.new, strict=True))
            changed += pairs if move.kind == "replace" else []
            for origin, index in pairs:
                origins[index] = origin if move.kind == "equal" else None
    left: defaultdict[str, list[int]] = defaultdict(list)
    for index in sorted(set(range(len(old))) - set(origins), reverse=True):
        left[old[index]].append(index)
    for index, spoken in enumerate(new):  # a line that was moved
        if origins[index] is None and left[spoken]:
            origins[index] = left[spoken].pop()
    used = set(origins)
    for origin, index in changed:
        if origins[index] is None and origin not in used:
            origins[index] = origin
    return origins


def _account(plan: Plan, lines: Sequence[str], origins: Sequence[int | None], moves: Sequence[_Move]) -> Account:
    """The account after the edit. A new line that stands in no old one's place has no source to account for."""
    changes = list(_changes(plan, lines, origins, moves))
    return plan.account.with_changes(changes) if changes else plan.account


def _changes(
    plan: Plan, lines: Sequence[str], origins: Sequence[int | None], moves: Sequence[_Move]
) -> Iterator[Passage]:
    """What became of every old line that is not spoken as it was."""
    now = {origin: line for origin, line in zip(origins, lines, strict=True) if origin is not None}
    for move in moves:
        gone = [index for index in move.old if index not in now]
        made = " ".join(lines[index] for index in move.new if origins[index] is None)
        old = [plan.segments[index] for index in gone]
        if made and old and len(old) == len(move.old) and _follow(old):
            yield from _passage(old, made)  # lines that were joined or split: all of these became all of those
            continue
        for index in move.old:
            segment = plan.segments[index]
            if now.get(index) != clean(segment.spoken)[0]:
                yield from _passage([segment], now.get(index, ""))


def _follow(segments: Sequence[SegmentPlan]) -> bool:
    """Whether segments stand one after the other in the source (subtitles may not)."""
    return all(one.source_end <= two.source_start for one, two in pairwise(segments))


def _passage(segments: Sequence[SegmentPlan], now: str) -> Iterator[Passage]:
    """The source of neighbouring segments, spoken as `now`; nothing where they have none."""
    start, end = segments[0].source_start, segments[-1].source_end
    if end > start:
        was = " ".join(segment.text for segment in segments)[:ACCOUNT_SAMPLE_CHARS]
        yield Passage(start=start, end=end, was=was, why=Why.EDIT, now=now)


def _problem(line: _Line, old: SegmentPlan | None, kind: SourceKind, max_chars: int) -> SourceProblem | None:
    length = len(line.spoken)
    if length > max_chars:
        message = f"{length} characters in one line, the model speaks at most {max_chars} at once; split it"
        return SourceProblem("segment_too_long", message, line.number)
    if not speakable(line.spoken):
        message = f"{line.spoken[:40]!r} has nothing to speak; delete the line, or put ## before it"
        return SourceProblem("nothing_to_speak", message, line.number)
    if old is None and kind is SourceKind.JSONL:
        message = "a new line has no item id; add it to the JSONL file instead"
        return SourceProblem("no_item", message, line.number)
    return None


def _close(segments: list[SegmentPlan], line: _Line) -> None:
    """Give the segment before a line the break that the text shows between them."""
    if segments:
        last = segments[-1]
        kept = last.break_after
        if last.chapter != line.chapter:
            kept = Break.CHAPTER
        elif line.blank != (kept in PARAGRAPH_BREAKS) or kept is Break.CHAPTER:
            kept = Break.PARAGRAPH if line.blank else Break.SENTENCE
        segments[-1] = last.model_copy(update={"break_after": kept})


def _segment(plan: Plan, old: SegmentPlan | None, line: _Line, *, segment: int) -> SegmentPlan:
    if old is not None:
        same = clean(old.spoken)[0] == line.spoken
        words = {} if same else {"text": line.spoken, "spoken": line.spoken}
        return old.model_copy(update={"segment": segment, "chapter": line.chapter, **words})
    return SegmentPlan(
        segment=segment,
        chapter=line.chapter,
        text=line.spoken,
        spoken=line.spoken,
        source_start=0,
        source_end=0,
        break_after=Break.SENTENCE,
        language=plan.segments[0].language,
    )


def _assembled(plan: Plan, titles: list[str], segments: list[SegmentPlan]) -> Plan:
    """Number the chapters that have text; a heading without text is dropped."""
    spoken_in = sorted({segment.chapter for segment in segments})
    renumbered = {old: new for new, old in enumerate(spoken_in)}
    segments[-1] = segments[-1].model_copy(update={"break_after": Break.CHAPTER})
    moved = tuple(segment.model_copy(update={"chapter": renumbered[segment.chapter]}) for segment in segments)
    counts = Counter(segment.chapter for segment in moved)
    chapters = tuple(
        ChapterPlan(chapter=new, title=titles[old], segments=counts[new]) for old, new in renumbered.items()
    )
    return Plan(source=plan.source, chapters=chapters, segments=moved, account=plan.account)
