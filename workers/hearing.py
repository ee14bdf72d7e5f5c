"""Listens to a part of a chapter: the body of a CHECK step."""

from __future__ import annotations

from jobs.spec import JobRecord
from workers.context import Context


def hear_part(context: Context, record: JobRecord, chapter: int, part: int) -> None:
    """Write what the job's recogniser hears in the takes of one part of a chapter, where that is not in the store yet."""
