"""The table of ways from text to phonemes: exact names, opened lazily."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from models.errors import ModelError
from models.phonemes.reading import Reading


class Phonemes(Protocol):
    """English text of one segment -> IPA in espeak's notation; `⟦IPA⟧` in it is put in as it is."""

    def __call__(self, text: str) -> str:
        """The IPA. Raises BadPrompt."""
        ...

    def read(self, text: str) -> Reading:
        """The IPA, and which part of it each word became. Raises BadPrompt."""
        ...


DEFAULT_ROUTE = "lexicon"
ROUTES = {
    "lexicon": "models.phonemes.lexicon:LexiconPhonemes",
    "espeak": "models.phonemes.espeak:EspeakPhonemes",
}


def open_route(name: str) -> Phonemes:
    """The phonemizer of exactly that name.

    Raises:
        ModelError: no such route.
        MissingExtra: its package is not installed.
    """
    if name not in ROUTES:
        msg = f"no way to phonemes is called {name!r}; there are {', '.join(ROUTES)}"
        raise ModelError(msg)
    module, _, maker = ROUTES[name].partition(":")
    return cast("Phonemes", getattr(import_module(module), maker)())
