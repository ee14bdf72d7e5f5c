"""A plan before people: source, chapters, what is not spoken, what is replaced, sums and errors."""

from __future__ import annotations

from collections.abc import Iterable

from cli.output import Output, table
from jobs.errors import SourceProblem
from jobs.plan_view import chapter_rows, shown, sum_rows, totals_line
from jobs.planning import Planned

CHAPTERS = ("chapter", "title", "paragraphs", "sentences", "segments", "characters", "audio")
SUMS = ("why", "number", "characters", "for example")
PASSAGES = ("why", "place", "characters", "text")


def show_plan(output: Output, planned: Planned, *, chars_per_s: float, everything: bool = False) -> None:
    """Print a plan; `everything`: each passage of the account instead of examples."""
    source, account = planned.plan.source, planned.plan.account
    title = f": {source.title}{f' by {source.author}' if source.author else ''}" if source.title else ""
    language = f", {source.language}" if source.language else ""
    output.result(None, shown(f"{source.name}{title}"))
    output.result(None, f"{source.kind}, {source.encoding}{language}, {source.chars:,} characters")
    for warning in source.warnings:
        output.result(None, shown(f"warning: {warning}"))
    _table(output, "", CHAPTERS, chapter_rows(planned, chars_per_s=chars_per_s))
    headers = PASSAGES if everything else SUMS
    _table(output, "not spoken", headers, sum_rows(account.skipped, everything=everything))
    _table(output, "replaced", headers, sum_rows(account.replaced, everything=everything))
    output.result(None, "")
    output.result(None, totals_line(account))
    show_problems(output, planned.problems)


def show_problems(output: Output, problems: Iterable[SourceProblem]) -> None:
    """Print what is wrong with single lines."""
    for problem in problems:
        line = "" if problem.line is None else f"line {problem.line}: "
        output.result(None, shown(f"error: {line}{problem.message} ({problem.code})"))


def _table(output: Output, title: str, headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    output.result(None, "")
    if title:
        output.result(None, f"{title}:")
    output.result(None, table(*headers, rows=rows))
