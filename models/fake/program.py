"""The program of the fake: scores become tones. numpy only; integer phases, so any window is bit for bit the whole."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from engine.noise import normal
from engine.program import Latent, RequestRejected
from engine.request import FinishReason, Request, Samples
from models.fake.faults import Fault, FaultKind, acting
from models.fake.score import Note, Score
from models.fake.voice import (
    EDGE_FRAMES,
    FRAMES_PER_LETTER,
    FRAMES_PER_WORD,
    GAP_FRAMES,
    HOP_SAMPLES,
    HUM_HZ,
    LEVEL,
    NOISE_LEVEL,
    SAMPLE_RATE_HZ,
    pitch_hz,
)

NOISE_DRAW = 0
FAULT_FRAMES = 300
"""Length of the hum of TAIL and of the hole of SILENCE: 3 s."""
CLICK_LEVEL = 0.98
OVERDRIVE = 8.0

_TABLE_BITS = 12
_TABLE = (np.sin(np.arange(1 << _TABLE_BITS) * (2 * np.pi / (1 << _TABLE_BITS))) * 32767).round().astype(
    np.float32
) / 32767
"""One period, rounded so coarsely that every platform's sine gives the same table."""
_PHASE_BITS = 32
_PHASE_MASK = np.uint64((1 << _PHASE_BITS) - 1)
_RAMP = np.arange(HOP_SAMPLES, dtype=np.float32) / np.float32(HOP_SAMPLES)


@dataclass(frozen=True, slots=True)
class ToneLatent:
    """What is to be heard in each frame.

    `phase_steps` [F] uint64: turn of the oscillator per sample, in 2**-32 periods (0: silent). `gains` [F, 2] float32:
    gain at the start and at the end of the frame; a tone fades in and out over a frame, so it does not click.
    `words`: see `engine.program.Latent`.
    """

    phase_steps: npt.NDArray[np.uint64]
    gains: npt.NDArray[np.float32]
    seed: int
    finish: FinishReason
    faults: dict[FaultKind, Fault]
    words: tuple[tuple[int, int], ...] = ()

    @property
    def num_frames(self) -> int:
        """Frames of audio."""
        return len(self.phase_steps)


class FakeProgram:
    """Sings scores. `decode` makes about a thousand seconds of audio per second on one CPU core."""

    sample_rate_hz = SAMPLE_RATE_HZ
    hop_samples = HOP_SAMPLES
    first_chunk_frames = 20
    chunk_frames = 200

    def encode(self, batch: Sequence[Request]) -> list[Latent]:
        """One latent per request; faults that concern the whole process or batch happen here."""
        return [_latent(index, request) for index, request in enumerate(batch)]

    def decode(self, latent: Latent, start_frame: int, stop_frame: int) -> Samples:
        """[(stop - start) * HOP_SAMPLES] float32: tones and a little noise that is keyed by seed and position."""
        if not isinstance(latent, ToneLatent):
            msg = f"the fake decodes its own latents, not {type(latent).__name__}"
            raise TypeError(msg)
        slow = latent.faults.get(FaultKind.SLOW)
        if slow is not None:
            time.sleep(slow.sleep_s * (stop_frame - start_frame))
        first, count = start_frame * HOP_SAMPLES, (stop_frame - start_frame) * HOP_SAMPLES
        positions = np.arange(first, first + count, dtype=np.uint64).reshape(-1, HOP_SAMPLES)
        phases = (positions * latent.phase_steps[start_frame:stop_frame, None]) & _PHASE_MASK
        gains = latent.gains[start_frame:stop_frame]
        tones = _TABLE[phases >> np.uint64(_PHASE_BITS - _TABLE_BITS)]
        tones *= gains[:, :1] + (gains[:, 1:] - gains[:, :1]) * _RAMP
        tones *= np.float32(LEVEL)
        samples: Samples = tones.reshape(-1)
        samples += np.float32(NOISE_LEVEL) * normal(latent.seed, NOISE_DRAW, (count,), start=first)
        _spoil(samples, first, latent)
        return samples


