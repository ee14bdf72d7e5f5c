"""Words of a text and of a transcript in one form, so that only what sounds otherwise differs. Pure.

A text says "twenty-five", its transcript "25": the speaking rules that made the text (`jobs.speaking`) are applied to
the transcript too. Case, punctuation, accents, vowel points, hyphens and apostrophes do not count. What cannot be
compared is a wild card: IPA of a lexicon (⟦…⟧) in a text, digits in a language without speaking rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from jobs.language_tags import base_language
from jobs.speaking.aligned import runs_of
from jobs.speaking.comparing import atoms, wordlike
from jobs.speaking.english.words import cardinal, locale_of
from jobs.speaking.speaker import RULES, Speaker

WILD = "*"
"""A word that fits one heard word, or a few."""
WITHOUT_SPACES = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my", "bo"})
"""Base languages whose scripts put no space between words: they are compared character by character."""
LEAST_WORD_S = 0.04
"""Nobody says several words at this pace: hurried speech has six a second, those made up stand at one moment."""
LEAST_MADE_UP = 3
"""A recogniser's times are rough: two short words of no length are no sign."""
_FOR_THE_MODEL = re.compile(r"\[\[[^\[\]]*\]\]")
_IPA = re.compile(r"⟦[^⟦⟧]*⟧")
_HELD = f"[[{WILD}]]"
"""A wild card as rules leave it alone."""
_DIGITS = re.compile(r"\d[\d.,:/]*\d|\d")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LONE_NUMBER = re.compile(r"(?<![\d.,:/$£€])\d{4}(?![,:/]?\d)")
_PAIRS = re.compile(r"(?<![\d.,:/$£€])(\d{1,2})[.:]?(\d\d)(?![,:/]?\d)")
"""A time, or a year: 945, 9.45, 1609."""
_POINTS = re.compile(
    r"[\u0300-\u036f"  # Latin, Greek, Cyrillic
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    r"\u0610-\u061a\u0640\u064b-\u065f\u0670]"  # Arabic
)
"""Of decomposed words: accents of European scripts, vowels of Hebrew and Arabic, and what stretches Arabic letters."""
_APOSTROPHES = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_SOUNDS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|♪[^♪]*♪?")
"""What a recogniser writes for noises: (applause), [music]."""
_AND_IN_NUMBERS = frozenset({"hundred", "thousand", "million", "billion"})
_NUMBER_WORDS = frozenset(
    word for number in range(1, 100) for word in cardinal(str(number), locale_of("en")).split("-")
)
_ONE_SPELLING = {"okay": "ok", "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint"}


def without_hallucination(transcript: str, words: Sequence[tuple[str, float, float]]) -> str:
    """A transcript without what a recogniser made up at its end ("Thank you very much."), as they do in silence.

    `words` have their start and end in seconds: those made up have no time to be said in.
    """
    made_up = 0
    for count in range(LEAST_MADE_UP, len(words) + 1):
        if words[-1][2] - words[-count][1] < LEAST_WORD_S * count:
            made_up = count
    for word, _, _ in reversed(words[len(words) - made_up :]):
        transcript = transcript.rstrip().removesuffix(word)
    return transcript.rstrip()


def by_characters(language: str) -> bool:
    """Whether texts of a language are compared character by character."""
    return base_language(language) in WITHOUT_SPACES


def text_units(spoken: str, language: str) -> list[str]:
    """The words (or characters, `by_characters`) of what a take should say."""
    said = _IPA.sub(f" {WILD} ", _FOR_THE_MODEL.sub(" ", spoken).replace(WILD, " "))
    return _units(said if base_language(language) in RULES else _DIGITS.sub(f" {WILD} ", said), language)


def heard_units(transcript: str, language: str) -> list[list[str]]:
    """The words (or characters) of a transcript, in each way that its numbers can be read; one at least.

    1066 is "ten sixty-six" and "one thousand sixty-six": only the text knows which was said.
    """
    said = _SOUNDS.sub(" ", transcript).replace(WILD, " ")
    if base_language(language) not in RULES:
        return [_units(_DIGITS.sub(f" {WILD} ", said), language)]
    readings = (
        said,
        _LONE_NUMBER.sub(lambda number: f"{number.group()[:1]},{number.group()[1:]}", said),
        _GROUPED.sub("", said),
        _PAIRS.sub(_in_pairs, said),
    )
    found = [_units(reading, language) for reading in dict.fromkeys(readings)]
    return [list(words) for words in dict.fromkeys(map(tuple, found))]


def _in_pairs(number: re.Match[str]) -> str:
    first, last = number.groups()
    return f"{first} oh {last[1]}" if last[0] == "0" else f"{first} {last}"


def _units(text: str, language: str) -> list[str]:
    if by_characters(language):
        return _characters(text)
    if base_language(language) in RULES:
        text = _as_spoken(text, language)
    return _one_way(_words(text)) if base_language(language) == "en" else _words(text)


def _as_spoken(text: str, language: str) -> str:
    """A text with its numbers, signs and abbreviations as words."""
    held = text.replace(WILD, _HELD)  # no rule may read it as a star
    said = "".join(run.now for run in runs_of(held, 0, Speaker().replacements(held, language)))
    return said.replace(_HELD, f" {WILD} ")


def _words(text: str) -> list[str]:
    """Words in lower case without accents and apostrophes; a hyphen parts them."""
    bare = _POINTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    found = atoms(_APOSTROPHES.sub("", bare).replace("_", " "))
    return [atom for _, atom in found if atom == WILD or wordlike(atom[0])]


def _characters(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [char for char in folded if char == WILD or unicodedata.category(char)[0] in "LNM"]


def _one_way(words: Sequence[str]) -> list[str]:
    """English words where there are two ways to say or write the same: one of them."""
    said: list[str] = []
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        if word == "and" and before in _AND_IN_NUMBERS and after in _NUMBER_WORDS:
            continue
        if word == "a" and after in _AND_IN_NUMBERS:
            word = "one"
        if word == "cent" and said and said[-1] == "per":
            said[-1] = "percent"
            continue
        said.append(_ONE_SPELLING.get(word, word))
    return said
