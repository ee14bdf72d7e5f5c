"""English: symbols."""

from __future__ import annotations

from jobs.speaking.base import Rule

RULES: tuple[Rule, ...] = ()
