"""The speaking rules of English, in the order in which they claim characters."""

from jobs.speaking.base import Rule
from jobs.speaking.english import abbreviations, capitals, dates, money, numbers, roman, symbols, times, units

RULES: tuple[Rule, ...] = (
    *dates.RULES,
    *times.RULES,
    *money.RULES,
    *units.RULES,
    *abbreviations.RULES,
    *roman.RULES,
    *numbers.RULES,
    *capitals.RULES,
    *symbols.RULES,
)

__all__ = ["RULES"]
