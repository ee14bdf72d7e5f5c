"""The speaking rules of English, in the order in which they claim characters."""

from jobs.speaking.base import Rule
from jobs.speaking.english import (
    abbreviations,
    capitals,
    codes,
    dates,
    money,
    numbers,
    roman,
    sums,
    symbols,
    times,
    units,
    years,
)

RULES: tuple[Rule, ...] = (
    *dates.RULES,
    *times.RULES,
    *money.RULES,
    *years.DECADES,
    *codes.RULES,
    *units.RULES,
    *abbreviations.RULES,
    *roman.RULES,
    *years.RULES,
    *sums.RULES,
    *numbers.RULES,
    *capitals.RULES,
    *symbols.RULES,
)

__all__ = ["RULES"]
