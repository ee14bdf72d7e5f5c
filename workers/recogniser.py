"""A speech recogniser on the CPU: faster-whisper, with a model that is on this machine already.

recogniser = load_recogniser("base.en")
heard = recogniser.listen(pcm, rate_hz, "en")

Nothing is ever downloaded. The same samples give the same words in every run on one kind of processor: one thread,
8-bit weights, temperature 0 without a second try, and no text carried from one window to the next.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from jobs.errors import BadOption, MissingExtra
from jobs.resampling import resample
from jobs.takes import Pcm

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

RATE_HZ = 16_000
"""What Whisper hears (Radford et al., 2022, section 2.2)."""
BEAMS = 5
_FILES = ("config.json", "model.bin", "tokenizer.json")
_PACKAGES = {"faster_whisper": "faster-whisper", "rapidfuzz": "rapidfuzz"}
"""Of the extra [asr]: by the name that is imported, the name that is installed."""
_WINDOW_S = 30.0
_TOKENS_PER_S = 12
"""A bound of what a window may hold: hurried speech has 6 tokens a second, a recogniser in a loop has no end."""
_TOKENS_SPARE = 20
_SURE_LANGUAGE_S = 3.0
"""Whisper guesses the language of less speech than this badly."""


@dataclass(frozen=True, slots=True)
class Listened:
    """What was heard: the transcript, each word with its start and end in seconds, the language it sounded like.

    `guess` is a base language with its probability; "" where it knows one language only or heard too little.
    """

    transcript: str
    words: tuple[tuple[str, float, float], ...]
    guess: str = ""
    guess_probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One loaded model; `name` as the job named it."""

    name: str
    model: WhisperModel

    @property
    def one_language(self) -> bool:
        """Whether it knows English alone."""
        return not self.model.model.is_multilingual

    def check_language(self, language: str) -> None:
        """Whether it knows a base language. Raises BadOption."""
        if language not in self.model.supported_languages:
            known = "English" if self.one_language else ", ".join(self.model.supported_languages)
            msg = f"recogniser {self.name!r} does not know language {language!r}, only {known}; use --check asr:base"
            raise BadOption(msg)

    def listen(self, pcm: Pcm, rate_hz: int, language: str) -> Listened:
        """Write down what is said in [S] int16 samples, which should be in a base language.

        Raises:
            BadOption: it does not know the language.
        """
        self.check_language(language)
        sound = resampled(pcm, rate_hz)
        seconds = sound.size / RATE_HZ
        segments, _ = self.model.transcribe(
            sound,
            language=language,
            beam_size=BEAMS,
            temperature=0.0,
            condition_on_previous_text=False,
            compression_ratio_threshold=None,  # each of these three makes it try again or drop what it heard
            log_prob_threshold=None,
            no_speech_threshold=None,
            word_timestamps=True,
            max_new_tokens=_TOKENS_SPARE + round(_TOKENS_PER_S * min(seconds, _WINDOW_S)),
        )
        texts: list[str] = []
        words: list[tuple[str, float, float]] = []
        for segment in segments:
            texts.append(segment.text)
            words += [(word.word.strip(), _ms(word.start), _ms(word.end)) for word in segment.words or ()]
        guess, probability = ("", 0.0) if self.one_language or seconds < _SURE_LANGUAGE_S else self._guess(sound)
        return Listened("".join(texts).strip(), tuple(words), guess, probability)

    def _guess(self, sound: npt.NDArray[np.float32]) -> tuple[str, float]:
        guess, probability, _ = self.model.detect_language(sound)
        return guess, round(float(probability), 4)


def _ms(seconds: float) -> float:
    """Seconds to the millisecond (the recogniser's own are NumPy's)."""
    return round(float(seconds), 3)


def resampled(pcm: Pcm, rate_hz: int) -> npt.NDArray[np.float32]:
    """[S] int16 samples as [S'] float32 of full scale 1.0 at `RATE_HZ`."""
    if rate_hz == RATE_HZ:
        return pcm.astype(np.float32) / np.float32(32768)
    return resample(pcm, rate_hz, RATE_HZ, "flt")


@functools.lru_cache(maxsize=1)
def load_recogniser(asr: str) -> Recogniser:
    """A recogniser by the name of a model, or by its folder; kept for this process. Call it after a fork, not before.

    Raises:
        MissingExtra: faster-whisper is not installed.
        BadOption: the model is not on this machine, or is none.
    """
    folder = find_recogniser(asr)
    from faster_whisper import WhisperModel

    logging.getLogger("faster_whisper").setLevel(logging.WARNING)
    try:
        model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=1)
    except (RuntimeError, ValueError) as error:
        msg = f"{folder} is not a model that faster-whisper can load: {error}; {_how_to_get(asr)}"
        raise BadOption(msg) from error
    return Recogniser(asr, model)


def find_recogniser(asr: str) -> Path:
    """The folder of a recogniser's model: the one that was named, or the one in the cache of Hugging Face.

    Raises:
        MissingExtra: faster-whisper is not installed.
        BadOption: no such model is on this machine.
    """
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        what = " and ".join(_PACKAGES[name] for name in missing)
        msg = f"--check asr needs {what}, not installed here; run: pip install 'tts-batch[asr]'"
        raise MissingExtra(msg)
    folder = Path(asr) if Path(asr).is_absolute() and Path(asr).is_dir() else _cached(asr)
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        msg = f"{folder} is not the folder of a recogniser: it has no {', '.join(missing)}; {_how_to_get(asr)}"
        raise BadOption(msg)
    return folder


def _cached(asr: str) -> Path:
    if Path(asr).is_absolute():
        msg = f"recogniser {asr}: no such folder; name one that every CPU worker has, or a model's name such as base.en"
        raise BadOption(msg)
    from faster_whisper import available_models, download_model

    if "/" not in asr and asr not in available_models():
        known = ", ".join(available_models())
        msg = f"faster-whisper has no model {asr!r}; it has {known}; or name a folder, or a repository OWNER/NAME"
        raise BadOption(msg)
    try:
        return Path(download_model(asr, local_files_only=True))
    except (OSError, ValueError) as error:  # huggingface_hub's LocalEntryNotFoundError is both
        msg = f"recogniser {asr!r} is not on this machine, and nothing is downloaded unasked; {_how_to_get(asr)}"
        raise BadOption(msg) from error


def _how_to_get(asr: str) -> str:
    if not Path(asr).is_absolute() and ("turbo" in asr or "distil" in asr) and "/" not in asr:  # of other repositories
        return f"get it with: python -c \"import faster_whisper; faster_whisper.download_model('{asr}')\""
    named = asr if "/" in asr else f"Systran/faster-whisper-{asr}"
    repository = "Systran/faster-whisper-base.en" if Path(asr).is_absolute() else named
    return f"get one with: hf download {repository}"
