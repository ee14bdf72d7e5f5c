"""Reads the fake's audio back: which words were said, in which order, when. Works on samples alone, no text needed.

    transcribe(samples) == notes_of("Call me Ishmael.")

It takes a segment or a whole chapter, at any usual level, also after an encoder: words are told by pitch and length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.request import Samples
from models.fake.score import Note
from models.fake.voice import (
    FRAMES_PER_LETTER,
    FRAMES_PER_WORD,
    HOP_SAMPLES,
    LOWEST_PITCH_HZ,
    NUM_PITCHES,
    PITCH_STEP_HZ,
    SAMPLE_RATE_HZ,
    FakeVoice,
    pitch_hz,
    voice_named,
)

SOUND_SHARE = 0.2
"""A frame sounds when its level is above this share of the loudest one's."""
FLOOR_LEVEL = 0.002
"""Root mean square below which nothing counts as sound, whatever else there is: the fake's noise lies at 0.0005."""
MAX_LISTEN_SAMPLES = 4800
"""How much of a long tone is used to tell its pitch."""
SEARCH_PITCHES = 16
"""How many pitches around the peak of the spectrum are compared exactly; the peak itself may be off by a few."""


@dataclass(frozen=True, slots=True)
class Tone:
    """A tone from `start_sample` to `stop_sample`; `note` is None when it is no word (a hum, say)."""

    note: Note | None
    start_sample: int
    stop_sample: int


def transcribe(samples: Samples, *, voice: str = "tone", speed: float = 1.0) -> tuple[Note | None, ...]:
    """The words heard, in order; None stands for a tone that is no word.

    `samples` [S] float32 at SAMPLE_RATE_HZ; `voice` and `speed` as they were sung.

    Raises:
        ValueError: no voice of that name, or samples that are not one-dimensional.
    """
    return tuple(tone.note for tone in listen(samples, voice=voice, speed=speed))


def listen(samples: Samples, *, voice: str = "tone", speed: float = 1.0) -> list[Tone]:
    """The tones heard, with their places. Arguments and errors as in `transcribe`."""
    singer = voice_named(voice)
    if singer is None or samples.ndim != 1:
        msg = f"cannot listen to voice {voice!r} in samples of shape {samples.shape}; give a fake voice and [S] samples"
        raise ValueError(msg)
    return [
        Tone(_note(samples[start:stop], singer, speed), int(start), int(stop)) for start, stop in _sounding(samples)
    ]


def _sounding(samples: Samples) -> npt.NDArray[np.int64]:
    """[N, 2] start and stop sample of each stretch of sound: level of a frame around each sample, against a threshold.

    A fade of one frame crosses the threshold near its middle, so a tone comes out one frame shorter than it is.
    """
    if len(samples) < HOP_SAMPLES:
        return np.zeros((0, 2), np.int64)
    energy = np.concatenate(([0.0], np.cumsum(samples.astype(np.float64) ** 2)))
    power = (energy[HOP_SAMPLES:] - energy[:-HOP_SAMPLES]) / HOP_SAMPLES
    loud = power > max(SOUND_SHARE**2 * float(power.max()), FLOOR_LEVEL**2)
    flips = np.flatnonzero(np.diff(np.concatenate(([False], loud, [False])).astype(np.int8)))
    return flips.reshape(-1, 2) + HOP_SAMPLES // 2


def _note(tone: Samples, voice: FakeVoice, speed: float) -> Note | None:
    frames = len(tone) / HOP_SAMPLES
    letters = round((frames * speed - FRAMES_PER_WORD) / FRAMES_PER_LETTER)
    pitch = _pitch(tone[HOP_SAMPLES:-HOP_SAMPLES][:MAX_LISTEN_SAMPLES], voice)
    return None if pitch is None or letters < 1 else Note(pitch, letters)


def _pitch(steady: Samples, voice: FakeVoice) -> int | None:
    """The pitch whose sine fits best; None when the spectrum peaks off the grid of pitches."""
    if len(steady) < HOP_SAMPLES:
        return None
    wave = steady.astype(np.float64) - steady.mean()
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave)), 16_384))
    peak_hz = float(spectrum.argmax()) * SAMPLE_RATE_HZ / 16_384
    nearest = round((peak_hz / voice.pitch_factor - LOWEST_PITCH_HZ) / PITCH_STEP_HZ)
    candidates = np.arange(max(0, nearest - SEARCH_PITCHES), min(NUM_PITCHES, nearest + SEARCH_PITCHES + 1))
    if not len(candidates):
        return None
    return int(candidates[np.argmax([_fit(wave, pitch_hz(int(pitch), voice)) for pitch in candidates])])


def _fit(wave: npt.NDArray[np.float64], frequency_hz: float) -> float:
    """Energy of the least-squares sine of one frequency."""
    angles = np.arange(len(wave)) * (2 * np.pi * frequency_hz / SAMPLE_RATE_HZ)
    basis = np.stack((np.cos(angles), np.sin(angles)))
    products = basis @ wave
    return float(products @ np.linalg.solve(basis @ basis.T, products))