def _latent(index: int, request: Request) -> ToneLatent:
    score = request.inputs
    if not isinstance(score, Score):
        raise RequestRejected(index, f"the fake sings scores, not {type(score).__name__}; make them with prepare()")
    faults = acting(score.faults, request.seed)
    _fail(index, faults)
    frequencies_hz, lengths = zip(*_parts(score, faults), strict=True)
    steps = [round(frequency_hz / SAMPLE_RATE_HZ * (1 << _PHASE_BITS)) for frequency_hz in frequencies_hz]
    phase_steps = np.repeat(np.array(steps, np.uint64), lengths)
    sounds = phase_steps > 0
    gains = np.repeat(sounds.astype(np.float32)[:, None], 2, axis=1)
    edges = np.cumsum(lengths)
    gains[edges[:-1], 0] = 0.0  # parts alternate between sound and silence: fade in at a part's start …
    gains[edges - 1, 1] = 0.0  # … and out at its end
    if FaultKind.MUTE in faults:
        gains[:] = 0.0
    finish = FinishReason.BUDGET if FaultKind.BUDGET in faults else FinishReason.STOP
    words = _words(score, lengths) if _sung(score.notes, faults) == score.notes else ()
    return ToneLatent(phase_steps, gains, request.seed, finish, faults, words)


def _words(score: Score, lengths: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Frames of each word of the text: from its first note to its last. `lengths` are silence and tone in turn."""
    edges = [0, *accumulate(lengths)]
    words: list[tuple[int, int]] = []
    note = 0
    for count in score.words:
        at = words[-1][1] if words else 0
        words.append((edges[2 * note + 1], edges[2 * (note + count)]) if count else (at, at))
        note += count
    return tuple(words)


def _fail(index: int, faults: dict[FaultKind, Fault]) -> None:
    """Do what the marks ask for that leave no audio behind."""
    if FaultKind.CRASH in faults:
        os.kill(os.getpid(), signal.SIGKILL)
    if FaultKind.HANG in faults:
        time.sleep(faults[FaultKind.HANG].sleep_s)
    if FaultKind.OOM in faults:
        msg = "the text asks for more memory than there is: [[fault:oom]]"
        raise MemoryError(msg)
    if FaultKind.ERROR in faults:
        raise RequestRejected(index, "the text asks to be rejected: [[fault:error]]")


def _sung(notes: tuple[Note, ...], faults: dict[FaultKind, Fault]) -> tuple[Note, ...]:
    """The notes that are sung, which are not those of the score where a mark says so."""
    if FaultKind.TRUNCATE in faults or FaultKind.BUDGET in faults:
        notes = notes[: len(notes) // 2]
    if FaultKind.REPEAT in faults:
        notes += notes[-3:] * 3
    return notes


def _parts(score: Score, faults: dict[FaultKind, Fault]) -> Iterator[tuple[float, int]]:
    """(frequency in Hz, frames) of each part: silence and tones in turn; 0 Hz is silence."""
    notes = _sung(score.notes, faults)
    silence = EDGE_FRAMES
    for index, note in enumerate(notes):
        if FaultKind.SILENCE in faults and index == len(notes) // 2:
            silence += FAULT_FRAMES
        yield 0.0, silence
        yield pitch_hz(note.pitch, score.voice), note_frames(note, score.speed)
        silence = max(1, round(GAP_FRAMES / score.speed))
    if FaultKind.TAIL in faults:
        yield 0.0, silence
        yield HUM_HZ * score.voice.pitch_factor, FAULT_FRAMES
    yield 0.0, EDGE_FRAMES


def note_frames(note: Note, speed: float) -> int:
    """How long a word lasts."""
    return round((FRAMES_PER_WORD + FRAMES_PER_LETTER * note.letters) / speed)


def _spoil(samples: Samples, first_sample: int, latent: ToneLatent) -> None:
    """Put in the faults that are heard in single samples; the middle sample of the segment gets CLICK and NAN."""
    if FaultKind.CLIP in latent.faults:
        np.clip(samples * np.float32(OVERDRIVE), -1.0, 1.0, out=samples)
    middle = latent.num_frames * HOP_SAMPLES // 2 - first_sample
    if 0 <= middle < len(samples):
        if FaultKind.CLICK in latent.faults:
            samples[middle] = CLICK_LEVEL
        if FaultKind.NAN in latent.faults:
            samples[middle] = np.nan
