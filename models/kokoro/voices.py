"""Kokoro's voices: names, languages, blends, cards, style tables. Imports no torch.

A voice is a table of styles, [510, 256] float32: row n - 1 for n phonemes. A blend is a weighted mean of tables,
written `af_heart:0.6+bf_emma:0.4`; the same blend always gets the same name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Self

import numpy as np
import numpy.typing as npt

from models.card import VoiceCard
from models.errors import BadWeights, UnknownVoice
from models.kokoro import readers
from models.kokoro.source import Source
from models.phonemes import british

LICENCE = "Apache-2.0"
LANGUAGES = {
    "a": "en-US",
    "b": "en-GB",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-BR",
    "z": "zh",
}
"""By the first letter of a voice's name (hexgrad/Kokoro-82M, VOICES.md)."""
ROWS, COLUMNS = 510, 256
MOST_DIGITS = 4
"""Of a weight in a blend's name."""
Table = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Blend:
    """Voices with their weights, which sum to 1; in the order of their names."""

    parts: tuple[tuple[str, float], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """The blend that a voice's name stands for; a single voice is one of itself alone.

        Raises:
            UnknownVoice: it is not written as one.
        """
        weights: dict[str, float] = {}
        for part in text.split("+"):
            name, colon, number = part.strip().partition(":")
            try:
                weight = float(number) if colon else 1.0
            except ValueError:
                weight = -1.0
            if not name or not 0 < weight < float("inf"):
                msg = f"voice {text!r} is not a voice or a blend like af_heart:0.6+bf_emma:0.4 with weights above 0"
                raise UnknownVoice(msg)
            weights[name] = weights.get(name, 0.0) + weight
        total = sum(weights.values())
        return cls(tuple((name, weights[name] / total) for name in sorted(weights)))

    @property
    def name(self) -> str:
        """What the blend is called everywhere: `af_heart`, or `af_heart:0.6+bf_emma:0.4`."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return "+".join(f"{name}:{round(weight, MOST_DIGITS):g}" for name, weight in self.parts)


def known(blend: Blend, source: Source) -> Blend:
    """The blend again. Raises UnknownVoice: one of its voices is not there."""
    for name, _ in blend.parts:
        if name not in source.voices:
            msg = f"model kokoro has no voice {name!r} here; it has {', '.join(source.voices)} and blends of them"
            raise UnknownVoice(msg)
    return blend


def cards(source: Source, *, hint: str) -> tuple[VoiceCard, ...]:
    """A card for each voice that is there."""
    return tuple(card_of(Blend(((name, 1.0),)), source, name=name, hint=hint) for name in source.voices)


def card_of(blend: Blend, source: Source, *, name: str, hint: str = "") -> VoiceCard:
    """The card of a blend under the name that it was asked by; its language is that of its heaviest voice."""
    return VoiceCard(
        name=name,
        language=language_of(blend),
        revision=f"{source.revision}-{_fingerprint(blend, source)}",
        licence=LICENCE,
        note=_note(blend),
        installed=not hint,
        install_hint=hint,
        reads=readers.installed(),
    )


def language_of(blend: Blend) -> str:
    """The language of the voice that has most weight, of the first of such."""
    heaviest = max(blend.parts, key=lambda part: part[1])[0]
    return LANGUAGES.get(heaviest[:1], "en-US")


def _note(blend: Blend) -> str:
    """What to know about a voice here: what a blend is of, and what cannot be read in its own language."""
    own = language_of(blend)
    base = own.split("-")[0]
    notes = [f"A blend of voices of this model: {blend.name}."] if len(blend.parts) > 1 else []
    if base not in readers.LANGUAGES:
        notes.append(f"There is no reader of {base} here; with --lang en it reads English.")
    elif hint := readers.install_hint(base):
        notes.append(f"{hint[0].upper()}{hint[1:]}; with --lang en it reads English.")
    elif own == "en-GB" and not readers.can_read_british():
        notes.append(f"British English needs its dictionaries: {british.INSTALL_HINT}; --lang en-US does not.")
    return " ".join(notes)


def read_table(path: Path, name: str) -> Table:
    """[510, 256] float32 of one voice, from a .pt or an .npz file.

    Raises:
        BadWeights: the file is damaged, or holds something else.
    """
    try:
        if path.suffix == ".npz":
            with np.load(path) as archive:
                table = np.asarray(archive[name], np.float32)
        else:
            import torch  # only those who speak read .pt files

            table = torch.load(path, map_location="cpu", weights_only=True).float().numpy()
        found = table.reshape(table.shape[0], -1)
    except (OSError, ValueError, LookupError, RuntimeError, EOFError, AttributeError, UnpicklingError) as error:
        msg = f"{path} holds no voice {name!r} ({str(error)[:200]}); fetch it again"
        raise BadWeights(msg) from error
    if found.shape != (ROWS, COLUMNS):
        msg = f"{path}: voice {name!r} has styles of shape {table.shape}, not ({ROWS}, 1, {COLUMNS}); fetch it again"
        raise BadWeights(msg)
    return found


def blended(blend: Blend, source: Source) -> Table:
    """[510, 256] float32: the weighted mean. Raises BadWeights, UnknownVoice."""
    known(blend, source)
    parts = [np.float32(weight) * read_table(source.voices[name], name) for name, weight in blend.parts]
    total: Table = np.sum(parts, axis=0, dtype=np.float32)
    return total


def _fingerprint(blend: Blend, source: Source) -> str:
    """What changes when one of the tables or weights does."""
    digest = hashlib.blake2b(digest_size=6)
    for name, weight in blend.parts:
        path = source.voices[name]
        digest.update(f"{name}\0{weight:.6f}\0{path.name}\0{path.stat().st_size}".encode())
        if path.suffix == ".pt":
            digest.update(path.read_bytes())
    return digest.hexdigest()
