"""What the checks say of one take: a grade, the reasons against it, and every figure that was measured. Pure."""

from __future__ import annotations

from pydantic import Field

from jobs.kinds import Grade
from jobs.spec import Frozen

CHECKS_VERSION = 1
"""Raised whenever the free checks judge otherwise: a stored verdict of another version is made anew from the audio."""


class Reason(Frozen):
    """One thing against a take: `check` names what found it, `score` is over (or under) its `limit`, `text` tells."""

    check: str
    score: float
    limit: float
    text: str


class Verdict(Frozen):
    """Grade, reasons and scores (name with unit → figure, also of the checks that were passed)."""

    grade: Grade
    reasons: tuple[Reason, ...] = ()
    scores: dict[str, float] = Field(default_factory=dict)
    version: int = CHECKS_VERSION

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the take."""
        return self.grade is Grade.GOOD

    @property
    def text(self) -> str:
        """The reasons in one line for people; empty for a good take."""
        return "; ".join(reason.text for reason in self.reasons)
