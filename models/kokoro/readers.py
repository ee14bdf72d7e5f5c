"""Who reads a text of which language: English by dictionary, Chinese and Japanese by misaki where it is installed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Protocol

from models.errors import BadPrompt, MissingExtra
from models.phonemes.lexicon import LexiconPhonemes
from models.phonemes.reading import Reading

LANGUAGES = ("en", "zh", "ja")
_MISAKI = {
    "zh": ("misaki.zh", "ZHG2P", "pip install 'misaki[zh]==0.9.4'"),
    "ja": ("misaki.ja", "JAG2P", "pip install 'misaki[ja]==0.9.4'"),
}
"""Module and class of misaki (Apache-2.0), and how to install what it needs."""


class Reader(Protocol):
    """Reads texts of one language."""

    def read(self, text: str) -> Reading:
        """Phonemes in misaki's notation. Raises BadPrompt."""
        ...


@functools.cache
def open_reader(language: str) -> Reader:
    """The reader of a base language.

    Raises:
        BadPrompt: there is none.
        MissingExtra: its packages are not installed.
    """
    if language == "en":
        return LexiconPhonemes(notation="misaki")
    if language not in _MISAKI:
        msg = f"model kokoro reads {', '.join(LANGUAGES)}, not {language!r}; choose another language"
        raise BadPrompt(msg)
    module, name, hint = _MISAKI[language]
    try:
        return _Misaki(getattr(importlib.import_module(module), name)())
    except ImportError as error:
        msg = f"reading {language!r} needs the package {error.name!r}, which is not installed: {hint}"
        raise MissingExtra(msg) from error


class _Misaki:
    """One of misaki's readers. Where its words are is not known."""

    def __init__(self, phonemes: Callable[[str], tuple[str, object]]) -> None:
        self._phonemes = phonemes

    def read(self, text: str) -> Reading:
        """See `Reader`."""
        return Reading(self._phonemes(text)[0])
