"""How much there is to say in a text, and where it asks for a pause: what the length of a take is held against. Pure.

A unit is about the time of one letter of an English word: words, letters and syllables all take time, so a unit is
made of the three. IPA of a lexicon (between ⟦ and ⟧) counts by its symbols. A mark for the model, `[[name:value]]`, is
not spoken and counts nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LETTER_UNITS, WORD_UNITS, SYLLABLE_UNITS = 0.5, 0.45, 1.35
"""Shares of the three in the time of a word. Fitted to 300 takes of the voice joe, in seconds for each letter, word and
syllable: 0.028, 0.025, 0.076; scaled so that an English word of prose has as many units as letters. The residual of
the lengths is a third smaller than with letters alone (`python -m tests.bench.checks --piper` shows it)."""
SPELLED_UNITS = 4.0
"""A consonant that stands alone is said by its name, and slowly (`five p m`): 0.24 s in the same takes."""
WIDE_UNITS = {"han": 3.5, "kana": 2.0, "hangul": 3.0}
"""Characters that are a syllable or more by themselves, at about five, seven and five of them in a second."""
DIGIT_UNITS = 4.0
"""A digit that was left in the text is a word of its own, or a good part of one."""
OTHER_SYLLABLE_LETTERS = 2.5
"""Letters for each syllable where vowels are not written (Arabic, Hebrew) or are marks (Devanagari, Thai)."""

_MARK = re.compile(r"\[\[[^\[\]]*:[^\[\]]*\]\]")
_WORD = re.compile(r"⟦[^⟧]*⟧|[^\W_]+(?:[’'][^\W_]+)*")
_STOP = re.compile(r"[,;:.!?…—–、。，！？；：।؟،]+")
_HYPHENS = ("-", "‐", "‑")
_VOWELS = frozenset("aeiouyæøœɑɐɒɔəɘɛɜɞɤɨɪʉʊʌʏɯɵаеёиоуыэюяіїєαεηιουω")
_SILENT_END = re.compile(r"(?<=[^aeiouyl])e$|(?<=[^aeiouys])es$|(?<=[^aeiouytd])ed$")
_WIDE = re.compile(r"(?P<han>[㐀-䶿一-鿿])|(?P<kana>[぀-ヿ])|(?P<hangul>[가-힣])")


@dataclass(frozen=True, slots=True)
class SpokenUnits:
    """What a text asks a voice to do.

    `phrases` are the units between two places where punctuation asks for a pause; at least one. `words` are folded to
    lower case, characters of scripts without spaces stand alone. `least` and `most` bound the units of `phrases` where
    a script or a digit may be said in very different times; `longest_word` is in units, with
    what hyphens join to it.
    """

    phrases: tuple[float, ...]
    words: tuple[str, ...]
    least: float
    most: float
    longest_word: float

    @property
    def total(self) -> float:
        """Units of the whole text."""
        return sum(self.phrases)

    @property
    def stops(self) -> int:
        """Places inside the text where punctuation asks for a pause."""
        return len(self.phrases) - 1


def spoken_units(spoken: str) -> SpokenUnits:
    """What a spoken text asks for; a text without a word has one phrase of no units."""
    text = unicodedata.normalize("NFC", _MARK.sub(" ", spoken))
    phrases: list[float] = []
    words: list[str] = []
    lengths = [0.0]
    least = most = current = 0.0
    last = 0
    for found in _WORD.finditer(text):
        if _STOP.search(_pausing(text[last : found.start()])) and current:
            phrases.append(current)
            current = 0.0
        last = found.end()
        units, wide = _word_units(found.group())
        current += units
        lengths.append(units + (lengths[-1] if text[found.start() - 1 : found.start()] in _HYPHENS else 0.0))
        least += min(units, sum(map(str.isalnum, found.group()))) if wide else units
        most += units * (1.5 if wide else 1.0)
        words += _pieces(found.group()) if wide else [found.group().casefold()]
    return SpokenUnits((*phrases, current), tuple(words), least, most, max(lengths))


def _pausing(between: str) -> str:
    """What stands between two words, if a voice may rest there: the full stop inside `3.5` or `a.m` is none."""
    return between if len(between) > 1 or not between.isascii() else ""


def _word_units(word: str) -> tuple[float, bool]:
    """Units of a word, and whether they are a guess: it holds digits or characters that are syllables."""
    if word.startswith("⟦"):
        word = "".join(symbol for symbol in word if unicodedata.category(symbol) in {"Ll", "Lo", "Lu"})
        return LETTER_UNITS * len(word) + WORD_UNITS + SYLLABLE_UNITS * max(1, _vowel_groups(word)), False
    wide = [WIDE_UNITS[found.lastgroup or ""] for found in _WIDE.finditer(word)]
    digits = sum(map(str.isdigit, word))
    letters = sum(map(str.isalpha, word)) - len(wide)
    units = sum(wide) + DIGIT_UNITS * digits
    if letters == 1 and not wide and not digits and _vowel_groups(word) == 0:
        return SPELLED_UNITS, False
    if letters:
        units += LETTER_UNITS * letters + WORD_UNITS + SYLLABLE_UNITS * _syllables(word, letters)
    return units, bool(wide or digits)


def _syllables(word: str, letters: int) -> float:
    folded = word.casefold()
    groups = _vowel_groups(folded)
    if groups == 0 and not any(char.isascii() for char in folded):
        return max(1.0, letters / OTHER_SYLLABLE_LETTERS)
    return max(1, groups - (1 if groups > 1 and _SILENT_END.search(folded) else 0))


def _vowel_groups(word: str) -> int:
    bare = (unicodedata.normalize("NFD", char)[0] in _VOWELS for char in word.casefold())
    before = False
    groups = 0
    for vowel in bare:
        groups += vowel and not before
        before = vowel
    return groups


def _pieces(word: str) -> list[str]:
    """Characters that are syllables one by one, what is between them whole."""
    return [piece for piece in re.split(r"([㐀-䶿一-鿿぀-ヿ가-힣])", word.casefold()) if piece]
