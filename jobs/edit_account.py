"""What an edit of a plan does to the account of its source: lines that changed, and lines that were deleted. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.account import ACCOUNT_SAMPLE_CHARS, Account, Passage, Why
from jobs.edit_origins import Line, Roots
from jobs.plan import Plan


@dataclass(slots=True)
class _Stretch:
    """Source characters [start, end) that belong together, and the new lines that are spoken for them."""

    start: int
    end: int
    news: set[int]
    same: bool


def account_after(
    plan: Plan, old: Sequence[str], lines: Sequence[Line], roots: Sequence[Roots | None], *, source_text: str
) -> Account:
    """The account after an edit. `old` are the lines of the plan; a line that was put in has no source to account for.

    What is spoken for several old lines is told once, at the first; the others are replaced with nothing to say.
    """
    replaced: list[Passage] = []
    skipped: list[Passage] = []
    told: set[int] = set()
    for stretch in _stretches(plan, old, lines, roots, source_text=source_text):
        if stretch.same:
            continue
        was = source_text[stretch.start : min(stretch.end, stretch.start + ACCOUNT_SAMPLE_CHARS)]
        now = " ".join(lines[index].spoken for index in sorted(stretch.news - told))
        told |= stretch.news
        passage = Passage(start=stretch.start, end=stretch.end, was=was, why=Why.EDIT, now=now)
        (replaced if stretch.news else skipped).append(passage)
    if not (replaced or skipped):
        return plan.account
    return plan.account.with_changes(replaced=replaced, skipped=skipped, text=source_text)


def _stretches(
    plan: Plan, old: Sequence[str], lines: Sequence[Line], roots: Sequence[Roots | None], *, source_text: str
) -> Iterator[_Stretch]:
    """The source of the old lines in its order, in parts that do not overlap.

    Old lines are one part where they share characters (a number that is spoken in two segments), and where one new
    line is made of them and nothing else stands between them.
    """
    made: defaultdict[int, set[int]] = defaultdict(set)
    for index, root in enumerate(roots):
        for part in () if root is None else root.olds:
            made[part].add(index)
    current: _Stretch | None = None
    for place in sorted(range(len(old)), key=lambda place: (plan.segments[place].source_start, place)):
        segment, news = plan.segments[place], made[place]
        if segment.source_end == segment.source_start:
            continue
        same = [lines[index].spoken for index in news] == [old[place]]
        if current is not None and (
            segment.source_start < current.end
            or (news & current.news and not source_text[current.end : segment.source_start].strip())
        ):
            current.end = max(current.end, segment.source_end)
            current.news |= news
            current.same &= same
            continue
        if current is not None:
            yield current
        current = _Stretch(segment.source_start, segment.source_end, set(news), same)
    if current is not None:
        yield current
