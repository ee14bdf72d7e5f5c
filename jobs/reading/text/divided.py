"""Whether a word that a line end divided is one word, by a list of the words of its language and how common they are.

`infor-` / `mation` is "information", `well-` / `known` stays "well-known". The lists are pyspellchecker's (MIT):
counts of words in film subtitles. They are loaded when the first word needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

LANGUAGES = frozenset({"en", "de", "es", "fr", "it", "nl", "pt", "ru"})
"""Those that there is a list for, of the languages that divide words with a hyphen."""
_SURE_COUNT = 1000
"""How common a joined word is when it is meant although both of its parts are words as well (`be-tween`)."""
_JOINING = frozenset(("and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"))
"""What follows a hyphen that stands for a word to come: `pre- and post-war`."""
_SOLID = frozenset(("de", "nl"))
"""Languages that write compounds without a hyphen."""
_SAMPLE_WORDS = 2000
_KNOWN_SHARE = 0.8
"""A text is English when this share of its words is listed: the list has many foreign words, and no rare names."""


@dataclass(frozen=True)
class Words:
    """The words of a text in lower case, with their hyphens, and the language that it declares (may be empty)."""

    own: frozenset[str] = frozenset()
    declared: str = ""

    @cached_property
    def language(self) -> str:
        """The language whose list decides: the declared one, else English if the words are; else none."""
        base = self.declared.replace("_", "-").split("-")[0].lower()
        if base:
            return base if base in LANGUAGES else ""
        sample = sorted(word for word in self.own if "-" not in word and len(word) > 1)
        sample = sample[:: max(1, len(sample) // _SAMPLE_WORDS)]
        counts = _counts("en")
        return "en" if sum(word in counts for word in sample) >= _KNOWN_SHARE * max(1, len(sample)) else ""

    def one_word(self, head: str, tail: str) -> bool:
        """Whether a hyphen at a line end only divides a word. In doubt it is a hyphen of its own."""
        if f"{head}-{tail}" in self.own or tail in _JOINING:
            return False
        return f"{head}{tail}" in self.own or self._listed(head, tail, sure=False)

    def one_word_apart(self, head: str, tail: str) -> bool:
        """The same of `head- tail` within a line, where a hyphen may stand for a word to come (`pre- and post-war`)."""
        if tail in _JOINING:
            return False
        whole = f"{head}{tail}" in self.own and not {head, tail} <= self.own
        return whole or self._listed(head, tail, sure=True)

    def _listed(self, head: str, tail: str, *, sure: bool) -> bool:
        """`sure`: only if the list has the whole word; else also where a part is none by itself (`Oka-for`)."""
        counts = _counts(self.language)
        if len(head) < 2 or len(tail) < 2 or not counts:
            return False
        count = counts.get(head + tail, 0)
        if head in counts and tail in counts:
            return count >= (1 if self.language in _SOLID else _SURE_COUNT)
        return count > 0 or not sure


@lru_cache(maxsize=2)
def _counts(language: str) -> Mapping[str, int]:
    if language not in LANGUAGES:
        return {}
    from spellchecker import SpellChecker  # late: it takes longer to load than a short text to read

    return dict(SpellChecker(language=language).word_frequency.dictionary)


NO_WORDS = Words()
