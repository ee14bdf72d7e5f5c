"""Whether a word that a line end divided is one word, by a list of the words of its language and how common they are.

`infor-` / `mation` is "information", `well-` / `known` stays "well-known". The lists are pyspellchecker's (MIT):
counts of words in film subtitles. They are loaded when the first word needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

LANGUAGES = frozenset({"en", "de", "es", "fr", "it", "nl", "pt", "ru"})
"""Those that there is a list for, of the languages that divide words with a hyphen."""
_SURE_COUNT = 1000
"""How common a joined word is when it is meant although both of its parts are words as well (`be-tween`)."""
_JOINING = frozenset(("and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"))
"""What follows a hyphen that stands for a word to come: `pre- and post-war`."""
_SAMPLE_WORDS = 2000
_KNOWN_SHARE = 0.5
"""A text is in a language when half of its words are in the list: names are not, other languages hardly."""


def is_one_word(head: str, tail: str, language: str, *, sure: bool = False) -> bool:
    """Whether two parts in lower case are one word of a language; without a list they are two.

    `sure`: only when the list has the word; else also when one of the parts is no word by itself (`Oka-for`).
    """
    counts = _counts(language)
    if len(head) < 2 or len(tail) < 2 or tail in _JOINING or not counts:
        return False
    count = counts.get(head + tail, 0)
    if head in counts and tail in counts:
        return count >= _SURE_COUNT
    return count > 0 or not sure


def language_of_words(words: frozenset[str], declared: str) -> str:
    """The language whose list decides for a text: what it declares, else English if its words are; else none."""
    base = declared.replace("_", "-").split("-")[0].lower()
    if base:
        return base if base in LANGUAGES else ""
    sample = sorted(word for word in words if "-" not in word and len(word) > 1)[:: max(1, len(words) // _SAMPLE_WORDS)]
    counts = _counts("en")
    return "en" if sum(word in counts for word in sample) >= _KNOWN_SHARE * max(1, len(sample)) else ""


@lru_cache(maxsize=2)
def _counts(language: str) -> Mapping[str, int]:
    if language not in LANGUAGES:
        return {}
    from spellchecker import SpellChecker  # late: it takes longer to load than a short text to read

    return dict(SpellChecker(language=language).word_frequency.dictionary)
