"""The numbers that make the fake's voices: rate, grid of pitches, frames per letter; and its card. Makes no audio."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass

from models.card import ModelCard, VoiceCard

SAMPLE_RATE_HZ = 24_000
HOP_SAMPLES = 240
"""Samples per frame: a frame is 10 ms."""

FRAMES_PER_WORD = 6
FRAMES_PER_LETTER = 5
"""A word of n letters lasts FRAMES_PER_WORD + n * FRAMES_PER_LETTER frames at speed 1."""
GAP_FRAMES = 8
"""Silence between two words."""
EDGE_FRAMES = 5
"""Silence before the first word and after the last one."""

NUM_PITCHES = 512
PITCH_STEP_HZ = 4.0
LOWEST_PITCH_HZ = 400.0
HUM_HZ = 150.0
"""Pitch of the hum of [[fault:tail]], for the voice of factor 1; it stands below every word."""

LEVEL = 0.3
NOISE_LEVEL = 0.0005

MAX_CHARS = 400
LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "ar", "hi", "ja", "ko", "zh")
"""Tones have no language: these are the tags it takes, so that texts of many scripts can be tried."""

NUMERICS = "fake-1"


@dataclass(frozen=True, slots=True)
class FakeVoice:
    """One voice: every pitch is multiplied by `pitch_factor`."""

    name: str
    pitch_factor: float


VOICES = (FakeVoice("tone", 1.0), FakeVoice("tone-low", 0.5), FakeVoice("tone-high", 2.0))


def voice_named(name: str) -> FakeVoice | None:
    """The voice of exactly that name, or None."""
    return next((voice for voice in VOICES if voice.name == name), None)


def word_pitch(word: str) -> int:
    """Index of a word's pitch in [0, NUM_PITCHES): the same for every case and for composed or decomposed letters."""
    folded = unicodedata.normalize("NFC", word).casefold()
    return int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=4).digest(), "big") % NUM_PITCHES


def pitch_hz(pitch: int, voice: FakeVoice) -> float:
    """Frequency of a pitch index as a voice sings it."""
    return (LOWEST_PITCH_HZ + PITCH_STEP_HZ * pitch) * voice.pitch_factor


def make_card() -> ModelCard:
    """What the fake says about itself."""
    voices = tuple(
        VoiceCard(
            name=voice.name,
            language="en",
            revision=f"tone-1-x{voice.pitch_factor:g}",
            licence="Apache-2.0",
            note="tones, not speech: for trying things out and for tests",
        )
        for voice in VOICES
    )
    return ModelCard(
        name="fake",
        description="one tone per word, at once and without weights; says exactly what it is given",
        lane="utterance",
        languages=LANGUAGES,
        voices=voices,
        default_voice=VOICES[0].name,
        sample_rate_hz=SAMPLE_RATE_HZ,
        max_chars=MAX_CHARS,
        pack_chars=0,
        chars_per_s=15.0,
        numerics=NUMERICS,
    )
