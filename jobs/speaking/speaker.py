"""Applies rules to sentences: the user's lexicon first, then addresses, the language's own, and what holds for all.

A rule that comes earlier claims its characters; what a later one finds there is dropped. Text in double square brackets
is for the model (`[[…]]`) and is claimed before everything. Numbers in what a lexicon says are spoken as words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from jobs.account import Why
from jobs.language_tags import base_language
from jobs.speaking import common, english
from jobs.speaking.aligned import runs_of
from jobs.speaking.base import Addresses, Context, Replacement, Rule
from jobs.speaking.lexicon import Lexicon

RULES: dict[str, Callable[[str], tuple[Rule, ...]]] = {"en": english.rules}
"""Rules by base language; a language that is not here is spoken as it is written, but for the common rules."""
_FOR_THE_MODEL = re.compile(r"\[\[[^\[\]⟦⟧]*\]\]")
_AS_IT_IS = re.compile(rf"{_FOR_THE_MODEL.pattern}|⟦[^⟦⟧]*⟧")
"""What no rule may change in what a lexicon says."""


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """What a user chooses about speaking."""

    lexicon: Lexicon | None = None
    addresses: Addresses = Addresses.HOST


DEFAULT_SPEAKING = SpeakingOptions()


@dataclass
class Speaker:
    """Turns sentences of one document into what is spoken. `vocabulary`: its words that stand in it in lower case."""

    options: SpeakingOptions = DEFAULT_SPEAKING
    vocabulary: frozenset[str] = frozenset()
    _notices: dict[str, int] = field(default_factory=dict)
    _without_rules: set[str] = field(default_factory=set)

    def replacements(self, text: str, language: str, *, heading: bool = False) -> list[Replacement]:
        """What of a sentence of clean text is spoken otherwise: in order, without overlap."""
        context = Context(language, heading, self.options.addresses, self.vocabulary, self._notices)
        lexicon = () if self.options.lexicon is None else (self.options.lexicon.rule,)
        found = _claims(text, (*lexicon, *self._rules(text, language)), context, kept=_FOR_THE_MODEL)
        return [self._with_numbers(one, context) if one.why is Why.LEXICON else one for one in found]

    def _with_numbers(self, one: Replacement, context: Context) -> Replacement:
        """What a lexicon says, with its numbers as words; all else stays as the user typed it."""
        now = one.now
        if not any(char.isnumeric() for char in now):
            return one
        rules = self._rules(now, context.language)
        found = _claims(now, rules, context, kept=_AS_IT_IS)
        numbers = [part for part in found if any(char.isnumeric() for char in now[part.start : part.end])]
        return replace(one, now="".join(run.now for run in runs_of(now, 0, numbers)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of the sentences so far."""
        missing = [
            f"no speaking rules for {language}: numbers, dates and abbreviations go to the voice as they are written"
            for language in sorted(self._without_rules)
        ]
        return (*(f"{text} ({count} x)" if count > 1 else text for text, count in self._notices.items()), *missing)

    def _rules(self, text: str, language: str) -> tuple[Rule, ...]:
        """The rules of a language for a text, in order."""
        base = base_language(language)
        own: tuple[Rule, ...] = ()
        if base in RULES:
            own = RULES[base](text)
        else:
            self._without_rules.add(base)
        return (*common.FIRST, *own, *common.LAST)


def _claims(text: str, rules: Iterable[Rule], context: Context, *, kept: re.Pattern[str]) -> list[Replacement]:
    """What the rules find, in the order of the text; what `kept` matches stays as it is."""
    claimed = bytearray(len(text))
    for match in kept.finditer(text):
        claimed[match.start() : match.end()] = b"\1" * len(match.group())
    found: list[Replacement] = []
    for rule in rules:
        for one in rule(text, context):
            if one.end > one.start and 1 not in claimed[one.start : one.end]:
                claimed[one.start : one.end] = b"\1" * (one.end - one.start)
                found.append(one)
    found.sort(key=lambda one: one.start)
    return found
