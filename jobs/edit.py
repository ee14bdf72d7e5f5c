"""The plan as text a person can edit, and back: `# ` starts a chapter, a line is a segment, a blank line a paragraph.

Only what the text says is kept; pauses follow from it. A segment whose text did not change keeps its take.
"""

from __future__ import annotations

from jobs.errors import BadSource, SourceProblem
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan

HELP = (
    "## Edit what will be spoken, save and close. `# ` starts a chapter, each line is one segment, a blank line",
    "## starts a paragraph. Lines with ## are ignored. An empty file calls the job off.",
)
PARAGRAPH_BREAKS = frozenset({Break.PARAGRAPH, Break.SCENE, Break.HEADING, Break.CHAPTER})


def plan_text(plan: Plan) -> str:
    """The plan as editable text."""
    lines = [*HELP, ""]
    for chapter in plan.chapters:
        lines += [f"# {chapter.title}", ""]
        for segment in (segment for segment in plan.segments if segment.chapter == chapter.chapter):
            lines.append(segment.spoken)
            if segment.break_after in PARAGRAPH_BREAKS:
                lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def edited_plan(plan: Plan, text: str, *, max_chars: int) -> Plan:
    """The plan that an edited text asks for.

    Raises:
        BadSource: nothing is left, or a line is longer than the model can speak at once.
    """
    known = {segment.spoken: segment for segment in reversed(plan.segments)}
    titles: list[str] = []
    segments: list[SegmentPlan] = []
    blank = True
    for number, line in enumerate(text.splitlines(), start=1):
        spoken = line.strip()
        if spoken.startswith("##"):
            continue
        if not spoken or spoken.startswith("# "):
            blank = True
            if spoken:
                titles.append(spoken.removeprefix("# ").strip())
            continue
        if len(spoken) > max_chars:
            message = f"{len(spoken)} characters in one line, the model speaks at most {max_chars} at once; split it"
            raise BadSource(SourceProblem("segment_too_long", message, number))
        titles = titles or [plan.source.title or plan.source.name]
        _close(segments, len(titles) - 1, blank=blank)
        segments.append(_segment(plan, known.get(spoken), spoken, segment=len(segments), chapter=len(titles) - 1))
        blank = False
    if not segments:
        raise BadSource(SourceProblem("no_text", "nothing is left to speak; the job was not submitted"))
    return _assembled(plan, titles, segments)


def _close(segments: list[SegmentPlan], chapter: int, *, blank: bool) -> None:
    """Give the segment before a new one the break that the text shows between them."""
    if segments:
        last = segments[-1]
        between = Break.PARAGRAPH if blank else Break.SENTENCE
        kept = last.break_after if blank and last.break_after in PARAGRAPH_BREAKS else between
        segments[-1] = last.model_copy(update={"break_after": Break.CHAPTER if last.chapter != chapter else kept})


def _segment(plan: Plan, old: SegmentPlan | None, spoken: str, *, segment: int, chapter: int) -> SegmentPlan:
    if old is not None:
        return old.model_copy(update={"segment": segment, "chapter": chapter})
    return SegmentPlan(
        segment=segment,
        chapter=chapter,
        text=spoken,
        spoken=spoken,
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
    counts = [sum(1 for segment in moved if segment.chapter == chapter) for chapter in range(len(spoken_in))]
    chapters = tuple(
        ChapterPlan(chapter=new, title=titles[old], segments=counts[new]) for old, new in renumbered.items()
    )
    return Plan(source=plan.source, chapters=chapters, segments=moved)
