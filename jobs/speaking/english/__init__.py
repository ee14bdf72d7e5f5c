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
from jobs.speaking.english.numerals import numeric_text

_BEFORE = (*dates.RULES, *times.RULES, *money.RULES, *years.DECADES, *codes.RULES, *units.RULES)
_WORDS = (*abbreviations.RULES, *roman.RULES)
_AFTER = (*years.RULES, *sums.RULES, *numbers.RULES)
_LAST = (*capitals.RULES, *symbols.RULES)
_ALL: tuple[Rule, ...] = (*_BEFORE, *_WORDS, *_AFTER, *_LAST)
_WITHOUT_NUMBERS: tuple[Rule, ...] = (*_WORDS, *_LAST)


def rules(text: str) -> tuple[Rule, ...]:
    """The rules for a sentence. Most sentences have no digit: they are spared the rules that would find nothing."""
    has_numbers = not text.isascii() or "^" in text or numeric_text(text) is not None
    return _ALL if has_numbers else _WITHOUT_NUMBERS


__all__ = ["rules"]
