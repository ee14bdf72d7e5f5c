"""Why segments of a job failed, counted: what a person is told of a job that lost some. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from jobs.spec import SegmentResult
from jobs.state import SegmentState

Reasons = list[tuple[str, int]]
"""Reasons and how many segments failed for each, the commonest first."""


def failure_reasons(results: Iterable[SegmentResult]) -> Reasons:
    """The reasons of the failed segments among some results."""
    return Counter(result.reason for result in results if result.state is SegmentState.FAILED).most_common()
