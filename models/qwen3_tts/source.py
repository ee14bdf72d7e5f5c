"""Where Qwen3-TTS's weights lie: a folder, or the hub's cache. Imports no torch, reads no weights.

A folder has config.json, vocab.json, merges.txt, *.safetensors and in speech_tokenizer/ the codec.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from models import hub
from models.errors import BadWeights, MissingExtra
from models.qwen3_tts.names import REPOS

ARCHITECTURE = "Qwen3TTSForConditionalGeneration"
CODEC_FOLDER = "speech_tokenizer"
DESIGN = "voice_design"
CUSTOM = "custom_voice"
KINDS = (CUSTOM, DESIGN)
"""Checkpoints that can be run (`tts_model_type`)."""
PACKAGES = ("torch", "safetensors", "tokenizers")
INSTALL_HINT = "pip install 'tts-batch[qwen3-tts]'"

_FILES = ("*.json", "merges.txt", "*.safetensors", f"{CODEC_FOLDER}/*")
_WEIGHTS = ("config.json", "*.safetensors", f"{CODEC_FOLDER}/*.safetensors")


@dataclass(frozen=True, slots=True)
class Source:
    """A folder that holds the files of a checkpoint, and what its config.json says of voices."""

    folder: Path
    kind: str
    speakers: tuple[str, ...]

    @property
    def revision(self) -> str:
        """What changes when the weights do."""
        return hub.revision(self.folder, _WEIGHTS)


def fits(config: dict[str, object]) -> bool:
    """Whether a config.json describes a Qwen3-TTS checkpoint."""
    return config.get("architectures") == [ARCHITECTURE]


def missing_packages() -> str:
    """How to install what is missing, or nothing when everything is there."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    return f"model qwen3-tts needs {' and '.join(missing)}: {INSTALL_HINT}" if missing else ""


def find(variant: str, folder: str | None) -> Source:
    """The weights of a folder, or (None) those of a variant in the hub's cache; nothing is downloaded.

    Raises:
        MissingExtra: they are not there; says how to get them.
        BadWeights: the folder's config.json is damaged.
    """
    place = hub.cached(REPOS[variant], _FILES) if folder is None else Path(folder)
    if place is None or not _whole(place):
        repo = REPOS[variant] if folder is None else None
        raise MissingExtra(_how_to_get(place, repo))
    try:
        config = json.loads((place / "config.json").read_text("utf-8"))
        speakers = tuple(sorted(config["talker_config"].get("spk_id") or {}))
        found = Source(place, str(config["tts_model_type"]), speakers)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{place / 'config.json'} is not of a Qwen3-TTS checkpoint ({error}); fetch it again"
        raise BadWeights(msg) from error
    if found.kind not in KINDS:
        msg = (
            f"{place} is a checkpoint of kind {found.kind!r}: it clones voices from recordings, which is not possible "
            f"here yet; use one of kind {' or '.join(KINDS)}"
        )
        raise BadWeights(msg)
    return found


def fetch(variant: str) -> None:
    """Download a variant (2 to 5 GB). Raises MissingExtra."""
    hub.download(REPOS[variant], _FILES, model="qwen3-tts", otherwise="or copy the folder and name it: --model DIR")


def _whole(folder: Path) -> bool:
    texts = all((folder / name).is_file() for name in ("config.json", "vocab.json", "merges.txt"))
    codec = folder / CODEC_FOLDER
    return texts and any(folder.glob("*.safetensors")) and (codec / "config.json").is_file()


def _how_to_get(folder: Path | None, repo: str | None) -> str:
    if repo is None:
        return (
            f"{folder} lacks files of a Qwen3-TTS checkpoint; it needs config.json, vocab.json, merges.txt, "
            f"*.safetensors and the folder {CODEC_FOLDER}"
        )
    return (
        f"the weights are not on this machine: run `hf download {repo}`, or copy them to a folder and name that: "
        f"--model DIR; packages: {INSTALL_HINT}"
    )
