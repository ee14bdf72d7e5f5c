"""Which chapters of a plan would be too long for a file of ACX (Audible), before anything is spoken. Pure."""

from __future__ import annotations

from jobs.plan import Plan

MAX_FILE_S = 120 * 60.0
"""ACX audio submission requirements."""


def long_chapters(plan: Plan, *, audio_s: float) -> tuple[str, ...]:
    """A line for every chapter that is likely to be too long for a file; `audio_s`: estimate of the whole plan."""
    return tuple(
        f"chapter {chapter.title!r} will be about {length_s / 60:.0f} min long; ACX takes files of at most "
        f"{MAX_FILE_S / 60:g} min: divide it in the source with a heading of its own"
        for chapter, length_s in zip(plan.chapters, plan.shares_of(audio_s), strict=True)
        if length_s > MAX_FILE_S
    )
