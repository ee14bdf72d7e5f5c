"""The front end of the fake: a text becomes a score, one note per word. Makes no audio and draws no numbers."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from models.base import Prompt
from models.errors import BadPrompt, UnknownVoice
from models.fake.faults import MARK, Fault, read_marks
from models.fake.voice import MAX_CHARS, VOICES, FakeVoice, make_card, voice_named, word_pitch

WORD = re.compile(r"[^\W_]+(?:[’'-][^\W_]+)*")
"""Letters and digits, joined by apostrophes and hyphens. Everything else is not heard."""


@dataclass(frozen=True, slots=True)
class Note:
    """One word: its pitch index and how many letters it has."""

    pitch: int
    letters: int


@dataclass(frozen=True, slots=True)
class Score:
    """What the program gets: the notes of a segment, the voice and speed to sing them with, the faults asked for.

    `words`: how many notes each whitespace-separated word of the text has (a dash or a mark: none).
    """

    notes: tuple[Note, ...]
    voice: FakeVoice
    speed: float
    faults: tuple[Fault, ...] = ()
    words: tuple[int, ...] = ()


def notes_of(text: str) -> tuple[Note, ...]:
    """One note per word of a text without marks."""
    words = WORD.findall(unicodedata.normalize("NFC", text))
    return tuple(Note(word_pitch(word), sum(character.isalnum() for character in word)) for word in words)


def make_score(prompt: Prompt) -> Score:
    """The score of one segment.

    Raises:
        BadPrompt: no word to say, more than MAX_CHARS characters, a speed out of range, or a mark that names no fault.
        UnknownVoice: no voice of that name.
    """
    voice = voice_named(prompt.voice)
    if voice is None:
        msg = f"model fake has no voice {prompt.voice!r}; it has {', '.join(voice.name for voice in VOICES)}"
        raise UnknownVoice(msg)
    card = make_card()
    if not card.min_speed <= prompt.speed <= card.max_speed:
        msg = f"speed {prompt.speed} is not allowed; model fake speaks at {card.min_speed} to {card.max_speed}"
        raise BadPrompt(msg)
    text, faults = read_marks(prompt.spoken)
    if len(text) > MAX_CHARS:
        msg = f"the segment has {len(text)} characters; model fake takes at most {MAX_CHARS}: split it"
        raise BadPrompt(msg)
    notes = notes_of(text)
    if not notes:
        msg = f"nothing can be spoken in {prompt.spoken[:60]!r}; a segment needs at least one letter or digit"
        raise BadPrompt(msg)
    return Score(notes, voice, prompt.speed, faults, _notes_per_word(prompt.spoken))


def _notes_per_word(spoken: str) -> tuple[int, ...]:
    """A mark is not sung but stays a word of the text (or several, or touches one)."""
    hidden = MARK.sub(lambda mark: re.sub(r"\w", "_", mark.group()), spoken)
    return tuple(len(notes_of(word)) for word in hidden.split())
